"""Reporter `html`: runs as one self-contained page that opens without a network."""

from __future__ import annotations

from collections.abc import Iterable

from biasfw import ReporterSpec, hookimpl

biasfw_api = 1


@hookimpl
def biasfw_reporters() -> Iterable[ReporterSpec]:
    """Offer the report."""
    yield ReporterSpec(
        "html",
        load="biasfw_plugins.report.html:Html",
        summary="one HTML file: figures, their numbers, and every response",
        extra="report",
        suffix=".html",
        options={
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "text_limit": {
                    "description": "characters of a prompt or a response that are shown",
                    "type": "integer",
                    "minimum": 0,
                    "default": 1000,
                },
                "size_limit": {
                    "description": "bytes that the file may have at most; texts are cut shorter to keep to it",
                    "type": "integer",
                    "minimum": 2_000_000,
                    "default": 60_000_000,
                },
            },
        },
    )
