"""The two-way clustered interval: by hand, and in simulation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from biasfw.annotating.twoway import two_way_proportion
from biasfw.stats import clustered_proportion

ITEMS = 152


def test_by_hand() -> None:
    rng = np.random.default_rng(3)
    items, people = np.repeat(np.arange(9), 6), np.tile(np.arange(6), 9)
    values = (rng.random(54) < 0.7).astype(float)
    found = two_way_proportion(values, items, people)
    grid = values.reshape(9, 6) - values.mean()
    by_item = 9 / 8 * (grid.sum(axis=1) ** 2).sum() / 54**2
    by_person = 6 / 5 * (grid.sum(axis=0) ** 2).sum() / 54**2
    by_cell = 54 / 53 * (grid**2).sum() / 54**2
    assert found.se == pytest.approx(np.sqrt(max(by_item + by_person - by_cell, by_item, by_person)))
    assert (found.mean, found.n, found.clusters) == (values.mean(), 54, 6)


def test_it_is_never_narrower_than_either_one_way_interval() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        values = (rng.random((30, 8)) < rng.random((30, 1)) * rng.random((1, 8))).astype(float).ravel()
        items, people = np.repeat(np.arange(30), 8), np.tile(np.arange(8), 30)
        found = two_way_proportion(values, items, people)
        for clusters in (items, people):
            one = clustered_proportion(values, clusters)
            assert found.se is not None
            assert one.se is not None
            assert found.se >= one.se - 1e-12


def test_what_cannot_be_said_is_null_with_a_reason() -> None:
    few = two_way_proportion([1, 0] * 4, list(range(4)) * 2, [0] * 4 + [1] * 4)
    assert (few.mean, few.low, few.reason) == (0.5, None, "2 clusters, an interval takes 5")
    assert two_way_proportion([], [], []).reason == "no rows"
    right = two_way_proportion(np.ones(60), np.repeat(np.arange(10), 6), np.tile(np.arange(6), 10))
    assert right.mean == right.high == 1
    assert right.low is not None
    assert right.low < 0.7  # six people who agree are six people


def simulated(
    rng: np.random.Generator, people: int, mean: float, biased: float
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Items of unlike difficulty; people of unlike ability, some of whom lean to the first reply by ``biased``."""
    ability, difficulty = rng.normal(0, 0.5, people), rng.normal(0, 0.8, ITEMS)
    lean = rng.normal(0, biased, people)
    first = rng.random((ITEMS, people)) < 0.5
    p = expit(mean + ability + difficulty[:, None] + np.where(first, lean, -lean))
    values = (rng.random((ITEMS, people)) < p).astype(float).ravel()
    return values, np.repeat(np.arange(ITEMS), people), np.tile(np.arange(people), ITEMS)


@pytest.mark.parametrize("people", [5, 15])
@pytest.mark.parametrize(("mean", "biased"), [(2.5, 0.0), (1.0, 0.6)])
def test_the_interval_covers(people: int, mean: float, biased: float) -> None:
    rng = np.random.default_rng(people)
    spread = np.sqrt(0.5**2 + 0.8**2 + biased**2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    truth = float((weights * expit(mean + spread * nodes)).sum() / weights.sum())
    draws = 1000
    covered = 0
    for _ in range(draws):
        found = two_way_proportion(*simulated(rng, people, mean, biased))
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= truth <= found.high
    assert covered / draws >= 0.925


def test_one_way_intervals_would_not() -> None:
    rng = np.random.default_rng(9)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    truth = float((weights * expit(1 + np.sqrt(0.5**2 + 0.8**2) * nodes)).sum() / weights.sum())
    covered = 0
    for _ in range(300):
        values, items, _ = simulated(rng, 15, 1.0, 0.0)
        found = clustered_proportion(values, items)
        covered += (found.low or 0) <= truth <= (found.high or 1)
    assert covered / 300 < 0.9
