"""Which letters of a line are options, and which are words where they stand: "a reply", a particle."""

from __future__ import annotations

from collections.abc import Sequence

from biasfw_plugins.parsers._parts import Part

_BEFORE_NATIVE = (
    Part.ANSWER | Part.OPTION | Part.COLON | Part.OPEN | Part.CLOSE | Part.QUOTE | Part.STOP | Part.ASK | Part.DASH
    | Part.MARKED | Part.AND | Part.COMMA | Part.JOIN | Part.NUMBER | Part.NOT | Part.NOT_AFTER
    | Part.FILLER | Part.LINK
)  # fmt: skip
_AFTER_NATIVE = (
    Part.COLON | Part.COMMA | Part.STOP | Part.ASK | Part.OPEN | Part.CLOSE | Part.QUOTE | Part.DASH | Part.JOIN
    | Part.FILLER_AFTER | Part.REASON | Part.AND | Part.NOT | Part.NOT_AFTER | Part.CLAUSE
)  # fmt: skip
_BEFORE_CAPITAL = (
    Part.STOP | Part.ASK | Part.COLON | Part.OPEN | Part.CLOSE | Part.QUOTE | Part.DASH | Part.MARKED | Part.JOIN
    | Part.NUMBER
)  # fmt: skip
_AFTER_ARTICLE = Part.WORD | Part.OPTION | Part.BETTER | Part.FILLER | Part.ANSWER | Part.NUMBER


def settle(parts: list[int], index: int) -> None:
    """Make a word of a letter that is one where it stands: "a reply", "A reply"."""
    part = parts[index]
    before = parts[index - 1] if index else 0
    after = parts[index + 1] if index + 1 < len(parts) else 0
    if part & Part.NATIVE:
        if _encloses_letter(parts, index - 1):
            before = Part.WORD  # what follows a letter in brackets is a particle
        parts[index] = _native(part, before, after)
        return
    beyond = parts[index + 2] if index + 2 < len(parts) else Part.STOP
    word_follows = bool(after & Part.WEST and after & _AFTER_ARTICLE and not after & Part.LINK)
    if after & Part.BETTER and _compares(parts, index + 2):
        word_follows = False
    if (after & Part.FILLER_AFTER and beyond & Part.STOP) or (after & Part.ANSWER and beyond & Part.COLON):
        word_follows = False  # "A, it is."; "A Answer: A"
    if after & Part.NUMBER and beyond & (Part.STOP | Part.CLOSE) and index + 3 < len(parts):
        word_follows = not parts[index + 3] & (Part.LETTER | Part.OPTION)  # "1. A 2. B"
    if part & Part.LOWER:
        article = word_follows and not (before & Part.OPTION and not after & (Part.WORD | Part.NUMBER))
    else:
        article = (word_follows and not (before and not before & _BEFORE_CAPITAL)) or bool(after & Part.CAPITALS)
    if article:
        # In lower case an article changes nothing: "B is a better reply".
        small = part & Part.LOWER and part & Part.WORDLIKE
        kept = Part.TAKEN | part & (Part.BESIDE | Part.WEST)
        parts[index] = (Part.FILLER if small else Part.WORD) | kept


def _encloses_letter(parts: Sequence[int], place: int) -> bool:
    """Whether brackets or quotation marks that close at ``place`` stand around a letter: "[[A]]"."""
    closes = place
    while closes >= 0 and parts[closes] & (Part.CLOSE | Part.QUOTE):
        closes -= 1
    return 0 <= closes < place and bool(parts[closes] & Part.LETTER)


def _compares(parts: Sequence[int], place: int) -> bool:
    """Whether "than B" follows at ``place``: then the letter before "better" is no article."""
    following = [part for part in parts[place : place + 5] if not part & Part.STOP][:2]
    if place < len(parts) and parts[place] & Part.STOP and not all(part & Part.STOP for part in parts[place:][:2]):
        return False  # only an ellipsis may stand there
    return any(part & Part.LETTER for part in following) and bool(following[0] & (Part.NOT | Part.LETTER))


def _native(parts: int, before: int, after: int) -> int:
    """What a letter of the language's own script is: where no answer names a letter, a particle or a word."""
    follows = _AFTER_NATIVE | (Part.LINK if parts & Part.EAST and not parts & Part.WORDLIKE else 0)
    if not (before and not before & _BEFORE_NATIVE) and not (after and not after & follows):
        return parts & (Part.LETTER | Part.NATIVE | Part.EAST | Part.BESIDE)
    parts &= ~(Part.LETTER | Part.NATIVE | Part.WORDLIKE)
    return parts if parts & ~(Part.EAST | Part.BESIDE) else parts | Part.WORD
