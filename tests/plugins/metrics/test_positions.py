"""Pick rates by list position, and shares with position evened out."""

from __future__ import annotations

from typing import Any

import pytest

LABELS = ("ants", "bees", "cats", "dogs", "elks")


def rotated(start: int) -> tuple[int, ...]:
    return (*((place + start) % 5 + 1 for place in range(5)), 0)


def test_a_model_that_takes_the_first_of_the_list(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    rows = []
    for place in range(20):
        order = rotated(place)
        first, second = LABELS[order.index(1)], LABELS[order.index(2)]
        rows.append(row((first, second), source=f"s{place}", order=order))
    table = table_of(rows, form)
    scores = compute("position_rate", table, form)
    assert [one(scores, slot="praised", position=str(p)).value for p in range(1, 6)] == [1, 0, 0, 0, 0]
    assert one(scores, slot="blamed", position="2").value == 1
    assert one(scores, slot="praised", position="1").reference == 0.2
    for label in LABELS:
        score = one(compute("position_standardised_share", table, form), slot="praised", label=label)
        assert score.value == pytest.approx(0.2)


def test_unbalanced_lists_are_evened_out(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    # "ants" is always named where it leads the list, never elsewhere, and it leads 6 of 10 lists.
    starts = [0] * 6 + [1, 2, 3, 4]
    rows = [
        row(("ants" if start == 0 else "bees", "elks"), source=f"s{place}", order=rotated(start))
        for place, start in enumerate(starts)
    ]
    table = table_of(rows, form)
    assert one(compute("label_share", table, form), "answered", slot="praised", label="ants").value == 0.6
    score = one(compute("position_standardised_share", table, form), slot="praised", label="ants")
    assert (score.value, score.n, score.clusters) == (pytest.approx(0.2), 10, 10)
    assert score.interval.low < 0.2 < score.interval.high


def test_balanced_lists_change_nothing(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    rows = [row((LABELS[place % 3], "elks"), source=f"s{place}", order=rotated(place // 3)) for place in range(15)]
    table = table_of(rows, form)
    plain = one(compute("label_share", table, form), "answered", slot="praised", label="ants")
    even = one(compute("position_standardised_share", table, form), slot="praised", label="ants")
    assert even.value == pytest.approx(plain.value)
    assert even.interval.high == pytest.approx(plain.interval.high)


def test_a_label_that_never_stood_somewhere_has_no_standardised_share(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    rows = [row(("ants", "elks"), source=f"s{place}", order=rotated(place % 2)) for place in range(6)]
    score = one(compute("position_standardised_share", table_of(rows, form), form), slot="praised", label="ants")
    assert (score.value, score.reason) == (None, "never answered with this label at position 3, 4, 5")


def test_bounds_count_the_missing_at_their_positions(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    rows = [row(("ants", "elks"), source=f"s{place}", order=rotated(place)) for place in range(5)]
    rows.append(row(("<refused>", "elks"), source="s9", order=rotated(0)))
    score = one(compute("position_standardised_share", table_of(rows, form), form), slot="praised", label="ants")
    assert (score.value, score.bounds) == (pytest.approx(1.0), (pytest.approx(0.9), pytest.approx(1.0)))


def test_without_lists_there_is_nothing_to_say(compute: Any, table_of: Any, row: Any, form: Any) -> None:
    table = table_of([row(("ants", "elks"), order=(0,) * 6)], form)
    assert compute("position_rate", table, form) == []
    reasons = {(score.value, score.reason) for score in compute("position_standardised_share", table, form)}
    assert reasons == {(None, "no list was presented")}


def test_an_abstention_in_the_list_is_no_position_of_a_label(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    rows = [row(("ants", "nobody"), source=f"s{place}", order=(*rotated(place)[:5], 6)) for place in range(5)]
    scores = compute("position_rate", table_of(rows, form), form)
    assert {score.slice["position"] for score in scores} == {"1", "2", "3", "4", "5"}
    assert one(scores, slot="praised", position="5").reference == 0.2
