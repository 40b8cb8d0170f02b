"""Why a slot could not be read: an explanation for people, worked out from the text and not by the parser."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from biasfw.form import Form, Label, Slot
from biasfw.hedging import folded
from biasfw.records import Answer, Outcome

NO_HEADER, NOT_LISTED, TWO_NAMES = "no_header", "not_listed", "two_names"


def why(text: str, answer: Answer, form: Form, condition: str) -> Iterator[str]:
    """``reason:slot`` for every slot of task ``labels`` that is unparsed, where the reason is plain.

    ``no_header``: no header of the slot stands in the text. ``not_listed``: what stands behind it is no listed name.
    ``two_names``: several listed names stand behind it.
    """
    if form.task != "labels":
        return
    where = _folded(text)
    headers = {slot.key: _all(slot.headers.get(condition, {})) for slot in form.slots}
    for slot in form.slots:
        if slot.key in answer.slots and answer.slots[slot.key].outcome is Outcome.UNPARSED:
            reason = _reason(where, slot, headers, form)
            if reason:
                yield f"{reason}:{slot.key}"


def _reason(text: str, slot: Slot, headers: Mapping[str, list[str]], form: Form) -> str | None:
    places = [text.rfind(header) + len(header) for header in headers[slot.key] if header in text]
    if not places:
        return NO_HEADER
    behind = text[max(places) :]
    for other, names in headers.items():  # several slots in one line
        if other != slot.key:
            behind = min((behind.partition(name)[0] for name in names), key=len, default=behind)
    line = next((line for line in behind.split("\n") if any(c.isalnum() for c in line)), "")
    named = _named(line, form.labels)
    return {0: NOT_LISTED, 1: None}.get(len(named), TWO_NAMES)


def _named(line: str, labels: tuple[Label, ...]) -> set[str]:
    """The labels named in a line, longest names first: what is part of a longer one is not counted again."""
    found: set[str] = set()
    names = [(name, label.key) for label in labels for name in _all(label.names)]
    for name, key in sorted(names, key=lambda pair: -len(pair[0])):
        edge = r"(?<!\w)" if name[0].upper() != name[0].lower() else ""  # scripts without case write words together
        end = r"(?!\w)" if edge else ""
        line, count = re.subn(f"{edge}{re.escape(name)}{end}", " \N{BLACK SQUARE} ", line)
        if count:
            found.add(key)
    return found


def _all(names: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [name for texts in names.values() for text in texts if (name := _folded(text))]


def _folded(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in folded(text).split("\n"))
