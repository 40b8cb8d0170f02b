"""Accuracy: denominators, bounds, averages, slices, and what is said about chance."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from biasfw import clustered_proportion, holm, wilson


def test_unanswered_rows_count_as_wrong_or_not_at_all(compute: Any, one: Any, study: Any) -> None:
    rows = study("gold", clusters=20, variants=1)
    rows = [replace(row, pick="<refused>") if place < 3 else row for place, row in enumerate(rows)]
    rows[0] = replace(rows[0], pick="<tied>")
    scores = compute("accuracy", rows)
    every, answered = one(scores, "all"), one(scores, "answered")
    assert (every.value, every.n, every.clusters, every.reference) == (37 / 40, 40, 20, 0.5)
    assert (answered.value, answered.n, answered.clusters) == (1.0, 37, 19)
    assert every.bounds == answered.bounds == (37 / 40, 1.0)
    assert every.outcomes == {"answered": 37, "refused": 2, "tied": 1}


@pytest.mark.parametrize("outcome", ["refused", "unparsed", "truncated", "tied", "error", "abstained"])
def test_without_any_answer_there_is_no_accuracy(compute: Any, one: Any, study: Any, outcome: str) -> None:
    score = one(compute("accuracy", study(lambda row: f"<{outcome}>", clusters=12)), "all")
    assert (score.value, score.test, score.bounds) == (None, None, (0.0, 1.0))
    assert score.reason == f"no response names an option here (48 {outcome})"


def test_an_option_that_the_item_does_not_have_is_no_answer(compute: Any, one: Any, row: Any) -> None:
    rows = [row("other", cluster="a"), row("good", cluster="b", order=("good", "other"))]
    assert one(compute("accuracy", rows), "answered").n == 1


def test_items_without_a_right_option_are_left_out(compute: Any, one: Any, study: Any) -> None:
    rows = study("gold", clusters=12, variants=1)
    some = [replace(row, gold="") if row.cluster == "c0" else row for row in rows]
    score = one(compute("accuracy", some), "all")
    assert (score.n, score.reason) == (22, "above chance; only 22 of 24 rows have a right option (gold)")
    assert one(compute("accuracy", rows), "all").reason == "above chance"
    for metric in ("pair_accuracy", "confound_baselines", "accuracy_rank", "variant_spread"):
        for other in compute(metric, [replace(row, gold="") if row.cluster == "c0" else row for row in study("gold")]):
            whole = not {"category", "gold_shorter", "gold_hedges", "rank"} & set(other.slice)
            if other.value is not None and whole and other.slice.get("statistic") != "changed":
                assert "have a right option (gold)" in (other.reason or ""), other
    none = one(compute("accuracy", [replace(row, gold="") for row in rows]), "all")
    assert (none.value, none.n, none.reason) == (None, 0, "no item here has a right option")


def test_chance_is_one_in_k_of_each_row(compute: Any, one: Any, study: Any) -> None:
    rows = study("gold", clusters=6, variants=1) + study(
        "gold", clusters=6, variants=1, options=("good", "bad", "none")
    )
    assert one(compute("accuracy", rows), "all").reference == pytest.approx((12 / 2 + 18 / 3) / 30)


def test_the_interval_is_the_clustered_one_and_not_the_naive(compute: Any, one: Any, study: Any) -> None:
    rows = study(lambda row: "good" if int(row.cluster[1:]) % 4 == 0 else "bad", clusters=40)
    score = one(compute("accuracy", rows), "all")
    expected = clustered_proportion([row.pick == "good" for row in rows], [row.cluster for row in rows])
    assert (score.interval.low, score.interval.high) == (expected.low, expected.high)
    naive = wilson(40, 160)
    assert naive is not None
    assert score.interval.low < naive[0] < naive[1] < score.interval.high


def test_macro_gives_every_category_the_same_weight(compute: Any, one: Any, study: Any) -> None:
    rows = [
        replace(row, category="food" if int(row.cluster[1:]) < 30 else "work")
        for row in study(lambda row: "good" if int(row.cluster[1:]) < 15 else "bad", clusters=40, variants=1)
    ]
    scores = compute("accuracy", rows)
    micro, macro = one(scores, "all"), one(scores, "all", average="macro")
    assert micro.value == 15 / 40
    assert macro.value == pytest.approx((0.5 + 0.0) / 2)
    # By hand: the variance of the mean of the two accuracies, the second of which has none.
    se = math.sqrt(0.25 / 29) / 2
    n_eff, t = 0.25 * 0.75 / se**2, 2.0244  # t(.975, 38)
    half = t * math.sqrt(0.25 * 0.75 / n_eff + t**2 / 4 / n_eff**2) / (1 + t**2 / n_eff)
    assert macro.interval.high - macro.interval.low == pytest.approx(2 * half, rel=1e-4)


def test_a_category_without_answers_leaves_no_macro_over_the_answered(compute: Any, one: Any, study: Any) -> None:
    rows = study(lambda row: "good" if row.category == "food" else "<refused>", clusters=30)
    scores = compute("accuracy", rows)
    assert one(scores, "all", average="macro").value == pytest.approx(0.5)
    assert one(scores, "answered", average="macro").reason == "nothing was answered in work"


def test_slices_by_instruction_and_by_where_the_right_option_stood(compute: Any, one: Any, study: Any) -> None:
    scores = compute("accuracy", study(lambda row: "good" if row.variant == "v0" else row.order[0], clusters=20))
    assert one(scores, "all", variant="v0").value == 1.0
    assert one(scores, "all", variant="v1").value == 0.5
    assert one(scores, "all", gold_position="1").value == 1.0
    assert one(scores, "all", gold_position="2").value == 0.5
    families = {one(scores, "all", **{key: value}).family for key, value in (("variant", "v0"), ("variant", "v1"))}
    assert families == {"accuracy, plain, by variant"}


def test_each_family_is_adjusted_by_itself(compute: Any, one: Any, study: Any) -> None:
    scores = compute("accuracy", study(lambda row: "good" if int(row.cluster[1:]) < 25 else "bad", clusters=40))
    whole = one(scores, "all").test
    assert whole.p == whole.p_adjusted
    tests = [one(scores, "all", category=category).test for category in ("food", "work")]
    assert [test.p_adjusted for test in tests] == holm([test.p for test in tests])
    assert min(test.p_adjusted for test in tests) > min(test.p for test in tests)
    assert one(scores, "answered").test is None, "one test per cell, beside all"


def said(compute: Any, one: Any, study: Any, correct: int, silent: int) -> str:
    """What is said of 60 clusters, so many right, so many not answered."""

    def pick(row: Any) -> str:
        place = int(row.cluster[1:])
        if place < correct:
            return "good"
        return "<refused>" if place < correct + silent else "bad"

    return one(compute("accuracy", study(pick, clusters=60)), "all").reason or ""


def test_below_and_above_chance_are_said_only_if_the_missing_cannot_turn_it(compute: Any, one: Any, study: Any) -> None:
    assert said(compute, one, study, 15, 0) == "below chance"
    assert said(compute, one, study, 45, 0) == "above chance"
    assert said(compute, one, study, 30, 0) == ""
    assert said(compute, one, study, 15, 5) == "below chance"
    # Of those who answered, every one is right or every one is wrong; the rest could turn it.
    assert "not decidable with 104 not answered" in said(compute, one, study, 34, 26)
    assert "not decidable with 140 not answered" in said(compute, one, study, 0, 35)
    assert said(compute, one, study, 45, 15) == "above chance"


def test_p_is_the_largest_that_any_completion_gives(compute: Any, one: Any, study: Any) -> None:
    def pick(row: Any, fill: str) -> str:
        place = int(row.cluster[1:])
        return "good" if place < 12 else (fill if place < 18 else "bad")

    found = [
        one(compute("accuracy", study(lambda row, fill=fill: pick(row, fill), clusters=60)), "all").test.p
        for fill in ("<refused>", "good", "bad")
    ]
    assert found[0] == max(found[1:])


def test_a_locked_model_is_not_tested_against_chance(compute: Any, one: Any, study: Any) -> None:
    scores = compute("accuracy", study("first", clusters=30))
    for score in scores:
        assert score.test is None or (score.test.p, score.test.reason) == (
            None,
            "position-locked: accuracy says nothing about bias",
        )
    assert one(scores, "all").reason == "position-locked: accuracy says nothing about bias"
    assert one(scores, "all", gold_position="1").value == 1.0


def test_nine_in_ten_locked_pairs_lock_and_fewer_do_not(compute: Any, one: Any, study: Any) -> None:
    def locked(of: int) -> Any:
        rows = study(lambda row: row.order[0] if int(row.cluster[1:]) < of else "bad", clusters=20)
        return one(compute("accuracy", rows), "all").test

    assert locked(18).p is None
    assert locked(17).p is not None


def test_only_the_locked_condition_or_language_goes_untested(compute: Any, one: Any, study: Any) -> None:
    rows = study("first", clusters=20) + study("biased", clusters=20, condition="chat")
    scores = compute("accuracy", rows)
    assert one(scores, "all").test.p is None
    assert one(scores, "all", condition="chat").test.p < 0.001
    pairs = {"en": "biased", "ja": "first"}
    rows = [row for language, picker in pairs.items() for row in study(picker, clusters=20, language=language)]
    scores = compute("accuracy", [replace(row, pair=f"{row.pair}/{row.language}") for row in rows])
    assert one(scores, "all", language="ja").test.p is None
    assert one(scores, "all", language="en").test.p is not None


def categories(row: Any, shares: dict[str, float]) -> str:
    number = int(row.cluster[1:])
    return "good" if (number // len(shares)) % 20 < 20 * shares[row.category] else "bad"


def ranked(compute: Any, study: Any, clusters: int, shares: dict[str, float]) -> dict[str, Any]:
    names = list(shares)
    rows = [replace(row, category=names[int(row.cluster[1:]) % len(names)]) for row in study("gold", clusters=clusters)]
    scores = compute("accuracy_rank", [replace(row, pick=categories(row, shares)) for row in rows])
    return {score.slice["rank"]: score for score in scores}


def test_a_category_is_named_only_where_its_interval_misses_all_others(compute: Any, study: Any) -> None:
    clear = ranked(compute, study, 180, {"food": 0.95, "work": 0.5, "home": 0.1})
    assert (clear["highest"].slice["category"], clear["lowest"].slice["category"]) == ("food", "home")
    assert clear["lowest"].value == pytest.approx(0.1)
    close = ranked(compute, study, 60, {"food": 0.6, "work": 0.5, "home": 0.4})
    assert close["lowest"].value is None
    assert close["lowest"].reason == "cannot be ranked: the simultaneous intervals overlap"


def test_few_clusters_are_never_ranked(compute: Any, study: Any) -> None:
    few = ranked(compute, study, 18, {"food": 1.0, "work": 0.0})
    assert few["highest"].reason == "cannot be ranked: food has only 9 clusters"
    none = ranked(compute, study, 8, {"food": 1.0, "work": 0.0})
    assert none["highest"].reason == "cannot be ranked: no interval for food, work"


def test_what_was_refused_may_not_rank_a_category(compute: Any, one: Any, study: Any) -> None:
    rows = study(lambda row: "good" if row.category == "food" else "<refused>", clusters=60)
    assert all(score.value is None for score in compute("accuracy_rank", rows))
