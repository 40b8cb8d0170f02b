"""Total variation, largest share and entropy beside their nulls."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests

from biasfw import miller_madow, multinomial_null, total_variation

UNIFORM = [0.2] * 5
LABELS = ("ants", "bees", "cats", "dogs", "elks")


def rows_of(names: list[str], row: Any, category: str = "food") -> list[Any]:
    return [row((name, "elks"), source=f"{category}{place}", category=category) for place, name in enumerate(names)]


def test_distance_from_uniform_with_its_null(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    table = table_of(rows_of(["ants"] * 20 + ["bees"] * 10 + ["cats"] * 10, row), form)
    score = one(compute("label_uniformity", table, form), slot="praised")
    assert score.value == pytest.approx(0.4)
    null = multinomial_null(UNIFORM, 40).total_variation
    assert (score.test.null_mean, score.test.null_q95) == (null.mean, null.q95)
    assert score.test.p == null.p_upper(0.4)
    assert (score.ideal, score.direction) == (0.0, "lower")
    assert score.interval.low < 0.4 < score.interval.high


def test_repeats_do_not_sharpen_the_test(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    rows = rows_of(["ants"] * 6 + ["bees"] * 3 + ["cats"] * 3, row)
    once, often = (one(compute("label_uniformity", table_of(r, form), form), slot="praised") for r in (rows, rows * 9))
    assert once.test.p == often.test.p


def test_holm_runs_over_slots_and_categories(compute: Any, table_of: Any, row: Any, form: Any) -> None:
    rows = rows_of(["ants"] * 8 + ["bees"] * 6, row) + rows_of(["ants", "bees", "cats", "dogs"] * 4, row, "work")
    scores = compute("label_uniformity", table_of(rows, form), form)
    by_category = [score for score in scores if "category" in score.slice]
    assert len(by_category) == 4
    assert len({score.family for score in by_category}) == 1
    expected = multipletests([score.test.p for score in by_category], method="holm")[1]
    assert [score.test.p_adjusted for score in by_category] == pytest.approx(list(expected))
    assert {score.family for score in scores if "category" not in score.slice} != {by_category[0].family}


counts = st.lists(st.integers(0, 4), min_size=5, max_size=5).filter(any)


@settings(deadline=None, max_examples=25)
@given(counts, st.integers(0, 4))
def test_bounds_are_what_the_missing_could_make_of_it(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any, counted: list[int], missing: int
) -> None:
    names = [label for label, count in zip(LABELS, counted, strict=True) for _ in range(count)]
    table = table_of(rows_of(names + ["<refused>"] * missing, row), form)
    completed = [
        np.array(counted) + np.array([extra.count(label) for label in range(5)])
        for extra in itertools.combinations_with_replacement(range(5), missing)
    ]
    shares = [filled / filled.sum() for filled in completed]
    uniformity = one(compute("label_uniformity", table, form), slot="praised")
    largest = one(compute("label_concentration", table, form), slot="praised", statistic="largest_share")
    distances = [total_variation(share, UNIFORM) for share in shares]
    tops = [float(share.max()) for share in shares]
    for score, values in ((uniformity, distances), (largest, tops)):
        # Fractions of a response may be shared out, whole ones may not: the lower bound can lie a little below.
        assert score.bounds[0] <= min(values) + 1e-9
        assert score.bounds[0] >= min(values) - 1.25 / sum(completed[0])  # 5 labels, each rounded
        assert score.bounds[1] == pytest.approx(max(values))
        assert score.bounds[0] <= score.value <= score.bounds[1]


def test_concentration_beside_its_null(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    names = ["ants"] * 25 + ["bees"] * 8 + ["cats"] * 7
    scores = compute("label_concentration", table_of(rows_of(names, row), form), form, slot="praised")
    largest, entropy = one(scores, statistic="largest_share"), one(scores, statistic="entropy")
    null = multinomial_null(UNIFORM, 40)
    assert (largest.value, largest.reference, largest.test.p) == (0.625, 0.2, null.largest_share.p_upper(0.625))
    assert (largest.test.null_mean, largest.test.null_q95) == (null.largest_share.mean, null.largest_share.q95)
    assert entropy.value == miller_madow(list(Counter(names).values()), 40, 5)
    assert null.entropy is not None
    assert (entropy.test.null_mean, entropy.test.null_q95) == (null.entropy.mean, null.entropy.q95)
    assert entropy.test.p == 1 / 10_001
    assert largest.interval.low < 0.625 < largest.interval.high


def test_entropy_is_null_under_thirty_clusters(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    table = table_of(rows_of(["ants", "bees"] * 10, row), form)
    score = one(compute("label_concentration", table, form), slot="praised", statistic="entropy")
    assert (score.value, score.reason) == (None, "20 of at least 30 clusters for an entropy")


def test_intervals_hold_the_true_distance(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    generator = np.random.default_rng(4)
    chances = [0.45, 0.25, 0.1, 0.1, 0.1]
    true, inside = total_variation(chances, UNIFORM), 0
    for _ in range(60):
        names = generator.choice(LABELS, size=25, p=chances).tolist()
        interval = one(compute("label_uniformity", table_of(rows_of(names, row), form), form), slot="praised").interval
        inside += interval.low <= true <= interval.high
    assert inside >= scipy_stats.binom.ppf(0.001, 60, 0.95)


@pytest.mark.parametrize("names", [["ants"] * 5, ["ants"] * 6 + ["bees"], ["ants", "bees", "cats", "dogs", "elks"]])
def test_with_few_clusters_no_interval_leaves_what_shares_can_be(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any, names: list[str]
) -> None:
    table = table_of(rows_of(names, row), form)
    distance = one(compute("label_uniformity", table, form), slot="praised").interval
    largest = one(compute("label_concentration", table, form), slot="praised", statistic="largest_share").interval
    assert 0 <= distance.low < distance.high <= 0.8 + 1e-12, "one of five labels alone is 80 % from uniform"
    assert 0.2 - 1e-12 <= largest.low < largest.high <= 1, "the largest of five shares is at least a fifth"
