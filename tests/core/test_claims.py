"""What is claimed of differences that are known: how often wrongly, how often rightly, and how often intervals hold.

Cluster differences as ``test_paired`` draws them, settled as a comparison settles them: test and interval together.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from biasfw._resampling import smallest_p
from biasfw.comparing.claims import settled
from biasfw.comparing.results import Difference
from biasfw.paired import minimum_detectable, paired_mean
from biasfw.records import Test
from biasfw.stats import sign_flips

ROWS = 8
DRAWS = 4000

Floats = NDArray[np.float64]


def drawn(clusters: int, draws: int, same: float = 0.5, seed: int = 0) -> Floats:
    """(draws, clusters): differences of two runs whose clusters have the same rates in the mean, correlated by half."""
    generator, size = np.random.default_rng([seed, clusters, round(100 * same)]), (draws, clusters)
    first, other = (generator.beta(0.5, 0.5, size) for _ in range(2))
    second = np.where(generator.random(size) < same, first, other)
    hits = [generator.binomial(ROWS, rate) for rate in (first, second)]
    return np.asarray((hits[0] - hits[1]) / ROWS, dtype=np.float64)


def differences(data: Floats, block: int = 500) -> list[Difference]:
    """One for each row of ``data`` (draws, clusters), nothing missing."""
    tests = [test for at in range(0, len(data), block) for test in sign_flips(data[at : at + block].T)]
    return [_difference(row, test) for row, test in zip(data, tests, strict=True)]


def _difference(row: Floats, test: Test) -> Difference:
    estimate, value = paired_mean(row), float(row.mean())
    means = np.stack([row, np.zeros(len(row)), row, row, row], axis=1)
    return Difference(
        "accuracy", {}, 0.5, 0.5, value, estimate.interval(), test, test.p, len(row), len(row), (0, 0), (value, value),
        None, "family", estimate.se, smallest_p=smallest_p(int((row != 0).sum())), means=means,
    )  # fmt: skip


def most(rate: float, draws: int) -> float:
    return rate + 2 * math.sqrt(rate * (1 - rate) / draws)


def claimed(data: Floats) -> float:
    return sum(settled([each])[0].shown is not None for each in differences(data)) / len(data)


def check_family(clusters: int, categories: int, draws: int) -> tuple[float, float]:
    """How often anything is claimed though nothing differs, and how often all intervals of a family hold 0."""
    found = differences(drawn(clusters, draws * categories))
    wrong = together = 0
    for start in range(0, len(found), categories):
        family = settled(found[start : start + categories])
        wrong += any(each.shown is not None for each in family)
        together += all(
            each.simultaneous is not None
            and each.simultaneous.low is not None
            and each.simultaneous.high is not None
            and each.simultaneous.low <= 0 <= each.simultaneous.high
            for each in family
        )
    assert wrong <= most(0.05, draws) * draws
    assert together >= (0.925 - 2 * math.sqrt(0.925 * 0.075 / draws)) * draws
    return wrong / draws, together / draws


@pytest.mark.parametrize("same", [0.0, 0.9])
def test_claims_where_nothing_differs(same: float) -> None:
    assert claimed(drawn(9, 1000, same)) <= most(0.05, 1000)


def test_claims_and_intervals_over_ten_categories() -> None:
    check_family(9, 10, 300)


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [9, 30, 152])
def test_claims_where_nothing_differs_in_many_draws(clusters: int) -> None:
    assert claimed(drawn(clusters, DRAWS)) <= most(0.05, DRAWS)


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [9, 15])
def test_claims_over_ten_categories_in_many_draws(clusters: int) -> None:
    check_family(clusters, 10, DRAWS)


@pytest.mark.parametrize("clusters", [9, 30])
def test_what_is_said_to_be_found_in_80_of_100_cases_is_claimed_as_often(clusters: int) -> None:
    generator = np.random.default_rng(7)
    size = minimum_detectable(0.2 / math.sqrt(clusters), clusters)
    assert size is not None
    data = np.clip(generator.normal(size, 0.2, (300, clusters)), -1, 1)
    assert 0.73 <= claimed(data) <= 0.87
