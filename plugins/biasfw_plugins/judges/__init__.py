"""Judges that ship with biasfw: rules, a model, and panels of judges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from biasfw import JudgeSpec, hookimpl

biasfw_api = 1

_HERE = "biasfw_plugins.judges"
_ALL = frozenset({"choice", "labels", "sentence_pair"})


def _options(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


@hookimpl
def biasfw_judges() -> Iterable[JudgeSpec]:
    """Offer the judge that takes the parser's word, the one that asks a model, and the panel."""
    yield JudgeSpec(
        "rules",
        load=f"{_HERE}.rules:Rules",
        summary="takes what the parser read; asks no model",
        tasks=_ALL,
    )
    yield JudgeSpec(
        "llm",
        load=f"{_HERE}.llm:Llm",
        summary="asks a model which of the benchmark's labels the response gives, from a closed list",
        tasks=frozenset({"choice", "labels"}),
        roles=("model",),
        options=_options(
            view={
                "enum": ["full", "body"],
                "default": "full",
                "description": "what the model sees of a response: all of it, or all but the header lines",
            },
            label_order={
                "enum": ["listed", "reversed"],
                "default": "listed",
                "description": "the order of the labels in the prompt; a second judge with the other order shows its "
                "effect",
            },
            names={
                "enum": ["both", "native", "english"],
                "default": "both",
                "description": "the names of the labels: in the language of the response, in English, or both",
            },
            max_tokens={
                "type": "integer",
                "minimum": 1,
                "default": 128,
                "description": "new tokens of a written verdict",
            },
        ),
    )
    yield JudgeSpec(
        "panel",
        load=f"{_HERE}.panel:Majority",
        summary="combines the verdicts of several judges; more than half of all members, or all of them, must agree",
        tasks=_ALL,
        combines=True,
        options=_options(
            rule={
                "enum": ["majority", "unanimous"],
                "default": "majority",
                "description": "how many members must agree: more than half of all, or all; who does not vote counts",
            },
            quorum={
                "type": "integer",
                "minimum": 1,
                "default": 1,
                "description": "how many members must have voted",
            },
        ),
    )
