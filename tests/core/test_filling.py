"""`biasfw check --write`: what can be computed is written for the author, and nothing else changes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasfw import BiasfwError, UsageError
from biasfw.cli import app
from biasfw.conformance import check
from biasfw.filling import fill
from biasfw.newbenchmark import TASKS, NewBenchmark, write_benchmark
from biasfw.packcheck import Kit
from biasfw.plugins import Plugins
from biasfw.yamlfile import load_yaml

HEAD = "# What models whose answers are known must score"


@pytest.fixture
def kit(installed: Plugins) -> Kit:
    return Kit(installed)


def made(tmp_path: Path, task: str = "choice") -> Path:
    write_benchmark(NewBenchmark("tried", task=task), tmp_path, ("en",))
    return tmp_path / "tried"


def read(folder: Path) -> str:
    return (folder / "benchmark.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("task", TASKS)
def test_what_is_right_stays_and_counts_are_written_once(tmp_path: Path, kit: Kit, task: str) -> None:
    folder = made(tmp_path, task)
    before = read(folder)
    assert fill(folder, kit) == [f"{folder}/DATASHEET.md: the counts of items, in a section of its own"]
    assert read(folder) == before
    sheet = (folder / "DATASHEET.md").read_text(encoding="utf-8")
    assert "| everyday_life | 8 |" in sheet
    assert fill(folder, kit) == []
    assert (folder / "DATASHEET.md").read_text(encoding="utf-8") == sheet


def test_a_wrong_value_is_put_right_and_told(tmp_path: Path, kit: Kit) -> None:
    folder = made(tmp_path)
    before = read(folder)
    spoilt = before.replace("slice: {condition: plain}, value: 0.5}", "slice: {condition: plain}, value: 0.75}  # mine")
    (folder / "benchmark.yaml").write_text(spoilt, encoding="utf-8")
    told = fill(folder, kit)
    line = spoilt.splitlines().index(next(each for each in spoilt.splitlines() if "# mine" in each)) + 1
    assert re.fullmatch(
        rf"{re.escape(str(folder))}/benchmark.yaml:{line}:\d+: first in mode choices: 0.75 became 0.5; "
        r"is it what you meant\?",
        told[0],
    )
    assert read(folder) == spoilt.replace("value: 0.75}", "value: 0.5}")


@pytest.mark.parametrize("task", TASKS)
def test_where_nothing_is_declared_it_is_declared(tmp_path: Path, installed: Plugins, kit: Kit, task: str) -> None:
    folder = made(tmp_path, task)
    bare = read(folder).partition(HEAD)[0].rstrip()  # without a line end
    (folder / "benchmark.yaml").write_text(bare, encoding="utf-8")
    told = fill(folder, kit)
    assert told
    assert read(folder).startswith(bare)
    declared = {each["model"]: each["value"] for each in load_yaml(folder / "benchmark.yaml").value["expected"]}
    if task == "choice":
        assert declared == {"first": 0.5, "stereotyped": 0, "anti-stereotyped": 1}
    (report, *_) = check(str(folder), installed)
    assert f"split main: {len(declared)} scores of reference models are as declared" in report.facts


def test_nothing_is_written_while_there_are_errors(tmp_path: Path, kit: Kit) -> None:
    folder = made(tmp_path)
    items = folder / "items.jsonl"
    items.write_text(items.read_text(encoding="utf-8").replace('"gold": "fair"', '"gold": "fiar"', 1), encoding="utf-8")
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with pytest.raises(BiasfwError, match=r"has 1 error, so nothing was written; mend them first"):
        fill(folder, kit)
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    done = CliRunner().invoke(app, ["check", str(folder), "--write"])
    assert done.exit_code == 1
    assert "nothing was written" in done.stderr
    assert "/gold: gold 'fiar' is none of its options" in done.stdout


def test_it_is_for_folders(kit: Kit) -> None:
    with pytest.raises(UsageError, match="is for the folder of a benchmark"):
        fill(Path("debatebias"), kit)


@pytest.mark.parametrize(("code", "way"), [(28, "make room on the disk"), (13, "check its permissions")])
def test_a_file_that_cannot_be_written_is_told_with_the_way_out(
    tmp_path: Path, kit: Kit, monkeypatch: pytest.MonkeyPatch, code: int, way: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(code, "No")

    monkeypatch.setattr("biasfw.filling.write_atomically", fail)
    with pytest.raises(BiasfwError, match=rf"cannot be written \(No\); {way}"):
        fill(made(tmp_path), kit)
