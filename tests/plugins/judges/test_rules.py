"""The judge ``rules`` takes the parser's word and nothing else."""

from __future__ import annotations

import biasfw_plugins.judges
from biasfw import (
    Answer,
    Case,
    ComponentContext,
    Form,
    Item,
    Judge,
    Judgement,
    Message,
    Outcome,
    Reading,
    Request,
    Response,
    ResponseError,
    Sampling,
    Slot,
)
from biasfw_plugins.judges.rules import Rules

FORM = Form("labels", (Slot("first"), Slot("second")))
ANSWER = Answer(
    {"first": Reading(Outcome.ANSWERED, "red"), "second": Reading(Outcome.TRUNCATED)}, flags=("reasoning_removed",)
)


def case(error: ResponseError | None = None, answer: Answer = ANSWER) -> Case:
    item = Item("i/en/x", "i", "en", "colours", "i", "x")
    request = Request("k1", item.id, Sampling(), messages=(Message("user", "Which?"),))
    return Case(item, request, Response("k1", text=None if error else "Red", error=error), answer)


def test_it_is_a_judge() -> None:
    judge = Rules(ComponentContext(FORM))
    assert isinstance(judge, Judge)
    assert judge.requests(case()) == ()


def test_the_answer_is_the_judgement() -> None:
    assert Rules(ComponentContext(FORM)).judge(case(), ()) == Judgement(
        key="",
        response_key="k1",
        slots=ANSWER.slots,
        response_outcomes={"first": Outcome.ANSWERED, "second": Outcome.TRUNCATED},
        flags=("reasoning_removed",),
    )


def test_a_failed_response_is_an_error_for_every_slot() -> None:
    failed = case(ResponseError("timeout", "no answer within 60 s"), Answer({}))
    judgement = Rules(ComponentContext(FORM)).judge(failed, ())
    assert judgement.slots == {"first": Reading(Outcome.ERROR), "second": Reading(Outcome.ERROR)}
    assert set(judgement.response_outcomes.values()) == {Outcome.ERROR}


def test_the_spec_points_to_it() -> None:
    spec = next(spec for spec in biasfw_plugins.judges.biasfw_judges() if spec.name == "rules")
    assert spec.roles == ()
    assert spec.load == f"{Rules.__module__}:{Rules.__name__}"
