"""Marks between the words of an answer, and the clearing of decoration, before lines are split into tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping

from biasfw_plugins.parsers._parts import Part

MARK = "\x02"  # put before what a wrapper sets apart as the answer

MARKS: Mapping[str, int] = {
    **dict.fromkeys(":=→⇒➡➜", Part.COLON),
    **dict.fromkeys(",、،", Part.COMMA),
    **dict.fromkeys(".!。।॥۔;؛…", Part.STOP),
    **dict.fromkeys("?؟", Part.ASK),
    **dict.fromkeys("([{<「『【〔《〈«‹", Part.OPEN),
    **dict.fromkeys(")]}>」』】〕》〉»›", Part.CLOSE),
    **dict.fromkeys("\"'“”„‟", Part.QUOTE),
    **dict.fromkeys("-‐‑‒–—―−", Part.DASH),
    **dict.fromkeys("/|&+・·", Part.JOIN),
    MARK: Part.MARKED,
}
_DECORATION = "*_`~$#^\\"
# Letters in filled circles and squares, which NFKC leaves as they are.
_FILLED = {first + place: chr(ord("A") + place) for first in (0x1F150, 0x1F170) for place in range(26)}
_FILLED_LETTER = re.compile(f"[{chr(min(_FILLED))}-{chr(max(_FILLED))}]")
_ENCLOSING = re.compile("[\u0488\u0489\u1abe\u20dd-\u20e0\u20e2-\u20e4\ua670-\ua672]+")  # such as a keycap's square
_ARROW = re.compile(r"[-=]{1,3}>")
_COMPARED = re.compile(r"(?<!\w)(\w) ?(?:={2,3}|!=) ?(?=\w\b)")  # letters, not a heading: "A == B"
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")
_HYPHEN = re.compile(r"(?<=[^\W\d_]{2})[-‐‑](?=[^\W\d_]{2})")
# Boxes of a list that are ticked, and its entries that are not.
_TICKED = re.compile(r"\[[xX✓✔]\]|[☑☒✓✔✅]")
_RADIO = re.compile(r"^ ?\((?:([*•●xX✓✔])| ?)\)(?=\s)", re.MULTILINE)  # "( ) A", "(x) B"
_BOXES = re.compile("[\\[☑☒✓✔✅☐□]")
_UNTICKED = re.compile(r"^(?:[-+•]?\s)?\s?(?:\[ ?\]|[☐□])[^\n]*$", re.MULTILINE)
_SPACES = re.compile(r"[^\S\n]{2,}|[^\S\n ]")


def prepare(text: str) -> str:
    """Normalised text without decoration, with single spaces, ready to be split into lines."""
    if "(" in text:
        text = _RADIO.sub(lambda box: "[x]" if box[1] else "[ ]", text)
    for mark in _DECORATION:
        if mark in text:
            text = text.replace(mark, " ")
    if not text.isascii():
        text = _ENCLOSING.sub("", text)
        if _FILLED_LETTER.search(text):
            text = text.translate(_FILLED)
    if _BOXES.search(text):
        text = _UNTICKED.sub("", _TICKED.sub("", text))
    if ">" in text:
        text = _ARROW.sub(":", text)
    if "=" in text:
        text = _COMPARED.sub(r"\1 & ", text)
    if "'" in text:
        text = _APOSTROPHE.sub("", text)
    if "-" in text or "‐" in text or "‑" in text:
        text = _HYPHEN.sub(" ", text)
    return _SPACES.sub(" ", text)
