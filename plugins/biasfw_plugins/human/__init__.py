"""Backend ``human``: what people answered (``biasfw annotate``), replayed as a run like any other."""

from __future__ import annotations

from collections.abc import Iterable

from biasfw import BackendSpec, hookimpl

biasfw_api = 1

_ONCE = "people see each item once, in one order and without an instruction"
_VOTES = "people have no likelihoods: what is stored for them are shares of votes"

OPTIONS = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "question": {
            "enum": ["suitable", "unbiased"],
            "default": "suitable",
            "description": "Which of the two questions to replay. Compare it with models that were asked the same.",
            "examples": ["unbiased"],
        },
        "annotator": {
            "type": "string",
            "pattern": "^a-[a-z0-9]{8}$",
            "description": "One person, by pseudonym. Default: everybody; the reply that more people picked wins, and "
            "log-probabilities are those of the shares.",
            "examples": ["a-7f3k9q2m"],
        },
    },
}


@hookimpl
def biasfw_backends() -> Iterable[BackendSpec]:
    """Offer the backend."""
    yield BackendSpec(
        "human",
        load="biasfw_plugins.human.backend:Human",
        summary="people's answers from biasfw annotate, replayed: --model is the folder of the annotation",
        capabilities=frozenset({"choices"}),
        lacks={"orders": _ONCE, "variants": _ONCE, "logprobs": _VOTES},
        options=OPTIONS,
    )
