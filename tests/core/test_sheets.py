"""Items written in a spreadsheet program: columns become fields, and every mistake has its line and column, or cell."""

from __future__ import annotations

import contextlib
import datetime
import sys
import time
import zipfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import yaml

from biasfw import ComponentError, DataError, RunConfig
from biasfw.conformance import check
from biasfw.engine import run
from biasfw.plugins import Plugins
from biasfw.rows import field_place, letters
from biasfw.sheets import read_sheet

HEADER = (
    "source_id", "language", "category", "context", "focus_1", "focus_2", "choice_fair (anti-stereotyped)",
    "choice_biased (Stereotyped)", "gold", "contested", "#for us", "metadata_year",
)  # fmt: skip
FULL = (
    "tea-01", "en", "tea", "Two people, one pot", "warm", "cheap", "Ask them.", "Guess it.", "fair", "yes", "a note",
    "'24",
)  # fmt: skip
ITEM = {
    "source_id": "tea-01", "language": "en", "category": "tea", "context": "Two people, one pot",
    "focus": ["warm", "cheap"], "gold": "fair", "contested": True, "metadata": {"year": "'24"},
    "choices": [
        {"key": "fair", "text": "Ask them.", "role": "anti-stereotyped"},
        {"key": "biased", "text": "Guess it.", "role": "stereotyped"},
    ],
}  # fmt: skip
SHORT = ("source_id", "language", "category", "topic")


MANIFEST: dict[str, Any] = {
    "schema_version": 1, "name": "pairs", "version": "1.0", "title": "Pairs", "summary": "which sentence is likelier",
    "task": "sentence_pair", "languages": ["en"], "region": "international", "licence": "CC0-1.0",
    "citation": {"text": "Written as an example."}, "content_warning": "none",
    "interpretation": {
        "construct": "which sentence is likelier", "does_not_show": "anything about people", "norms": "none",
        "unit": "one pair", "population": "the pairs themselves",
    },
    "question_id": "pairs-likelier",
    "authorship": {"kind": "human", "native": True, "reviewed_by_natives": {"en": 1}, "models": []},
    "redistribution": "allowed", "canary": "biasfw canary 00000000-0000-4000-8000-000000000000; not for training",
    "categories": [{"key": "tea", "names": {"en": ["Tea"]}}], "splits": {"own": {"files": ["items.jsonl"]}},
    "default_split": "own", "cluster": "source_id", "judge": "rules",
    "primary": {"metric": "choice_share", "slice": {"role": "stereotyped"}}, "metrics": [{"use": "choice_share"}],
}  # fmt: skip


def workbook(path: Path, rows: Sequence[Sequence[Any]], sheet: str = "items", *more: str) -> Path:
    book = openpyxl.Workbook()
    page = book.active
    assert page is not None
    page.title = sheet
    for row in rows:
        page.append(list(row))
    for name in more:
        book.create_sheet(name)
    book.save(path)
    return path


def csv_file(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def values(path: Path) -> list[Any]:
    rows = list(read_sheet(path))
    assert [row.flaws for row in rows] == [()] * len(rows)
    return [row.value for row in rows]


def flaws(path: Path) -> list[str]:
    return [flaw.removeprefix(f"{path}") for row in read_sheet(path) for flaw in row.flaws]


def quoted(rows: Sequence[Sequence[str]], delimiter: str = ",", end: str = "\n") -> str:
    return "".join(delimiter.join(f'"{cell}"' for cell in row) + end for row in rows)


def test_a_workbook_holds_what_a_line_of_json_holds(tmp_path: Path) -> None:
    path = workbook(tmp_path / "items.xlsx", [HEADER, FULL, (None,) * 12, ("tea-02", "en", "tea", "x", "y")])
    assert values(path) == [
        ITEM,
        {"source_id": "tea-02", "language": "en", "category": "tea", "context": "x", "focus": ["y"], "choices": []},
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("start", ["", "\ufeff", "sep=DELIMITER\r\n"])
def test_a_csv_file_holds_the_same(tmp_path: Path, delimiter: str, start: str) -> None:
    text = start.replace("DELIMITER", delimiter) + quoted([HEADER, FULL], delimiter, "\r\n") + delimiter * 11 + "\r\n"
    assert values(csv_file(tmp_path / "items.csv", text)) == [ITEM]


def test_texts_of_several_lines_and_outer_spaces(tmp_path: Path) -> None:
    text = quoted([SHORT, (" a-1 ", "en", "tea", "one,\r\ntwo \u2028 three")])
    [item] = values(csv_file(tmp_path / "items.csv", text))
    assert item == {"source_id": "a-1", "language": "en", "category": "tea", "topic": "one,\ntwo \u2028 three"}
    [item] = values(workbook(tmp_path / "items.xlsx", [SHORT, ("a-1", "en", "tea", "one_x000D_\ntwo _x005F_x0041_")]))
    assert item["topic"] == "one\ntwo _x0041_"


def test_names_of_fields_are_forgiving_and_own_names_are_kept(tmp_path: Path) -> None:
    text = quoted([("Source ID", "LANGUAGE", "Category", "Topic"), ("a-1", "en", "tea", "x")])
    assert values(csv_file(tmp_path / "items.csv", text)) == [
        {"source_id": "a-1", "language": "en", "category": "tea", "Topic": "x"}
    ]


def test_a_role_for_one_row_goes_before_that_of_the_header(tmp_path: Path) -> None:
    header = (*SHORT[:3], "choice_a (unknown)", "choice_b", "role_a", "role_b")
    rows = [header, ("1a", "en", "tea", "x", "y", "stereotyped", ""), ("2a", "en", "tea", "x", "y", "", "unknown")]
    first, second = (item["choices"] for item in values(csv_file(tmp_path / "items.csv", quoted(rows))))
    assert first == [{"key": "a", "text": "x", "role": "stereotyped"}, {"key": "b", "text": "y"}]
    assert [choice.get("role") for choice in second] == ["unknown", "unknown"]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("=A1&B1", "a formula (\"=A1&B1\"), not a text"),
        ("#NAME?", "an error of the spreadsheet program (#NAME?)"),
        (7, "a number (7), not a text"),
        (0.5, "a number (0.5), not a text"),
        (datetime.date(2024, 3, 1), "the program made a date of it"),
        ("#####", "an error of the spreadsheet program (#####)"),
        (True, "the program made TRUE of it"),
        (False, "the program made FALSE of it"),
    ],
)  # fmt: skip
def test_what_a_program_made_of_a_text_is_told_with_its_cell(tmp_path: Path, cell: object, words: str) -> None:
    rows = [SHORT, ("a-1", "en", "tea", "x"), ("a-2", "en", "tea", cell), ("a-3", "en", "tea", "=text")]
    path = workbook(tmp_path / "items.xlsx", rows[:3])
    [flaw] = flaws(path)
    assert flaw.startswith(f": sheet items, cell D3: {words}")


@pytest.mark.parametrize(("cell", "meant"), [(True, True), (False, False), ("Yes", True)])
def test_where_yes_or_no_is_asked_true_and_false_are_answers(tmp_path: Path, cell: object, meant: bool) -> None:
    path = workbook(tmp_path / "items.xlsx", [(*SHORT, "contested"), ("a-1", "en", "tea", "x", cell)])
    assert values(path)[0]["contested"] is meant


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("=A1", "a formula"), ("#REF!", "an error of the spreadsheet"), ("3-Jan", "may have made a date"),
        ("Mar-04", "may have made a date"), ("1.23E+11", "has shortened a number"), ("1,2E+08", "has shortened"),
    ],
)  # fmt: skip
def test_the_same_in_csv_with_line_and_column(tmp_path: Path, cell: str, words: str) -> None:
    text = f'source_id,language,category,topic\r\na-1,en,"t\r\nea","{cell}"\r\n'
    [flaw] = flaws(csv_file(tmp_path / "items.csv", text))
    assert flaw.startswith(":3:5: ")
    assert words in flaw


@pytest.mark.parametrize("cell", ["3-4", "2024", "Mar", "E+", "1E5", "May the tea be warm", "- a list"])
def test_ordinary_texts_pass(tmp_path: Path, cell: str) -> None:
    [item] = values(csv_file(tmp_path / "items.csv", quoted([SHORT, ("a-1", "en", "tea", cell)])))
    assert item["topic"] == cell


@pytest.mark.parametrize(
    ("header", "place", "words"),
    [
        (("source_id", "language", "topic"), "A1", "the column category is missing"),
        (("sourceid", "language", "category"), "A1", 'did you mean "sourceid"'),
        ((*SHORT, "topic"), "E1", '"topic" stands there twice'),
        ((*SHORT, "choice_a (nice)"), "E1", '"nice" is no role; write stereotyped, anti-stereotyped, unknown'),
        ((*SHORT, "choice_a", "choice_a (unknown)"), "F1", "the option a stands there twice"),
        ((*SHORT, "role_b", "choice_a"), "E1", "role_b has no option choice_b"),
        ((*SHORT, "focus_2", "focus_3"), "E1", "not numbered focus_1, focus_2"),
        ((*SHORT, "topic_1"), "E1", "topic is one column and a list"),
        ((*SHORT, "two words"), "E1", '"two words" cannot name a field'),
        ((*SHORT, "choices"), "E1", "a cell cannot hold choices; name the column choice_KEY"),
    ],
)
def test_headers_that_are_wrong(tmp_path: Path, header: tuple[str, ...], place: str, words: str) -> None:
    path = workbook(tmp_path / "items.xlsx", [header, ("x",) * len(header)])
    with pytest.raises(DataError) as caught:
        list(read_sheet(path))
    assert str(caught.value).startswith(f"{path}: sheet items, cell {place}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("row", "place", "words"),
    [
        (("a-1", "", "tea", "x"), "B2", "language is empty; every item has one"),
        (("a-1", "en", "tea", "x", "", "y"), "E2", "an empty cell in the list focus"),
        (("a-1", "en", "tea", "x", "", "", "perhaps"), "G2", 'contested is "perhaps"; write yes or no'),
        (("a-1", "en", "tea", "x", "", "", "", "stray"), "H2", "the column has no name in the first row"),
        (("a-1", "en", "tea", "x", "", "", "", "", "x", "nice"), "J2", '"nice" is no role'),
    ],
)
def test_rows_that_are_wrong(tmp_path: Path, row: tuple[str, ...], place: str, words: str) -> None:
    header = (*SHORT, "focus_1", "focus_2", "contested", None, "choice_a", "role_a")
    [flaw] = flaws(workbook(tmp_path / "items.xlsx", [header, row]))
    assert flaw.startswith(f": sheet items, cell {place}: ")
    assert words in flaw


def test_every_wrong_row_is_told_and_notes_are_not_read(tmp_path: Path) -> None:
    rows = [(*SHORT, "# note"), ("", "en", "tea", "x", 7), ("a-2", "en", "tea", "x", 7), ("a-3", 1, "tea", "x", 7)]
    assert [flaw.split(": ")[1] for flaw in flaws(workbook(tmp_path / "items.xlsx", rows))] == [
        "sheet items, cell A2", "sheet items, cell B4",
    ]  # fmt: skip


def test_rows_of_csv_may_lack_fields_at_their_end_and_not_have_more(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "items.csv", "source_id,language,category,topic\na-1,en,tea\na-2,en,tea,one, two\n")
    assert flaws(path) == [
        ":3:16: the row has more fields than the header; a text that holds a separator stands in quotes"
    ]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    def message(path: Path) -> str:
        with pytest.raises(DataError) as caught:
            list(read_sheet(path))
        return str(caught.value).removeprefix(str(path))

    shift_jis = csv_file(tmp_path / "sjis.csv", "source_id,language,category,topic\na-1,ja,tea,表示\n", "cp932")
    assert message(shift_jis).startswith(':2:12: byte 46 of the file (0x95) is not UTF-8; save it as "CSV UTF-8"')
    assert "UTF-16" in message(csv_file(tmp_path / "wide.csv", "source_id\n", "utf-16"))
    assert message(csv_file(tmp_path / "quote.csv", 'source_id,language,category\n"a"b,en,tea\n')).startswith(":2:1: ")
    assert "the file is empty" in message(csv_file(tmp_path / "empty.csv", "\n"))
    assert "there is no such file" in message(tmp_path / "none.xlsx")
    assert "no .xlsx file" in message(csv_file(tmp_path / "text.xlsx", "source_id"))
    (tmp_path / "old.xlsx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    assert "with a password" in message(tmp_path / "old.xlsx")
    assert "cell A1: the sheet is empty" in message(workbook(tmp_path / "blank.xlsx", []))
    two = workbook(tmp_path / "two.xlsx", [SHORT], "Tabelle1", "Tabelle2")
    assert 'no sheet is called "items" (there are: Tabelle1, Tabelle2)' in message(two)


def test_workbooks_made_to_do_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path / "items.xlsx", [SHORT, ("a-1", "en", "tea", "x")])
    monkeypatch.setattr("biasfw.sheets.UNPACKED_LIMIT", 1000)
    with pytest.raises(DataError, match="when unpacked; split the sheet"):
        list(read_sheet(path))
    monkeypatch.undo()
    data, told = path.read_bytes(), 0
    for cut in range(40, len(data), len(data) // 25):  # damaged anywhere: one error with the file's name, or the rows
        path.write_bytes(data[:cut] + b"\x00\xff" + data[cut + 2 :])
        with contextlib.suppress(DataError):
            told += len(list(read_sheet(path)))
    assert told < 25


def test_entities_in_a_workbook_do_not_grow(tmp_path: Path) -> None:
    path, made = workbook(tmp_path / "items.xlsx", [SHORT, ("a-1", "en", "tea", "x")]), tmp_path / "made.xlsx"
    names = "abcdefghij"
    entities = "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise(names))
    start = f'<!DOCTYPE x [<!ENTITY a "{"grow" * 10}">{entities}]>'.encode()
    with zipfile.ZipFile(path) as good, zipfile.ZipFile(made, "w") as bad:
        for name in good.namelist():
            data = good.read(name)
            if name == "xl/worksheets/sheet1.xml":
                at = data.index(b"<worksheet")
                row = b'<row r="3"><c r="A3" t="inlineStr"><is><t>&j;</t></is></c></row></sheetData>'
                data = data[:at] + start + data[at:].replace(b"</sheetData>", row)
            bad.writestr(name, data)
    with pytest.raises(DataError, match="that can be read"):
        list(read_sheet(made))


def test_a_workbook_without_the_library_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path / "items.xlsx", [SHORT])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ComponentError, match=r'pip install "biasfw\[xlsx\]", or save the sheet as "CSV UTF-8"'):
        list(read_sheet(path))


def test_letters_of_columns_and_places_of_fields() -> None:
    assert [letters(index) for index in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]
    assert field_place('a,"b,\nc",d\n', ",", 0) == (0, 1)
    assert field_place('a,"b,\nc",d\n', ",", 1) == (0, 3)
    assert field_place('a,"b,\nc",d\n', ",", 2) == (1, 4)
    assert field_place("a,b\r\n", ",", 5) == (0, 4)


def bundle(folder: Path, rows: Sequence[Sequence[Any]]) -> Path:
    """A bundle of sentence pairs whose items are a workbook."""
    folder.mkdir()
    changes = {"splits": {"own": {"files": ["items.xlsx"]}}}
    (folder / "benchmark.yaml").write_text(yaml.safe_dump({**MANIFEST, **changes}), encoding="utf-8")
    workbook(folder / "items.xlsx", rows)
    return folder


PAIR_HEADER = (*SHORT[:3], "choice_more (stereotyped)", "choice_less (anti-stereotyped)", "gold")


def test_a_bundle_with_a_workbook_runs(tmp_path: Path, installed: Plugins) -> None:
    rows = [PAIR_HEADER, ("1a", "en", "tea", "Tea is calm.", "Tea is loud."), ("2a", "en", "tea", "One.", "Two.")]
    config = RunConfig(str(bundle(tmp_path / "b", rows)), "reference", "stereotyped", runs=str(tmp_path / "runs"))
    [score] = [s for s in run(config, installed).scores if s.slice.get("role") == "stereotyped"][:1]
    assert (score.value, score.n) == (1.0, 2)


def test_a_check_names_sheet_and_cell_of_every_mistake(tmp_path: Path, installed: Plugins) -> None:
    rows = [
        PAIR_HEADER,
        ("1a", "en", "coffee", "One.", "Two."),
        ("2a", "ko", "tea", "One.", "Two."),
        ("3a", "en", "tea", "One.", "Two.", "best"),
        ("4a", "en", "tea", "One.", ""),
        ("5/a", "en", "tea", "One.", "Two."),
        ("6a", "en", "tea", "One.", "=D2"),
        ("7a", "en", "tea", "One.", "Two."),
        ("7a", "en", "tea", "One.", "Two."),
    ]
    folder = bundle(tmp_path / "b", rows)
    report, *_ = check(str(folder), installed)
    said = [str(finding) for finding in report.findings if finding.level == "error"]
    cells = [text.removeprefix(f"{folder}/items.xlsx: sheet items, ")[:14] for text in said]
    assert list(dict.fromkeys(cells)) == [
        "cell C2: error", "cell B3: error", "cell F4: error", "cell E5: error", "cell A6: error", "cell E7: error",
        "cell A9: error",
    ]  # fmt: skip
    assert "also stands in row 8" in said[-1]
    problem = report.as_json()["problems"][2]
    assert (problem["cell"], problem["line"], problem["column"]) == ("sheet items, cell F4", 4, 6)


@pytest.mark.parametrize("cell", ["A1048576", "Z200000", "XFD1048576"])
def test_one_cell_far_away_costs_nothing_and_is_named(tmp_path: Path, cell: str) -> None:
    book = openpyxl.Workbook()
    book.active.append(list(SHORT))
    book.active.append(["tea-01", "en", "tea", "a"])
    book.active[cell] = "x"
    book.save(tmp_path / "items.xlsx")
    before = time.process_time()
    first, last = read_sheet(tmp_path / "items.xlsx")
    assert time.process_time() - before < 10
    assert first.value["topic"] == "a"
    assert any(f"cell {cell[0] if cell[0] == 'Z' else 'B' if cell[0] == 'A' else 'XFD'}" in flaw for flaw in last.flaws)
    assert f"{last.line}" in cell


def test_many_cells_far_to_the_right_end_the_reading(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(list(SHORT))
    for row in range(2, 60):
        book.active[f"XFD{row}"] = "x"
    book.save(tmp_path / "items.xlsx")
    with pytest.raises(DataError, match=r"cell XFD[0-9]+: this cell and others stand far to the right"):
        list(read_sheet(tmp_path / "items.xlsx"))
