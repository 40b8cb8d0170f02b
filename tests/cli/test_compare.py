"""What ``compare``, ``export`` and ``leaderboard`` print and write."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from biasfw.cli import app
from biasfw.config import RunConfig
from biasfw.engine import run
from biasfw.errors import UsageError
from biasfw.plugins import Plugins


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, installed: Plugins) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("runs")
    found = {}
    for name, model, benchmark, mode in (
        ("fair", "anti-stereotyped", "jubaku:demo", "choices"),
        ("first", "first", "jubaku:demo", "choices"),
        ("random", "random", "jubaku:demo", "choices"),
        ("debates", "random", "debatebias", "generate"),
        ("silent", "refuses", "debatebias", "generate"),
    ):
        config = RunConfig(benchmark, "reference", model=model, mode=mode, runs=str(folder))
        found[name] = os.path.relpath(run(config, installed).directory)
    return found


def called(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def said(*arguments: str) -> str:
    result = called(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def test_two_runs_on_a_terminal_of_80_columns(runs: dict[str, str]) -> None:
    text = said("compare", runs["random"], runs["fair"], "--allow-demo")
    flat = " ".join(text.split())
    assert "what is compared (the treatment) model: random / anti-stereotyped" in flat
    assert "rule: a difference is claimed only where two things agree: the test" in flat
    assert "=> the accuracy of run 1 is lower than that of run 2" in flat
    assert "would be found in 80 of 100 such comparisons" in flat
    assert "machine-written, not reviewed by native speakers" in flat
    assert "by category (dialogues): first, second, difference in points; intervals that hold with 95 % for all" in flat
    assert "no interval: fewer than 5 dialogues" in flat
    long = [line for line in text.splitlines() if len(line) > 80 and runs["random"] not in line and "/" not in line]
    assert long == []


def test_no_difference_is_said_as_such(runs: dict[str, str]) -> None:
    text = said("compare", runs["random"], runs["first"], "--allow-demo")
    assert "=> no difference can be shown with this data" in text
    flat = " ".join(text.split())
    assert (
        "! run 2 is position-locked: in 100.0 % of 168 pairs it picks position 1 whichever option stands there" in flat
    )
    assert "the difference does not say that one run is more biased than the other" in flat


def test_refused_with_the_list(runs: dict[str, str]) -> None:
    result = called("compare", runs["random"], runs["debates"], "--allow-demo")
    assert result.exit_code == 1
    assert "benchmark: jubaku:demo / debatebias:demo" in result.stderr
    assert "are of two benchmarks, whose scores cannot be compared" in str(result.exception)
    assert "anew as the other" not in str(result.exception)


def test_missing_answers_are_spoken_of(runs: dict[str, str]) -> None:
    flat = " ".join(said("compare", runs["debates"], runs["silent"], "--allow-demo").split())
    assert "not answered: 0 in run 1, 280 in run 2" in flat
    assert "=> no difference can be shown with this data: the missing answers could undo it" in flat


def test_margins_in_words(runs: dict[str, str]) -> None:
    command = ["compare", runs["fair"], runs["random"], "--allow-demo", "--margin", "0.05"]
    flat = " ".join(said(*command, "--noninferior").split())
    assert "=> accuracy: run 1 is not worse than run 2 by 5 points or more (90 % interval" in flat
    assert flat.index("=> accuracy: run 1 is not worse") < flat.index("order-averaged preference"), "under its heading"
    flat = " ".join(said(*command, "--equivalent").split())
    assert "=> accuracy: it is not shown that the runs are equivalent within 5 points" in flat


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--margin", "0.05"], "--margin M goes with"),
        (["--equivalent"], "--margin M goes with"),
        (["--margin", "5", "--equivalent"], "0.03 is three points"),
        (["--margin", "0.05", "--equivalent", "--noninferior"], "two questions"),
        (["--plan", "100"], "takes no run, or the one"),
        ([], "add --allow-demo"),
    ],
)
def test_what_does_not_go_together(options: list[str], message: str, runs: dict[str, str]) -> None:
    result = called("compare", runs["fair"], runs["random"], *options)
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)


def test_three_runs_have_ranks_and_all_pairs(runs: dict[str, str]) -> None:
    text = said("compare", runs["random"], runs["fair"], runs["first"], "--allow-demo")
    assert "ranks by accuracy, reply" in text
    assert "         1   2  anti-stereotyped" in text
    assert "         -   1  random" in text, "cannot do the task"
    assert "         -   3  first" in text, "locked on a position"
    flat = " ".join(text.split())
    assert "3 first ! not ranked: not interpretable: the model cannot do the task; position-locked" in flat
    assert [line for line in text.splitlines() if " against " in line] == ["1 against 2", "1 against 3", "2 against 3"]


def test_json_page_and_flips(runs: dict[str, str], tmp_path: Path) -> None:
    page, flips = tmp_path / "c.html", tmp_path / "f.jsonl"
    command = ["compare", runs["random"], runs["fair"], "--allow-demo", "--json"]
    text = said(*command, "-o", str(page), "--flips", str(flips))
    found = json.loads(text)
    assert found["rule"].startswith("a difference is claimed only where two things agree")
    question = found["pairs"][0]["questions"][0]
    assert question["slices"][0]["comparisons"] == 10
    rows = [json.loads(line) for line in flips.read_text("utf-8").splitlines()]
    assert rows[0]["changed"] == len(rows) - 1 == len(question["flips"])
    assert rows[0]["canary"].startswith("biasfw canary")
    assert question["counts"]["only the second right"] == len(rows) - 1
    html = page.read_text("utf-8")
    assert f"{100 * question['overall']['a']:.1f} %" in html
    assert f"{100 * question['overall']['interval']['low']:.1f}".replace("-", "\N{MINUS SIGN}") in html


def test_a_plan_without_runs() -> None:
    text = said("compare", "--plan", "152")
    assert "  0.0   16.2" in text
    assert "  0.7   8.9" in text
    assert json.loads(said("compare", "--plan", "152", "--json"))["variance"] == 0.25


def test_export_says_where(runs: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "x.csv"
    found = json.loads(said("export", runs["debates"], "--to", "csv", "-o", str(out), "--json"))
    assert found["rows"] == 280
    assert out.is_file()
    assert called("export", runs["debates"], "--to", "pdf").exit_code == 2


def test_leaderboard_writes_a_page(runs: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "l.html"
    text = said("leaderboard", str(Path(runs["fair"]).parent), "-o", str(out))
    assert text.startswith("2 tables, 5 entries, 0 runs left out")
    assert "Fixed rules, no models" in out.read_text("utf-8")
