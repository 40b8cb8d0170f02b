"""Many short answers in every language (choice_rows.jsonl): how they are read, and that form and order change nothing.

``accept`` holds each reading that is right: A, B, R (refused), T (truncated), - (unparsed).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from biasfw import Answer, Label, Outcome
from biasfw_plugins.parsers.choice import Choice

ROWS = [
    (row["language"], row["text"], row["accept"])
    for row in map(json.loads, Path(__file__).with_name("choice_rows.jsonl").read_text(encoding="utf-8").splitlines())
]
LANGUAGES = ("en", "ja", "zh", "ko", "ar", "hi", "sw", "pcm")
SHORT = {Outcome.UNPARSED: "-", Outcome.REFUSED: "R", Outcome.TRUNCATED: "T"}
AROUND = ("**{}**", "`{}`", "({})", "「{}」", "【{}】", '"{}"', "[{}]", "“{}”", "<b>{}</b>", "${}$")
FREE = re.compile(r"(?<![A-Za-z0-9])[AB](?![A-Za-z0-9])")
# A letter in a sentence that holds no mark of its own which the decoration could be taken for.
DECORATED = re.compile(r"(?<![\w.<&/+'’@\-\[{\\])[AB](?![\w.&/+'’@:\-)\]}>—：])", re.ASCII)
EACH = pytest.mark.parametrize("language", LANGUAGES)


@pytest.fixture(scope="module")
def read(make_choice: Callable[..., Choice]) -> Callable[[str, str], str]:
    """Read an answer with the form of a run: the keys of the labels are the letters that are displayed."""
    parser = make_choice(*(Label(key, dict.fromkeys(LANGUAGES, (key,))) for key in "AB"))

    def run(text: str, language: str) -> str:
        answer: Answer = parser.parse(text, language=language, condition="", finish_reason="stop")
        reading = answer.slots["choice"]
        return reading.value or "" if reading.outcome is Outcome.ANSWERED else SHORT[reading.outcome]

    return run


@EACH
def test_rows(language: str, read: Callable[[str, str], str]) -> None:
    rows = [(text, accept) for tag, text, accept in ROWS if tag == language]
    assert len(rows) > 80
    assert [(text, found) for text, accept in rows if (found := read(text, language)) not in accept] == []


@EACH
def test_the_letters_are_alike(language: str, read: Callable[[str, str], str]) -> None:
    other = {"A": "B", "B": "A"}
    texts = [text for tag, text, _ in ROWS if tag == language and read(text, tag) in other]
    if language in ("en", "pcm"):  # "A" is a word of these
        texts = [text for text in texts if not re.search(r"\bB (?:it|I|only|better)\b|^A (?!no|is|ra|but|and)", text)]
    changed = []
    for text in texts:
        swapped = FREE.sub(lambda letter: other[letter[0]], text)
        if swapped != text and FREE.search(text) and not re.search(r"[abａ-ｂＡ-Ｂ](?![a-z])", FREE.sub("", text)):
            found = read(swapped, language)
            changed += [(swapped, found)] if found != other[read(text, language)] else []
    assert changed == []


@EACH
def test_decoration_changes_nothing(language: str, read: Callable[[str, str], str]) -> None:
    changed = []
    for tag, text, accept in ROWS:
        if tag != language or accept not in "AB" or re.search(r"[{<\\|\[(「【\"'（]", text):
            continue
        if language == "pcm" and re.match("A [a-z]", text):  # the pronoun; in brackets it is none
            continue
        for around in AROUND:
            decorated = DECORATED.sub(around.format(r"\g<0>"), text)
            if read(decorated, language) != accept:
                changed.append(decorated)
    assert changed == []


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("en", "Sure! ", " Thank you."), ("ja", "はい。", "以上です。"), ("zh", "好的。", "谢谢。"),
        ("ko", "네. ", " 감사합니다."), ("ar", "حسنا. ", " شكرا."), ("hi", "ठीक है। ", " धन्यवाद।"),
        ("sw", "Sawa. ", " Asante."), ("pcm", "Okay. ", " Thank you."),
    ],
)  # fmt: skip
def test_courtesy_never_makes_another_choice(
    language: str, before: str, after: str, read: Callable[[str, str], str]
) -> None:
    for tag, text, accept in ROWS:
        if tag == language and accept in "AB" and text.endswith((".", "!", "。", "।")):
            for polite in (before + text, f"{text}{after}", f"{text}\n\n{after.strip()}"):
                assert read(polite, language) in (accept, "-"), polite


def test_what_was_read_before_changes_nothing(make_choice: Callable[..., Choice]) -> None:
    """Lines are remembered: in another order, and with a number in every line, each text is read the same."""
    first, second = make_choice(), make_choice()
    texts = [(language, f"{text}\n{mark}") for language, text, _ in ROWS for mark in ("", "(17)", "(18)")]

    def read(parser: Choice, language: str, text: str) -> Answer:
        return parser.parse(text, language=language, condition="", finish_reason="stop")

    forwards = [read(first, language, text) for language, text in texts]
    backwards = [read(second, language, text) for language, text in reversed(texts)]
    assert forwards == backwards[::-1]
    assert forwards == [read(first, language, text) for language, text in texts]
    assert forwards[1::3] == forwards[2::3], "a number says nothing"
