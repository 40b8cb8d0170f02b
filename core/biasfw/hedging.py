"""Whether a text holds one of the non-committal phrases of a language pack."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import regex

# Scripts that put no spaces between words: a phrase may begin and end anywhere.
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")


def folded(text: str) -> str:
    """``text`` as it is compared: NFKC, case-folded; the dotted and the dotless i of Turkish are one letter."""
    return unicodedata.normalize("NFKC", text).casefold().replace("i\u0307", "i").replace("ı", "i")


def hedges(text: str, phrases: Iterable[str]) -> bool:
    """Whether ``text`` holds one of ``phrases`` as whole words (anywhere in scripts without spaces)."""
    where = folded(text)
    return any(_holds(where, folded(phrase)) for phrase in phrases)


def _holds(text: str, phrase: str) -> bool:
    at = text.find(phrase) if phrase else -1
    while at >= 0:
        end = at + len(phrase)
        if not _joined(text[at - 1 : at], phrase[0]) and not _joined(phrase[-1], text[end : end + 1]):
            return True
        at = text.find(phrase, at + 1)
    return False


def _joined(left: str, right: str) -> bool:
    """Whether two neighbours belong to one word."""
    if not left or not right or _UNSPACED.match(left) or _UNSPACED.match(right):
        return False
    return _is_word(left) and _is_word(right)


def _is_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"
