"""The chat template of a GGUF file: rendered in a sandbox, with its quirks found out beforehand."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from jinja2 import BaseLoader, TemplateError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from biasfw import Message

# What a hostile or careless template can raise besides jinja2's own errors.
_FAILURES = (TemplateError, TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError)
_MARK = "biasfwcontent{}end"
_MARKS = re.compile(r"biasfwcontent(\d+)end")
_FIXED_DATE = {"%d %b %Y": "26 Jul 2024", "%d %B %Y": "26 July 2024", "%Y-%m-%d": "2024-07-26"}
FIXED_DATE = _FIXED_DATE["%Y-%m-%d"]


class ChatTemplateError(Exception):
    """The template cannot render these messages; the text says why."""


class _Generation(Extension):
    """``{% generation %}`` marks what a model is trained on and renders what is inside."""

    tags = {"generation"}  # noqa: RUF012 - jinja2 declares it so

    def parse(self, parser: Parser) -> list[nodes.Node]:
        parser.stream.skip(1)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _raise(message: str) -> NoReturn:
    raise TemplateError(message)


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _fixed_date(form: str) -> str:
    """Templates may write today's date, but the same question must be the same tomorrow."""
    return _FIXED_DATE.get(form, FIXED_DATE)


class ChatTemplate:
    """Renders messages up to the opening of the assistant's turn.

    ``folds_system``: the template refuses or drops a system message, so its text is put before the first user turn.

    Raises:
        ChatTemplateError: the template is broken or does not write what the user says.
    """

    def __init__(self, source: str, *, bos: str = "", eos: str = "") -> None:
        # The settings with which chat templates are written (those of transformers).
        environment = ImmutableSandboxedEnvironment(
            loader=BaseLoader(), trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
        )
        environment.filters["tojson"] = _to_json
        environment.globals |= {"raise_exception": _raise, "strftime_now": _fixed_date}
        self._tokens = {"bos_token": bos, "eos_token": eos}
        try:
            self._template = environment.from_string(source)
        except _FAILURES as error:
            raise ChatTemplateError(_reason(error)) from error
        self.writes_date = "strftime_now" in source
        self.folds_system = False
        self.folds_system = not self._survives(Message("system", _MARK.format(0)), Message("user", _MARK.format(1)))
        if not self._survives(Message("user", _MARK.format(0))):
            raise ChatTemplateError("it does not write what the user says")

    def _survives(self, *messages: Message) -> bool:
        try:
            rendered = self.render(messages)
        except ChatTemplateError:
            if len(messages) == 1:
                raise
            return False
        return all(message.content in rendered for message in messages)

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt, ending with the opening of the assistant's turn.

        Raises:
            ChatTemplateError: the template refuses these messages.
        """
        turns = [{"role": turn.role, "content": turn.content} for turn in self._turns(messages)]
        try:
            return self._template.render(messages=turns, add_generation_prompt=True, **self._tokens)
        except _FAILURES as error:
            raise ChatTemplateError(_reason(error)) from error

    def _turns(self, messages: Sequence[Message]) -> Sequence[Message]:
        system = [turn.content for turn in messages if turn.role == "system"]
        if not (self.folds_system and system):
            return messages
        turns = [turn for turn in messages if turn.role != "system"]
        if not turns or turns[0].role != "user":
            return [Message("user", "\n\n".join(system)), *turns]
        return [Message("user", "\n\n".join([*system, turns[0].content])), *turns[1:]]

    def split(self, messages: Sequence[Message]) -> list[tuple[str, bool]] | None:
        """The prompt as (text, is from a message) parts, or None if the template changes what messages say.

        Joined, the parts are exactly what ``render`` returns.
        """
        marked = [Message(turn.role, _MARK.format(index)) for index, turn in enumerate(messages)]
        parts = _MARKS.split(self.render(marked))  # text, number, text, number, ..., text
        whole = self.render(messages)
        for contents in ([turn.content for turn in messages], [turn.content.strip() for turn in messages]):
            split = [(contents[int(part)], True) if place % 2 else (part, False) for place, part in enumerate(parts)]
            if "".join(text for text, _ in split) == whole:
                return split
        return None


def _reason(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
