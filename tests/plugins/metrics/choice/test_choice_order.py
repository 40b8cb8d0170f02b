"""Pairs: right in every order, the ledger, locked on a position; and what stands first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ENTRIES = ("right", "wrong", "locked_first", "locked_last", "not_answered")


def ledger(compute: Any, rows: Any, over: str = "all") -> dict[str, float]:
    return {
        score.slice["ledger"]: score.value
        for score in compute("order_ledger", rows)
        if set(score.slice) == {"condition", "ledger"} and score.denominator == over
    }


def outcome(row: Any) -> Any:
    """Of ten clusters: 3 right, 2 wrong, 2 first, 1 last, 1 refused once, 1 refused throughout."""
    place = int(row.cluster[1:]) % 10
    is_first = row.order[0] == "good"
    if place < 3:
        return "good"
    if place < 5:
        return "bad"
    if place < 7:
        return row.order[0]
    if place < 8:
        return row.order[1]
    return "<refused>" if place == 9 or is_first else "good"


def test_every_pair_has_one_entry_in_the_ledger(compute: Any, study: Any) -> None:
    rows = study(outcome, clusters=20)
    assert ledger(compute, rows) == pytest.approx(dict(zip(ENTRIES, (0.3, 0.2, 0.2, 0.1, 0.2), strict=True)))
    answered = ledger(compute, rows, "answered")
    assert answered == pytest.approx(dict(zip(ENTRIES[:4], (3 / 8, 2 / 8, 2 / 8, 1 / 8), strict=True)))


def test_the_ledger_has_bounds_and_clusters_and_chance(compute: Any, one: Any, study: Any) -> None:
    score = one(compute("order_ledger", study(outcome, clusters=20)), "all", ledger="locked_first")
    assert (score.n, score.clusters, score.reference) == (40, 20, 0.25)
    assert score.bounds == pytest.approx((0.2, 0.4))
    assert score.interval.low < 0.2 < score.interval.high


def test_more_options_add_between_and_mixed(compute: Any, study: Any) -> None:
    options = ("good", "bad", "none")

    def pick(row: Any) -> Any:
        place = int(row.cluster[1:]) % 4
        turn = row.order.index("good")  # 0, 2, 1 in the three rotations
        return [row.order[1], row.order[2], ("good", "bad", "none")[turn], "bad"][place]

    found = ledger(compute, study(pick, clusters=20, options=options))
    assert found == pytest.approx(
        {"right": 0, "wrong": 0.25, "locked_first": 0, "locked_last": 0.25, "locked_between": 0.25, "mixed": 0.25}
        | {"not_answered": 0}
    )


def test_an_option_that_never_moves_is_no_lock(compute: Any, row: Any) -> None:
    orders = (("good", "bad", "none"), ("good", "none", "bad"))
    rows = [row("good", order=order, pair=f"p{c}", cluster=f"c{c}") for c in range(10) for order in orders]
    assert ledger(compute, rows)["right"] == 1


def test_without_gold_the_locks_stay_and_the_rest_is_undefined(compute: Any, one: Any, study: Any) -> None:
    scores = compute("order_ledger", [replace(row, gold="") for row in study("first", clusters=10)])
    assert one(scores, "all", ledger="locked_first").value == 1
    assert one(scores, "all", ledger="right").reason == "no item here has a right option"


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sampled_from(["good", "bad", "<refused>", "<tied>"]), min_size=20, max_size=20))
def test_the_ledger_sums_to_one(compute: Any, study: Any, picks: list[str]) -> None:
    given = iter(picks)
    rows = study(lambda row: next(given), clusters=5)
    values = [value for value in ledger(compute, rows).values() if value is not None]
    assert sum(values) == pytest.approx(1) or values == [1.0]


def test_pair_accuracy_of_the_reference_pickers(compute: Any, one: Any, study: Any) -> None:
    found = {
        name: one(compute("pair_accuracy", study(name, clusters=200)), "all")
        for name in ("first", "gold", "biased", "coin")
    }
    assert [found[name].value for name in ("first", "gold", "biased")] == [0, 1, 0]
    assert found["coin"].interval.low < 0.25 < found["coin"].interval.high
    assert {score.reference for score in found.values()} == {0.25}
    assert (found["gold"].reason, found["biased"].reason) == ("above chance", "below chance")
    assert found["first"].test.p is None


def test_a_pair_with_a_wrong_answer_cannot_be_right_any_more(compute: Any, one: Any, row: Any) -> None:
    def pair(place: int, picks: tuple[str, str]) -> list[Any]:
        orders = (("good", "bad"), ("bad", "good"))
        return [
            row(pick, order=order, pair=f"p{place}", cluster=f"c{place}")
            for pick, order in zip(picks, orders, strict=True)
        ]

    kinds = [("good", "good"), ("bad", "<refused>"), ("good", "<refused>"), ("<error>", "<error>")]
    rows = [row for place, picks in enumerate(kinds * 3) for row in pair(place, picks)]
    scores = compute("pair_accuracy", rows)
    assert one(scores, "all").value == 0.25
    assert one(scores, "all").bounds == (0.25, 0.75)
    assert (one(scores, "answered").value, one(scores, "answered").n) == (1.0, 3)


def test_chance_of_a_pair_is_the_product(compute: Any, one: Any, study: Any) -> None:
    rows = study("gold", clusters=10, options=("good", "bad", "none"))
    assert one(compute("pair_accuracy", rows), "all").reference == pytest.approx(1 / 27)


@pytest.mark.parametrize("name", ["pair_accuracy", "order_ledger", "position_locked"])
def test_without_pairs_there_is_a_reason(compute: Any, study: Any, name: str) -> None:
    scores = compute(name, [replace(row, pair="") for row in study("gold", clusters=10)])
    assert scores
    assert {score.reason for score in scores} == {"no item here is presented in more than one order"}


def test_locked_on_the_most_frequent_position(compute: Any, one: Any, study: Any) -> None:
    def pick(row: Any) -> Any:
        place = int(row.cluster[1:])
        return row.order[1] if place < 16 else (row.order[0] if place < 18 else "<refused>")

    score = one(compute("position_locked", study(pick, clusters=20)), position="2")
    assert (score.value, score.n, score.denominator) == (pytest.approx(16 / 18), 36, "answered")
    assert score.bounds == (16 / 20, 18 / 20)
    assert score.reason is None
    flagged = one(compute("position_locked", study("first", clusters=20)), position="1")
    assert (flagged.value, flagged.reason) == (1, "position-locked: accuracy says nothing about bias")
    assert one(compute("position_locked", study("gold", clusters=20))).value == 0


def test_repeats_and_conditions_make_pairs_of_their_own(compute: Any, one: Any, study: Any) -> None:
    # The first repeat takes the first position, the second the last: across repeats nothing would be locked.
    rows = study("first", clusters=10) + study(lambda row: row.order[1], clusters=10, repeat=1)
    found = ledger(compute, rows)
    assert (found["locked_first"], found["locked_last"]) == (0.5, 0.5)
    two = study("first", clusters=10) + study("gold", clusters=10, condition="chat")
    assert one(compute("order_ledger", two), "all", ledger="locked_first").value == 1


def test_first_picks_are_tested_over_clusters(compute: Any, one: Any, study: Any) -> None:
    first = one(compute("position_preference", study("first", clusters=30)), "answered")
    assert (first.value, first.reference, first.test.p) == (1, 0.5, 1 / 100_000)
    assert first.test.statistic == pytest.approx(0.5)
    gold = one(compute("position_preference", study("gold", clusters=30)), "answered")
    assert (gold.value, gold.test.p) == (0.5, 1)


def test_first_picks_over_all_rows_and_over_the_answered(compute: Any, one: Any, study: Any) -> None:
    rows = study(lambda row: row.order[0] if row.variant == "v0" else "<unparsed>", clusters=12)
    scores = compute("position_preference", rows)
    assert (one(scores, "answered").value, one(scores, "all").value) == (1, 0.5)
    assert one(scores, "all").bounds == (0.5, 1)
    assert one(scores, "all").test is None


def test_one_order_cannot_tell_position_from_content(compute: Any, one: Any, study: Any) -> None:
    rows = [row for row in study("first", clusters=12) if row.order[0] == "good"]
    score = one(compute("position_preference", rows), "answered")
    assert (score.value, score.test.p) == (1, None)
    assert score.reason == "24 answered rows are presented in one order only"


def test_first_picks_of_correlated_rows_are_not_rejected_too_often(compute: Any, one: Any, study: Any) -> None:
    generator = np.random.default_rng(4)
    rejected = 0
    for _ in range(60):
        # In each of 12 clusters all rows take the first position, or all the last: no preference over clusters.
        sides = generator.integers(0, 2, 12)
        rows = study(lambda row, sides=sides: row.order[sides[int(row.cluster[1:])]], clusters=12, variants=1)
        rejected += one(compute("position_preference", rows), "answered").test.p < 0.05
    assert rejected <= 8
