"""Offers the reader of the files that the authors of DebateBias-8K work with."""

from __future__ import annotations

from collections.abc import Iterable

from biasfw import ReaderSpec, hookimpl

biasfw_api = 1

_OPTIONS = {
    "type": "object",
    "properties": {
        "encoding": {
            "type": "string",
            "minLength": 1,
            "description": "the encoding of the files, if it is not UTF-8; given with --encoding",
        },
    },
    "additionalProperties": False,
}


@hookimpl
def biasfw_readers() -> Iterable[ReaderSpec]:
    """Offer the reader of prompts/en/generated_bias_prompts.csv and prompts/LANG/translated_prompts.csv."""
    yield ReaderSpec(
        "debatebias_csv",
        load="biasfw_plugins.debatebias.reader:DebateBiasCsv",
        summary="prompts/en/generated_bias_prompts.csv and prompts/LANG/translated_prompts.csv of DebateBias-8K",
        options=_OPTIONS,
    )
