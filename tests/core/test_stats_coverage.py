"""Does the clustered interval hold the true share as often as it says? Simulated with correlated rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from biasfw.stats import proportion_from_cluster_sums, wilson

_ROWS = 8


def drawn(true: float, clusters: int, correlation: float, runs: int) -> NDArray[np.float64]:
    """(runs, clusters): successes among 8 rows per cluster, with this correlation between rows of a cluster."""
    generator = np.random.default_rng(round(1000 * true) + clusters)
    if correlation == 1:
        return _ROWS * generator.binomial(1, true, (runs, clusters)).astype(np.float64)
    total = 1 / correlation - 1
    rates = generator.beta(true * total, (1 - true) * total, (runs, clusters))
    return generator.binomial(_ROWS, rates).astype(np.float64)


def coverage(true: float, clusters: int, correlation: float, runs: int) -> float:
    sizes = np.full(clusters, _ROWS)
    inside = 0
    for sums in drawn(true, clusters, correlation, runs):
        estimate = proportion_from_cluster_sums(sums, sizes)
        assert estimate.low is not None
        assert estimate.high is not None
        inside += estimate.low <= true <= estimate.high
    return inside / runs


@pytest.mark.parametrize("clusters", [9, 15, 30, 152])
@pytest.mark.parametrize("true", [0.03, 0.2, 0.5])
def test_coverage(true: float, clusters: int) -> None:
    assert coverage(true, clusters, correlation=0.5, runs=500) >= 0.91  # 0.93 less two standard errors


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [9, 15, 30, 152])
@pytest.mark.parametrize("true", [0.03, 0.05, 0.1, 0.2, 0.3, 0.5])
@pytest.mark.parametrize("correlation", [0.05, 0.2, 0.5, 0.8, 1.0])
def test_coverage_over_the_whole_grid(true: float, clusters: int, correlation: float) -> None:
    assert coverage(true, clusters, correlation, runs=4000) >= 0.92


def test_wilson_on_rows_fails_where_the_clustered_interval_holds() -> None:
    inside = 0
    for sums in drawn(0.2, 30, 0.8, 400):
        span = wilson(float(sums.sum()), 30 * _ROWS)
        assert span is not None
        inside += span[0] <= 0.2 <= span[1]
    assert inside / 400 < 0.75
