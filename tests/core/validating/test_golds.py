"""An item without a right option is told where metrics compare with it, and a run says what it divides by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from click.testing import CliRunner

from biasfw import RunConfig, validating
from biasfw.cli import app
from biasfw.engine import run
from biasfw.findings import Report
from biasfw.newbenchmark import NewBenchmark, write_benchmark
from biasfw.plugins import Plugins

Write = Callable[..., Path]
Rows = Callable[[str], list[dict[str, Any]]]
Errors = Callable[[Path], list[str]]


@pytest.fixture
def report(installed: Plugins) -> Callable[[Path], Report]:
    return lambda path: validating.validate(path, installed)[0]


@pytest.fixture
def errors(report: Callable[[Path], Report]) -> Errors:
    return lambda path: [str(each) for each in report(path).findings if each.level == "error"]


def partly(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != "gold" or at > 2} for at, row in enumerate(rows)]


def test_every_item_that_lacks_it_is_told(write: Write, rows: Rows, errors: Errors) -> None:
    folder = write(en=partly(rows("en")))
    found = errors(folder)
    assert [each.removeprefix(f"{folder}/items/en.jsonl:").split(":")[0] for each in found] == ["1", "2", "3"]
    assert all("the right option (gold) is missing, which accuracy compares with" in each for each in found)
    assert errors(folder / "items" / "en.jsonl") == found, "the file alone says the same"


def test_an_empty_cell_is_told_with_its_place(tmp_path: Path, errors: Errors) -> None:
    write_benchmark(NewBenchmark("komsu", languages=("en",), sheet=True), tmp_path, ("en",))
    path = tmp_path / "komsu" / "items.xlsx"
    book = openpyxl.load_workbook(path)
    at = [cell.value for cell in book["items"][1]].index("gold") + 1
    for row in (3, 5):
        book["items"].cell(row, at).value = None
    book.save(path)
    found = errors(path.parent)
    assert [each.split(": ")[1] for each in found] == ["sheet items, cell G3", "sheet items, cell G5"]
    assert all("(gold) is empty" in each for each in found)


def test_where_no_item_has_one_the_metric_is_told_once(write: Write, rows: Rows, errors: Errors) -> None:
    none = {tag: [{k: v for k, v in row.items() if k != "gold"} for row in rows(tag)] for tag in ("en", "sw")}
    folder = write(**none)
    [error] = errors(folder)
    assert error.startswith(f"{folder}/benchmark.yaml:")
    assert "no item has a right option (gold), which accuracy compares with" in error


def test_it_may_be_missing_if_the_manifest_says_so(write: Write, rows: Rows, report: Callable[[Path], Report]) -> None:
    folder = write(("cluster: source_id", "cluster: source_id\ngold: some"), en=partly(rows("en")))
    found = report(folder)
    assert found.errors == 0
    assert "13 of 16 items have a right option (gold); accuracy leaves out the rest" in found.facts


def test_a_metric_that_reads_no_gold_needs_none(write: Write, rows: Rows, errors: Errors) -> None:
    edits = {"{use: accuracy}": "{use: choice_share}", "primary: {metric: accuracy}": "primary: {metric: choice_share}"}
    folder = write(*edits.items(), en=partly(rows("en")))
    path = folder / "benchmark.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index("expected:")], encoding="utf-8")
    assert errors(folder) == []


def test_a_run_says_what_it_divides_by(write: Write, rows: Rows, tmp_path: Path, installed: Plugins) -> None:
    folder = write(en=partly(rows("en")))
    runs = tmp_path / "runs"
    args = ["run", "--benchmark", str(folder), "--backend", "reference", "--model", "stereotyped", "--runs", str(runs)]
    shown = CliRunner().invoke(app, args)
    assert shown.exit_code == 0, shown.output
    assert "of the 26 of 32 rows that have a right option (gold)" in shown.output
    assert "of all rows" not in shown.output
    done = run(RunConfig(str(folder), "reference", "stereotyped", runs=str(runs)), installed)
    whole = [each for each in done.scores if each.metric == "accuracy" and set(each.slice) == {"condition"}]
    assert len(whole) == 2
    assert all("only 26 of 32 rows have a right option (gold)" in (each.reason or "") for each in whole)


def test_a_misspelt_metric_is_one_mistake(write: Write, errors: Errors) -> None:
    [error] = errors(write(("[{use: accuracy}]", "[{use: accurcy}]")))
    assert "did you mean accuracy" in error
