"""What the instruction does: range and deviation of the accuracies, and answers that change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

NAME = "variant_spread"


def by_variant(shares: dict[str, float], clusters: int = 40) -> Any:
    """Right under each instruction in the first so many clusters."""
    return lambda row: "good" if int(row.cluster[1:]) < shares[row.variant] * clusters else "bad"


def test_range_and_deviation_of_known_accuracies(compute: Any, one: Any, study: Any) -> None:
    shares = {"v0": 0.5, "v1": 0.7, "v2": 0.6}
    scores = compute(NAME, study(by_variant(shares), clusters=40, variants=3))
    spread, deviation = one(scores, statistic="range"), one(scores, statistic="sd")
    assert spread.value == pytest.approx(0.2)
    assert deviation.value == pytest.approx(0.1)
    assert (spread.n, spread.clusters, spread.denominator) == (240, 40, "all")
    assert spread.interval.low <= 0.2 <= spread.interval.high
    assert spread.bounds == pytest.approx((0.2, 0.2))


def test_the_interval_uses_that_the_same_items_are_asked(compute: Any, one: Any, study: Any) -> None:
    # Ten of 40 clusters differ, always the same way: unpaired, the difference would not be clear of zero.
    scores = compute(NAME, study(by_variant({"v0": 0.4, "v1": 0.65}), clusters=40))
    interval = one(scores, statistic="range").interval
    differences = np.r_[np.zeros(16), np.ones(10), np.zeros(14)]
    half = 2.0227 * differences.std(ddof=1) / np.sqrt(40)  # t(.975, 39), one pair of instructions
    assert (interval.low, interval.high) == pytest.approx((0.25 - half, 0.25 + half), abs=1e-4)
    assert interval.low > 0.1


def test_range_covers_the_truth_of_random_answers(compute: Any, one: Any, study: Any) -> None:
    generator, inside = np.random.default_rng(2), 0
    for _ in range(40):
        rates = {"v0": 0.3, "v1": 0.5, "v2": 0.5}
        rows = study(lambda row, rates=rates: "good" if generator.random() < rates[row.variant] else "bad", 30, 3)
        interval = one(compute(NAME, rows), statistic="range").interval
        inside += interval.low <= 0.2 <= interval.high
    assert inside >= 36


def test_what_is_not_answered_bounds_both(compute: Any, one: Any, study: Any) -> None:
    rows = study(by_variant({"v0": 0.5, "v1": 0.5}), clusters=20)
    rows = [replace(row, pick="<refused>") if row.cluster == "c19" and row.variant == "v0" else row for row in rows]
    scores = compute(NAME, rows)
    assert one(scores, statistic="range").bounds == pytest.approx((0.0, 0.05))
    assert one(scores, statistic="sd").bounds == pytest.approx((0.0, 0.05 / np.sqrt(2)))


def test_answers_that_change_with_the_instruction(compute: Any, one: Any, study: Any) -> None:
    # Clusters 16 to 25 of 40 change, in both orders.
    scores = compute(NAME, study(by_variant({"v0": 0.4, "v1": 0.65}), clusters=40))
    changed = one(scores, "answered", statistic="changed")
    assert (changed.value, changed.n, changed.clusters) == (0.25, 80, 40)
    assert changed.interval.low < 0.25 < changed.interval.high


def test_a_change_stays_one_whatever_the_third_answer_was(compute: Any, one: Any, study: Any) -> None:
    def pick(row: Any) -> str:
        if row.variant == "v2":
            return "<refused>"
        return "good" if row.variant == "v0" or row.cluster == "c0" else "bad"

    scores = compute(NAME, study(pick, clusters=10, variants=3))
    assert one(scores, "answered", statistic="changed").value is None
    every = one(scores, "all", statistic="changed")
    assert (every.value, every.bounds) == (0.9, (0.9, 1.0))


def test_rows_of_several_sources_in_a_cluster_are_not_mixed(compute: Any, one: Any, study: Any) -> None:
    rows = [
        replace(row, source=f"{row.cluster}{source}", pick=source)
        for source in ("good", "bad")
        for row in study("gold", clusters=10)
    ]
    assert one(compute(NAME, rows), "answered", statistic="changed").value == 0


def test_one_instruction_has_no_spread(compute: Any, study: Any) -> None:
    scores = compute(NAME, study("gold", clusters=10, variants=1))
    assert {score.reason for score in scores} == {"there is only one instruction"}


def test_without_answers_there_is_no_spread(compute: Any, study: Any) -> None:
    scores = compute(NAME, study(lambda row: "<error>", clusters=10))
    assert {score.value for score in scores} == {None}


def test_with_few_clusters_no_spread_is_larger_than_shares_can_have(compute: Any, one: Any, study: Any) -> None:
    scores = compute(NAME, study(by_variant({"v0": 0.0, "v1": 0.8, "v2": 0.4}, 5), clusters=5, variants=3))
    assert one(scores, statistic="range").interval.high == 1
    assert one(scores, statistic="sd").interval.high == pytest.approx(np.std([0, 1, 1], ddof=1))
