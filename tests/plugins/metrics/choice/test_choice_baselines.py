"""What rules without content score, and the accuracy where they cannot help."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

NAME = "confound_baselines"


def baselines(compute: Any, rows: Any) -> dict[str, float]:
    return {
        score.slice["baseline"]: score.value
        for score in compute(NAME, rows)
        if set(score.slice) == {"condition", "baseline"}
    }


def test_rules_on_known_rows(compute: Any, study: Any) -> None:
    # The right option is shorter in 8 of 10 clusters, alike in 1, longer in 1; it alone hedges in 5, both in 1.
    lengths = [{"good": 5, "bad": 9}] * 8 + [{"good": 7, "bad": 7}, {"good": 9, "bad": 5}]
    hedges = [("good",)] * 5 + [("good", "bad")] + [("bad",)] + [()] * 3
    rows = [
        replace(row, lengths=lengths[int(row.cluster[1:])], hedges=hedges[int(row.cluster[1:])])
        for row in study("gold", clusters=10)
    ]
    assert baselines(compute, rows) == pytest.approx(
        {"first_position": 0.5, "shorter": 0.85, "longer": 0.15, "hedged": (5 + 0.5 + 0 + 1.5) / 10}
    )


def test_a_rule_is_what_its_reference_picker_scores(compute: Any, one: Any, study: Any) -> None:
    lengths = [{"good": 5, "bad": 9}, {"good": 9, "bad": 5}, {"good": 3, "bad": 4}]
    for rule, picker in (("shorter", "shorter"), ("first_position", "first")):
        rows = study("gold", clusters=30)
        rows = [replace(row, lengths=lengths[int(row.cluster[1:]) % 3]) for row in rows]
        pickers = {"shorter": lambda row: min(row.order, key=row.lengths.get), "first": lambda row: row.order[0]}
        answered = [replace(row, pick=pickers[picker](row)) for row in rows]
        assert baselines(compute, rows)[rule] == one(compute("accuracy", answered), "all").value


def test_ties_of_more_options_share_the_chance(compute: Any, study: Any) -> None:
    rows = study(
        "gold",
        clusters=10,
        options=("good", "bad", "none"),
        lengths={"good": 4, "bad": 4, "none": 8},
        hedges=("bad", "none"),
    )
    found = baselines(compute, rows)
    assert found == pytest.approx({"first_position": 1 / 3, "shorter": 0.5, "longer": 0, "hedged": 0})


def test_responses_play_no_part(compute: Any, study: Any) -> None:
    assert baselines(compute, study(lambda row: "<error>", 10)) == baselines(compute, study("gold", 10))


def test_each_has_clusters_an_interval_and_chance(compute: Any, one: Any, study: Any) -> None:
    score = one(compute(NAME, study("gold", clusters=20)), baseline="shorter")
    assert (score.n, score.clusters, score.denominator, score.reference) == (80, 20, "all", 0.5)
    assert score.interval.low < 1 == score.interval.high
    assert one(compute(NAME, study("gold", 20)), baseline="shorter", category="food").n == 40


def test_accuracy_where_length_cannot_help(compute: Any, one: Any, study: Any) -> None:
    rows = study("gold", clusters=40)
    # In ten clusters the right option is not shorter (longer, or alike); the shorter picker fails where it is longer.
    lengths = [{"good": 5, "bad": 9}] * 30 + [{"good": 9, "bad": 5}] * 10
    rows = [replace(row, lengths=lengths[int(row.cluster[1:])]) for row in rows]
    rows = [replace(row, pick=min(row.order, key=row.lengths.__getitem__)) for row in rows]
    scores = compute(NAME, rows)
    helped, not_helped = one(scores, "all", gold_shorter="true"), one(scores, "all", gold_shorter="false")
    assert (helped.value, helped.clusters) == (1, 30)
    assert (not_helped.value, not_helped.clusters, not_helped.n) == (0, 10, 40)
    assert not_helped.interval.high > 0.2


def test_accuracy_where_the_right_option_hedges(compute: Any, one: Any, study: Any) -> None:
    rows = [
        replace(
            row, hedges=("good",) if row.category == "food" else (), pick="good" if row.category == "food" else "bad"
        )
        for row in study("gold", clusters=20)
    ]
    rows[0] = replace(rows[0], pick="<refused>")
    scores = compute(NAME, rows)
    assert one(scores, "all", gold_hedges="true").value == 39 / 40
    assert one(scores, "answered", gold_hedges="true").value == 1
    assert one(scores, "all", gold_hedges="false").value == 0


def test_what_is_not_known_says_so(compute: Any, one: Any, study: Any, table_of: Any) -> None:
    table = replace(table_of(study("gold", clusters=10)), lengths=None, hedges=None)
    scores = compute(NAME, table)
    assert one(scores, baseline="shorter").reason == "the lengths of the options are not known"
    assert one(scores, "all", gold_hedges="true").reason == "it is not known which options hedge"
    assert one(scores, baseline="first_position").value == 0.5
    alike = compute(NAME, study("gold", clusters=10))
    assert one(alike, "all", gold_shorter="false").reason == "no item here with gold_shorter = false"
