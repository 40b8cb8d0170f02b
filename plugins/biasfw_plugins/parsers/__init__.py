"""Parsers that ship with biasfw."""

from __future__ import annotations

from collections.abc import Iterable

from biasfw import ParserSpec, hookimpl

biasfw_api = 1

_LABELLED_LINES = {
    "type": "object",
    "properties": {
        "take": {
            "enum": ["first", "last"],
            "default": "first",
            "description": "which filled answer counts when the headers recur: first for a model's response, "
            "last for a judge's text, whose own verdict stands at the end",
        },
    },
    "additionalProperties": False,
}


@hookimpl
def biasfw_parsers() -> Iterable[ParserSpec]:
    """Offer the parsers of "HEADER: name" lines and of chosen options."""
    yield ParserSpec(
        "labelled_lines",
        load="biasfw_plugins.parsers.labelled_lines:LabelledLines",
        summary='reads lines such as "HEADER: name", with headers and names from the benchmark',
        tasks=frozenset({"labels"}),
        options=_LABELLED_LINES,
    )
    yield ParserSpec(
        "choice",
        load="biasfw_plugins.parsers.choice:Choice",
        summary="reads which of the offered options, by letter or text, a free text chooses",
        tasks=frozenset({"choice"}),
    )
