"""What a response says, before anybody judges it: read from its scores, or from its text by a parser."""

from __future__ import annotations

from biasfw.choices import read_choices
from biasfw.contracts import Parser
from biasfw.form import Form
from biasfw.records import Answer, Item, Outcome, Reading, Response


def read(response: Response, item: Item, form: Form, parser: Parser | None) -> Answer:
    """The answer in a response: from its scores, or from its text by the parser."""
    if response.error is not None:
        return Answer({slot.key: Reading(Outcome.ERROR) for slot in form.slots})
    if response.choice_logprobs:
        return read_choices(response, form)
    if response.finish_reason in ("content_filter", "refusal"):  # said by the server, not in the text
        return Answer({slot.key: Reading(Outcome.REFUSED) for slot in form.slots}, (response.finish_reason,))
    if parser is None:
        raise AssertionError("a text response needs a parser")
    answer = parser.parse(
        response.text or "", language=item.language, condition=item.condition, finish_reason=response.finish_reason
    )
    return _option_of(answer, item, form) if form.task != "labels" and item.order else answer


def _option_of(answer: Answer, item: Item, form: Form) -> Answer:
    """A parser reads letters; what counts is the option that a letter stands for in this item."""
    places = {label.key: place for place, label in enumerate(form.labels)}
    slots, flags = {}, list(answer.flags)
    for slot, reading in answer.slots.items():
        place = places.get(reading.value or "", -1)
        if reading.value is None or reading.outcome is not Outcome.ANSWERED:
            slots[slot] = reading
        elif 0 <= place < len(item.order):
            slots[slot] = Reading(Outcome.ANSWERED, item.order[place])
        else:
            slots[slot] = Reading(Outcome.UNPARSED)
            flags.append("not_an_option")
    return Answer(slots, tuple(flags))
