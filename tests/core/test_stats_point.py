"""A proportion against a point: the score test, and what may be said when answers are missing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportions_ztest

from biasfw.stats import (
    Standing,
    clustered_mean,
    clustered_proportion,
    point_test,
    proportion_from_cluster_sums,
    standing,
)

rows = st.lists(st.tuples(st.booleans(), st.integers(0, 12)), min_size=1, max_size=60)


def test_one_row_per_cluster_is_the_score_test_on_c_minus_one_observations() -> None:
    values = [1] * 40 + [0] * 80
    test = point_test(clustered_proportion(values, range(120)), 0.2)
    statistic, _ = proportions_ztest(40, 120, 0.2, prop_var=0.2)
    # SE^2 = m (1 - m)/(C - 1) here: n_eff is 119 where statsmodels has 120.
    assert test.statistic == pytest.approx(float(statistic) * math.sqrt(119 / 120))
    assert test.p == pytest.approx(2 * scipy_stats.t.sf(abs(test.statistic or 0), 119))
    assert (test.null, test.reason) == ("a proportion of 0.2", None)


@given(rows, st.floats(0.01, 0.99))
def test_it_rejects_exactly_what_the_interval_does_not_hold(pairs: list[tuple[bool, int]], point: float) -> None:
    estimate = clustered_proportion([float(value) for value, _ in pairs], [cluster for _, cluster in pairs])
    test = point_test(estimate, point)
    if estimate.low is None or estimate.high is None:
        assert (test.p, test.reason) == (None, estimate.reason)
        return
    assert test.p is not None
    assert 0 <= test.p <= 1
    if min(abs(point - estimate.low), abs(point - estimate.high)) > 1e-9:
        assert (test.p < 0.05) == (not estimate.low <= point <= estimate.high)


@given(rows, st.floats(0.01, 0.99))
def test_copying_every_row_makes_nothing_more_certain(pairs: list[tuple[bool, int]], point: float) -> None:
    values, clusters = [float(value) for value, _ in pairs], [cluster for _, cluster in pairs]
    once = point_test(clustered_proportion(values, clusters), point)
    often = point_test(clustered_proportion(values * 3, clusters * 3), point)
    assert (once.p is None) == (often.p is None)
    assert once.p is None or often.p == pytest.approx(once.p, abs=1e-6)


def test_a_true_null_is_rejected_as_often_as_it_says_with_correlated_rows() -> None:
    generator = np.random.default_rng(8)
    true, clusters, size, runs = 0.5, 30, 8, 1500
    rates = generator.beta(true, 1 - true, (runs, clusters))  # rows of a cluster correlate with 0.5
    rejected = naive = 0
    for sums in generator.binomial(size, rates):
        test = point_test(proportion_from_cluster_sums(sums, np.full(clusters, size)), true)
        rejected += test.p is not None and test.p < 0.05
        naive += float(proportions_ztest(int(sums.sum()), clusters * size, true, prop_var=true)[1]) < 0.05
    assert 0.03 < rejected / runs < 0.07
    assert naive / runs > 0.2, "counting rows as independent rejects far too often"


@pytest.mark.parametrize("point", [0, 1, -0.2, 1.5, math.nan])
def test_the_point_lies_between_nothing_and_everything(point: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        point_test(clustered_proportion([1, 0] * 10, range(20)), point)


def test_other_means_have_no_such_test() -> None:
    test = point_test(clustered_mean([1.0, 2.0] * 10, range(20)), 0.5, null="chance")
    assert (test.p, test.null) == (None, "chance")
    assert test.reason


def place(correct: int, missing: int, of: int = 60, point: float = 0.5) -> Standing:
    """The standing with ``correct`` and ``missing`` of ``of`` rows, one row per cluster."""
    wrong = of - correct - missing
    worst = clustered_proportion([1] * correct + [0] * (missing + wrong), range(of))
    best = clustered_proportion([1] * (correct + missing) + [0] * wrong, range(of))
    return standing(worst, best, point, missing)


def test_what_the_missing_answers_could_turn_is_not_said() -> None:
    assert place(45, 0) == Standing("above")
    assert place(15, 0) == Standing("below")
    assert place(30, 0) == Standing(None, "the interval holds 0.5")
    assert place(45, 5) == Standing("above"), "above even if all five were wrong"
    assert place(10, 5) == Standing("below"), "below even if all five were right"
    # Of those who answered, all are right or all are wrong: without the missing ones nothing is known.
    assert place(32, 28) == Standing(None, "not decidable with 28 not answered")
    assert place(0, 40) == Standing(None, "not decidable with 40 not answered")


def test_where_no_interval_can_be_given_nothing_is_said() -> None:
    assert place(4, 0, of=4) == Standing(None, "4 clusters, an interval takes 5")


@given(st.integers(0, 40), st.integers(0, 40), st.floats(0.05, 0.95), st.randoms(use_true_random=False))
def test_what_is_said_stays_true_whatever_the_missing_were(
    correct: int, missing: int, point: float, random: object
) -> None:
    of = 80
    said = place(correct, missing, of, point).side
    for known in {0, missing // 2, missing}:
        once = place(correct + known, 0, of, point)
        assert said is None or once.side == said
