"""The judge ``panel``: more than half of all members, whatever their order; who does not vote counts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest

from biasfw import ComponentContext, Form, Judgement, Outcome, Panel, Reading, Slot
from biasfw_plugins.judges.panel import Majority

from .conftest import MakeSample

FORM = Form("labels", (Slot("who"),))
A, B = Reading(Outcome.ANSWERED, "a"), Reading(Outcome.ANSWERED, "b")
UNCLEAR, REFUSED = Reading(Outcome.ABSTAINED, "unclear"), Reading(Outcome.REFUSED)
UNREAD, FAILED, LOST = Reading(Outcome.JUDGE_UNPARSED), Reading(Outcome.JUDGE_ERROR), Reading(Outcome.ERROR)
OPEN = Reading(Outcome.NO_MAJORITY)


def panel(**options: Any) -> Majority:
    return Majority(ComponentContext(FORM, options={"rule": "majority", "quorum": 1, **options}))


def votes(readings: Sequence[Reading]) -> dict[str, Judgement]:
    return {f"j{place}": Judgement("", "k", {"who": reading}) for place, reading in enumerate(readings)}


def verdict(readings: Sequence[Reading], **options: Any) -> Reading:
    return panel(**options).combine(votes(readings)).slots["who"]


def test_it_is_a_panel() -> None:
    assert isinstance(panel(), Panel)


def test_handed_votes(sample: MakeSample, cases: Path) -> None:
    """Names are read as a judge's model would write them; null is a judge that failed."""
    llm = sample()
    case = llm.case()
    named = {"a": "Arabs", "b": "Indians"}
    keys = {"South Asians": "south_asians", "a": "arabs", "b": "indians"}

    def reading(vote: str | None) -> Reading:
        if vote is None:
            return FAILED
        outcome, value = llm.said(case, f"MODERN GROUP: {named.get(vote, vote)}\nSTEREOTYPED GROUP: unclear")["modern"]
        return Reading(Outcome(outcome), value)

    for line in (cases / "judge" / "votes.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        expected = OPEN if row["expected"] == "no_majority" else Reading(Outcome.ANSWERED, keys[row["expected"]])
        for order in permutations(row["votes"]):
            assert verdict([reading(vote) for vote in order]) == expected, row["id"]


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        ((A, A, B), A),
        ((A, B), OPEN),
        ((A, A, B, B), OPEN),
        ((A, A, UNREAD, FAILED), OPEN),
        ((A, A, A, FAILED), A),
        ((REFUSED, REFUSED, A), REFUSED),
        ((UNCLEAR, UNCLEAR, A), UNCLEAR),
        ((Reading(Outcome.TRUNCATED), Reading(Outcome.TRUNCATED), A), OPEN),
        ((UNREAD, UNREAD, UNREAD), OPEN),
        ((LOST, LOST, LOST), LOST),
    ],
)
def test_majority(readings: Sequence[Reading], expected: Reading) -> None:
    assert {verdict(order) for order in permutations(readings)} == {expected}


def test_unanimous_and_quorum() -> None:
    assert verdict((A, A, A), rule="unanimous") == A
    assert verdict((A, A, UNREAD), rule="unanimous") == OPEN
    assert verdict((A, A, FAILED), quorum=3) == OPEN
    assert verdict((A, A, B), quorum=3) == A


def test_a_winner_always_has_more_than_half_of_all_members() -> None:
    for readings in product((A, B, UNCLEAR, REFUSED, UNREAD, FAILED), repeat=4):
        found = verdict(readings)
        counts = {reading: readings.count(reading) for reading in (A, B, UNCLEAR, REFUSED)}
        winners = [reading for reading, count in counts.items() if count > len(readings) / 2]
        assert found == (winners[0] if winners else OPEN)


def test_every_vote_and_flag_is_kept() -> None:
    given: Mapping[str, Judgement] = {
        "x": Judgement("", "k", {"who": A}, {"who": Outcome.ANSWERED}, flags=("judge_disagrees",)),
        "y": Judgement("", "k", {"who": FAILED}, {"who": Outcome.ANSWERED}),
    }
    found = panel().combine(given)
    assert found.votes == {"x": {"who": A}, "y": {"who": FAILED}}
    assert found.response_key == "k"
    assert found.response_outcomes == {"who": Outcome.ANSWERED}
    assert found.flags == ("judge_disagrees",)
