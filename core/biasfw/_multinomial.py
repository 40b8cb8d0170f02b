"""How concentrated shares look when every label is drawn with a given probability: seeded multinomial draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biasfw.records import Test

_DRAWS = 10_000
_MIN_ENTROPY = 30  # clusters below which the Miller-Madow correction is itself too rough
_TOLERANCE = 1e-12

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NullStatistic:
    """A statistic under the null: ``draws`` are its sorted values in the seeded draws."""

    mean: float
    q05: float
    q95: float
    draws: _Floats

    def p_upper(self, observed: float) -> float:
        """The one-sided p-value ``(1 + #{T* >= T})/(1 + draws)``."""
        reached = len(self.draws) - int(np.searchsorted(self.draws, observed - _TOLERANCE))
        return (1 + reached) / (1 + len(self.draws))

    def p_lower(self, observed: float) -> float:
        """The one-sided p-value ``(1 + #{T* <= T})/(1 + draws)``."""
        return (1 + int(np.searchsorted(self.draws, observed + _TOLERANCE))) / (1 + len(self.draws))


@dataclass(frozen=True, slots=True)
class MultinomialNull:
    """What ``n`` independent draws from the expected shares give; ``entropy`` is null with fewer than two labels."""

    n: int
    largest_share: NullStatistic
    entropy: NullStatistic | None
    total_variation: NullStatistic


def multinomial_null(expected: Sequence[float], n: int, *, draws: int = _DRAWS, seed: int = 0) -> MultinomialNull:
    """The null distribution of the largest share, the normalised entropy and the total variation from ``expected``.

    Args:
        expected: (k,) shares under the null; they are normalised to sum to 1.
        n: independent observations, i.e. clusters.
        draws: number of multinomial draws.
        seed: seed of the draws: equal arguments give equal results.

    Raises:
        ValueError: ``n`` is not positive or nothing is expected.
    """
    if n < 1 or not sum(expected) > 0:
        raise ValueError("a multinomial null needs observations and an expectation")
    return _null(tuple(float(share) for share in expected), n, draws, seed)


@lru_cache(maxsize=128)
def _null(expected: tuple[float, ...], n: int, draws: int, seed: int) -> MultinomialNull:
    probabilities = np.asarray(expected) / sum(expected)
    counts = np.random.default_rng(seed).multinomial(n, probabilities, size=draws)
    shares = counts / n
    labels = int((probabilities > 0).sum())
    entropy = _corrected(shares, n, labels) if labels > 1 else None
    return MultinomialNull(
        n,
        _summary(shares.max(axis=1)),
        None if entropy is None else _summary(entropy),
        _summary(np.abs(shares - probabilities).sum(axis=1) / 2),
    )


def _summary(values: _Floats) -> NullStatistic:
    ordered = np.sort(values)
    ordered.flags.writeable = False
    low, high = (float(quantile) for quantile in np.quantile(ordered, (0.05, 0.95)))
    return NullStatistic(float(ordered.mean()), low, high, ordered)


def total_variation(shares: ArrayLike, expected: ArrayLike) -> float:
    """Half the sum of absolute differences of two distributions (k,): 0 if equal, 1 if they share no label."""
    return float(np.abs(np.asarray(shares, dtype=np.float64) - np.asarray(expected, dtype=np.float64)).sum() / 2)


def total_variation_test(
    shares: ArrayLike, expected: Sequence[float], n: int, *, null: str = "the expected shares", seed: int = 0
) -> Test:
    """Monte-Carlo test of the total variation of ``shares`` (k,) from ``expected`` (k,) at ``n`` clusters.

    ``p = (1 + #{T* >= T})/(1 + 10,000)`` under independent draws, one per cluster: rows of one cluster count once.
    """
    method = f"total variation, {_DRAWS:,} multinomial draws at n = clusters, seed {seed}"
    if n < 1:
        return Test(null, method, None, reason="no clusters")
    observed = total_variation(shares, np.asarray(expected) / sum(expected))
    drawn = multinomial_null(expected, n, seed=seed).total_variation
    return Test(null, method, drawn.p_upper(observed), statistic=observed, null_mean=drawn.mean, null_q95=drawn.q95)


def miller_madow(shares: ArrayLike, n: int, k: int | None = None) -> float | None:
    """Entropy with the bias correction ``(m - 1)/2n`` for m labels seen (Miller 1955), divided by ``log k``, at most 1.

    Args:
        shares: (k,) counts or shares of the labels.
        n: independent observations behind them, i.e. clusters.
        k: labels that were possible; default: the length of ``shares``.

    Returns:
        None under 30 clusters, with fewer than two labels, or if nothing was counted.
    """
    weights = np.asarray(shares, dtype=np.float64)
    labels = len(weights) if k is None else k
    if n < _MIN_ENTROPY or labels < 2 or not weights.sum() > 0:
        return None
    return float(_corrected((weights / weights.sum())[np.newaxis], n, labels)[0])


def plugin_entropy(shares: ArrayLike, k: int | None = None) -> float | None:
    """Entropy of ``shares`` (k,) divided by ``log k``, uncorrected: for shares that are known, not counted."""
    weights = np.asarray(shares, dtype=np.float64)
    labels = len(weights) if k is None else k
    if labels < 2 or not weights.sum() > 0:
        return None
    return float(min(1.0, _entropy((weights / weights.sum())[np.newaxis])[0] / np.log(labels)))


def _entropy(shares: _Floats) -> _Floats:
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1))


def _corrected(shares: _Floats, n: int, labels: int) -> _Floats:
    corrected = _entropy(shares) + ((shares > 0).sum(axis=1) - 1) / (2 * n)
    return np.asarray(np.clip(corrected / np.log(labels), 0.0, 1.0))
