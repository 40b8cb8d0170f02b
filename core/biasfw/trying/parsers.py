"""Parsers: pure functions of their arguments that take any text and never guess."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import cast

from biasfw.contracts import ComponentContext, Parser
from biasfw.form import Form
from biasfw.languages import LanguagePack
from biasfw.plugins import Component, load_class
from biasfw.records import Answer, Outcome
from biasfw.schemas import check_options
from biasfw.trying.samples import ANSWERS, HOSTILE, LANGUAGES

ALLOWED = frozenset({Outcome.ANSWERED, Outcome.REFUSED, Outcome.UNPARSED, Outcome.TRUNCATED, Outcome.ABSTAINED})
LONG = 1000
SECONDS = 5.0  # of the processor, for one text of 200,000 characters


def make(component: Component, form: Form, packs: Mapping[str, LanguagePack]) -> Parser:
    """The parser with its default options."""
    spec = component.spec
    options = check_options(f"parser {spec.name}", spec.options, {})
    return cast("Parser", load_class(component)(ComponentContext(form, packs, options)))


def check_reading(component: Component, form: Form, packs: Mapping[str, LanguagePack]) -> None:
    """An answer as the benchmark asks for it is read as something, the same every time, and in any order of calls."""
    text = ANSWERS[form.task]
    parsers = [make(component, form, packs) for _ in range(2)]
    first = _parse(parsers[0], text)
    for other in HOSTILE[:6]:
        _parse(parsers[0], other)
    assert _parse(parsers[0], text) == first, f"{text!r} is read otherwise after other texts: it keeps a state"
    assert _parse(parsers[1], text) == first, f"{text!r} is read otherwise by a second parser of the same kind"


def check_hostile(component: Component, form: Form, packs: Mapping[str, LanguagePack]) -> None:
    """Nothing that a model writes makes it fail, hang, or name a label that was not offered."""
    parser = make(component, form, packs)
    for text in HOSTILE:
        for finish in (None, "length"):
            shown = f"{text[:40]!r} ({len(text)} characters, finish_reason {finish})"
            before = time.process_time()
            try:
                answers = [_parse(parser, text, finish) for _ in range(2 if len(text) < LONG else 1)]
            except Exception as failure:
                raise AssertionError(f"it fails on {shown}: {type(failure).__name__}: {failure}") from failure
            took = time.process_time() - before
            assert took < SECONDS, f"it takes {took:.1f} s for {shown}"
            assert answers[0] == answers[-1], f"it reads {shown} in two ways"
            check_answer(answers[0], form, shown)


def check_answer(answer: Answer, form: Form, shown: str) -> None:
    """Every slot has an outcome that a parser may give, and a value exactly where there is one."""
    assert isinstance(answer, Answer), f"{shown} gives {type(answer).__name__}, not an Answer"
    assert set(answer.slots) == {slot.key for slot in form.slots}, f"{shown} gives the slots {sorted(answer.slots)}"
    labels = {label.key: label.abstains for label in form.labels}
    for slot, reading in answer.slots.items():
        assert reading.outcome in ALLOWED, f"{shown}: no parser may say {reading.outcome} (slot {slot})"
        if reading.outcome == Outcome.ANSWERED:
            assert reading.value in labels, f"{shown} is read as {reading.value!r}, which was not offered"
        elif reading.outcome != Outcome.ABSTAINED:
            assert reading.value is None, f"{shown}: what is {reading.outcome} has the value {reading.value!r}"


def _parse(parser: Parser, text: str, finish: str | None = None) -> Answer:
    """The reading in the first language, after that in the others."""
    tags = LANGUAGES if finish is None and len(text) < LONG else LANGUAGES[:1]
    return [parser.parse(text, language=tag, condition="plain", finish_reason=finish) for tag in reversed(tags)][-1]
