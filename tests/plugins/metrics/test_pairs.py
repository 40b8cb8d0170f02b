"""The table of the first two slots, and the second slot given the first."""

from __future__ import annotations

from typing import Any

import pytest

PAIRS = (
    [("ants", "bees")] * 4
    + [("ants", "cats")] * 2
    + [("bees", "ants")] * 2
    + [("<refused>", "ants"), ("cats", "nobody")]
)


@pytest.fixture
def table(table_of: Any, row: Any, form: Any) -> Any:
    return table_of([row(pair, source=f"s{place}") for place, pair in enumerate(PAIRS)], form)


def test_cells_of_the_table(compute: Any, one: Any, table: Any, form: Any) -> None:
    scores = compute("label_pairs", table, form)
    cell = one(scores, "all", label="ants|bees")
    assert (cell.value, cell.n, cell.slice["slot"], cell.reference) == (0.4, 10, "praised|blamed", 0.05)
    # The refusal is missing; the row that names nobody is known not to be in this cell.
    assert cell.bounds == (0.4, 0.5)
    assert cell.outcomes == {"answered": 8, "abstained": 1, "refused": 1}
    assert one(scores, "answered", label="ants|bees").value == 0.5
    assert one(scores, "answered", label="ants|ants").reference is None
    assert sum(score.value for score in scores if score.denominator == "answered" and len(score.slice) == 3) == 1.0


def test_the_second_slot_given_the_first(compute: Any, one: Any, table: Any, form: Any) -> None:
    scores = compute("label_share_given_first", table, form)
    ants, dogs = one(scores, label="ants"), one(scores, label="dogs")
    assert (ants.value, ants.n) == (0.25, 8)
    assert ants.reference == pytest.approx((1 - 6 / 8) / 4)
    assert (dogs.value, dogs.reference) == (0.0, 0.25)
    assert sum(one(scores, label=label).reference for label in table.labels[:5]) == pytest.approx(1)


def test_without_a_complete_row_there_is_a_reason(compute: Any, table_of: Any, row: Any, form: Any) -> None:
    table = table_of([row(("ants", "<error>")), row(("<error>", "<error>"))], form)
    for name in ("label_pairs", "label_share_given_first"):
        scores = compute(name, table, form)
        assert {(score.value, score.reason) for score in scores} == {(None, "no response names a label here (2 error)")}
