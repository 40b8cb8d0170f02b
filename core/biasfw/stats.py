"""Intervals and tests for clustered observations: rows of one cluster are never counted as independent.

Intervals live here, resampling tests in ``biasfw._resampling``, multinomial nulls in ``biasfw._multinomial``, what
limits of shares say about all of them in ``biasfw._simplex``; this module exports all of them. What cannot be computed
is null with a reason, never 0 or NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr, stdtrit

from biasfw._multinomial import (
    MultinomialNull,
    NullStatistic,
    miller_madow,
    multinomial_null,
    plugin_entropy,
    total_variation,
    total_variation_test,
)
from biasfw._resampling import sign_flip, sign_flips
from biasfw._simplex import largest_share_limits, variation_limits
from biasfw.records import Interval, Test

__all__ = [
    "MIN_CLUSTERS",
    "Estimate",
    "MultinomialNull",
    "NullStatistic",
    "Standing",
    "clustered_mean",
    "clustered_proportion",
    "holm",
    "largest_share_limits",
    "miller_madow",
    "multinomial_null",
    "plugin_entropy",
    "point_test",
    "proportion_from_cluster_sums",
    "sign_flip",
    "sign_flips",
    "simultaneous_level",
    "standing",
    "stratified_proportion",
    "total_variation",
    "total_variation_test",
    "variation_limits",
    "wilson",
    "wilson_form",
]

MIN_CLUSTERS = 5  # fewer clusters cannot carry an interval
_MIN_DEVIATING = 8  # fewer clusters that differ from the rest cannot carry a variance
_TINY = 1e-12
CUT = "cut to the values that are possible"
_PROPORTION = "clustered proportion: Wilson form with effective n and t(C - 1)"
_SPARSE = f"{_PROPORTION}; fewer than {_MIN_DEVIATING} clusters differ from the rest: n is at most the clusters"
_MEAN = "clustered mean: t(C - 1)"
_STRATIFIED = "mean over strata, stratified and clustered: Wilson form with effective n and t(C - K)"
_WEIGHTED = "weighted mean over strata, stratified and clustered: Wilson form with effective n and t(C - K)"
_POINT = "clustered proportion against a point: score test with effective n and t(C - 1)"

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean of ``n`` rows in ``clusters`` clusters, its cluster-robust standard error and its interval.

    ``mean`` is null without rows; ``low`` and ``high`` are null where no interval can be given; ``reason`` says why.
    ``n_eff`` is the number of independent observations that would be as informative (proportions only).
    """

    mean: float | None
    se: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    n_eff: float | None
    method: str
    reason: str | None = None
    level: float = 0.95

    def interval(self) -> Interval:
        """The interval as the record that scores carry."""
        return Interval(self.low, self.high, self.method, self.level, self.reason)

    def within(self, span: tuple[float, float]) -> Estimate:
        """The estimate with its interval cut to ``span``, the values that the mean can have."""
        if self.low is None or self.high is None or span[0] <= self.low <= self.high <= span[1]:
            return self
        low, high = max(self.low, span[0]), min(self.high, span[1])
        return replace(self, low=low, high=high, method=f"{self.method}; {CUT}")


def wilson(successes: float, n: int, level: float = 0.95) -> tuple[float, float] | None:
    """Wilson's score interval for ``successes`` of ``n`` independent trials (Wilson 1927); None if ``n`` is 0."""
    if n == 0:
        return None
    return wilson_form(successes / n, n, float(ndtri(0.5 + level / 2)))


def clustered_proportion(values: ArrayLike, clusters: ArrayLike, level: float = 0.95) -> Estimate:
    """The mean of ``values`` (n,), each in [0, 1], with rows of equal ``clusters`` (n,) taken as dependent.

    ``SE^2 = C/(C-1) sum_c (sum_i (s_ci - m))^2 / n^2`` (Miller 2024, arXiv 2411.00640, with the usual correction for
    few clusters), ``n_eff = m (1-m) / SE^2``, and Wilson's form with ``n_eff`` and ``t = t(.975, C-1)``. If SE is 0 or
    fewer than 8 clusters differ from the modal cluster mean, ``n_eff`` is at most C. Below 5 clusters: no interval.

    Raises:
        ValueError: a value lies outside [0, 1] or is NaN.
    """
    data, codes = _checked(values, clusters)
    if not bool(np.all((data >= 0) & (data <= 1))):
        raise ValueError("a proportion is made of values between 0 and 1")
    return proportion_from_cluster_sums(np.bincount(codes, weights=data), np.bincount(codes), level=level)


def proportion_from_cluster_sums(
    sums: ArrayLike, sizes: ArrayLike, *, n: int | None = None, level: float = 0.95
) -> Estimate:
    """The same as ``clustered_proportion`` from the sum of values and the number of rows (or weight) per cluster.

    Args:
        sums: (C,) sum of the values of each cluster.
        sizes: (C,) rows of each cluster, or the sum of their weights; clusters of size 0 are left out.
        n: the number of rows, where ``sizes`` are weights.
        level: confidence level.
    """
    weights = np.asarray(sizes, dtype=np.float64)
    present = weights > 0
    totals, weights = np.asarray(sums, dtype=np.float64)[present], weights[present]
    count, rows = len(weights), round(float(weights.sum())) if n is None else n
    if count == 0:
        return Estimate(None, None, None, None, 0, 0, None, _PROPORTION, "no rows", level)
    mean = min(max(float(totals.sum() / weights.sum()), 0.0), 1.0)
    se = _standard_error(totals, weights, mean)
    if se is None or count < MIN_CLUSTERS:
        return Estimate(mean, se, None, None, rows, count, None, _PROPORTION, too_few(count), level)
    n_eff = mean * (1 - mean) / se**2 if se > _TINY else math.inf
    method = _PROPORTION
    if (se <= _TINY or _deviating(totals / weights) < _MIN_DEVIATING) and n_eff > count:
        n_eff, method = float(count), _SPARSE
    low, high = wilson_form(mean, n_eff, _t_quantile(level, count))
    return Estimate(mean, se, low, high, rows, count, n_eff, method, None, level)


def stratified_proportion(
    sums: ArrayLike, sizes: ArrayLike, level: float = 0.95, *, weights: ArrayLike | None = None
) -> Estimate:
    """The mean over K strata of the proportion in each, each with the same weight (a macro average) or with its own.

    ``m = sum_k W_k m_k``, ``W_k = 1/K``; with the linearised residual of cluster c in stratum k,
    ``r_ck = sqrt(C_k/(C_k-1)) W_k (S_ck - m_k n_ck)/N_k``, ``SE^2 = sum_c (sum_k r_ck)^2``. Where every cluster lies in
    one stratum this is the variance of a stratified sample, ``sum_k W_k^2 SE_k^2`` (Cochran 1977, Sampling
    Techniques, section 5.6); a cluster that lies in several keeps their covariance. A stratum with one cluster has no
    variance of its own: its residual is taken from ``m``, without the factor, which is conservative (Lumley 2010,
    Complex Surveys, "adjust"). Wilson's form as in ``clustered_proportion`` with C - K degrees of freedom; where few
    clusters differ, ``n_eff`` is at most the number of clusters that equal weights would need (Kish 1965).

    Args:
        sums: (C, K) sum of the values of each cluster in each stratum.
        sizes: (C, K) rows of each cluster in each stratum; clusters and strata without rows are left out.
        level: confidence level.
        weights: (K,) how much each stratum counts, such as its size; default: all the same.
    """
    rows = np.asarray(sizes, dtype=np.float64)
    used = rows.sum(axis=1) > 0, rows.sum(axis=0) > 0
    rows, totals = rows[np.ix_(*used)], np.asarray(sums, dtype=np.float64)[np.ix_(*used)]
    count, strata = rows.shape
    n = round(float(rows.sum()))
    method = _STRATIFIED if weights is None else _WEIGHTED
    if n == 0:
        return Estimate(None, None, None, None, 0, 0, None, method, "no rows", level)
    each = np.ones(strata) if weights is None else np.asarray(weights, dtype=np.float64)[used[1]]
    each = each / each.sum()
    means = totals.sum(axis=0) / rows.sum(axis=0)
    mean = min(max(float(means.mean() if weights is None else each @ means), 0.0), 1.0)
    if count < MIN_CLUSTERS or count - strata < MIN_CLUSTERS - 1:
        reason = too_few(count) if count < MIN_CLUSTERS else f"{count} clusters are too few for {strata} strata"
        return Estimate(mean, None, None, None, n, count, None, method, reason, level)
    members = (rows > 0).sum(axis=0)
    alone = members == 1
    factors = np.where(alone, 1.0, np.sqrt(members / np.maximum(members - 1, 1)))
    shares = each * rows / rows.sum(axis=0)
    centred = each * totals / rows.sum(axis=0) - shares * np.where(alone, mean, means)
    se = float(np.linalg.norm((factors * centred).sum(axis=1)))
    n_eff = mean * (1 - mean) / se**2 if se > _TINY else math.inf
    if se <= _TINY or _deviating(totals.sum(axis=1) / rows.sum(axis=1)) < _MIN_DEVIATING:
        n_eff = min(n_eff, 1 / float((shares.sum(axis=1) ** 2).sum()))
    low, high = wilson_form(mean, n_eff, float(stdtrit(count - strata, 0.5 + level / 2)))
    return Estimate(mean, se, low, high, n, count, n_eff, method, None, level)


def clustered_mean(
    values: ArrayLike, clusters: ArrayLike, level: float = 0.95, *, possible: tuple[float, float] | None = None
) -> Estimate:
    """The mean of any ``values`` (n,) with the cluster-robust SE above and a t interval with C - 1 degrees of freedom.

    No interval below 5 clusters, nor where all clusters agree (its width would be 0). Where the mean can only lie in
    ``possible`` (differences of shares: -1 to 1), the interval is cut to it: with few clusters t reaches beyond, and
    leaving out what cannot be costs no coverage (Mandelkern 2002, Statistical Science 17).

    Raises:
        ValueError: a value is NaN or infinite.
    """
    data, codes = _checked(values, clusters)
    sizes = np.asarray(np.bincount(codes), dtype=np.float64)
    count = len(sizes)
    if count == 0:
        return Estimate(None, None, None, None, 0, 0, None, _MEAN, "no rows", level)
    mean = float(data.mean())
    se = _standard_error(np.asarray(np.bincount(codes, weights=data), dtype=np.float64), sizes, mean)
    if se is None or count < MIN_CLUSTERS:
        return Estimate(mean, se, None, None, len(data), count, None, _MEAN, too_few(count), level)
    if se <= _TINY * max(1.0, abs(mean)):
        return Estimate(mean, se, None, None, len(data), count, None, _MEAN, "no variation between clusters", level)
    half = _t_quantile(level, count) * se
    found = Estimate(mean, se, mean - half, mean + half, len(data), count, None, _MEAN, None, level)
    return found if possible is None else found.within(possible)


def point_test(estimate: Estimate, point: float, *, null: str | None = None) -> Test:
    """Test a clustered proportion against ``point`` (two-sided).

    ``T = (m - p0) / sqrt(p0 (1 - p0) / n_eff)`` with C - 1 degrees of freedom: the score test of a proportion, which
    takes the variance under the null, with the number of rows replaced by the effective one and the normal by t. Its
    p is below 1 - level exactly where ``estimate``, a Wilson form with the same n_eff and t, does not hold ``point``.
    Where answers are missing, ``standing`` says whether anything may be said at all.

    Args:
        estimate: of a proportion (``clustered_proportion``).
        point: p0, between 0 and 1.
        null: what the null hypothesis is called; default: ``a proportion of p0``.

    Raises:
        ValueError: ``point`` is 0 or 1 or lies outside: a single answer would decide.
    """
    if not 0 < point < 1:
        raise ValueError("a proportion is tested against a point between 0 and 1")
    null = null or f"a proportion of {point:g}"
    if estimate.mean is None or estimate.n_eff is None:
        return Test(null, _POINT, None, reason=estimate.reason or "not an estimate of a proportion")
    statistic = (estimate.mean - point) / math.sqrt(point * (1 - point) / estimate.n_eff)
    p = 2 * float(stdtr(estimate.clusters - 1, -abs(statistic)))
    return Test(null, _POINT, min(p, 1.0), statistic=statistic)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a proportion stands to a point: ``side``, or the ``reason`` why it cannot be said."""

    side: Literal["below", "above"] | None
    reason: str | None = None


def standing(worst: Estimate, best: Estimate, point: float, missing: int) -> Standing:
    """Whether a proportion is below or above ``point``, whatever the ``missing`` rows would have been.

    Below only if the upper limit of the ``best`` case lies below ``point``, above only if the lower limit of the
    ``worst`` case lies above it.

    Args:
        worst: the estimate over all rows, where the missing ones count 0.
        best: the estimate over all rows, where the missing ones count 1.
        point: p0, such as the value under chance.
        missing: rows without an answer.
    """
    if best.high is not None and best.high < point:
        return Standing("below")
    if worst.low is not None and worst.low > point:
        return Standing("above")
    if worst.low is None or best.high is None:
        return Standing(None, worst.reason or best.reason)
    if missing:
        return Standing(None, f"not decidable with {missing} not answered")
    return Standing(None, f"the interval holds {point:g}")


def simultaneous_level(k: int, level: float = 0.95) -> float:
    """The level of each of ``k`` intervals that hold together with ``level`` (Bonferroni: 1 - (1 - level)/k)."""
    return 1 - (1 - level) / max(k, 1)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjusted p-values (Holm 1979) in the order given; None stays None and counts for nothing."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, p * (len(known) - rank)))
        adjusted[place] = largest
    return adjusted


def _checked(values: ArrayLike, clusters: ArrayLike) -> tuple[_Floats, NDArray[np.intp]]:
    data = np.asarray(values, dtype=np.float64)
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    if data.ndim != 1 or data.shape != codes.shape:
        raise ValueError("values and clusters must be one column each, of the same length")
    if not bool(np.isfinite(data).all()):
        raise ValueError("values must be finite; leave out what is missing")
    return data, codes


def _standard_error(totals: _Floats, sizes: _Floats, mean: float) -> float | None:
    count = len(sizes)
    if count < 2:
        return None
    residuals = totals - sizes * mean
    return math.sqrt(count / (count - 1) * float(residuals @ residuals)) / float(sizes.sum())


def _deviating(means: _Floats) -> int:
    # Rounded, since equal means of clusters of different size differ in the last bits.
    _, counts = np.unique(np.round(means, 9), return_counts=True)
    return len(means) - int(counts.max())


def _t_quantile(level: float, clusters: int) -> float:
    return float(stdtrit(clusters - 1, 0.5 + level / 2))


def too_few(clusters: int) -> str:
    """Why there is no interval: fewer than ``MIN_CLUSTERS``."""
    return f"{clusters} cluster{'s' * (clusters != 1)}, an interval takes {MIN_CLUSTERS}"


def wilson_form(mean: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's form of an interval for a proportion ``mean`` of ``n`` effective observations."""
    square = quantile**2 / n
    centre = (mean + square / 2) / (1 + square)
    half = quantile * math.sqrt(mean * (1 - mean) / n + square / (4 * n)) / (1 + square)
    # The interval always holds the mean; rounding must not push a bound past it or out of [0, 1].
    return max(0.0, min(centre - half, mean)), min(1.0, max(centre + half, mean))
