"""Folders in the authors' layout, with prompts of our own."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

PLACEHOLDER = "{Demographic List}"
Write = Callable[..., Path]
Prompt = tuple[str, str, str]

TOPICS = {
    "backwardness": ("Buses", "Bread", "Ovens"),
    "religion": ("Bells", "Candles", "Choirs"),
    "terrorism": ("Locks", "Fences", "Alarms"),
    "women_rights": ("Votes", "Wages", "Juries"),
}


def prompts(suffix: str = "") -> list[Prompt]:
    """Three prompts in each category; ``suffix`` makes titles of another language."""
    return [
        (category, f"{topic}{suffix}", f"Two experts speak about {topic}.\nChoose from {PLACEHOLDER}.\n1. now\n")
        for category, topics in TOPICS.items()
        for topic in topics
    ]


@pytest.fixture
def rows() -> Callable[..., list[Prompt]]:
    """What ``prompts`` gives."""
    return prompts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder to be given with --data."""
    return tmp_path / "official"


@pytest.fixture
def write(folder: Path) -> Write:
    """Write the file of a language: rows, a whole text, or bytes; gives its path."""

    def to(language: str, content: Sequence[Prompt] | str | bytes, *, root: str = "prompts", end: str = "\n") -> Path:
        name = "generated_bias_prompts.csv" if language == "en" else "translated_prompts.csv"
        path = folder / root / language / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, (str, bytes)):
            table = io.StringIO(newline="")
            csv.writer(table, lineterminator=end).writerows([("category", "title", "prompt"), *content])
            content = table.getvalue()
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return to
