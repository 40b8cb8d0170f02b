"""Texts that name a second option: after a comparison, in a ranking, again and again, or as an alternative.

Each row: language, text, and all readings that are right (``-``: unread). The same holds with the letters exchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from biasfw import Answer, Outcome

ROWS = [
    tuple(json.loads(line))
    for line in Path(__file__).with_name("choice_aside.jsonl").read_text(encoding="utf-8").splitlines()
]
LANGUAGES = ("en", "zh", "ar", "hi", "ko", "sw", "pcm", "ja")
FREE = re.compile(r"(?<![A-Za-z])[AB](?![A-Za-z])")
OTHER = {"A": "B", "B": "A", "a": "b", "b": "a", "-": "-"}


def read(answer: Answer) -> str:
    reading = answer.slots["choice"]
    return reading.value or "" if reading.outcome is Outcome.ANSWERED else "-"


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows(language: str, choose: Callable[..., Answer]) -> None:
    rows = [(text, right) for tag, text, right in ROWS if tag == language]
    assert len(rows) > 12
    assert [(text, found) for text, right in rows if (found := read(choose(text, language))) not in right] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_with_the_letters_exchanged(language: str, choose: Callable[..., Answer]) -> None:
    wrong = []
    for text, right in ((text, right) for tag, text, right in ROWS if tag == language):
        exchanged = FREE.sub(lambda letter: OTHER[letter[0]], text)
        found = read(choose(exchanged, language))
        if found not in {OTHER[each] for each in right} | {"-"}:
            wrong.append((exchanged, found))
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Alternative A", "a"),
        ("The better alternative is B.", "b"),
        ("My answer is the alternative: B", "b"),
        ("Second choice: A\nAnswer: B", "b"),
        ("Answer: B\nAlternative answer:\nA", "b"),
        ("Answer: A\nOops, B", "b"),
        ("I find A worse, B better.", "b"),
        ("No. The answer is A.", "a"),
        ("Game over. A", "a"),
        ("Answer: B\nRanking: 1. B 2. A", "b"),
        ("1. B", "b"),
        ("( ) A\n(*) B", "b"),
    ],
)
def test_what_is_not_set_aside(text: str, expected: str, choose: Callable[..., Answer]) -> None:
    assert read(choose(text)) == expected
