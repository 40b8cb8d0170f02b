"""Concentration under a multinomial null, entropy and total variation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from biasfw.stats import miller_madow, multinomial_null, plugin_entropy, total_variation, total_variation_test

UNIFORM = [0.2] * 5
counts = st.lists(st.integers(0, 50), min_size=2, max_size=8).filter(any)


def test_the_largest_share_of_a_uniform_picker_is_far_above_one_in_five_at_ten_clusters() -> None:
    null = multinomial_null(UNIFORM, 10)
    assert null.largest_share.mean == pytest.approx(0.38, abs=0.01)
    assert null.largest_share.q95 == 0.5


def test_the_null_agrees_with_the_exact_distribution() -> None:
    # Two labels, six draws: the largest share is max(k, 6 - k)/6 with k binomial.
    chance = np.asarray(scipy_stats.binom.pmf(range(7), 6, 0.5))
    largest = np.maximum(np.arange(7), 6 - np.arange(7)) / 6
    null = multinomial_null([0.5, 0.5], 6)
    assert null.largest_share.mean == pytest.approx(float(chance @ largest), abs=0.005)
    assert null.total_variation.mean == pytest.approx(float(chance @ (largest - 0.5)), abs=0.005)
    exact = float(chance[largest >= 5 / 6].sum())
    assert null.largest_share.p_upper(5 / 6) == pytest.approx(exact, abs=0.015)
    assert null.total_variation.p_upper(2 / 6) == pytest.approx(exact, abs=0.015)


def test_equal_arguments_give_equal_draws() -> None:
    once, again = multinomial_null(UNIFORM, 40), multinomial_null(tuple(UNIFORM), 40)
    assert np.array_equal(once.largest_share.draws, again.largest_share.draws)
    assert not np.array_equal(once.largest_share.draws, multinomial_null(UNIFORM, 40, seed=1).largest_share.draws)


def test_expectations_are_normalised() -> None:
    assert multinomial_null([2, 2], 9).largest_share.mean == multinomial_null([0.5, 0.5], 9).largest_share.mean


@pytest.mark.parametrize(("expected", "n"), [(UNIFORM, 0), ([0.0, 0.0], 5), ([], 5)])
def test_a_null_needs_something_to_draw(expected: list[float], n: int) -> None:
    with pytest.raises(ValueError, match="observations and an expectation"):
        multinomial_null(expected, n)


def test_one_label_has_no_entropy() -> None:
    assert multinomial_null([1.0], 5).entropy is None
    assert miller_madow([10], 40) is None
    assert plugin_entropy([10]) is None


@settings(deadline=None)
@given(counts)
def test_entropy_agrees_with_scipy_plus_the_correction(values: list[int]) -> None:
    seen = sum(value > 0 for value in values)
    expected = (scipy_stats.entropy(values) + (seen - 1) / (2 * 40)) / np.log(len(values))
    assert miller_madow(values, 40) == pytest.approx(min(1.0, float(expected)))
    assert plugin_entropy(values) == pytest.approx(float(scipy_stats.entropy(values) / np.log(len(values))), abs=1e-12)


def test_entropy_is_null_under_thirty_clusters_and_without_counts() -> None:
    assert miller_madow([10, 10], 29) is None
    assert miller_madow([10, 10], 30) == 1.0
    assert miller_madow([0, 0], 30) is None
    assert plugin_entropy([0, 0]) is None


def test_the_correction_removes_most_of_the_bias() -> None:
    drawn = np.random.default_rng(2).multinomial(40, [0.5, 0.2, 0.15, 0.1, 0.05], size=2000)
    true = scipy_stats.entropy([0.5, 0.2, 0.15, 0.1, 0.05]) / np.log(5)
    corrected = np.mean([miller_madow(row, 40) or 0.0 for row in drawn])
    plain = np.mean([plugin_entropy(row) or 0.0 for row in drawn])
    assert abs(corrected - true) < abs(plain - true) / 4


def test_total_variation() -> None:
    assert total_variation([1, 0, 0, 0, 0], UNIFORM) == pytest.approx(0.8)
    assert total_variation(UNIFORM, UNIFORM) == 0


def test_the_variation_test_says_what_it_did() -> None:
    test = total_variation_test([0.5, 0.3, 0.2, 0, 0], UNIFORM, 20, null="uniform")
    assert test.statistic == pytest.approx(0.4)
    assert test.null_mean is not None
    assert test.null_q95 is not None
    assert test.null_mean < test.null_q95 < 0.4
    assert test.p is not None
    assert test.p < 0.05
    assert (test.null, "10,000" in test.method) == ("uniform", True)


def test_the_variation_test_without_clusters_has_a_reason() -> None:
    test = total_variation_test([0.0] * 5, UNIFORM, 0)
    assert (test.p, test.reason) == (None, "no clusters")


def test_the_variation_test_keeps_its_level() -> None:
    drawn = np.random.default_rng(7).multinomial(30, UNIFORM, size=1000) / 30
    p = np.array([total_variation_test(row, UNIFORM, 30).p for row in drawn])
    assert (p <= 0.05).mean() <= 0.065
    assert (p <= 0.25).mean() == pytest.approx(0.25, abs=0.1)
