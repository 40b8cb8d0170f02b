"""The chat template of a model: its quirks are found out beforehand, and it renders the same every day."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jinja2 import TemplateError

from biasfw import Message
from biasfw_plugins.hf.tokens import Tokeniser

# What a hostile or careless template can raise besides jinja2's own errors.
_FAILURES = (
    TemplateError, TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError, ImportError,
)  # fmt: skip
_MARK = "biasfwcontent{}end"
_MARKS = re.compile(r"biasfwcontent(\d+)end")
FIXED_DATE = "2024-07-26"
# Templates may write today's date, but the same question must be the same tomorrow.
_FIXED = (
    "{%- macro strftime_now(form) -%}"
    "{{ {'%d %b %Y': '26 Jul 2024', '%d %B %Y': '26 July 2024'}.get(form, '" + FIXED_DATE + "') }}"
    "{%- endmacro +%}"
)


class ChatTemplateError(Exception):
    """The template cannot render these messages; the text says why."""


class ChatTemplate:
    """Renders messages up to the opening of the assistant's turn.

    ``folds_system``: the template refuses or drops a system message, so its text is put before the first user turn.
    ``thinking`` is told to the template as ``enable_thinking``, unless it is None.

    Raises:
        ChatTemplateError: the template is broken or does not write what the user says.
    """

    def __init__(self, tokeniser: Tokeniser, source: str, thinking: bool | None = None) -> None:
        self._tokeniser = tokeniser
        self._variables = {} if thinking is None else {"enable_thinking": thinking}
        self.writes_date = "strftime_now" in source
        self._source = _FIXED + source if self.writes_date else source
        self.knows_thinking = "enable_thinking" in source
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

    def render(self, messages: Sequence[Message], *, opening: bool = True) -> str:
        """The prompt, ending with the opening of the assistant's turn.

        Raises:
            ChatTemplateError: the template refuses these messages.
        """
        turns = [{"role": turn.role, "content": turn.content} for turn in self._turns(messages)]
        try:
            return self._tokeniser.render(self._source, turns, opening=opening, **self._variables)
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

    def turn_end(self) -> int | None:
        """The control token with which the template ends what the assistant says, if it is one."""
        try:
            rendered = self.render([Message("user", "?"), Message("assistant", _MARK.format(0))], opening=False)
        except ChatTemplateError:
            return None
        ids = self._tokeniser.encode_inside(rendered.partition(_MARK.format(0))[2].lstrip(), special=True)
        return ids[0] if ids and self._tokeniser.is_control(ids[0]) else None


def _reason(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
