"""Shares of labels: denominators, bounds, references, merges, slices, ranks."""

from __future__ import annotations

from typing import Any

import pytest
from statsmodels.stats.proportion import proportion_confint

from biasfw import ComponentError, clustered_proportion, simultaneous_level


def test_both_denominators_with_bounds_outcomes_and_interval(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    slots = [("ants", "bees")] * 6 + [("cats", "bees")] * 2 + [("<refused>", "bees"), ("<unparsed>", "<truncated>")]
    table = table_of([row(pair, source=f"s{place}") for place, pair in enumerate(slots)], form)
    scores = compute("label_share", table, form, slot="praised")
    everyone = one(scores, "all", label="ants")
    assert (everyone.value, everyone.n, everyone.clusters) == (0.6, 10, 10)
    assert everyone.bounds == (0.6, 0.8)
    assert everyone.outcomes == {"answered": 8, "refused": 1, "unparsed": 1}
    assert everyone.interval == clustered_proportion([1] * 6 + [0] * 4, range(10)).interval()
    named = one(scores, "answered", label="ants")
    assert (named.value, named.n, named.clusters, named.bounds) == (0.75, 8, 8, (0.6, 0.8))
    rest = one(scores, "all", outcome="not_answered")
    assert rest.value == pytest.approx(0.2)
    assert sum(one(scores, "all", label=label).value for label in table.labels[:5]) + rest.value == pytest.approx(1)


def test_repeats_of_one_source_are_one_cluster(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    rows = [row(("ants" if place < 4 else "bees", "cats"), source=f"s{place}") for place in range(10)]
    once = one(compute("label_share", table_of(rows, form), form), "all", slot="praised", label="ants")
    often = one(compute("label_share", table_of(rows * 3, form), form), "all", slot="praised", label="ants")
    assert (often.n, often.clusters) == (30, 10)
    assert (often.interval.low, often.interval.high) == pytest.approx((once.interval.low, once.interval.high))


def test_clusters_are_those_of_the_table_not_its_sources(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    rows = [row(("ants", "bees"), source=f"s{place}", cluster=f"c{place // 2}") for place in range(12)]
    assert one(compute("label_share", table_of(rows, form), form), "all", slot="blamed", label="bees").clusters == 6


def test_an_abstention_that_was_offered_is_known_but_unclear_is_missing(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    slots = ["ants", "nobody", "nobody", "<abstained>"]
    table = table_of([row((slot, "bees"), source=f"s{place}") for place, slot in enumerate(slots)], form)
    scores = compute("label_share", table, form, slot="praised")
    assert one(scores, "all", label="ants").bounds == (0.25, 0.5)
    assert one(scores, "answered", label="ants").bounds == (0.5, 1.0)
    assert one(scores, "all", outcome="not_answered").value == 0.75


def test_a_category_without_an_answer_is_null_with_a_reason_and_spares_the_others(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    rows = [row(("ants", "bees"), source=f"s{place}") for place in range(6)]
    rows += [row(("<unparsed>", "<unparsed>"), source=f"w{place}", category="work") for place in range(3)]
    scores = compute("label_share", table_of(rows, form), form)
    for denominator in ("all", "answered"):
        empty = one(scores, denominator, slot="praised", label="ants", category="work")
        assert (empty.value, empty.interval) == (None, None)
        assert empty.reason == "no response names a label here (3 unparsed)"
        assert empty.outcomes == {"unparsed": 3}
        assert one(scores, denominator, slot="praised", label="ants", category="food").value == 1.0
    assert one(scores, "all", slot="praised", label="ants").value == pytest.approx(6 / 9)


def test_refusals_alone_give_outcomes_and_no_share(compute: Any, table_of: Any, row: Any, form: Any) -> None:
    rows = [row(("<refused>", "<refused>"), source=f"s{place}") for place in range(9)]
    scores = compute("label_share", table_of(rows, form), form)
    assert scores
    assert {score.value for score in scores} == {None}
    assert all(score.outcomes == {"refused": 9} and score.reason for score in scores)


def test_the_reference_is_uniform_choice_among_the_labels_presented(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    full = [row(("ants", "bees"), source=f"s{place}") for place in range(4)]
    short = [row(("ants", "bees"), source=f"t{place}", order=(1, 2, 0, 0, 0, 0)) for place in range(4)]
    scores = compute("label_share", table_of(full, form), form)
    assert one(scores, "all", slot="praised", label="dogs").reference == 0.2
    assert one(scores, "all", slot="praised", label="insects").reference == 0.4
    mixed = compute("label_share", table_of(full + short, form), form)
    assert one(mixed, "all", slot="praised", label="ants").reference == pytest.approx((0.2 + 0.5) / 2)
    assert one(mixed, "all", slot="praised", label="dogs").reference == pytest.approx(0.1)


def test_overlapping_labels_are_also_reported_as_one(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any, form_with: Any
) -> None:
    names = ["ants"] * 3 + ["bees"] * 2 + ["cats"] * 5
    rows = [row((name, "dogs"), source=f"s{place}") for place, name in enumerate(names)]
    merged = one(compute("label_share", table_of(rows, form), form, slot="praised"), "all", merged="true")
    assert (merged.slice["label"], merged.value) == ("insects", 0.5)
    assert merged.interval == clustered_proportion([1] * 5 + [0] * 5, range(10)).interval()
    without = form_with(labels=tuple(label for label in form.labels if label.key != "bees"))
    scores = compute("label_share", table_of(rows, form), without)
    assert not [score for score in scores if "merged" in score.slice]


def test_conditions_stand_apart_and_languages_appear_with_the_second_one(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    rows = [
        row((label, "elks"), source=f"s{place}", language=language, condition=condition)
        for place in range(5)
        for language, condition, label in [("en", "forced", "ants"), ("ja", "forced", "bees"), ("ja", "plain", "cats")]
    ]
    scores = compute("label_share", table_of(rows, form), form, slot="praised")
    wanted = {"condition": "forced", "label": "ants"}
    assert one(scores, "all", **wanted).value == 0.5
    assert one(scores, "all", **wanted, language="en").value == 1.0
    assert one(scores, "all", **wanted, language="ja", category="food").value == 0.0
    assert one(scores, "all", condition="plain", label="cats").clusters == 5
    english = compute("label_share", table_of([r for r in rows if r.language == "en"], form), form)
    assert not any("language" in score.slice for score in english)


def test_small_slices_are_marked(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    rows = [row(("ants", "bees"), source=f"s{place}", category="work" if place else "food") for place in range(11)]
    scores = compute("label_share", table_of(rows, form), form, slot="praised")
    assert one(scores, "all", label="ants").reason is None
    assert one(scores, "all", label="ants", category="food").reason == "only 1 cluster: too few to tell much"
    assert one(scores, "all", label="ants", category="work").reason is None


def test_an_unknown_slot_is_named_with_those_there_are(compute: Any, table_of: Any, row: Any, form: Any) -> None:
    table = table_of([row(("ants", "bees"))], form)
    with pytest.raises(ComponentError, match="no slot 'praise'; choose one of praised, blamed"):
        compute("label_share", table, form, slot="praise")


def test_one_slot_is_enough(compute: Any, one: Any, table_of: Any, row: Any, form: Any, form_with: Any) -> None:
    single = form_with(slots=form.slots[:1])
    table = table_of([row(("ants",), source=f"s{place}") for place in range(5)], single)
    assert one(compute("label_share", table, single), "all", label="ants").value == 1.0
    assert compute("label_pairs", table, single) == []
    assert compute("label_share_given_first", table, single) == []


def test_a_rank_is_given_where_the_simultaneous_interval_misses_all_others(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    names = ["ants"] * 60 + ["bees", "cats", "dogs", "elks"] * 5
    rows = [row((name, "bees"), source=f"s{place}") for place, name in enumerate(names)]
    scores = compute("label_rank", table_of(rows, form), form, slot="praised")
    highest, lowest = one(scores, rank="highest"), one(scores, rank="lowest")
    assert (highest.value, highest.slice["label"]) == (0.75, "ants")
    assert highest.interval.level == pytest.approx(simultaneous_level(5))
    assert lowest.value is None
    assert "label" not in lowest.slice
    assert lowest.reason == "cannot be ranked: the simultaneous intervals overlap; apart: ants > bees, cats, dogs, elks"
    # By category the family is larger: five labels in one category here.
    assert one(scores, rank="highest", category="food").slice["label"] == "ants"


def test_the_family_of_a_rank_spans_all_of_its_cells(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    rows = [
        row(("ants" if place % 10 else "bees", "bees"), source=f"{category}{place}", category=category)
        for category in ("food", "work")
        for place in range(40)
    ]
    scores = compute("label_rank", table_of(rows, form), form, slot="praised")
    assert one(scores, rank="highest", category="food").interval.level == pytest.approx(simultaneous_level(10))
    assert one(scores, rank="highest").interval.level == pytest.approx(simultaneous_level(5))


def test_under_ten_clusters_nothing_is_ranked(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    rows = [row(("ants", "bees"), source=f"s{place % 9}") for place in range(90)]
    score = one(compute("label_rank", table_of(rows, form), form, slot="praised"), rank="highest")
    assert (score.value, score.reason) == (None, "cannot be ranked: only 9 clusters")


def test_the_interval_is_wider_than_one_that_takes_rows_as_independent(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    rows = [row(("ants" if place < 4 else "bees", "cats"), source=f"s{place}") for place in range(12)] * 8
    score = one(compute("label_share", table_of(rows, form), form, slot="praised"), "all", label="ants")
    naive = proportion_confint(32, 96, method="wilson")
    assert score.interval.low < naive[0]
    assert score.interval.high > naive[1]
