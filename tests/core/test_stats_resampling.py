"""Sign-flip tests: exact enumeration, seeded draws, ties, many columns."""

from __future__ import annotations

import itertools
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from biasfw.stats import sign_flip, sign_flips

differences = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.1, 0.3, 1.0]), min_size=1, max_size=9)


@settings(deadline=None)
@given(differences)
def test_small_samples_are_enumerated(values: list[float]) -> None:
    totals = [abs(sum(s * v for s, v in zip(signs, values, strict=True))) for signs in _signs(len(values))]
    reached = sum(total >= abs(sum(values)) - 1e-9 for total in totals)
    assert sign_flip(values).p == pytest.approx(reached / 2 ** len(values))


def _signs(count: int) -> list[tuple[int, ...]]:
    return list(itertools.product((1, -1), repeat=count))


def test_the_exact_test_agrees_with_scipy() -> None:
    values = [0.3, -0.1, 0.6, 0.2, 0.05, 0.4, -0.2, 0.7]
    oracle = scipy_stats.permutation_test(
        (np.array(values),), np.mean, permutation_type="samples", alternative="two-sided", n_resamples=10**6
    )
    assert sign_flip(values).p == pytest.approx(float(oracle.pvalue))


def test_twelve_clusters_are_exact_and_thirteen_are_drawn() -> None:
    assert sign_flip([1.0] * 12).p == 2 / 2**12
    drawn = sign_flip([1.0] * 13)
    assert "99,999 draws" in drawn.method
    assert drawn.p == pytest.approx(2 / 2**13, rel=0.5)


def test_draws_come_close_to_the_exact_p() -> None:
    values = np.random.default_rng(3).normal(0.25, 1, 16)
    signs = 1 - 2 * ((np.arange(2**16)[:, None] >> np.arange(16)) & 1)
    exact = float((np.abs(signs @ values) >= abs(values.sum()) - 1e-12).mean())
    assert sign_flip(values).p == pytest.approx(exact, abs=0.006)


def test_p_is_never_zero_and_is_one_without_any_difference() -> None:
    assert sign_flip(np.ones(200)).p == 1 / 100_000
    assert sign_flip(np.zeros(40)).p == 1
    assert sign_flip([0.7]).p == 1


def test_no_cluster_gives_no_p_but_a_reason() -> None:
    test = sign_flip([])
    assert (test.p, test.statistic, test.reason) == (None, None, "no clusters")


def test_the_same_seed_gives_the_same_p() -> None:
    values = np.random.default_rng(0).normal(0.1, 1, 50)
    assert sign_flip(values) == sign_flip(values)
    assert sign_flip(values).p != sign_flip(values, seed=1).p


@given(st.integers(1, 5), st.integers(1, 14))
@settings(max_examples=15, deadline=None)
def test_every_column_is_tested_as_if_alone(columns: int, clusters: int) -> None:
    data = np.random.default_rng(clusters).normal(size=(clusters, columns))
    assert [test.p for test in sign_flips(data)] == [sign_flip(column).p for column in data.T]


def test_missing_values_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        sign_flip([0.1, np.nan])


def test_p_is_uniform_under_no_difference() -> None:
    generator = np.random.default_rng(11)
    data = generator.normal(size=(12, 400))
    p = np.array([test.p for test in sign_flips(data)])
    assert scipy_stats.kstest(p, "uniform").pvalue > 0.01


def test_many_draws_are_fast_and_small() -> None:
    values = np.random.default_rng(0).normal(size=152)
    tracemalloc.start()
    begun = time.process_time()
    sign_flip(values)
    seconds, peak = time.process_time() - begun, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seconds < 2  # processor time of all threads
    assert peak < 64 * 2**20
