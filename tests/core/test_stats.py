"""Intervals for clustered rows, against statsmodels, against their own formula, and as properties."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.optimize import linprog
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from biasfw.stats import (
    Estimate,
    clustered_mean,
    clustered_proportion,
    holm,
    largest_share_limits,
    proportion_from_cluster_sums,
    simultaneous_level,
    total_variation,
    variation_limits,
    wilson,
)

shares = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))
rows = st.lists(st.tuples(shares, st.integers(0, 12)), min_size=1, max_size=60)
p_values = st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12)


def estimate_of(pairs: list[tuple[float, int]], level: float = 0.95) -> Estimate:
    return clustered_proportion([value for value, _ in pairs], [cluster for _, cluster in pairs], level)


@pytest.mark.parametrize("values", [[], [1.0], [0.0]])
def test_no_rows_and_one_row_have_no_interval_but_a_reason(values: list[float]) -> None:
    estimate = clustered_proportion(values, ["a"] * len(values))
    assert estimate.mean == (values[0] if values else None)
    assert estimate.interval().low is None
    assert estimate.interval().reason


def test_below_five_clusters_the_value_stays_and_the_interval_goes() -> None:
    four, five = (clustered_proportion([0, 1, 1, 1, 0][:count], range(count)) for count in (4, 5))
    assert four.mean == 0.75
    assert (four.low, four.high, four.reason) == (None, None, "4 clusters, an interval takes 5")
    assert five.low is not None


def test_zero_of_n_has_the_width_that_its_clusters_allow() -> None:
    estimate = clustered_proportion([0.0] * 40, np.repeat(range(10), 4))
    quantile = scipy_stats.t.ppf(0.975, 9)
    assert (estimate.low, estimate.n_eff, estimate.n, estimate.clusters) == (0.0, 10, 40, 10)
    assert estimate.high == pytest.approx(quantile**2 / (10 + quantile**2))


def test_one_row_per_cluster_is_wilson_with_t_in_place_of_z() -> None:
    values = [1] * 12 + [0] * 18
    estimate = clustered_proportion(values, range(30))
    # SE^2 = m (1 - m)/(C - 1) here, so that n_eff is C - 1; alpha is chosen so that z equals t(.975, 29).
    alpha = 2 * scipy_stats.norm.sf(scipy_stats.t.ppf(0.975, 29))
    assert estimate.n_eff == pytest.approx(29)
    assert (estimate.low, estimate.high) == pytest.approx(proportion_confint(0.4 * 29, 29, alpha, method="wilson"))


def test_the_standard_error_is_that_of_a_clustered_regression_on_a_constant() -> None:
    generator = np.random.default_rng(5)
    clusters = generator.integers(0, 20, 200)
    values = (generator.random(200) < generator.random(20)[clusters]).astype(float)
    fitted = OLS(values, np.ones(200)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    assert clustered_proportion(values, clusters).se == pytest.approx(float(fitted.bse[0]))
    mean = clustered_mean(values, clusters)
    assert mean.se == pytest.approx(float(fitted.bse[0]))
    assert mean.low == pytest.approx(float(values.mean() - scipy_stats.t.ppf(0.975, 19) * fitted.bse[0]))


def test_few_deviating_clusters_cannot_shrink_the_interval_below_that_of_c_observations() -> None:
    # 7 of 40 clusters differ from the rest: their spread says little about the variance.
    sizes = np.full(40, 10)
    seven = proportion_from_cluster_sums(np.r_[np.ones(7), np.zeros(33)], sizes)
    eight = proportion_from_cluster_sums(np.r_[np.ones(8), np.zeros(32)], sizes)
    assert seven.n_eff == 40
    assert eight.n_eff is not None
    assert eight.n_eff > 40
    # The rule only ever takes away: where rows of a cluster agree, n_eff is C - 1 already.
    agreeing = proportion_from_cluster_sums(np.r_[np.full(7, 10), np.zeros(33)], sizes)
    assert agreeing.n_eff == pytest.approx(39)


@settings(deadline=None)
@given(rows)
def test_bounds_hold_the_mean_inside_the_unit_interval_and_never_coincide(pairs: list[tuple[float, int]]) -> None:
    estimate = estimate_of(pairs)
    assert estimate.mean is not None
    if estimate.low is None or estimate.high is None:
        assert estimate.clusters < 5
        return
    assert 0 <= estimate.low <= estimate.mean <= estimate.high <= 1
    assert estimate.high - estimate.low > 0


@settings(deadline=None)
@given(rows, st.integers(2, 5))
def test_copying_every_row_narrows_nothing(pairs: list[tuple[float, int]], copies: int) -> None:
    once, often = estimate_of(pairs), estimate_of(pairs * copies)
    assert often.n == copies * once.n
    for name in ("mean", "low", "high"):
        before, after = getattr(once, name), getattr(often, name)
        assert (before is None) == (after is None)
        assert before is None or after == pytest.approx(before, abs=1e-6)


@settings(deadline=None)
@given(rows)
def test_complement_mirrors_the_interval(pairs: list[tuple[float, int]]) -> None:
    one, other = estimate_of(pairs), estimate_of([(1 - value, cluster) for value, cluster in pairs])
    if one.low is not None and one.high is not None:
        assert other.low == pytest.approx(1 - one.high, abs=1e-6)
        assert other.high == pytest.approx(1 - one.low, abs=1e-6)


@settings(deadline=None)
@given(rows, st.integers(2, 50))
def test_simultaneous_intervals_hold_the_single_ones(pairs: list[tuple[float, int]], k: int) -> None:
    single, outer = estimate_of(pairs), estimate_of(pairs, simultaneous_level(k))
    if single.low is not None and single.high is not None:
        assert outer.low is not None
        assert outer.high is not None
        assert outer.low <= single.low
        assert outer.high >= single.high


@settings(deadline=None)
@given(st.integers(5, 60), st.data())
def test_one_more_success_moves_no_bound_down(clusters: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, clusters - 1))
    less, more = (clustered_proportion([1] * k + [0] * (clusters - k), range(clusters)) for k in (count, count + 1))
    assert less.low is not None
    assert less.high is not None
    assert more.low is not None
    assert more.high is not None
    # n_eff falls from C - 1 to C where the capping rule sets in, which moves a bound by a hair.
    assert more.low >= less.low - 0.01
    assert more.high >= less.high - 0.01


def test_more_clusters_with_the_same_share_give_a_narrower_interval() -> None:
    widths = []
    for clusters in (10, 40, 160):
        estimate = clustered_proportion([1, 0] * (clusters // 2), range(clusters))
        assert estimate.low is not None
        assert estimate.high is not None
        widths.append(estimate.high - estimate.low)
    assert widths == sorted(widths, reverse=True)


def test_cluster_sums_and_rows_are_the_same_estimate() -> None:
    values, clusters = [1, 0, 0.5, 1, 0, 1, 1, 0.25], [0, 0, 1, 2, 3, 4, 5, 5]
    sums = np.bincount(clusters, weights=values)
    assert proportion_from_cluster_sums(sums, np.bincount(clusters)) == clustered_proportion(values, clusters)


def test_clusters_without_rows_do_not_count() -> None:
    assert proportion_from_cluster_sums([1, 0, 0], [2, 0, 3]).clusters == 2


@pytest.mark.parametrize("values", [[1.5], [-0.1], [math.nan], [math.inf]])
def test_a_proportion_refuses_other_values(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"between 0 and 1|finite"):
        clustered_proportion(values, ["a"])


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="same length"):
        clustered_mean([1.0, 2.0], ["a"])


def test_a_mean_without_variation_has_no_interval_of_zero_width() -> None:
    estimate = clustered_mean([0.25] * 12, range(12))
    assert (estimate.mean, estimate.low, estimate.reason) == (0.25, None, "no variation between clusters")


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 5), (5, 5), (3, 4), (17, 40), (0, 5000)])
def test_plain_wilson_agrees_with_statsmodels(k: int, n: int) -> None:
    assert wilson(k, n) == pytest.approx(proportion_confint(k, n, method="wilson"), abs=1e-12)
    assert wilson(k, n, 0.99) == pytest.approx(proportion_confint(k, n, 0.01, method="wilson"), abs=1e-12)


def test_plain_wilson_of_nothing_is_none() -> None:
    assert wilson(0, 0) is None


def test_plain_wilson_gives_the_handed_bounds() -> None:
    path = _shared("cases/metrics/wilson_expected.json")
    for case in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        assert wilson(case["k"], case["n"]) == pytest.approx(case["wilson95"], abs=1e-6)


@settings(deadline=None, max_examples=30)
@given(p_values)
def test_holm_agrees_with_statsmodels_and_leaves_out_none(values: list[float | None]) -> None:
    adjusted = holm(values)
    known = [p for p in values if p is not None]
    expected = iter(multipletests(known, method="holm")[1] if known else [])
    for p, q in zip(values, adjusted, strict=True):
        assert (p is None) == (q is None)
        assert q is None or q == pytest.approx(float(next(expected)))


def _shared(name: str) -> Path:
    for folder in Path(__file__).resolve().parents:
        path = folder / "shared" / name
        if path.is_file():
            return path
    pytest.skip(f"there is no folder shared with {name} beside the checkout")


def test_a_mean_that_can_only_lie_in_a_range_has_its_interval_there() -> None:
    values = [1.0, 1.0, 1.0, 1.0, 0.0]
    free, cut = clustered_mean(values, range(5)), clustered_mean(values, range(5), possible=(-1, 1))
    assert free.high is not None
    assert free.high > 1
    assert (cut.low, cut.high) == (free.low, 1)
    assert cut.method == f"{free.method}; cut to the values that are possible"


boxes = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 1)), min_size=2, max_size=5)


@settings(deadline=None)
@given(boxes, st.integers(0, 2**32 - 1))
def test_what_limits_of_shares_say_of_all_of_them_is_exact(box: list[tuple[float, float, float]], seed: int) -> None:
    generator = np.random.default_rng(seed)
    count = len(box)
    inside = generator.dirichlet(np.ones(count))
    lows, highs = np.array([(inside[i] * a, inside[i] + (1 - inside[i]) * b) for i, (a, b, _) in enumerate(box)]).T
    expected = np.array([weight for _, _, weight in box])
    expected /= expected.sum()
    corners = [extreme(lows, highs, direction) for direction in itertools.product((-1.0, 0.0, 1.0), repeat=count)]
    distances = [total_variation(corner, expected) for corner in (*corners, inside)]
    low, high = variation_limits(lows, highs, expected)
    assert low <= min(distances) + 1e-9
    assert high == pytest.approx(max(distances), abs=1e-6), "reached in a corner"
    least, most = largest_share_limits(lows, highs)
    assert least <= min(float(corner.max()) for corner in (*corners, inside)) + 1e-9
    assert least >= 1 / count - 1e-9
    assert most == pytest.approx(max(float(corner.max()) for corner in corners), abs=1e-6)


def extreme(lows: Any, highs: Any, direction: Sequence[float]) -> Any:
    """The shares within the limits that go furthest in a direction."""
    found = linprog(
        -np.array(direction), A_eq=np.ones((1, len(lows))), b_eq=[1], bounds=list(zip(lows, highs, strict=True))
    )
    return found.x


def test_the_least_values_are_reached() -> None:
    uniform = [0.2] * 5
    assert variation_limits([0.1] * 5, [0.9] * 5, uniform) == pytest.approx((0.0, 0.4))
    assert variation_limits([0.5, 0, 0, 0, 0], [1.0] * 5, uniform) == pytest.approx((0.3, 0.8))
    assert largest_share_limits([0.0] * 5, [0.1, 0.1, 0.5, 0.5, 0.5]) == pytest.approx((0.8 / 3, 0.5))
    many = np.full(20, 0.05)
    assert variation_limits(np.zeros(20), np.full(20, 0.6), many) == pytest.approx((0.0, 0.95))
