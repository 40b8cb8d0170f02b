"""Sign-flip tests: under no difference the sign of each cluster's mean difference is a coin toss."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biasfw.records import Test

_EXACT_CLUSTERS = 12
_DRAWS = 99_999
_CHUNK = 1 << 20  # signs at a time: 8 MB

_Floats = NDArray[np.float64]


def sign_flip(differences: ArrayLike, *, null: str = "no difference", seed: int = 0) -> Test:
    """Test the mean of ``differences`` (C,), one mean difference per cluster, against 0 (two-sided).

    All 2^C signs up to C = 12, else 99,999 seeded draws with ``p = (1 + #{|T*| >= |T|})/(1 + draws)`` (Phipson and
    Smyth 2010), so that p is never 0.
    """
    return sign_flips(np.asarray(differences, dtype=np.float64)[:, np.newaxis], null=null, seed=seed)[0]


def sign_flips(differences: ArrayLike, *, null: str = "no difference", seed: int = 0) -> list[Test]:
    """One ``sign_flip`` test per column of ``differences`` (C, k); the columns share the drawn signs.

    Raises:
        ValueError: a difference is NaN or infinite.
    """
    data = np.asarray(differences, dtype=np.float64)
    if not bool(np.isfinite(data).all()):
        raise ValueError("differences must be finite; leave out what is missing")
    clusters, columns = data.shape
    if clusters == 0:
        return [Test(null, "sign-flip over clusters", None, reason="no clusters")] * columns
    observed = np.abs(data.sum(axis=0))
    # Discrete scores tie often: what differs by rounding alone counts as equal.
    threshold = observed - 1e-10 * np.abs(data).sum(axis=0)
    draws, said = _drawing(clusters, seed)
    exceeding, method = _drawn(data, threshold, seed), f"sign-flip over clusters, {said}"
    return [
        Test(null, method, (1 + int(count)) / (1 + draws), statistic=float(total) / clusters)
        for count, total in zip(exceeding, data.sum(axis=0), strict=True)
    ]


def swap_test(differences: ArrayLike, *, null: str = "the same distribution", seed: int = 0) -> Test:
    """Test the total variation of two distributions, ``differences`` (C, K) of the shares of K cells per cluster.

    The statistic is ``1/2 sum_k |mean_c D_ck|``. Under no difference which subject is which is a coin toss in every
    cluster, so that all rows of a cluster are swapped together: that respects whatever they have in common. ``p`` as
    in ``sign_flip``; total variation is never 0 by chance, so its mean and 95 % quantile under the null stand beside.

    Raises:
        ValueError: a difference is NaN or infinite.
    """
    data = np.asarray(differences, dtype=np.float64)
    if not bool(np.isfinite(data).all()):
        raise ValueError("differences must be finite; leave out what is missing")
    clusters = data.shape[0]
    if clusters == 0:
        return Test(null, "total variation, subjects swapped by cluster", None, reason="no clusters")
    draws, said = _drawing(clusters, seed)
    observed = float(np.abs(data.sum(axis=0)).sum()) / (2 * clusters)
    swapped = [
        np.abs(data.sum(axis=0) - 2 * (flipped @ data)).sum(axis=1) / (2 * clusters)
        for flipped in _flips(clusters, seed)
    ]
    drawn = np.append(np.concatenate(swapped), observed)
    reached = int((drawn >= observed - 1e-10).sum())  # the observed one among them
    return Test(
        null,
        f"total variation, subjects swapped by cluster, {said}",
        reached / (1 + draws),
        statistic=observed,
        null_mean=float(drawn.mean()),
        null_q95=float(np.quantile(drawn, 0.95)),
    )


def smallest_p(clusters: int) -> float:
    """The smallest p that a test can give in which so many clusters differ: two of the 2^C ways to turn their signs."""
    return max(min(1.0, 2.0 ** (1 - clusters)), 0.0 if clusters <= _EXACT_CLUSTERS else 1 / (1 + _DRAWS))


def _drawing(clusters: int, seed: int) -> tuple[int, str]:
    """How many signs are drawn beside the observed ones, and in words."""
    if clusters <= _EXACT_CLUSTERS:
        return 2**clusters - 1, f"all 2^{clusters}"
    return _DRAWS, f"{_DRAWS:,} draws, seed {seed}"


def _drawn(data: _Floats, threshold: _Floats, seed: int) -> NDArray[np.int64]:
    clusters, columns = data.shape
    exceeding = np.zeros(columns, dtype=np.int64)
    for flipped in _flips(clusters, seed):
        exceeding += _exceeding(flipped, data, threshold)
    return exceeding


def _flips(clusters: int, seed: int) -> Iterator[_Floats]:
    """Blocks (draws, C) of signs, 1 = turned: every other one than "none turned" up to C = 12, else drawn.

    Read each before the next, which overwrites it: to allocate such blocks takes longer than to fill them.
    """
    if clusters <= _EXACT_CLUSTERS:
        signs = (np.arange(1, 2**clusters)[:, np.newaxis] >> np.arange(clusters)) & 1
        yield signs.astype(np.float64)
        return
    generator = np.random.default_rng(seed)
    width = -(-clusters // 8)
    chunk = max(1, _CHUNK // clusters)
    block = np.empty((min(chunk, _DRAWS), clusters))
    for start in range(0, _DRAWS, chunk):
        size = min(chunk, _DRAWS - start)
        packed = np.frombuffer(generator.bytes(size * width), dtype=np.uint8).reshape(size, width)
        block[:size] = np.unpackbits(packed, axis=1, count=clusters)
        yield block[:size]


def _exceeding(flipped: _Floats, data: _Floats, threshold: _Floats) -> NDArray[np.int64]:
    """How many rows of ``flipped`` (draws, C), 1 = the sign is turned, reach ``threshold`` (k,) in each column."""
    totals = data.sum(axis=0) - 2 * (flipped @ data)
    return np.asarray((np.abs(totals) >= threshold).sum(axis=0), dtype=np.int64)
