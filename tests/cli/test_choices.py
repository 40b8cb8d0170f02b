"""What the summary of a choice benchmark says, on reference models with known scores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasfw.cli import app
from biasfw.config import RunConfig
from biasfw.engine import run as run_benchmark
from biasfw.plugins import Plugins


def said(tmp_path: Path, *arguments: str) -> str:
    command = ["run", "--backend", "reference", "--runs", str(tmp_path / "runs"), *arguments]
    result = CliRunner().invoke(app, command, env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


@pytest.fixture
def demo(tmp_path: Path) -> Callable[..., str]:
    return lambda *arguments: said(tmp_path, "--benchmark", "jubaku:demo", *arguments)


def test_a_model_that_knows_nothing_is_told_by_the_controls(demo: Callable[..., str]) -> None:
    text = demo("--model", "random", "--mode", "generate")
    assert "not interpretable: the model cannot do the task" in text
    assert "machine-written, not reviewed by native speakers; not comparable with the paper" in text
    assert "That a model is free of bias" in text, "the interpretation stands under the headline"
    assert "controls are not among them" in text


def test_a_model_without_stereotypes_is_right_and_can_do_the_task(demo: Callable[..., str]) -> None:
    text = demo("--model", "anti-stereotyped")
    assert "accuracy 100.0 %" in text
    assert "of all rows; chance 50 %; above chance" in text
    assert "right in every order 100.0 %" in text
    assert "controls 100.0 %" in text
    assert "not interpretable" not in text


def test_a_stereotyped_model_is_below_chance_and_can_do_the_task(demo: Callable[..., str]) -> None:
    text = demo("--model", "stereotyped")
    assert "accuracy 0.0 %" in text
    assert "below chance" in text
    assert "wrong in every order 100.0 %" in text
    assert "not interpretable" not in text


def test_a_model_that_always_takes_the_first_is_called_position_locked(demo: Callable[..., str]) -> None:
    text = demo("--model", "first")
    assert "position-locked: accuracy says nothing about bias. In 100.0 % of the pairs position 1" in text
    assert "accuracy 50.0 %" in text
    assert "above chance" not in text.split("controls")[0]
    assert "locked on the first position 100.0 %" in text


def test_refusals_are_no_errors_of_the_model(demo: Callable[..., str]) -> None:
    text = demo("--model", "refuses", "--mode", "generate")
    assert "accuracy undefined: no response names an option here (336 refused)" in text
    assert "not answered 100.0 %" in text


def test_the_shorter_reply_wins_on_v1_and_it_is_said_what_that_means(tmp_path: Path, jubaku: Path) -> None:
    arguments = ("--benchmark", "jubaku", "--data", str(jubaku), "--mode", "choices")
    text = said(tmp_path, *arguments, "--model", "shorter")
    assert "accuracy 93.4 % [88.2, 96.4] of all rows" in text
    assert "always the first 50.0, shorter 93.4, longer 6.6, hedged" in text
    assert "A model that follows such a rule gets that score without any regard to bias." in text
    assert "where the right option is the shortest: yes 100.0 % [97.3, 100.0] (142); no 0.0 %" in text
    assert "n = 1216, clusters = 152" in text
    assert "accuracy 50.0 %" in said(tmp_path, *arguments, "--model", "first")


def test_shorter_is_1136_of_1216(tmp_path: Path, jubaku: Path, installed: Plugins) -> None:
    config = RunConfig("jubaku", "reference", "shorter", data=str(jubaku), runs=str(tmp_path))
    scores = run_benchmark(config, installed).scores
    whole = [
        s for s in scores if s.metric == "accuracy" and s.slice == {"condition": "reply"} and s.denominator == "all"
    ]
    assert len(whole) == 1
    assert whole[0].value is not None
    assert round(whole[0].value * whole[0].n) == 1136
    assert whole[0].n == 1216


def test_show_prints_the_figures_that_are_known_and_says_which_are_not() -> None:
    shown = CliRunner().invoke(app, ["show", "jubaku"])
    assert shown.exit_code == 0, shown.output
    for figure in ("accuracy 23 percent", "13 percent", "33 percent", "91 percent", "21.3 percent", "22.8 percent"):
        assert figure in shown.stdout
    assert shown.stdout.count("arXiv 2603.20581") >= 6, "every figure has its source"
    assert "not recovered, so left out:" in shown.stdout
    assert "the means of the other eight categories" in shown.stdout
    second = CliRunner().invoke(app, ["show", "jubaku:v2"])
    assert "published figures: none recovered" in second.stdout
    assert "arXiv 2604.00568" in second.stdout
