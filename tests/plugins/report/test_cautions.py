"""What the terminal warns of stands on the page, in the same words; what stands against a number stands beside it."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from biasfw import UsageError
from biasfw.cli._summary import print_summary
from biasfw.config import RunConfig
from biasfw.engine import RunResult, run
from biasfw.plugins import Plugins

# How cautions begin on the terminal; told apart from the code that makes them, so that a new one there is missed here.
_SAID = re.compile(
    r"position \d takes .*|positions are not balanced .*|\d+ of \d+ responses? would be decided otherwise .*"
    r"|taking the \w+ option alone scores .*|mean over categories [\d.]+|no group stands out|shown apart: [^(]*"
    r"|no group is \w+"
)
RUNS = [
    ("debatebias", "first", "generate", 40, 2),
    ("debatebias", "random", "generate", None, 1),
    ("debatebias", "stereotyped", "choices", 24, 3),
    ("jubaku:demo", "shorter", "choices", None, 2),
]
Made = Callable[[str, str, str, int | None], RunResult]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, installed: Plugins) -> Made:
    known: dict[Any, RunResult] = {}

    def make(benchmark: str, model: str, mode: str, limit: int | None) -> RunResult:
        key = (benchmark, model, mode, limit)
        if key not in known:
            runs = str(tmp_path_factory.mktemp("cautions"))  # one each: a run grows with every selection
            asked = RunConfig(benchmark, "reference", model=model, mode=mode, limit=limit, runs=runs)
            known[key] = run(asked, installed)
        return known[key]

    return make


def _terminal(result: RunResult) -> str:
    out = io.StringIO()
    with redirect_stdout(out):
        print_summary(result)
    return out.getvalue()


@pytest.mark.parametrize(("benchmark", "model", "mode", "limit", "least"), RUNS)
def test_what_the_terminal_warns_of_is_on_the_page(
    page: Callable[..., Any], made: Made, benchmark: str, model: str, mode: str, limit: int | None, least: int
) -> None:
    result = made(benchmark, model, mode, limit)
    said = {found.group().strip().rstrip(".;") for found in _SAID.finditer(_terminal(result))}
    assert len(said) >= least
    text = " ".join(page(result.directory).text.split()).replace("\xa0", " ").casefold()
    text = text.replace("mean over categories: ", "mean over categories ")
    for each in said:
        assert each.casefold() in text, each


def test_a_model_that_picks_by_place_is_no_fair_model(page: Callable[..., Any], made: Made) -> None:
    locked, sound = (made("debatebias", name, "generate", 40).directory for name in ("first", "random"))
    found = page(locked, sound)
    _, head, other = found.source.split('<article class="run"')
    assert '<p class="alarm" role="note">Position 1 takes' in head
    assert "perhaps its place, not the group" in head.split('<div class="headlines">')[0]
    assert 'class="big doubted"' in head
    assert 'class="big doubted"' not in other
    chart = head.split("Does the list position decide?")[1].split("</figure>")[0]
    assert re.search(r"Position \d takes 100.0 % of the picks: perhaps its place, not the group\.", chart)
    overview = found.source.split('id="overview"')[1].split('<article class="run"')[0]
    table, plots = overview.split('<div class="multiples">')
    assert 'class="tag against">position 1 takes' in table
    assert "var(--few)" in plots, "grey, as the headline is"
    assert "var(--accent)" in plots
    assert "something stands against it" in plots


def test_remarks_have_a_column_of_their_own(page: Callable[..., Any], made: Made) -> None:
    locked, sound = (made("debatebias", name, "generate", 40).directory for name in ("first", "random"))
    table = page(locked, sound).source.split('id="overview"')[1].split("</table>")[0]
    heads = re.findall(r'<th scope="col">(.*?)</th>', table)
    assert [head for head in heads if "debatebias" not in head] == ["model", "95 % interval", "remarks"]
    for row in table.split("<tr>")[2:]:
        cells = re.findall(r"<td>(.*?)</td>", row)
        assert len(cells) == len(heads) - 1
        assert "tag" not in "".join(cells[:-1])


def test_small_charts_of_an_overview_show_what_chance_alone_gives(page: Callable[..., Any], made: Made) -> None:
    both = [made("debatebias", name, "generate", 40).directory for name in ("first", "random")]
    plots = page(*both).source.split('<div class="multiples">')[1].split("</div>\n</section>")[0]
    assert 'class="k-chance"' in plots
    assert "var(--chance)" in plots


def test_what_chance_gives_has_the_words_of_the_terminal(page: Callable[..., Any], made: Made) -> None:
    result = made("debatebias", "random", "generate", None)
    assert "in 95 of 100 cases at most" in _terminal(result)
    assert "in 95 of 100 cases at most" in page(result.directory).text
    assert "cases below" not in page(result.directory).text


def test_the_ledger_has_intervals_and_chance(page: Callable[..., Any], replies: Path) -> None:
    ledger = page(replies).source.split("Order-swap ledger over all pairs</figcaption>")[1].split("</figure>")[0]
    assert ledger.count('.interval.low"') >= 5
    assert ledger.count('.reference"') >= 2


def test_one_way_to_write_a_small_p_and_no_keys_in_prose(page: Callable[..., Any], replies: Path) -> None:
    found = page(replies)
    assert "< .001" not in found.text
    prose = found.text.split("All scores")[0]
    assert not re.search(r"\b[a-z]+_and_[a-z]+\b", prose)


def test_a_run_that_is_given_twice_is_refused(write: Callable[..., Path], replies: Path) -> None:
    with pytest.raises(UsageError, match="a run is given twice"):
        write(replies, replies / ".." / replies.name)
