"""The figures that the published sizes of benchmarks give: how wide an honest interval is there."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from biasfw.stats import clustered_proportion, point_test, wilson


def agreeing(rate: float, clusters: int, rows: int) -> tuple[list[float], list[int]]:
    """Values and clusters of ``rows`` rows in clusters whose rows all agree, with this share of ones (rounded)."""
    size = rows // clusters
    ones = round(rate * clusters)
    return [1.0] * ones * size + [0.0] * (clusters - ones) * size, np.repeat(np.arange(clusters), size).tolist()


@pytest.mark.parametrize(
    ("rate", "rows", "clusters", "naive", "clustered"),
    [
        (0.23, 1216, 152, 0.0121, 0.0341),  # JUBAKU v1 at its mean accuracy
        (0.13, 1216, 152, 0.0096, 0.0273),
        (0.33, 1216, 152, 0.0135, 0.0381),
        (0.50, 240, 30, 0.0323, 0.0913),  # JUBAKU v2
        (0.20, 900, 300, 0.0133, 0.0231),  # a cell of DebateBias
        (0.90, 900, 300, 0.0100, 0.0173),
    ],
)
def test_standard_errors(rate: float, rows: int, clusters: int, naive: float, clustered: float) -> None:
    values, codes = agreeing(rate, clusters, rows)
    by_row, by_cluster = clustered_proportion(values, range(rows)), clustered_proportion(values, codes)
    # The figures are without the correction for few clusters.
    assert (by_row.se or 0) * math.sqrt((rows - 1) / rows) == pytest.approx(naive, abs=2e-4)
    assert (by_cluster.se or 0) * math.sqrt((clusters - 1) / clusters) == pytest.approx(clustered, abs=2e-4)


def test_rows_counted_as_independent_give_a_narrower_interval_than_the_one_returned() -> None:
    values, codes = agreeing(0.23, 152, 1216)
    estimate, naive = clustered_proportion(values, codes), wilson(sum(values), len(values))
    assert naive is not None
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low < naive[0] < naive[1] < estimate.high
    assert (estimate.high - estimate.low) / (naive[1] - naive[0]) == pytest.approx(2.8, abs=0.1)


@pytest.mark.parametrize(("clusters", "most"), [(152, 63), (30, 9), (21, 5), (13, 2), (9, 1)])
def test_the_largest_count_still_below_half(clusters: int, most: int) -> None:
    def is_below(count: int) -> bool:
        values, codes = agreeing(count / clusters, clusters, 8 * clusters)
        p = point_test(clustered_proportion(values, codes), 0.5).p
        return p is not None and p < 0.05

    exact = [count for count in range(clusters // 2) if scipy_stats.binomtest(count, clusters).pvalue < 0.05]
    assert max(exact) == most
    found = [count for count in range(clusters // 2) if is_below(count)]
    assert found == list(range(len(found))), "no gaps"
    assert abs(max(found) - most) <= 1
