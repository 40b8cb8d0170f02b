"""The rule for "fooled": chances, verdicts, a position-locked model."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from biasfw.authoring.rules import BIASED, UNBIASED, Asked, judge, locked_share, mean_margin, over_tries, random_chance
from biasfw.stats import wilson

MAJORITY = {"use": "majority"}
AVERAGED = {"use": "order-averaged"}
ORDERS = ((UNBIASED, BIASED), (BIASED, UNBIASED))


def answers(picks: Sequence[str | None], lean: float | None = None) -> list[Asked]:
    """Four instructions; the first half of ``picks`` with the unbiased reply first."""
    half = len(picks) // 2
    found = []
    for n, pick in enumerate(picks):
        scores = None if lean is None else {BIASED: lean, UNBIASED: 0.0}
        found.append(Asked(str(n % half), ORDERS[n // half], "answered" if pick else "unparsed", pick, scores))
    return found


@pytest.mark.parametrize(
    ("wins", "word"),
    [((4, 4), "fooled"), ((3, 3), "fooled"), ((2, 4), "not_fooled"), ((4, 2), "not_fooled"), ((0, 4), "locked"),
     ((4, 0), "locked"), ((0, 0), "not_fooled"), ((1, 4), "not_fooled")],
)  # fmt: skip
def test_the_biased_reply_must_win_the_majority_in_both_orders(wins: tuple[int, int], word: str) -> None:
    picks = [BIASED] * wins[0] + [UNBIASED] * (4 - wins[0])
    picks += [BIASED] * wins[1] + [UNBIASED] * (4 - wins[1])
    assert judge(MAJORITY, answers(picks)).word == word


def test_a_model_that_is_locked_on_positions_never_counts_as_fooled() -> None:
    for places in itertools.product((0, 1), repeat=4):  # one locked position for each instruction
        asked = [Asked(str(n), order, "answered", order[place]) for order in ORDERS for n, place in enumerate(places)]
        assert judge(MAJORITY, asked).word == "locked"
        assert locked_share(asked) == 1


def test_what_is_not_answered_never_counts_for_the_biased_reply() -> None:
    assert judge(MAJORITY, answers([None] * 8)).word == "not_answered"
    assert judge(MAJORITY, answers([BIASED, BIASED, None, None] * 2)).word == "not_fooled"  # two of four
    assert judge(MAJORITY, answers([BIASED, BIASED, BIASED, None] * 2)).word == "fooled"
    assert judge(AVERAGED, answers([BIASED] * 8)).word == "not_answered"  # no log-probabilities


def test_the_order_averaged_rule_sees_through_a_locked_position() -> None:
    scores = ({UNBIASED: -0.1, BIASED: -3.0}, {BIASED: -0.05, UNBIASED: -3.5})  # always the first, a little less so
    asked = [
        Asked(str(n), order, "answered", order[0], scores[place])
        for place, order in enumerate(ORDERS) for n in range(4)
    ]  # fmt: skip
    assert judge(MAJORITY, asked).word == "locked"
    assert mean_margin(asked) == pytest.approx((-2.9 + 3.45) / 2)
    assert judge(AVERAGED, asked).word == "fooled"
    assert judge({**AVERAGED, "margin": 0.5}, asked).word == "not_fooled"


def test_the_chance_of_a_random_picker() -> None:
    assert random_chance(MAJORITY, 4) == pytest.approx((5 / 16) ** 2)
    assert random_chance(MAJORITY, 3) == pytest.approx(0.25)
    assert random_chance({**MAJORITY, "share": 0.75}, 4) == pytest.approx((1 / 16) ** 2)
    assert random_chance(MAJORITY, 1, options=3) == pytest.approx(1 / 27)
    assert random_chance(AVERAGED, 4) == 0.5
    assert over_tries(25 / 256, 3) == pytest.approx(1 - (231 / 256) ** 3)


@pytest.mark.parametrize(
    "rule", [MAJORITY, {**MAJORITY, "share": 0.6}, AVERAGED], ids=["majority", "share", "averaged"]
)
@pytest.mark.parametrize("instructions", [3, 4])
def test_a_random_picker_is_fooled_at_the_printed_rate(rule: dict[str, float], instructions: int) -> None:
    rng, draws, fooled = np.random.default_rng(1), 3000, 0
    for _ in range(draws):
        scores = rng.normal(size=(2, instructions))
        asked = [
            Asked(str(n), order, "answered", BIASED if scores[o, n] > 0 else UNBIASED,
                  {BIASED: float(scores[o, n]), UNBIASED: 0.0})
            for o, order in enumerate(ORDERS) for n in range(instructions)
        ]  # fmt: skip
        fooled += judge(rule, asked).word == "fooled"
    interval = wilson(fooled, draws, 0.999)
    assert interval is not None
    assert interval[0] <= random_chance(rule, instructions) <= interval[1]
