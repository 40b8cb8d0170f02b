"""What the engine does with the scores of any metric."""

from __future__ import annotations

import pytest

from biasfw.records import Interval, Score
from biasfw.scoring import _within
from biasfw.specs import MetricSpec


def scored(low: float | None, high: float | None, value: float | None = 0.9, unit: str = "share") -> Score:
    why = None if value is not None and low is not None else "few"
    return Score("m", value, unit, 5, 5, "all", reason=why, interval=Interval(low, high, "t(4)", reason=why))


def limits(score: Score, possible: tuple[float, float] | None = (0.0, 1.0)) -> tuple[float | None, float | None]:
    found = _within(score, MetricSpec("m", load="a:b", summary="", range=possible)).interval
    assert found is not None
    return found.low, found.high


def test_no_interval_leaves_the_range_that_its_metric_declares() -> None:
    assert limits(scored(-0.1, 1.2)) == (0.0, 1.0)
    assert limits(scored(-0.1, 1.2), (-1.0, 1.0)) == (-0.1, 1.0)
    cut = _within(scored(0.5, 1.2), MetricSpec("m", load="a:b", summary="")).interval
    assert cut is not None
    assert cut.method == "t(4); cut to the values that are possible"


@pytest.mark.parametrize("score", [scored(0.2, 0.95), scored(None, None), scored(-3, 4, unit="nats"), scored(1, 9, 4)])
def test_what_is_inside_or_of_another_kind_is_left_alone(score: Score) -> None:
    assert score.interval is not None
    assert limits(score) == (score.interval.low, score.interval.high)
    assert _within(score, MetricSpec("m", load="a:b", summary="")) is score
    assert _within(score, MetricSpec("m", load="a:b", summary="", range=None)) is score
