"""What an export says of its file is so: of apostrophes only where it wrote some."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from biasfw.exporting.rows import Column
from biasfw.exporting.writers import write_csv, write_jsonl, write_xlsx

COLUMNS = (Column("key", "text"), Column("text", "text"))


@pytest.mark.parametrize("write", [write_csv, write_xlsx])
def test_apostrophes_are_spoken_of_only_where_there_are_some(tmp_path: Path, write: object) -> None:
    assert callable(write)
    assert write(tmp_path / "plain", COLUMNS, [{"key": "a", "text": "a plain answer"}], "canary") == []
    rows = [{"key": "a", "text": "=1+1"}, {"key": "b", "text": "fine"}]
    (note,) = write(tmp_path / "one", COLUMNS, rows, "canary")
    assert note == "1 text that a spreadsheet could run begins with an apostrophe, which is not part of it"
    (note,) = write(tmp_path / "two", COLUMNS, [*rows, {"key": "c", "text": "@x"}], "canary")
    assert note.startswith("2 texts that a spreadsheet could run begin with")


def test_the_apostrophe_is_there(tmp_path: Path) -> None:
    write_csv(tmp_path / "x.csv", COLUMNS, [{"key": "a", "text": "=1+1"}], "canary")
    with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == ["'=1+1"]


@pytest.mark.parametrize("write", [write_csv, write_xlsx])
def test_control_characters_that_became_escapes_are_counted(tmp_path: Path, write: object) -> None:
    assert callable(write)
    plain = [{"key": "a", "text": "two\nlines\tand a tab"}]
    assert write(tmp_path / "plain", COLUMNS, plain, "canary") == []
    rows = [{"key": "a", "text": "\x1b[31mred"}, {"key": "b", "text": "\x07"}, *plain]
    (note,) = write(tmp_path / "two", COLUMNS, rows, "canary")
    assert note.startswith("2 texts hold control characters, which are written as escapes such as \\u001b")
    marked, escaped = write(tmp_path / "both", COLUMNS, [{"key": "a", "text": "=1\x1b"}], "canary")
    assert "apostrophe" in marked
    assert escaped.startswith("1 text holds control characters")


def test_halves_of_characters_are_counted_where_other_texts_stay_as_they_are(tmp_path: Path) -> None:
    rows = [{"key": "a", "text": "\x1b[31m \u5fc3"}, {"key": "b", "text": "\ud83d"}]
    (note,) = write_jsonl(tmp_path / "x", COLUMNS, rows, "canary")
    assert note.startswith("1 text holds halves of characters")
    assert write_jsonl(tmp_path / "y", COLUMNS, rows[:1], "canary") == []
