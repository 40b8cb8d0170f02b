"""Coefficients of agreement against the packages krippendorff and scikit-learn, published figures, and by hand."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from biasfw.agreement import (
    MISSING,
    NO_VARIATION,
    PanelRule,
    changes,
    cohen_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
    rule_of,
)

# Krippendorff's example of four observers and twelve units with missing values (Computing Krippendorff's
# Alpha-Reliability, 2011): nominal alpha 0.743. Gwet's AC1 and the agreement of the same data: 0.775 and 0.818.
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
) - 1  # fmt: skip
EACH = np.arange(12)


def ratings(seed: int, raters: int = 3, n: int = 80, classes: int = 4, missing: float = 0.2) -> np.ndarray:
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, classes, n)
    codes = np.where(generator.random((raters, n)) < 0.6, truth, generator.integers(0, classes, (raters, n)))
    return np.where(generator.random((raters, n)) < missing, MISSING, codes).astype(np.int64)


def by_package(codes: np.ndarray) -> float:
    data = np.where(codes == MISSING, np.nan, codes.astype(float))
    return float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal"))


def test_published_figures() -> None:
    assert krippendorff_alpha(PUBLISHED, EACH).value == pytest.approx(0.743, abs=5e-4)
    assert gwet_ac1(PUBLISHED, EACH).value == pytest.approx(0.775, abs=5e-4)
    assert percent_agreement(PUBLISHED, EACH).value == pytest.approx(0.818, abs=5e-4)
    assert percent_agreement(PUBLISHED, EACH).n == 11, "one unit has one label"


@pytest.mark.parametrize("seed", range(12))
def test_alpha_is_that_of_the_package_krippendorff(seed: int) -> None:
    codes = ratings(seed, raters=2 + seed % 4, missing=(0.0, 0.2, 0.5)[seed % 3])
    assert krippendorff_alpha(codes, np.arange(80)).value == pytest.approx(by_package(codes), abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_kappa_is_that_of_scikit_learn(seed: int) -> None:
    first, second = ratings(seed, raters=2, missing=0.2)
    both = (first != MISSING) & (second != MISSING)
    found = cohen_kappa(first, second, np.arange(80))
    assert found.n == both.sum()
    assert found.value == pytest.approx(cohen_kappa_score(first[both], second[both]), abs=1e-12)


def test_two_raters_by_hand() -> None:
    # Wongpakaran et al. 2013 restate Gwet's two-rater form: p_e = 2 pi (1 - pi) for two classes.
    first = np.array([0] * 80 + [0] * 10 + [1] * 5 + [1] * 5)
    second = np.array([0] * 80 + [1] * 10 + [0] * 5 + [1] * 5)
    pi = (90 + 85) / 200
    chance = 2 * pi * (1 - pi)
    codes, each = np.stack([first, second]), np.arange(100)
    assert percent_agreement(codes, each).value == pytest.approx(0.85)
    assert gwet_ac1(codes, each).value == pytest.approx((0.85 - chance) / (1 - chance))
    kappa_chance = 0.9 * 0.85 + 0.1 * 0.15
    assert cohen_kappa(first, second, each).value == pytest.approx((0.85 - kappa_chance) / (1 - kappa_chance))


def test_one_label_only_is_no_variation() -> None:
    codes = np.zeros((3, 20), dtype=np.int64)
    each = np.arange(20)
    assert percent_agreement(codes, each).value == 1
    for found in (gwet_ac1(codes, each), krippendorff_alpha(codes, each), cohen_kappa(codes[0], codes[1], each)):
        assert (found.value, found.reason, found.n) == (None, NO_VARIATION, 20)


def test_one_constant_rater_has_a_kappa_of_zero() -> None:
    first, second = np.zeros(20, dtype=np.int64), np.arange(20) % 2
    assert cohen_kappa(first, second, np.arange(20)).value == pytest.approx(0)


def test_nothing_labelled_twice_is_null_with_a_reason() -> None:
    codes = np.array([[0, 1, MISSING], [MISSING, MISSING, 1]])
    each = np.arange(3)
    for found in (percent_agreement(codes, each), gwet_ac1(codes, each), krippendorff_alpha(codes, each)):
        assert found.value is None
        assert found.n == 0
        assert found.reason == "no unit has two labels"
    empty = np.zeros((2, 0), dtype=np.int64)
    assert krippendorff_alpha(empty, np.arange(0)).value is None
    assert cohen_kappa(empty[0], empty[1], np.arange(0)).value is None


def test_the_order_of_raters_and_the_names_of_classes_do_not_matter() -> None:
    codes = ratings(3, raters=4)
    each, renamed = np.arange(80), np.where(codes == MISSING, MISSING, 3 - codes)
    for coefficient in (percent_agreement, gwet_ac1, krippendorff_alpha):
        value = coefficient(codes, each).value
        assert coefficient(codes[::-1], each).value == pytest.approx(value)
        assert coefficient(renamed, each).value == pytest.approx(value)


@pytest.mark.parametrize("coefficient", [percent_agreement, gwet_ac1, krippendorff_alpha])
def test_copied_rows_of_a_cluster_narrow_nothing(coefficient: object) -> None:
    codes = ratings(5, missing=0.0)
    once = coefficient(codes, np.arange(80))  # type: ignore[operator]
    often = coefficient(np.tile(codes, 6), np.tile(np.arange(80), 6))  # type: ignore[operator]
    assert often.clusters == once.clusters == 80
    width = once.interval.high - once.interval.low
    assert often.interval.high - often.interval.low == pytest.approx(width, rel=0.02)


def test_few_clusters_have_a_value_and_no_interval() -> None:
    codes = ratings(6, n=40)
    found = krippendorff_alpha(codes, np.arange(40) % 4)
    assert found.value == pytest.approx(by_package(codes))
    assert found.interval.low is None
    assert found.interval.reason == "4 clusters, an interval takes 5"


def test_intervals_hold_what_was_simulated() -> None:
    inside, runs = 0, 300
    truth = krippendorff_alpha(_correlated(np.random.default_rng(0), 40_000), np.arange(40_000) // 4).value
    assert truth is not None
    generator = np.random.default_rng(1)
    for _ in range(runs):
        interval = krippendorff_alpha(_correlated(generator, 160), np.arange(160) // 4).interval
        assert interval.low is not None
        assert interval.high is not None
        inside += interval.low <= truth <= interval.high
    assert inside / runs >= 0.91  # 0.935 less two standard errors


def _correlated(generator: np.random.Generator, n: int) -> np.ndarray:
    """Three raters whose errors hang together within clusters of four rows."""
    hard = np.repeat(generator.beta(1, 2, n // 4), 4)
    truth = generator.integers(0, 3, n)
    return np.where(generator.random((3, n)) < hard, generator.integers(0, 3, (3, n)), truth).astype(np.int64)


def votes(rows: list[list[str | None]]) -> tuple[np.ndarray, list[str]]:
    names = sorted({each for row in rows for each in row if each is not None})
    codes = [[MISSING if each is None else names.index(each) for each in row] for row in rows]
    return np.array(codes, dtype=np.int64).T, names


def test_handed_votes_are_decided_as_they_should_be(cases: Path) -> None:
    lines = (cases / "judge" / "votes.jsonl").read_text(encoding="utf-8").splitlines()
    for row in (json.loads(line) for line in lines if line):
        spoken = [None if vote is None else vote.strip().casefold() for vote in row["votes"]]
        for order in itertools.permutations(spoken):
            codes, names = votes([list(order)])
            verdict = PanelRule("majority").verdict(codes)[0]
            said = "no_majority" if verdict == MISSING else names[verdict]
            assert said == row["expected"].casefold(), row


def test_who_does_not_vote_stays_in_the_denominator() -> None:
    codes, names = votes([["a", "a", None, None], ["a", "a", "a", None], ["a", "b", "a", "b"]])
    assert PanelRule("majority").verdict(codes).tolist() == [MISSING, names.index("a"), MISSING]
    assert PanelRule("majority", 4).verdict(codes).tolist() == [MISSING, MISSING, MISSING]
    assert PanelRule("unanimous").verdict(codes).tolist() == [MISSING, MISSING, MISSING]
    assert PanelRule("unanimous").verdict(codes[:2]).tolist() == [0, 0, MISSING]


def test_the_rule_of_a_panel_is_found_in_its_verdicts() -> None:
    codes = ratings(9, raters=3, missing=0.3)
    for rule in (PanelRule("majority"), PanelRule("majority", 3), PanelRule("unanimous")):
        found = rule_of(codes, rule.verdict(codes))
        assert found is not None
        assert np.array_equal(found.verdict(codes), rule.verdict(codes))
    assert rule_of(codes, np.where(codes[0] == MISSING, 0, codes[0])) is None, "the first member's word is no rule"


def test_changes_are_told_apart() -> None:
    before, after = np.array([0, 0, 1, MISSING, MISSING, 2]), np.array([0, 1, MISSING, 1, MISSING, 2])
    found = changes(before, after, np.arange(6))
    assert (found.n, found.changed, found.to_another, found.lost, found.gained) == (5, 3, 1, 1, 1)
    assert found.share.value == pytest.approx(0.6)
