"""The prompts of the judge ``llm``: the benchmark's own, else those of prompts.json, in English where there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from biasfw import ComponentContext


def prompt_texts(context: ComponentContext, language: str) -> Mapping[str, str]:
    """``system`` (maybe) and ``user`` for responses in ``language``."""
    base = language.partition("-")[0]
    for tag in (language, base, "en"):
        if tag in context.texts:
            return context.texts[tag]
    shipped = _shipped()
    task = context.form.task
    return next(shipped[tag][task] for tag in (language, base, "en") if tag in shipped)


@cache
def _shipped() -> dict[str, dict[str, dict[str, str]]]:
    text = files(__package__ or "biasfw_plugins.judges").joinpath("prompts.json").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, dict[str, str]]] = json.loads(text)
    return loaded
