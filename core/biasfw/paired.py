"""The difference of two subjects on the same clusters: its interval, and what difference could have been seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from biasfw._resampling import smallest_p
from biasfw.stats import MIN_CLUSTERS, Estimate, clustered_mean, proportion_from_cluster_sums

_MIN_DEVIATING = 8  # fewer clusters that differ from the rest (or fewer than half) cannot carry a variance
_FEW = "mean difference over clusters: intervals of what speaks for either side, combined (MOVER)"
CORRELATIONS = (0.0, 0.3, 0.5, 0.7)  # of two subjects over the clusters, as they are met
POWER = 0.80
MIN_TESTED = 6  # clusters: with five, the smallest p of a sign-flip test is .0625


def paired_mean(differences: ArrayLike, level: float = 0.95) -> Estimate:
    """The mean of ``differences`` (C,), one mean difference in [-1, 1] per cluster, every cluster with equal weight.

    A t interval with C - 1 degrees of freedom, cut to -1 and 1. Where fewer than 8 clusters, and fewer than half,
    differ from the rest, a variance says little (with none it is 0), so that the interval is put together of those of
    ``p+ = mean(max(d, 0))`` and ``p- = mean(max(-d, 0))`` in Wilson's form:
    ``d - sqrt((p+ - l+)^2 + (u- - p-)^2 + 2 r (p+ - l+)(u- - p-))`` with ``r = sqrt(p+ p- / ((1 - p+)(1 - p-)))``,
    since both cannot be in one cluster (MOVER: Newcombe 1998, Statistics in Medicine 17; Donner and Zou 2012). No
    interval below 5 clusters.

    Raises:
        ValueError: a difference lies outside [-1, 1] or is NaN.
    """
    data = np.asarray(differences, dtype=np.float64)
    if not bool(np.all(np.abs(data) <= 1 + 1e-9)):
        raise ValueError("differences of shares lie between -1 and 1")
    count = len(data)
    plain = clustered_mean(data, np.arange(count), level, possible=(-1.0, 1.0))
    if count < MIN_CLUSTERS or plain.mean is None or _deviating(data) >= min(_MIN_DEVIATING, count / 2):
        return plain
    ones = np.ones(count)
    gain = proportion_from_cluster_sums(np.clip(data, 0, 1), ones, level=level)
    loss = proportion_from_cluster_sums(np.clip(-data, 0, 1), ones, level=level)
    low, high = _combined(gain, loss), _combined(loss, gain)
    return Estimate(plain.mean, plain.se, low, -high, count, count, None, _FEW, None, level)


def _combined(up: Estimate, down: Estimate) -> float:
    """The lower limit of ``up - down``."""
    assert up.mean is not None and down.mean is not None  # noqa: S101, PT018
    assert up.low is not None and down.high is not None  # noqa: S101, PT018
    odds = up.mean * down.mean / max((1 - up.mean) * (1 - down.mean), 1e-12)
    below, above = up.mean - up.low, down.high - down.mean
    half = math.sqrt(below**2 + above**2 + 2 * math.sqrt(min(odds, 1.0)) * below * above)
    return max(-1.0, up.mean - down.mean - half)


def _deviating(data: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> int:
    _, counts = np.unique(np.round(data, 9), return_counts=True)
    return len(data) - int(counts.max(initial=0))


def minimum_detectable(se: float | None, clusters: int, alpha: float = 0.05) -> float | None:
    """The difference that a test at ``alpha`` would find in 80 of 100 cases: ``(t(1-alpha/2, C-1) + t(.80, C-1)) SE``.

    None where there is no standard error above 0, or where so few clusters can give no p below ``alpha``.
    """
    if se is None or se <= 0 or clusters < MIN_CLUSTERS or smallest_p(clusters) >= alpha:
        return None
    return float((stdtrit(clusters - 1, 1 - alpha / 2) + stdtrit(clusters - 1, POWER)) * se)


@dataclass(frozen=True, slots=True)
class Detectable:
    """What ``clusters`` would show, by the correlation of the two subjects over the clusters."""

    clusters: int
    by_correlation: tuple[tuple[float, float | None], ...]


def detectable(variance: float, clusters: int) -> Detectable:
    """The minimum detectable difference before a run: ``SE = sqrt(2 variance (1 - r) / C)`` for r from 0 to 0.7.

    Args:
        variance: of the scores of clusters, in both subjects alike (0.25 is the most that shares can have).
        clusters: C.
    """
    found = [(r, minimum_detectable(math.sqrt(2 * variance * (1 - r) / clusters), clusters)) for r in CORRELATIONS]
    return Detectable(clusters, tuple(found))
