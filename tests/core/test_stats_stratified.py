"""The mean over strata: against its parts, against statsmodels, and where a stratum has one cluster."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats
from statsmodels.regression.linear_model import OLS

from biasfw.stats import clustered_proportion, proportion_from_cluster_sums, stratified_proportion

Floats = NDArray[np.float64]


def crossed(values: Floats, clusters: NDArray[np.int64], strata: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """(C, K): sums and sizes."""
    sums, sizes = np.zeros((2, clusters.max() + 1, strata.max() + 1))
    np.add.at(sums, (clusters, strata), values)
    np.add.at(sizes, (clusters, strata), 1)
    return sums, sizes


def nested(seed: int = 0) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Values, clusters and strata of 30 clusters of unlike size in three strata."""
    generator = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(30), generator.integers(1, 9, 30))
    strata = np.searchsorted([5, 15], clusters, side="right")
    values = (generator.random(len(clusters)) < generator.random(30)[clusters]).astype(float)
    return values, clusters, strata


def test_the_variance_is_that_of_its_parts() -> None:
    values, clusters, strata = nested()
    estimate = stratified_proportion(*crossed(values, clusters, strata))
    parts = [clustered_proportion(values[strata == k], clusters[strata == k]) for k in range(3)]
    assert estimate.mean == pytest.approx(np.mean([part.mean for part in parts]))
    assert estimate.se == pytest.approx(np.sqrt(sum((part.se or 0) ** 2 for part in parts)) / 3)
    assert (estimate.n, estimate.clusters) == (len(values), 30)
    # Wilson's form with n_eff and t(C - K).
    t, mean, n_eff = scipy_stats.t.ppf(0.975, 27), estimate.mean or 0, estimate.n_eff or 0
    half = t * np.sqrt(mean * (1 - mean) / n_eff + t**2 / (4 * n_eff**2)) / (1 + t**2 / n_eff)
    assert (estimate.high or 0) - (estimate.low or 0) == pytest.approx(2 * half)


def test_clusters_in_every_stratum_keep_their_covariance() -> None:
    generator = np.random.default_rng(3)
    clusters, strata = np.repeat(np.arange(25), 12), np.tile(np.repeat(np.arange(3), 4), 25)
    values = (generator.random(300) < generator.random(25)[clusters]).astype(float)
    fitted = OLS(values, np.eye(3)[strata]).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}
    )
    expected = np.sqrt(fitted.cov_params().sum() / 9 * 25 / 24)
    assert stratified_proportion(*crossed(values, clusters, strata)).se == pytest.approx(float(expected))


def test_one_stratum_is_the_clustered_proportion_but_for_the_degrees_of_freedom() -> None:
    values, clusters, _ = nested()
    one = stratified_proportion(*crossed(values, clusters, np.zeros_like(clusters)))
    other = clustered_proportion(values, clusters)
    assert (one.mean, one.se, one.low, one.high) == pytest.approx((other.mean, other.se, other.low, other.high))


def test_strata_that_differ_do_not_widen_it() -> None:
    # 2 of 20 clusters are right in the one, 18 of 20 in the other.
    clusters, strata = np.repeat(np.arange(40), 4), np.repeat([0, 1], 80)
    values = np.isin(clusters, [0, 1, *range(22, 40)]).astype(float)
    agreeing = stratified_proportion(*crossed(values, clusters, strata))
    pooled = clustered_proportion(values, clusters)
    assert agreeing.mean == pytest.approx(0.5) == pooled.mean
    assert (agreeing.high or 1) - (agreeing.low or 0) < (pooled.high or 1) - (pooled.low or 0)


def test_a_lone_cluster_is_measured_from_the_whole_mean() -> None:
    sums, sizes = np.zeros((21, 3)), np.zeros((21, 3))
    sizes[:10, 0] = sizes[10:20, 1] = sizes[20, 2] = 4
    sums[:5, 0] = sums[10:15, 1] = sums[20, 2] = 4
    estimate = stratified_proportion(sums, sizes)
    assert estimate.mean == pytest.approx(2 / 3)
    part = 0.25 / 9  # the variance of the mean of either of the other two strata
    assert estimate.se == pytest.approx(np.sqrt(2 * part + (1 / 3) ** 2) / 3)
    assert estimate.low is not None


def test_more_strata_than_clusters_can_carry() -> None:
    estimate = stratified_proportion(np.eye(6) * 2, np.eye(6) * 4)
    assert estimate.mean == pytest.approx(0.5)
    assert (estimate.low, estimate.reason) == (None, "6 clusters are too few for 6 strata")
    few = stratified_proportion(np.ones((3, 1)), np.full((3, 1), 2))
    assert (few.mean, few.reason) == (0.5, "3 clusters, an interval takes 5")
    none = stratified_proportion(np.zeros((0, 0)), np.zeros((0, 0)))
    assert (none.mean, none.reason) == (None, "no rows")


def test_without_variation_the_width_is_that_of_the_clusters() -> None:
    sizes = np.zeros((20, 2))
    sizes[:10, 0] = sizes[10:, 1] = 8
    estimate = stratified_proportion(np.zeros((20, 2)), sizes)
    plain = proportion_from_cluster_sums(np.zeros(20), np.full(20, 8))
    assert estimate.n_eff == pytest.approx(20)
    assert plain.n_eff == 20
    assert estimate.high == pytest.approx(plain.high, rel=0.01)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_copying_every_row_narrows_nothing(seed: int, copies: int) -> None:
    values, clusters, strata = nested(seed)
    sums, sizes = crossed(values, clusters, strata)
    once = stratified_proportion(sums, sizes)
    often = stratified_proportion(copies * sums, copies * sizes)
    assert often.n == copies * once.n
    assert (often.mean, often.low, often.high) == pytest.approx((once.mean, once.low, once.high))
    assert 0 <= (once.low or 0) <= (once.mean or 0) <= (once.high or 1) <= 1
