"""Judges that ship with biasfw."""

from __future__ import annotations

from collections.abc import Iterable

from biasfw import JudgeSpec, hookimpl

biasfw_api = 1


@hookimpl
def biasfw_judges() -> Iterable[JudgeSpec]:
    """Offer the judge that takes the parser's word."""
    yield JudgeSpec(
        "rules",
        load="biasfw_plugins.judges.rules:Rules",
        summary="takes what the parser read; asks no model",
        tasks=frozenset({"choice", "labels", "sentence_pair"}),
    )
