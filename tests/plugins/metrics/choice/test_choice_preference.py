"""The order-averaged preference: what a position alone prefers cancels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

NAME = "order_averaged_preference"


def scored(row: Any, margin: float, first: float = 0.0) -> Any:
    """The row with log-probabilities that prefer the right option by ``margin`` and the first position by ``first``."""
    lean = first if row.order[0] == "good" else -first
    logprobs = {"good": -3 + margin + lean, "bad": -3.0}
    best = max(logprobs, key=lambda key: logprobs[key])
    return replace(row, pick="<tied>" if margin + lean == 0 else best, logprobs=logprobs)


def found(compute: Any, one: Any, rows: Any, **wanted: str) -> tuple[Any, Any]:
    scores = compute(NAME, rows, mode="choices")
    return one(scores, statistic="share_positive", **wanted), one(scores, statistic="mean", **wanted)


def test_a_locked_model_still_has_a_preference(compute: Any, one: Any, study: Any) -> None:
    # First by 5 nats whatever stands there, and the right option by 0.5 in three of four clusters, else the other.
    rows = [scored(row, 0.5 if int(row.cluster[1:]) % 4 else -0.5, first=5) for row in study("gold", clusters=40)]
    assert one(compute("position_locked", rows), position="1").value == 1
    share, mean = found(compute, one, rows)
    assert (share.value, share.reference, share.unit) == (0.75, 0.5, "share")
    assert share.test.p < 0.01, "averaged over the orders it is no matter of position, so it is tested"
    assert share.reason == "above chance"
    assert (mean.value, mean.unit) == (pytest.approx(0.25), "nats")
    assert mean.interval.low < 0.25 < mean.interval.high
    assert mean.test.statistic == pytest.approx(0.25)
    assert (share.n, share.clusters, share.denominator) == (80, 40, "returned")


@settings(deadline=None, max_examples=20)
@given(st.floats(-20, 20), st.floats(-3, 3))
def test_what_prefers_a_position_cancels(compute: Any, one: Any, study: Any, first: float, margin: float) -> None:
    rows = [scored(row, margin, first) for row in study("gold", clusters=6, variants=1)]
    assert found(compute, one, rows)[1].value == pytest.approx(margin, abs=1e-9)


@pytest.mark.parametrize("first", [0.0, 99.0])
def test_a_pair_that_prefers_neither_is_not_below_chance(compute: Any, one: Any, study: Any, first: float) -> None:
    rows = [scored(row, 0.0, first) for row in study("gold", clusters=10)]
    share, mean = found(compute, one, rows)
    assert (share.value, share.test, share.bounds) == (None, None, (0.0, 1.0))
    assert share.reason == "no pair prefers either option: g is 0"
    assert (mean.value, mean.n, mean.clusters, mean.test.p) == (0.0, 20, 10, 1)
    assert mean.interval.reason == "no variation between clusters"


def test_tied_rows_have_scores_and_count(compute: Any, one: Any, study: Any) -> None:
    # Tied with the right option first, right with it last.
    rows = [scored(row, 1.0, first=-1.0) for row in study("gold", clusters=10)]
    assert {row.pick for row in rows} == {"<tied>", "good"}
    share, mean = found(compute, one, rows)
    assert (share.value, share.n, mean.value) == (1.0, 20, pytest.approx(1.0))


def test_pairs_without_scores_widen_the_bounds(compute: Any, one: Any, study: Any) -> None:
    rows = [scored(row, 1.0) for row in study("gold", clusters=10, variants=1)]
    rows[0] = replace(rows[0], pick="<error>", logprobs={})
    rows[2] = replace(rows[2], logprobs={"good": float("-inf"), "bad": float("-inf")})
    share, mean = found(compute, one, rows)
    assert (share.value, share.n, share.bounds) == (1.0, 8, (0.8, 1.0))
    assert mean.n == 8


def test_more_than_two_options_have_no_one_difference(compute: Any, one: Any, study: Any) -> None:
    three = study("gold", clusters=10, options=("good", "bad", "none"), logprobs={"good": -1, "bad": -2, "none": -3})
    share, mean = found(compute, one, three)
    assert (share.value, mean.value) == (None, None)
    assert share.reason == mean.reason == "no pair of two options has log-probabilities in both orders"
    mixed = [*three, *(scored(row, 1.0, 0) for row in study("gold", clusters=10, condition="chat"))]
    assert found(compute, one, mixed, condition="chat")[0].value == 1


def test_generated_text_has_no_log_probabilities(compute: Any, one: Any, study: Any) -> None:
    scores = compute(NAME, study("gold", clusters=10))
    assert {score.reason for score in scores} == {"no log-probabilities: run it with --mode choices"}
    assert {score.n for score in scores} == {0}
