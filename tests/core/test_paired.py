"""Differences of two runs on the same clusters: coverage, errors under no difference, and known figures.

Pairs of runs are simulated with 8 rows per cluster. Both take the rate of a cluster from a beta distribution; in a part
of the clusters it is the same one. The second run then turns a part of its wrong rows right, which sets the difference.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from biasfw._resampling import swap_test
from biasfw.paired import detectable, minimum_detectable, paired_mean
from biasfw.stats import holm, sign_flips

ROWS = 8
CLUSTERS = (9, 30, 152)
DRAWS = 4000
TWO_ERRORS = 2 * math.sqrt(0.05 * 0.95 / DRAWS)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Runs:
    clusters: int
    rate: float
    within: float  # correlation of the rows of a cluster
    same: float  # part of the clusters that both runs treat alike
    turned: float = 0.0

    @property
    def difference(self) -> float:
        return -self.turned * (1 - self.rate)

    def drawn(self, draws: int, seed: int = 0) -> Floats:
        """(draws, clusters): mean differences of clusters."""
        seeds = [seed, self.clusters, *(round(1000 * x) for x in (self.rate, self.within, self.same, self.turned))]
        generator, size = np.random.default_rng(seeds), (draws, self.clusters)
        total = 1 / self.within - 1
        first, other = (generator.beta(self.rate * total, (1 - self.rate) * total, size) for _ in range(2))
        second = np.where(generator.random(size) < self.same, first, other)
        hits = generator.binomial(ROWS, first), generator.binomial(ROWS, second)
        turned = hits[1] + generator.binomial(ROWS - hits[1], self.turned)
        return np.asarray((hits[0] - turned) / ROWS, dtype=np.float64)

    def coverage(self, draws: int) -> float:
        inside = 0
        for differences in self.drawn(draws):
            estimate = paired_mean(differences)
            assert estimate.low is not None
            assert estimate.high is not None
            inside += estimate.low <= self.difference <= estimate.high
        return inside / draws

    def p_values(self, draws: int, columns: int = 500) -> Floats:
        data = self.drawn(draws, seed=1).T
        blocks = (data[:, start : start + columns] for start in range(0, draws, columns))
        return np.array([test.p for block in blocks for test in sign_flips(block)], dtype=np.float64)


@pytest.mark.parametrize("clusters", CLUSTERS)
def test_coverage(clusters: int) -> None:
    for same, turned in ((0.0, 0.2), (0.97, 0.0), (0.97, 0.01)):  # most clusters differ; next to none does
        coverage = Runs(clusters, 0.5, 0.5, same, turned).coverage(400)
        assert coverage >= 0.925 - 2 * math.sqrt(0.075 * 0.925 / 400), (same, turned)


@pytest.mark.slow
@pytest.mark.parametrize("clusters", CLUSTERS)
def test_coverage_over_the_whole_grid(clusters: int) -> None:
    cells = itertools.product((0.05, 0.5, 0.9), (0.1, 0.5, 0.95), (0.0, 0.9, 0.99), (0.0, 0.01, 0.1, 0.3))
    found = {cell: Runs(clusters, *cell).coverage(DRAWS) for cell in cells}
    assert min(found.values()) >= 0.925, sorted(found.items(), key=lambda each: each[1])[:5]


def test_rejections_under_no_difference_where_all_signs_are_tried() -> None:
    for rate, same in ((0.5, 0.0), (0.9, 0.9)):
        rejected = float((Runs(9, rate, 0.5, same).p_values(DRAWS) < 0.05).mean())
        assert rejected <= 0.05 + TWO_ERRORS


@pytest.mark.slow
@pytest.mark.parametrize("clusters", CLUSTERS)
def test_rejections_under_no_difference(clusters: int) -> None:
    for cell in ((0.05, 0.5, 0.0), (0.5, 0.1, 0.9), (0.5, 0.95, 0.0)):
        rejected = float((Runs(clusters, *cell).p_values(DRAWS) < 0.05).mean())
        assert rejected <= 0.05 + TWO_ERRORS, cell


def family_wise(clusters: int, categories: int, draws: int) -> float:
    """How often Holm over ``categories`` of ``clusters`` clusters rejects anything though nothing differs."""
    p = Runs(clusters, 0.5, 0.5, 0.5).p_values(draws * categories).reshape(draws, categories)
    adjusted = [holm(row) for row in p.tolist()]
    return sum(any(each is not None and each < 0.05 for each in row) for row in adjusted) / draws


def test_the_family_wise_error_over_categories() -> None:
    assert family_wise(9, 10, 1000) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 1000)


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [9, 15])
def test_the_family_wise_error_in_many_draws(clusters: int) -> None:
    assert family_wise(clusters, 10, DRAWS) <= 0.05 + TWO_ERRORS


def swapped_p(clusters: int, generator: np.random.Generator, tilt: float = 0.0) -> float:
    """p of the swap test for two runs that each draw one label per row; the labels of a topic depend on it."""
    liking = generator.dirichlet(np.full(5, 0.5), clusters)
    second = (1 - tilt) * liking + tilt * np.eye(5)[0]
    tables = [np.array([generator.multinomial(ROWS, shares) / ROWS for shares in side]) for side in (liking, second)]
    p = swap_test(tables[0] - tables[1]).p
    assert p is not None
    return p


def test_the_swap_test_keeps_its_level_and_finds_a_tilt() -> None:
    generator = np.random.default_rng(3)
    alike = [swapped_p(9, generator) for _ in range(1000)]
    assert float((np.array(alike) < 0.05).mean()) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 1000)
    assert float(np.mean([swapped_p(9, generator, 0.6) < 0.05 for _ in range(100)])) > 0.8


def test_the_swap_test_by_hand() -> None:
    # Three clusters, all of A on one label and all of B on the other: only 2 of the 2^3 assignments reach 1.
    test = swap_test([[1.0, -1.0]] * 3)
    assert test.statistic == 1.0
    assert test.p == 2 / 8
    assert test.null_mean == pytest.approx((2 * 1 + 6 * 1 / 3) / 8)
    assert swap_test(np.zeros((0, 2))).p is None


def test_a_paired_interval_by_hand() -> None:
    data = np.linspace(-0.2, 0.4, 9)  # all different: a plain t interval
    estimate = paired_mean(data)
    se = float(data.std(ddof=1)) / 3
    assert estimate.se == pytest.approx(se)
    assert estimate.high == pytest.approx(0.1 + 2.306004 * se)
    assert estimate.low == pytest.approx(0.1 - 2.306004 * se)


def test_where_nothing_differs_the_interval_still_has_a_width() -> None:
    few, many = paired_mean(np.zeros(10)), paired_mean(np.zeros(300))
    assert few.low is not None
    assert many.low is not None
    assert many.high is not None
    assert few.low < -0.2
    assert -0.03 < many.low < 0 < many.high < 0.03
    assert paired_mean(np.zeros(4)).low is None


def test_turning_the_runs_round_turns_the_interval_round() -> None:
    data = np.array([0.0] * 25 + [0.5, 1.0, -0.125])
    one, other = paired_mean(data), paired_mean(-data)
    assert one.low is not None
    assert one.high is not None
    assert other.high == pytest.approx(-one.low)
    assert other.low == pytest.approx(-one.high)
    assert one.low < float(data.mean()) < one.high


def test_differences_of_shares_only() -> None:
    with pytest.raises(ValueError, match="between -1 and 1"):
        paired_mean([1.5, 0.0, 0.0, 0.0, 0.0])


def test_the_minimum_detectable_difference() -> None:
    # t(.975, 29) = 2.04523, t(.80, 29) = 0.85419
    assert minimum_detectable(0.02, 30) == pytest.approx(0.02 * (2.04523 + 0.85419), rel=1e-5)
    assert minimum_detectable(0.0, 30) is None
    assert minimum_detectable(0.02, 4) is None
    planned = dict(detectable(0.25, 152).by_correlation)
    assert set(planned) == {0.0, 0.3, 0.5, 0.7}
    assert planned[0.0] == pytest.approx(math.sqrt(0.5 / 152) * (1.97580 + 0.84393), rel=1e-4)
    assert planned[0.7] == pytest.approx((planned[0.0] or 0) * math.sqrt(0.3))


def test_the_detectable_difference_is_found_in_80_of_100_cases() -> None:
    generator, clusters = np.random.default_rng(5), 30
    size = minimum_detectable(0.2 / math.sqrt(clusters), clusters)
    assert size is not None
    data = np.clip(generator.normal(size, 0.2, (clusters, 500)), -1, 1)
    found = [test.p is not None and test.p < 0.05 for test in sign_flips(data)]
    assert 0.75 <= sum(found) / 500 <= 0.85
