"""From requests to token ids: one BOS, and nothing that a text says is taken for a control token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biasfw import ComponentError, Request
from biasfw_plugins.hf.chat import FIXED_DATE, ChatTemplate, ChatTemplateError
from biasfw_plugins.hf.tokens import Tokeniser


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a prompt; in ``plain`` text the name of a control token is text, in a template it is the token."""

    text: str
    plain: bool


class Prompter:
    """Turns requests into token ids for one model. ``template`` is None where there is none that works."""

    def __init__(
        self, tokeniser: Tokeniser, template: ChatTemplate | None, reason: str = "has no chat template"
    ) -> None:
        self._tokeniser = tokeniser
        self._template = template
        self._reason = reason

    def parts(self, request: Request) -> list[Part]:
        """The prompt of ``request``.

        Raises:
            ComponentError: messages are given but the model has no usable chat template.
            ChatTemplateError: the template refuses these messages.
        """
        if not request.messages:
            return [Part(request.prompt or "", plain=True)]
        if self._template is None:
            raise ComponentError(f"the model {self._reason}; ask it with --prompt-style raw, or use a chat model")
        if any(self._names_control_token(turn.content) for turn in request.messages):
            split = self._template.split(request.messages)
            if split is not None:
                return [Part(text, plain) for text, plain in split]
        return [Part(self._template.render(request.messages), plain=False)]

    def encode(self, parts: Sequence[Part], continuation: str = "") -> list[int]:
        """Token ids of the prompt and what follows, tokenised as one text, with one BOS if the model wants one.

        Only where plain text that names a control token follows or precedes the template are the pieces tokenised
        apart, because a tokeniser reads control tokens either in all of a text or in none of it.
        """
        parts = [*parts, Part(continuation, plain=True)]
        if all(part.plain for part in parts):
            ids = self._tokeniser.encode("".join(part.text for part in parts), special=False)
        elif any(part.plain and self._names_control_token(part.text) for part in parts):
            first, *rest = (part for part in parts if part.text)
            ids = self._tokeniser.encode(first.text, special=not first.plain)
            for part in rest:
                ids += self._tokeniser.encode_inside(part.text, special=not part.plain)
        else:
            ids = self._tokeniser.encode("".join(part.text for part in parts), special=True)
        return self.with_one_beginning(ids)

    def encode_alone(self, text: str) -> list[int]:
        """Token ids of plain text that follows a prompt but is tokenised without it."""
        return self._tokeniser.encode_inside(text, special=False)

    def with_one_beginning(self, ids: list[int]) -> list[int]:
        """``ids`` with exactly one BOS (or what else begins a text) if the model adds one, and never with two."""
        bos = self._tokeniser.bos
        beginning = list(self._tokeniser.beginning) or ([bos] if bos is not None else [])
        size, count = len(beginning), 0
        while size and ids[count * size : (count + 1) * size] == beginning:
            count += 1
        kept = 1 if self._tokeniser.beginning or count else 0
        return beginning * kept + ids[count * size :]

    def _names_control_token(self, text: str) -> bool:
        encode = self._tokeniser.encode
        return bool(text) and encode(text, special=True) != encode(text, special=False)


def make_prompter(tokeniser: Tokeniser, thinking: bool | None) -> tuple[Prompter, ChatTemplate | None, tuple[str, ...]]:
    """The prompter of a model, its template, and what the user should know about it."""
    source = tokeniser.template
    if source is None:
        return Prompter(tokeniser, None), None, ("the model has no chat template: only --prompt-style raw works",)
    try:
        template = ChatTemplate(tokeniser, source, thinking)
    except ChatTemplateError as failure:
        reason = f"has a chat template that cannot be used ({failure})"
        return Prompter(tokeniser, None, reason), None, (f"the model {reason}: only --prompt-style raw works",)
    notes = []
    if template.folds_system:
        notes.append("the chat template refuses a system role: system text is put before the first user turn")
    if template.writes_date:
        notes.append(f"the chat template asks for today's date: it gets {FIXED_DATE}, so that prompts stay the same")
    if thinking is not None and not template.knows_thinking:
        notes.append("the chat template knows no enable_thinking: the option changes nothing")
    return Prompter(tokeniser, template), template, tuple(notes)
