"""What simultaneous limits of shares say about a statistic of all of them: shares are never below 0 and sum to 1.

A set of shares that holds the true ones with some probability gives, for any statistic of them, an interval that holds
the true value with at least that probability: from the least to the greatest value within the set (projection; Scheffe
1953). Here the set is a box of simultaneous limits, cut with the simplex: where a parameter can only have some values,
leaving out the others costs no coverage (Mandelkern 2002, Statistical Science 17).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_EXACT_LABELS = 12  # 4,096 subsets

_Floats = NDArray[np.float64]


def variation_limits(lows: ArrayLike, highs: ArrayLike, expected: ArrayLike) -> tuple[float, float]:
    """The least and the greatest total variation from ``expected`` (L,) of shares within ``lows`` and ``highs`` (L,).

    Total variation is the greatest excess of a subset of labels, ``max_S sum_S (p - e)``; within the limits a subset
    reaches ``min(sum_S (high - e), sum_not-S (e - low))``. Exact up to 12 labels, above them the greatest is taken a
    little too large, but never beyond ``1 - min(e)``. The limits must allow shares that sum to 1.
    """
    low, high, point = _floats(lows), _floats(highs), _floats(expected)
    least = max(float(np.maximum(low - point, 0).sum()), float(np.maximum(point - high, 0).sum()))
    over, under, count = high - point, point - low, len(point)
    if count <= _EXACT_LABELS:
        subsets = ((np.arange(1 << count)[:, np.newaxis] >> np.arange(count)) & 1).astype(np.float64)
        greatest = float(np.minimum(subsets @ over, (1 - subsets) @ under).max())
    else:
        greatest = min(float(np.maximum(over, 0).sum()), float(np.maximum(under, 0).sum()), 1 - float(point.min()))
    return least, max(least, greatest)


def largest_share_limits(lows: ArrayLike, highs: ArrayLike) -> tuple[float, float]:
    """The least and the greatest value that the largest of L shares within ``lows`` and ``highs`` (L,) can have.

    Never below 1/L. The limits must allow shares that sum to 1.
    """
    low, high = _floats(lows), _floats(highs)
    greatest = float(np.minimum(high, 1 - (low.sum() - low)).max())
    return max(float(low.max()), _level(np.sort(high))), greatest


def _level(highs: _Floats) -> float:
    """The level to which shares must at least be filled so that they sum to 1, none above its limit (L,), sorted."""
    rest, count = 1.0, len(highs)
    for place, high in enumerate(highs.tolist()):
        level = rest / (count - place)
        if level <= high:
            return level
        rest -= high
    return float(highs[-1])


def _floats(values: ArrayLike) -> _Floats:
    return np.asarray(values, dtype=np.float64)
