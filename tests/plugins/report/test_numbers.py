"""Every number of the page is one of scores/*.json: both are read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest


def field_of(score: dict[str, Any], name: str) -> Any:
    value: Any = score
    for part in name.split("."):
        value = value[int(part)] if part.isdigit() else value[part]
    return value


def shown(name: str, value: float, unit: str) -> str:
    """As a reader rounds: counts whole, p values with three digits, shares in percent with one."""
    if isinstance(value, int):
        return f"{value:,}"
    if name.startswith("test.p"):
        return "< 0.001" if value < 0.001 else f"{value:.3f}"
    return f"{100 * value:.1f}" if unit == "share" else f"{value:.3g}"


def check(page: Any, runs: list[Path]) -> int:
    """Hold every number against its file; return how many different scores are on the page."""
    seen = set()
    read = cache(lambda path: json.loads(path.read_text(encoding="utf-8"))["scores"])
    for mark, value, text in page.numbers:
        run, file, place, name = mark.split(".", 3)
        score = read(runs[int(run)] / page.files[f"{run}.{file}"])[int(place)]
        true = field_of(score, name)
        assert float(value) == true, mark
        if name == "test.null_mean" or name == "test.null_q95":
            assert text == f"{100 * true:.1f}"
        else:
            assert text == shown(name, true, score["unit"]), mark
        seen.add((run, file, place))
    return len(seen)


def test_numbers_of_a_choices_run(page: Callable[..., Any], replies: Path) -> None:
    assert check(page(replies), [replies]) > 60


def test_numbers_of_a_generate_run(page: Callable[..., Any], casting: Path) -> None:
    assert check(page(casting), [casting]) > 400


def test_numbers_of_several_runs(page: Callable[..., Any], casting: Path, replies: Path) -> None:
    both = page(casting, replies)
    assert check(both, [casting, replies]) > 400
    assert {mark.split(".")[0] for mark, _, _ in both.numbers} == {"0", "1"}


def test_the_headline_is_the_primary_score_with_its_interval(page: Callable[..., Any], replies: Path) -> None:
    document = json.loads(next((replies / "scores").glob("*.json")).read_text(encoding="utf-8"))
    primary = next(s for s in document["scores"] if s["metric"] == "accuracy" and s["slice"] == {"condition": "reply"})
    found = page(replies)
    card = re.search(r'<p class="big">(.*?)</p>', found.source)
    assert card
    assert f'value="{primary["value"]!r}"' in card[1]
    after = found.source[card.end() :]
    assert f'value="{primary["interval"]["low"]!r}"' in after[:600]
    assert f'value="{primary["interval"]["high"]!r}"' in after[:600]


def test_the_fields_of_a_heat_map_are_the_rounded_scores(page: Callable[..., Any], casting: Path) -> None:
    document = json.loads(next((casting / "scores").glob("*.json")).read_text(encoding="utf-8"))
    wanted = {"slot": "stereotyped", "condition": "forced", "label": "arabs"}
    cells = [
        f"{100 * s['value']:.0f}"
        for s in document["scores"]
        if s["metric"] == "label_share" and s["denominator"] == "all"
        and len(s["slice"]) == 5 and wanted.items() <= s["slice"].items() and "language" in s["slice"]
    ]  # fmt: skip
    svg = re.search(
        r'<svg role="img" aria-label="Arabs cast as stereotyped: a heat map".*?</svg>', page(casting).source
    )
    assert svg
    drawn = re.findall(r'fill="var\(--ink\)">(\d+)</text>', svg[0])
    assert len(cells) == 28
    assert sorted(drawn) == sorted(cells)


def test_what_is_undefined_has_its_reason_and_no_number(page: Callable[..., Any], replies: Path) -> None:
    document = json.loads(next((replies / "scores").glob("*.json")).read_text(encoding="utf-8"))
    undefined = next(s for s in document["scores"] if s["metric"] == "format_compliance")
    assert undefined["value"] is None
    assert f"undefined: {undefined['reason']}" in page(replies).text


@pytest.mark.parametrize("run", ["casting", "replies"])
def test_every_chart_has_a_table(page: Callable[..., Any], run: str, request: pytest.FixtureRequest) -> None:
    source = page(request.getfixturevalue(run)).source
    figures = re.findall(r"<figure.*?</figure>", source, re.DOTALL)
    assert len(figures) > 4
    for figure in figures:
        assert "<svg" not in figure or figure.count("<tbody>") == 1
