"""The mean of answers that many people gave to many items: rows share an item, and rows share a person."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from biasfw.stats import MIN_CLUSTERS, Estimate, too_few, wilson_form

METHOD = "two-way clustered by item and annotator: Wilson form with effective n and t(min(C) - 1)"
_TINY = 1e-12


def two_way_proportion(values: ArrayLike, items: ArrayLike, people: ArrayLike, level: float = 0.95) -> Estimate:
    """The mean of ``values`` (n,), each in [0, 1], with an interval over items and people at once.

    ``V = V_items + V_people - V_cell`` (Cameron, Gelbach and Miller 2011, J. Bus. Econ. Stat. 29:238), each a one-way
    cluster variance ``C/(C-1) sum_c (sum_i (s_ci - m))^2 / n^2``; V may come out too small, even negative, so it is at
    least the larger one-way variance. Wilson's form with ``n_eff = m (1-m) / V`` and t with ``min(C) - 1`` degrees of
    freedom; where nothing varies, n_eff is min(C). ``clusters`` is the smaller number; below 5: no interval.
    """
    data = np.asarray(values, dtype=np.float64)
    rows = [np.unique(np.asarray(each), return_inverse=True)[1] for each in (items, people)]
    if not all(data.shape == codes.shape for codes in rows) or data.ndim != 1:
        raise ValueError("values, items and people must be one column each, of the same length")
    if data.size == 0:
        return Estimate(None, None, None, None, 0, 0, None, METHOD, "no rows", level)
    if not bool(np.all((data >= 0) & (data <= 1))):
        raise ValueError("a proportion is made of values between 0 and 1")
    mean = float(data.mean())
    cells = np.unique(rows[0] * (int(rows[1].max()) + 1) + rows[1], return_inverse=True)[1]
    count = min(int(codes.max()) + 1 for codes in rows)
    if count < MIN_CLUSTERS:
        return Estimate(mean, None, None, None, data.size, count, None, METHOD, too_few(count), level)
    by_item, by_person, by_cell = (_variance(data - mean, codes) for codes in (*rows, cells))
    variance = max(by_item + by_person - by_cell, by_item, by_person)
    n_eff = mean * (1 - mean) / variance if variance > _TINY else math.inf
    n_eff = min(n_eff, float(data.size)) if variance > _TINY else float(count)
    low, high = wilson_form(mean, n_eff, float(stdtrit(count - 1, 0.5 + level / 2)))
    return Estimate(mean, math.sqrt(variance), low, high, data.size, count, n_eff, METHOD, None, level)


def _variance(residuals: NDArray[np.float64], codes: NDArray[np.intp]) -> float:
    sums = np.bincount(codes, weights=residuals)
    count = len(sums)
    return count / (count - 1) * float(sums @ sums) / residuals.size**2
