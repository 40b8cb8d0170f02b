"""What a newcomer is told: what to do next, and what is missing, in words that can be acted upon."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasfw import RunConfig, UsageError
from biasfw.cli import app
from biasfw.engine import run
from biasfw.newbenchmark import NewBenchmark, write_benchmark
from biasfw.plugins import Plugins


def test_a_backend_that_needs_a_model_says_so(tmp_path: Path, installed: Plugins) -> None:
    with pytest.raises(UsageError, match=r"backend reference needs the name of a model; give --model first\|stereo"):
        run(RunConfig("debatebias", "reference", runs=str(tmp_path)), installed)
    with pytest.raises(UsageError, match="backend reference has no model 'frist'; give --model"):
        run(RunConfig("debatebias", "reference", "frist", runs=str(tmp_path)), installed)


def test_who_cannot_refuse_says_what_to_write(tmp_path: Path, installed: Plugins) -> None:
    write_benchmark(NewBenchmark("tried", languages=("yo",)), tmp_path, ("en",))
    config = RunConfig(str(tmp_path / "tried"), "reference", "refuses", mode="generate", runs=str(tmp_path / "runs"))
    result = run(config, installed)
    rows = (result.directory / "failures.jsonl").read_text(encoding="utf-8").splitlines()
    said = {json.loads(row)["error"]["message"] for row in rows}
    assert said == {
        "the reference model 'refuses' says the refusal_text of the item's language pack, which is empty; "
        "write one in languages/TAG.yaml of the benchmark"
    }


@pytest.mark.parametrize("name", ["a", "quite-a-long-name-for-a-benchmark"])
def test_reasons_stand_in_one_column(tmp_path: Path, name: str) -> None:
    with contextlib.chdir(tmp_path):
        done = CliRunner().invoke(app, ["new", "benchmark", name, "--task", "choice"])
    assert done.exit_code == 0, done.output
    first, second, third = done.output.splitlines()[-3:]
    assert first.index("what is left to do") == second.index("what somebody who guesses")
    assert first.startswith(f"  1. biasfw check ./{name}  ")
    assert third.startswith("  3. write your items into items.jsonl")


@pytest.mark.parametrize("name", ["Upper", "1st", "with space", "ümlaut"])
def test_the_help_says_what_a_name_is_made_of(tmp_path: Path, name: str) -> None:
    done = CliRunner().invoke(app, ["new", "benchmark", name, "--output", str(tmp_path)])
    assert isinstance(done.exception, UsageError)
    rule = "small letters, digits, hyphens and underscores"
    assert rule in str(done.exception)
    shown = " ".join(CliRunner().invoke(app, ["new", "benchmark", "--help"]).output.split())
    assert rule in shown
    assert "begin with a letter" in shown
