"""What an export says of its file is so: of apostrophes only where it wrote some."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from biasfw.exporting.rows import Column
from biasfw.exporting.writers import write_csv, write_xlsx

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
