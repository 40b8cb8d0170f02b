"""From requests to token ids: one BOS, and nothing that a text says is taken for a control token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biasfw import ComponentError, Request
from biasfw_plugins.llamacpp.chat import ChatTemplate
from biasfw_plugins.llamacpp.native import Model


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a prompt; in ``plain`` text the name of a control token is text, in a template it is the token."""

    text: str
    plain: bool


class Prompter:
    """Turns requests into token ids for one model. ``template`` is None where the GGUF has none that works."""

    def __init__(self, model: Model, template: ChatTemplate | None, reason: str = "has no chat template") -> None:
        self._model = model
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
        apart, because llama.cpp reads control tokens either in all of a text or in none of it.
        """
        parts = [*parts, Part(continuation, plain=True)]
        if all(part.plain for part in parts):
            ids = self._model.tokenise("".join(part.text for part in parts), special=False)
        elif any(part.plain and self._names_control_token(part.text) for part in parts):
            ids = [token for part in parts for token in self._model.tokenise(part.text, special=not part.plain)]
        else:
            ids = self._model.tokenise("".join(part.text for part in parts), special=True)
        return self.with_one_bos(ids)

    def encode_alone(self, text: str) -> list[int]:
        """Token ids of plain text that follows a prompt but is tokenised without it."""
        return self._model.tokenise(text, special=False)

    def with_one_bos(self, ids: list[int]) -> list[int]:
        """``ids`` with exactly one BOS in front if the model adds one, and never with two."""
        bos = self._model.bos
        begins = 0
        while begins < len(ids) and ids[begins] == bos:
            begins += 1
        kept = 1 if self._model.adds_bos or begins else 0
        return [bos] * kept + ids[begins:]

    def _names_control_token(self, text: str) -> bool:
        return bool(text) and self._model.tokenise(text, special=True) != self._model.tokenise(text, special=False)
