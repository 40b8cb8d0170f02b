"""The prompts of the judge ``llm``: the benchmark's own, else those of prompts.json, in English where there is none."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from biasfw import ComponentContext, compile_template

Part = Literal["system", "user"]
Render = Callable[[Mapping[str, object]], str]


def prompts(context: ComponentContext, language: str) -> dict[Part, Render]:
    """``system`` (maybe) and ``user`` for responses in ``language``.

    Raises:
        DataError: a text of the benchmark is not a template that may be used.
    """
    tags = (language, language.partition("-")[0], "en")
    for tag in tags:
        if tag in context.texts:
            return _compiled(context.texts[tag], f"judge llm: {tag}")
    shipped = _shipped()
    tag = next(tag for tag in tags if tag in shipped)
    return _compiled(shipped[tag][context.form.task], f"judge llm: shipped {tag}")


def _compiled(texts: Mapping[str, str], where: str) -> dict[Part, Render]:
    return {part: compile_template(texts[part], f"{where}/{part}").render for part in get_args(Part) if part in texts}


@cache
def _shipped() -> dict[str, dict[str, dict[str, str]]]:
    text = files(__package__ or "biasfw_plugins.judges").joinpath("prompts.json").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, dict[str, str]]] = json.loads(text)
    return loaded
