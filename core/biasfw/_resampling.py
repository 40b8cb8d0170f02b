"""Sign-flip tests: under no difference the sign of each cluster's mean difference is a coin toss."""

from __future__ import annotations

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
    if clusters <= _EXACT_CLUSTERS:
        draws = 2**clusters - 1
        signs = (np.arange(1, 2**clusters)[:, np.newaxis] >> np.arange(clusters)) & 1
        exceeding = _exceeding(signs.astype(np.float64), data, threshold)
        method = f"sign-flip over clusters, all 2^{clusters}"
    else:
        draws = _DRAWS
        exceeding = _drawn(data, threshold, seed)
        method = f"sign-flip over clusters, {draws:,} draws, seed {seed}"
    return [
        Test(null, method, (1 + int(count)) / (1 + draws), statistic=float(total) / clusters)
        for count, total in zip(exceeding, data.sum(axis=0), strict=True)
    ]


def _drawn(data: _Floats, threshold: _Floats, seed: int) -> NDArray[np.int64]:
    generator = np.random.default_rng(seed)
    clusters, columns = data.shape
    width = -(-clusters // 8)
    exceeding = np.zeros(columns, dtype=np.int64)
    chunk = max(1, _CHUNK // clusters)
    for start in range(0, _DRAWS, chunk):
        size = min(chunk, _DRAWS - start)
        packed = np.frombuffer(generator.bytes(size * width), dtype=np.uint8).reshape(size, width)
        flipped = np.unpackbits(packed, axis=1, count=clusters).astype(np.float64)
        exceeding += _exceeding(flipped, data, threshold)
    return exceeding


def _exceeding(flipped: _Floats, data: _Floats, threshold: _Floats) -> NDArray[np.int64]:
    """How many rows of ``flipped`` (draws, C), 1 = the sign is turned, reach ``threshold`` (k,) in each column."""
    totals = data.sum(axis=0) - 2 * (flipped @ data)
    return np.asarray((np.abs(totals) >= threshold).sum(axis=0), dtype=np.int64)
