"""Which ranks the runs of a table may have, and why: paired where the runs can be paired, else by their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scipy.special import stdtrit

from biasfw.comparing import Asking, MeasureError, compare_runs
from biasfw.storedrun import Record, StoredRun

_PAIRED = (
    "Ranks are the places that a run may have: a run stands above another only where a paired test and interval show a "
    "difference, over all pairs together. Equal or overlapping ranges are ties"
)
_BY_INTERVALS = (
    "Ranks are the places that a run may have; {better} is better. A run stands above another only where their "
    "intervals do not touch, each made wider so that all of them hold together and whatever the missing answers had "
    "been. Equal or overlapping ranges are ties; a run without an interval has no rank"
)
_BETTER = {"higher": "a higher value", "lower": "a lower value", "toward-ideal": "nearer to {ideal:g} %"}


@dataclass(frozen=True, slots=True)
class Order:
    """Place -> the ranks (best, worst) that a run may have; empty where there is no order. ``said``: how or why not."""

    said: str
    ranks: Mapping[int, tuple[int, int]] = field(default_factory=dict)


def order(members: Sequence[tuple[StoredRun, str, Record]], condition: str) -> Order:
    """The order of runs by their primary scores under one condition."""
    if not members:
        return Order("No run is ranked: all stand apart")
    scores = [score for _, _, score in members]
    direction = scores[0].get("direction", "none")
    if direction not in _BETTER or (direction == "toward-ideal" and scores[0].get("ideal") is None):
        return Order("The runs are not ranked: no value of this measure is declared better than another")
    if scores[0]["metric"] == "accuracy":
        return _paired(members, condition)
    spans = {place: span for place, score in enumerate(scores) if (span := _span(score, len(scores))) is not None}
    if not spans:
        return Order("The runs are not ranked: no score has an interval")
    ideal = scores[0].get("ideal")
    ranks = _ranked([_goodness(span, direction, ideal) for span in spans.values()])
    better = _BETTER[direction].format(ideal=100 * (ideal or 0.0))
    return Order(_BY_INTERVALS.format(better=better), dict(zip(spans, ranks, strict=True)))


def _paired(members: Sequence[tuple[StoredRun, str, Record]], condition: str) -> Order:
    if len(members) < 2:
        return Order(_PAIRED, dict.fromkeys(range(len(members)), (1, 1)))
    try:
        found = compare_runs([run for run, _, _ in members], Asking(slices=False), judge=members[0][1])
    except MeasureError:
        return Order("The runs are not ranked: they did not ask the same, and cannot be paired")
    ranks = {
        rank.run - 1: (rank.best, rank.worst)
        for rank in found.ranks
        if rank.condition == condition and rank.best is not None and rank.worst is not None
    }
    return Order(_PAIRED, ranks)


def _span(score: Record, count: int) -> tuple[float, float] | None:
    """The interval of one of ``count`` scores, so wide that all hold together, and with its bounds inside.

    Each distance from the value is stretched by ``t(1 - .025/count) / t(.975)`` (Bonferroni). For intervals that are
    themselves projected from several at a higher level this is a little more than is needed.
    """
    interval, value = score.get("interval") or {}, score.get("value")
    low, high, clusters = interval.get("low"), interval.get("high"), score["clusters"]
    if value is None or low is None or high is None or clusters < 2:
        return None
    tail = (1 - interval.get("level", 0.95)) / 2
    stretch = float(stdtrit(clusters - 1, 1 - tail / count) / stdtrit(clusters - 1, 1 - tail))
    least, greatest = score.get("bounds") or (value, value)
    return min(least, value - stretch * (value - low)), max(greatest, value + stretch * (high - value))


def _goodness(span: tuple[float, float], direction: str, ideal: float | None) -> tuple[float, float]:
    """The same with larger as better."""
    low, high = span
    if direction == "higher":
        return low, high
    if direction == "lower" or ideal is None:
        return -high, -low
    nearest = 0.0 if low <= ideal <= high else min(abs(low - ideal), abs(high - ideal))
    return -max(abs(low - ideal), abs(high - ideal)), -nearest


def _ranked(spans: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
    return [
        (1 + sum(other > high for other, _ in spans), len(spans) - sum(other < low for _, other in spans))
        for low, high in spans
    ]
