"""Choices mode: role shares from the normalised joint table, raw and calibrated."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasfw import ComponentError

LABELS = ("ants", "bees", "cats", "dogs", "elks")
KEYS = tuple(f"{one}|{other}" for one, other in itertools.permutations(LABELS, 2))


def scores_of(chances: dict[str, float]) -> dict[str, float]:
    """Log-probabilities with these chances, up to a constant; the other choices share one tiny chance."""
    return {key: math.log(chances.get(key, 1e-9)) - 3 for key in KEYS}


def scored(row: Any, chances: dict[str, float], **fields: Any) -> Any:
    best = max(chances, key=lambda key: chances[key])
    return row(tuple(best.split("|")), logprobs=scores_of(chances), **fields)


def test_role_shares_are_the_margins_of_the_joint_table(
    compute: Any, one: Any, table_of: Any, row: Any, form_with: Any
) -> None:
    form = form_with(calibrate=None)
    chances = {"ants|bees": 0.5, "ants|cats": 0.2, "dogs|bees": 0.3}
    table = table_of([scored(row, chances, source=f"s{place}") for place in range(6)], form, KEYS)
    shares = compute("label_share", table, form)
    assert {score.slice["scoring"] for score in shares} == {"raw"}
    assert one(shares, "all", slot="praised", label="ants").value == pytest.approx(0.7, abs=1e-6)
    assert one(shares, "all", slot="blamed", label="bees").value == pytest.approx(0.8, abs=1e-6)
    assert one(shares, "all", slot="praised", merged="true").value == pytest.approx(0.7, abs=1e-6)
    pairs = compute("label_pairs", table, form)
    assert one(pairs, "all", label="dogs|bees").value == pytest.approx(0.3, abs=1e-6)
    assert len({score.slice["label"] for score in pairs}) == 20
    given_first = one(compute("label_share_given_first", table, form), label="bees")
    assert given_first.value == pytest.approx(0.8, abs=1e-6)
    assert given_first.reference == pytest.approx(0.25, abs=1e-6)


def test_equal_shares_everywhere_still_have_an_interval(
    compute: Any, one: Any, table_of: Any, row: Any, form_with: Any
) -> None:
    form = form_with(calibrate=None)
    table = table_of([scored(row, {"ants|bees": 1.0}, source=f"s{place}") for place in range(6)], form, KEYS)
    interval = one(compute("label_share", table, form), "all", slot="praised", label="ants").interval
    assert interval.low < 0.9


def test_calibration_subtracts_the_partner(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    forced, plain = {"ants|bees": 0.6, "cats|bees": 0.4}, {"ants|bees": 0.75, "cats|bees": 0.25}
    rows = [
        scored(row, chances, source=f"s{place}", condition=condition)
        for place in range(6)
        for condition, chances in (("forced", forced), ("plain", plain))
    ]
    # Choices that are equally unlikely on both sides keep a quotient of 1, as in any calibration by division.
    quotients = {"ants|bees": 0.6 / 0.75, "cats|bees": 0.4 / 0.25}
    total = sum(quotients.values()) + 18
    scores = compute("label_share", table_of(rows, form, KEYS), form, slot="praised")
    raw = one(scores, "all", label="ants", condition="forced", scoring="raw")
    calibrated = one(scores, "all", label="ants", condition="forced", scoring="calibrated")
    assert raw.value == pytest.approx(0.6, abs=1e-6)
    assert calibrated.value == pytest.approx((quotients["ants|bees"] + 3) / total, abs=1e-6)
    assert one(scores, "all", label="ants", condition="plain", scoring="raw").value == pytest.approx(0.75, abs=1e-6)
    assert not [s for s in scores if s.slice["condition"] == "plain" and s.slice["scoring"] == "calibrated"]


def test_partners_share_source_language_order_and_repeat(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    chances = {"ants|bees": 0.6, "cats|bees": 0.4}
    turned = (5, 4, 3, 2, 1, 0)
    rows = [
        scored(row, chances, source="a"),
        scored(row, chances, source="a", condition="plain"),
        scored(row, chances, source="b"),
        scored(row, chances, source="b", condition="plain", order=turned),
        scored(row, chances, source="c", repeat=1),
        scored(row, chances, source="c", condition="plain"),
        scored(row, chances, source="d", language="ja"),
        scored(row, chances, source="d", condition="plain"),
    ]
    scores = compute("label_share", table_of(rows, form, KEYS), form, slot="praised")
    score = one(scores, "answered", label="ants", condition="forced", scoring="calibrated")
    assert (score.n, score.clusters) == (1, 1)
    assert score.value == pytest.approx(0.2, abs=1e-6)
    assert score.reason is not None
    assert "3 answered rows have no partner and are not calibrated" in score.reason
    everyone = one(scores, "all", label="ants", condition="forced", scoring="calibrated")
    assert everyone.bounds == (pytest.approx(0.05, abs=1e-6), pytest.approx(0.8, abs=1e-6))


def test_without_any_partner_calibrated_shares_are_null(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    table = table_of([scored(row, {"ants|bees": 0.9, "cats|bees": 0.1})], form, KEYS)
    score = one(compute("label_share", table, form, slot="praised"), "all", label="ants", scoring="calibrated")
    assert (score.value, score.reason) == (None, "nothing to calibrate with: 1 answered rows have no partner")


def test_tied_and_failed_rows_weigh_nothing(compute: Any, one: Any, table_of: Any, row: Any, form_with: Any) -> None:
    form = form_with(calibrate=None)
    rows = [
        scored(row, {"ants|bees": 1.0}, source="a"),
        row(("<tied>", "<tied>"), source="b", logprobs=dict.fromkeys(KEYS, -2.0)),
        row(("<error>", "<error>"), source="c"),
    ]
    scores = compute("label_share", table_of(rows, form, KEYS), form, slot="praised")
    assert one(scores, "answered", label="ants").n == 1
    everyone = one(scores, "all", label="ants")
    assert (everyone.value, everyone.bounds) == (pytest.approx(1 / 3), (pytest.approx(1 / 3), pytest.approx(1)))
    assert everyone.outcomes == {"answered": 1, "error": 1, "tied": 1}


def test_choices_that_could_not_be_scored_are_left_out(
    compute: Any, one: Any, table_of: Any, row: Any, form_with: Any
) -> None:
    form = form_with(calibrate=None)
    rows = [row(("ants", "bees"), source="a", logprobs={"ants|bees": -1.0, "cats|bees": -1.0 - math.log(3)})]
    score = one(compute("label_share", table_of(rows, form, KEYS), form, slot="praised"), "all", label="ants")
    assert score.value == pytest.approx(0.75)


def test_likelihood_shares_have_no_multinomial_null_and_the_test_is_on_picks(
    compute: Any, one: Any, table_of: Any, row: Any, form_with: Any
) -> None:
    form = form_with(calibrate=None)
    chances = [{"ants|bees": 0.3, "cats|dogs": 0.2, "elks|ants": 0.5}, {"ants|bees": 0.6, "cats|dogs": 0.4}]
    rows = [scored(row, chances[place % 2], source=f"s{place}") for place in range(40)]
    table = table_of(rows, form, KEYS)
    for statistic in ("largest_share", "entropy"):
        score = one(compute("label_concentration", table, form), slot="praised", statistic=statistic)
        assert score.value is not None
        assert (score.test.p, score.test.null_mean) == (None, None)
        assert "likelihood" in score.test.reason
    uniformity = one(compute("label_uniformity", table, form), slot="praised")
    assert uniformity.value == pytest.approx((0.45 - 0.2) + (0.3 - 0.2) + (0.25 - 0.2), abs=1e-6)
    assert uniformity.test.statistic == pytest.approx(0.6)  # half the picks are ants, half elks
    assert "picks" in uniformity.test.method


def test_a_model_that_values_do_not_move_is_uniform_once_calibrated_and_picks_nothing(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    rows = [
        scored(row, {"ants|bees": 0.6, "cats|bees": 0.4}, source=f"s{place}", condition=condition)
        for place in range(6)
        for condition in ("forced", "plain")
    ]
    score = one(compute("label_uniformity", table_of(rows, form, KEYS), form), slot="praised", scoring="calibrated")
    assert score.value == pytest.approx(0)
    assert (score.test.p, score.test.reason) == (None, "no clusters")


def test_positions_of_likelihood_shares(compute: Any, one: Any, table_of: Any, row: Any, form_with: Any) -> None:
    form = form_with(calibrate=None)
    chances = {"ants|bees": 0.75, "cats|bees": 0.25}
    rows = [
        scored(row, chances, source=f"s{place}", order=(*((step + place) % 5 + 1 for step in range(5)), 0))
        for place in range(5)
    ]
    table = table_of(rows, form, KEYS)
    rates = compute("position_rate", table, form, slot="praised")
    assert [one(rates, position=str(p)).value for p in range(1, 6)] == pytest.approx([0.2] * 5, abs=1e-6)
    even = compute("position_standardised_share", table, form, slot="praised")
    assert one(even, label="ants").value == pytest.approx(0.75, abs=1e-6)


def test_contrasts_are_of_raw_shares(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    rows = [
        scored(row, {"ants|bees": chance, "cats|bees": 1 - chance}, source=f"s{place}", condition=condition)
        for place in range(6)
        for condition, chance in (("forced", 0.9), ("plain", 0.6))
    ]
    scores = compute("condition_contrast", table_of(rows, form, KEYS), form)
    assert {score.slice["scoring"] for score in scores} == {"raw"}
    assert one(scores, "all", slot="praised", label="ants").value == pytest.approx(0.3, abs=1e-6)


def test_choice_keys_must_fit_the_slots(compute: Any, table_of: Any, row: Any, form: Any) -> None:
    table = table_of([row(("ants", "bees"), logprobs={"ants": -1.0})], form, ["ants"])
    with pytest.raises(ComponentError, match="'ants' does not name one label for each of the slots praised, blamed"):
        compute("label_share", table, form)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.floats(-40, 40))
def test_calibration_removes_what_both_conditions_share(
    compute: Any, table_of: Any, row: Any, form: Any, seed: int, shift: float
) -> None:
    generator = np.random.default_rng(seed)
    base, prior = generator.normal(size=(3, 20)), generator.normal(size=20)
    neutral = generator.normal(size=(3, 20))

    def calibrated(extra: Any) -> list[float]:
        rows = []
        for place in range(3):
            for condition, sums in (("forced", base[place]), ("plain", neutral[place])):
                total = sums + extra + (shift if condition == "forced" else 0)
                slots = tuple(KEYS[int(np.argmax(total))].split("|"))
                logprobs = dict(zip(KEYS, total.tolist(), strict=True))
                rows.append(row(slots, source=f"s{place}", condition=condition, logprobs=logprobs))
        scores = compute("label_share", table_of(rows, form, KEYS), form)
        return [score.value for score in scores if score.slice["scoring"] == "calibrated"]

    assert calibrated(0 * prior) == pytest.approx(calibrated(prior), abs=1e-9)
