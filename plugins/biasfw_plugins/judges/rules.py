"""The judge ``rules``: the parser's reading is the judgement."""

from __future__ import annotations

from collections.abc import Sequence

from biasfw import Case, ComponentContext, Judgement, Outcome, Reading, Request, Response


class Rules:
    """Takes the parser's outcome and value for every slot of the form; a response that failed is an error."""

    def __init__(self, context: ComponentContext) -> None:
        self._slots = tuple(slot.key for slot in context.form.slots)

    def requests(self, case: Case) -> Sequence[Request]:  # noqa: ARG002 - asks nothing, whatever the case
        return ()

    def judge(self, case: Case, responses: Sequence[Response]) -> Judgement:  # noqa: ARG002
        slots = case.answer.slots
        if case.response.error is not None:
            slots = dict.fromkeys(self._slots or slots, Reading(Outcome.ERROR))
        return Judgement(
            key="",
            response_key=case.response.key,
            slots=dict(slots),
            response_outcomes={slot: reading.outcome for slot, reading in slots.items()},
            flags=case.answer.flags,
        )
