"""Scored choices: the sum decides, ties stay ties, and what could not be scored decides nothing."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasfw import ChoiceScore, Form, Label, Outcome, Reading, Response, Slot
from biasfw.choices import read_choices

PAIRS = Form(
    "labels", (Slot("x"), Slot("y")), (Label("p", {}), Label("q", {}), Label("r", {}), Label("none", {}, True))
)
SINGLE = Form("labels", (Slot("choice"),), (Label("a", {}), Label("b", {})))


def response(**sums: float | None) -> Response:
    scores = tuple(ChoiceScore(key.replace("_", "|"), value, tokens=4, bytes=12) for key, value in sums.items())
    return Response("key", choice_logprobs=scores)


def test_the_highest_sum_decides_for_both_slots() -> None:
    answer = read_choices(response(p_q=-3.0, q_p=-2.0, r_q=-9.0), PAIRS)
    assert answer.slots == {"x": Reading(Outcome.ANSWERED, "q"), "y": Reading(Outcome.ANSWERED, "p")}
    assert answer.flags == ()


def test_a_tie_is_a_tie_only_where_it_disagrees() -> None:
    answer = read_choices(response(p_q=-2.0, p_r=-2.0, q_r=-5.0), PAIRS)
    assert answer.slots == {"x": Reading(Outcome.ANSWERED, "p"), "y": Reading(Outcome.TIED)}


def test_an_abstention_is_no_answer() -> None:
    answer = read_choices(response(p_q=-4.0, none_none=-1.0, p_none=-3.0), PAIRS)
    assert answer.slots["x"] == Reading(Outcome.ABSTAINED, "none")


def test_means_that_would_decide_otherwise_are_flagged() -> None:
    scores = (ChoiceScore("a", -4.0, tokens=2, bytes=40), ChoiceScore("b", -5.0, tokens=5, bytes=45))
    assert read_choices(Response("k", choice_logprobs=scores), SINGLE).flags == ("per_token_differs",)
    scores = (ChoiceScore("a", -4.0, tokens=2, bytes=4), ChoiceScore("b", -5.0, tokens=2, bytes=45))
    assert read_choices(Response("k", choice_logprobs=scores), SINGLE).flags == ("per_byte_differs",)


@pytest.mark.parametrize(
    ("sums", "flag"),
    [
        ({"a": None, "b": None}, "no_choice_listed"),
        ({"a": 0.0, "b": 0.0}, "no_logprobs"),
        ({"a": -math.inf, "b": math.nan}, "no_choice_listed"),
    ],
)
def test_no_usable_score_is_an_error(sums: dict[str, float | None], flag: str) -> None:
    answer = read_choices(response(**sums), SINGLE)
    assert answer.slots == {"choice": Reading(Outcome.ERROR)}
    assert answer.flags == (flag,)


def test_a_choice_without_a_score_is_said() -> None:
    answer = read_choices(response(a=-math.inf, b=-9.0), SINGLE)
    assert answer.slots["choice"] == Reading(Outcome.ANSWERED, "b")
    assert answer.flags == ("unscored_choices",)


@given(st.permutations(["a", "b"]), st.floats(-50, -1), st.floats(-50, -1))
def test_the_order_of_the_choices_never_decides(order: list[str], a: float, b: float) -> None:
    sums = {"a": a, "b": b}
    reading = read_choices(response(**{key: sums[key] for key in order}), SINGLE).slots["choice"]
    assert reading == (Reading(Outcome.TIED) if a == b else Reading(Outcome.ANSWERED, "a" if a > b else "b"))


def test_the_handed_scores(cases: Path) -> None:
    expected = {"tie": Reading(Outcome.TIED), "invalid": Reading(Outcome.ERROR)}
    for line in (cases / "loglik" / "choice_scores.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        sums = {key: float(value) for key, value in row["scores"].items()}
        reading = read_choices(response(**sums), SINGLE).slots["choice"]
        assert reading == expected.get(row["expected"], Reading(Outcome.ANSWERED, row["expected"])), row
