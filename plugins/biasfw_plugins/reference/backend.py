"""Reference models say what the engine rendered for them; they show what a score means before a real model is asked."""

from __future__ import annotations

from collections.abc import Iterator

from biasfw import (
    BackendSettings,
    ChoiceScore,
    Identity,
    Request,
    RequestSequence,
    Response,
    ResponseError,
)

PREFERRED, OTHER = -1.0, -100.0  # nats: e**-99 is nothing beside 1, and no sum is the suspicious 0.0


class Reference:
    """One of the seven reference models; answers only from ``Request.references``."""

    def __init__(self, settings: BackendSettings) -> None:
        self._model = settings.model or ""

    def fingerprint(self) -> str:
        """The name is the model; ``v1`` changes when the meaning of a name does."""
        return f"reference:{self._model}:v1"

    def prepare(self) -> Identity:
        """Nothing to load."""
        return Identity(model=self._model, fingerprint=self.fingerprint())

    def run(self, requests: RequestSequence) -> Iterator[Response]:
        """Answer each request in turn."""
        for request in requests:
            yield self._answer(request)

    def close(self) -> None:
        """Nothing to free."""

    def _answer(self, request: Request) -> Response:
        said = (request.references or {}).get(self._model)
        if said is None:
            message = f"the reference model {self._model!r} has no answer to this item under this mode"
            if self._model == "refuses":
                message = (
                    "the reference model 'refuses' says the refusal_text of the item's language pack, which is empty; "
                    "write one in languages/TAG.yaml of the benchmark"
                )
            return Response(request.key, error=ResponseError("no_reference", message, permanent=True))
        if not request.choices:
            return Response(request.key, text=said, finish_reason="stop")
        scores = tuple(
            ChoiceScore(
                choice.key,
                PREFERRED if choice.key == said else OTHER,
                tokens=len(choice.text.split()),
                bytes=len(choice.text.encode("utf-8")),
            )
            for choice in request.choices
        )
        return Response(request.key, choice_logprobs=scores)
