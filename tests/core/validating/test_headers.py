"""A mistake in the first row of a sheet, or in the file as a whole, hides no other, and is told once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from biasfw import validating
from biasfw.newbenchmark import NewBenchmark, write_benchmark
from biasfw.plugins import Plugins

Spoil = Callable[[Any], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_benchmark(NewBenchmark("komsu", languages=("en",), sheet=True), tmp_path, ("en",))
    return tmp_path / "komsu"


def spoilt(folder: Path, *spoils: Spoil) -> Path:
    book = openpyxl.load_workbook(folder / "items.xlsx")
    for spoil in spoils:
        spoil(book)
    book.save(folder / "items.xlsx")
    return folder


def told(path: Path, installed: Plugins) -> list[str]:
    """The errors, without the folder."""
    reports = validating.validate(path, installed)
    found = [str(each) for report in reports for each in report.findings if each.level == "error"]
    return [text.replace(f"{path}/", "").replace("items.xlsx: sheet items, cell ", "") for text in found]


def column(book: Any, name: str) -> Any:
    return next(cell for cell in book["items"][1] if str(cell.value).partition(" ")[0] == name)


def renamed(old: str, new: str) -> Spoil:
    def spoil(book: Any) -> None:
        column(book, old).value = new

    return spoil


def added(name: str) -> Spoil:
    def spoil(book: Any) -> None:
        book["items"].cell(1, book["items"].max_column + 1, name)

    return spoil


def bad_cells(book: Any) -> None:
    """A wrong category, gold and language, a number and a boolean."""
    page = book["items"]
    for row, name, value in ((2, "category", "sport"), (3, "gold", "best"), (4, "language", "sw"), (5, "situation", 7),
                             (6, "situation", True)):  # fmt: skip
        page.cell(row, column(book, name).column).value = value


def test_the_cells_are_told_beside_an_unknown_column(folder: Path, installed: Plugins) -> None:
    found = told(spoilt(folder, added("yaş"), bad_cells), installed)
    cells = sorted(each.split(":")[0] for each in found)
    header = [each for each in found if "cannot name a field" in each]
    assert len(header) == 1, found
    assert sorted([header[0].split(":")[0], "C2", "G3", "B4", "D5", "D6"]) == cells, found
    assert not any("holds no items" in each for each in found)


@pytest.mark.parametrize(
    ("spoils", "words"),
    [
        ([added("gold")], "stands there twice"),
        ([renamed("situation", "durum açıklaması")], "cannot name a field"),
        ([renamed("choice_fair", "choice_güzel")], "cannot name a field"),
        ([renamed("choice_fair", "choice_fair (nice)")], '"nice" is no role'),
        ([renamed("category", "kategori")], "the column category is missing from the first row"),
        ([renamed("source_id", "kimlik")], "the column source_id is missing from the first row"),
    ],
)
def test_a_mistake_in_the_header_is_told_once(
    folder: Path, installed: Plugins, spoils: list[Spoil], words: str
) -> None:
    [error] = told(spoilt(folder, *spoils), installed)
    assert words in error


def test_every_mistake_of_the_header_is_told(folder: Path, installed: Plugins) -> None:
    found = told(spoilt(folder, added("yaş"), added("gold"), added("nice try"), renamed("category", "art")), installed)
    assert len(found) == 4, found


def test_a_sheet_of_another_name_is_read_if_it_holds_items(folder: Path, installed: Plugins) -> None:
    def rename(book: Any) -> None:
        book["items"].title = "Sayfa1"

    found = told(spoilt(folder, bad_cells, rename), installed)
    assert len(found) == 6, found
    assert next(each for each in found if "rename this one" in each).startswith("items.xlsx: sheet Sayfa1, cell A1: ")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: text.encode("cp1254"), "is not UTF-8"),
        (lambda text: text.encode("utf-16"), "the file is UTF-16"),
        (lambda text: text.replace("ş", "\0").encode(), "a NUL character"),
        (lambda text: (text + '"open').encode(), "unexpected end of data"),
    ],
)
def test_a_file_that_cannot_be_read_is_not_also_empty(
    folder: Path, installed: Plugins, spoil: Callable[[str], bytes], words: str
) -> None:
    text = "source_id,language,category,situation,choice_fair,choice_biased,gold\n"
    text += "a-1,en,everyday_life,Bir komşu,Sorun.,Kızın.,fair\na-2,en,sport,İki komşu,Sorun.,Kızın.,fair\n"
    (folder / "items.csv").write_bytes(spoil(text))
    manifest = folder / "benchmark.yaml"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("items.xlsx", "items.csv"), encoding="utf-8")
    found = told(folder, installed)
    assert sum(words in each for each in found) == 1, found
    others = [each for each in found if words not in each]
    assert [("items.csv:3" in each) for each in others] == [True] * ("unexpected" in words), found


def test_columns_are_proposed_and_nothing_else(folder: Path, installed: Plugins) -> None:
    found = told(spoilt(folder, renamed("situation", "Durum")), installed)
    [error] = [each for each in found if "'situation' is undefined" in each]
    assert "instruction" not in error
    assert "Durum" in error


def test_typographic_quotes_are_named(folder: Path, installed: Plugins) -> None:
    path = folder / "items.jsonl"
    path.write_text('{“source_id”: "a"}\n{"source_id": “a”}\n', encoding="utf-8")
    found = told(path, installed)
    assert [("typographic" in each, "“" in each) for each in found] == [(True, True)] * 2, found


def test_the_form_of_unicode_is_told_once_a_file(folder: Path, installed: Plugins) -> None:
    def decompose(book: Any) -> None:
        for row in range(2, 8):
            for name in ("situation", "target"):
                book["items"].cell(row, column(book, name).column).value = f"Bir koms\u0327u {row}{name}"

    reports = validating.validate(spoilt(folder, decompose), installed)
    found = [str(each) for each in reports[0].findings if "NFC" in str(each)]
    assert len(found) == 1
    assert "cell D2: warning: " in found[0]
    assert "one of 12 texts in 6 rows of the file" in found[0]
    path = folder / "other.csv"
    path.write_text("id,text\na,s\u0327\nb,c\u0327\n", encoding="utf-8")
    found = [str(each) for each in validating.validate(path, installed)[0].findings]
    assert [("other.csv:2:3: " in each, "one of 2 texts" in each) for each in found] == [(True, True)], found


def test_a_name_in_plain_letters_is_proposed(folder: Path, installed: Plugins) -> None:
    [error] = told(spoilt(folder, added("yaş")), installed)
    assert 'did you mean "yas"?' in error
