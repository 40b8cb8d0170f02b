"""What stands against a number is said in the same words everywhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from biasfw import cautions
from biasfw.records import Interval, Score


def _rate(value: float | None, place: str = "1", low: float | None = None, **cut: Any) -> Score:
    interval = None if low is None else Interval(low, 1.0, "t")
    about = {"slot": "modern", "condition": "base", **cut, "position": place}
    reason = "nothing" if value is None else None
    return Score("position_rate", value, "share", 20, 20, "answered", about, reason, interval=interval, reference=0.5)


def test_a_position_that_takes_most_picks_is_named() -> None:
    (found,) = cautions.positions([_rate(1.0), _rate(0.0, "2"), _rate(None, "3"), _rate(0.9, category="food")])
    assert found.text == "position 1 takes 100.0 % of the picks: perhaps its place, not the group"
    assert found.where == {"slot": "modern", "condition": "base"}


def test_no_more_than_an_even_pick_is_no_matter_of_the_position() -> None:
    assert cautions.positions([_rate(0.55, low=0.45)]) == []
    assert len(cautions.positions([_rate(0.75, low=0.6)])) == 1


def test_slots_are_taken_together_in_a_headline() -> None:
    (found,) = cautions.overall([_rate(0.8, low=0.7), _rate(0.9, low=0.7, slot="old")])
    assert found.short == "position 1 takes 80.0 to 90.0 %"
    assert found.text.endswith("perhaps its place, not the group (modern, old)")


def test_rankings_name_what_is_shown_apart() -> None:
    names = {"a": "Arabs", "w": "Western", "i": "Indians"}
    high = Score(
        "label_rank", None, "share", 20, 20, "all", {"rank": "highest"}, f"cannot be ranked: {cautions.NOT_RANKED}"
    )
    low = replace(high, slice={"rank": "lowest"})
    assert cautions.ranking([high, low], names) == "no group stands out"
    apart = replace(high, reason=f"{high.reason}{cautions.APART}a > w, i")
    shown = "no group stands out; shown apart: Arabs above Western, Indians"
    assert cautions.ranking([apart, replace(apart, slice={"rank": "lowest"})], names) == shown
    decided = replace(low, value=0.1, slice={"rank": "lowest", "label": "i"}, reason=None)
    assert cautions.ranking([apart, decided], names) == (
        "lowest: Indians; no group is highest; shown apart: Arabs above Western, Indians"
    )
    few = replace(high, reason="cannot be ranked: only 9 clusters")
    assert cautions.ranking([few], names) == "no group stands out: only 9 clusters"


def test_what_another_mean_would_change_counts_only_what_was_answered() -> None:
    outcomes = {"modern": {"answered": 22, "tied": 2, "error": 3}}
    assert cautions.otherwise({"per_token_differs": 8}, outcomes) == [
        "8 of 24 responses would be decided otherwise by the mean per token",
        "0 of 24 responses would be decided otherwise by the mean per byte",
    ]
    assert cautions.otherwise({}, {"modern": {"error": 3}}) == []
