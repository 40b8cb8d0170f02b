"""With fewer than five topics the page says what the terminal says: a value, and why there is nothing more."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from biasfw.config import RunConfig
from biasfw.engine import run
from biasfw.plugins import Plugins

WHY = "o interval: it takes 5 independent observations, and there are 3"


def test_nothing_is_held_against_chance(page: Callable[..., Any], three_topics: Path) -> None:
    found = page(three_topics)
    card = found.source.split('<div class="headlines">')[1].split('<dl class="meaning">')[0]
    assert "too few to compare with chance" in card
    assert WHY in card
    assert "chance alone" not in card
    assert "test.p" not in card


def test_there_is_one_sentence_instead_of_dashes(page: Callable[..., Any], three_topics: Path) -> None:
    found = page(three_topics)
    figures = found.source.split('<div id="figures-0">')[1].split("All scores")[0]
    assert "– to –" not in found.text
    assert '<span class="none"' not in figures
    assert "95 % interval" not in figures
    assert f"N{WHY}." in figures


def test_what_cannot_be_ranked_has_its_own_reason(page: Callable[..., Any], three_topics: Path, casting: Path) -> None:
    assert "No group stands out: only 3 clusters (simultaneous intervals)." in page(three_topics).text
    assert "intervals overlap" not in page(three_topics).text
    assert "No group stands out (simultaneous intervals)." in page(casting).text


def test_fields_of_few_observations_are_not_coloured(page: Callable[..., Any], three_topics: Path) -> None:
    found = page(three_topics)
    assert "Each field rests on 1 independent observation: too few to be drawn." in found.text
    assert not re.search(r'fill="var\(--(more|less)\d\)"', found.source)
    assert "no difference between languages can be shown" in found.text


def test_the_chart_of_the_whole_set_keeps_its_line_of_chance(page: Callable[..., Any], casting: Path) -> None:
    card = page(casting).source.split('<div class="headlines">')[1].split('<dl class="meaning">')[0]
    assert "No more than chance alone gives" in card
    assert "test.null_mean" in card
    assert re.search(r'fill="var\(--more\d\)"', page(casting).source)


def test_a_value_by_likelihood_is_not_held_against_what_chance_would_pick(
    page: Callable[..., Any], installed: Plugins, tmp_path: Path
) -> None:
    """The test is of the most likely answers, so that they stand beside it, and its line is not drawn."""
    config = RunConfig(
        "debatebias", "reference", model="random", mode="choices", languages=("en",), limit=12, runs=str(tmp_path)
    )
    card = page(run(config, installed).directory).source.split('<div class="headlines">')[1].split("</section>")[0]
    card = card.split('<dl class="meaning">')[0]
    assert "by likelihood; the most likely answers alone: " in card
    assert "test.statistic" in card
    assert 'class="k-chance"' not in card
    assert "than chance alone gives" not in card
