"""What stands around a letter in its sentence: what introduces it, what is said of it, what it is set against."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from biasfw_plugins.parsers._parts import Part, all_parts
from biasfw_plugins.parsers._sentence import Sentence

_ENDING = (
    Part.COMMA | Part.COLON | Part.DASH | Part.OPEN | Part.CLOSE | Part.QUOTE | Part.REASON | Part.CLAUSE
    | Part.FILLER_AFTER | Part.IF | Part.JOIN
)  # fmt: skip
_BORDERS = (
    Part.COMMA | Part.COLON | Part.DASH | Part.OPEN | Part.CLOSE | Part.CLAUSE | Part.NOT_AFTER | Part.AMONG_AFTER
)  # fmt: skip
_PASSED_BEFORE = Part.FILLER | Part.OPTION | Part.LINK | Part.QUOTE
_PASSED_AFTER = Part.FILLER | Part.FILLER_AFTER | Part.OPTION | Part.LINK | Part.CLOSE | Part.QUOTE


class Level(IntEnum):
    """How much a statement weighs."""

    PREFERS = 1  # "B is better"
    NAMES = 2  # nothing but the letter, or the letter and then a reason: "B", "B, because"
    CHOOSES = 3  # "the answer is B"


class Introduction(NamedTuple):
    """What introduces a letter; ``colon``: a mark stands between the two. ``several``: it speaks of several options.

    ``headed``: a phrase and a mark introduce it, but what follows makes another statement of it: "Answer: B is better".
    """

    level: Level | None = None
    colon: bool = False
    several: bool = False
    headed: bool = False


def introduction(sentence: Sentence, letter: int) -> Introduction:
    """What stands before a letter: a phrase that introduces the answer, or a word of preference ("better reply: B")."""
    parts = sentence.parts
    colon = link = option = better = several = False
    level: Level | None = None
    place = letter - 1
    while place >= 0 and level is None:
        part = parts[place]
        if part & Part.MARKED:
            level, colon = Level.CHOOSES, True
        elif part & Part.ANSWER and (colon or link or not part & Part.OPTION):
            if _is_qualified(parts, place):
                break
            level = Level.CHOOSES
        elif part & Part.CHOSEN and (colon or link) and not part & Part.OPTION:
            level = Level.CHOOSES
        elif part & Part.BETTER and (better or colon or link or option):
            better = True
        elif part & (_PASSED_BEFORE | Part.ALL) or (place == letter - 1 and _pauses(parts, place)):
            link, option = link or bool(part & Part.LINK), option or bool(part & Part.OPTION)
            several = several or bool(part & Part.ALL and not part & _PASSED_BEFORE)
        elif part & Part.CLOSE:
            place, colon = _opening(parts, place), True
        elif part & (Part.COLON | Part.DASH | Part.JOIN) or _opens_answer(parts, place):
            colon = True
        elif not (part & Part.NUMBER and colon):
            break
        place -= 1
    if level is None and better:
        level = Level.PREFERS
    if level is None or not (letter in sentence.several or stands_alone(sentence, letter, colon=colon)):
        return Introduction(headed=level is Level.CHOOSES and colon)
    return Introduction(level, colon, several)


def _is_qualified(parts: Sequence[int], place: int) -> bool:
    """Whether an unknown word makes another noun of a word such as "answer": "a typical answer is"."""
    before = parts[place - 1] if place else 0
    return bool(parts[place] & Part.OPTION and before & Part.WORD and not before & Part.EAST)


def _opens_answer(parts: Sequence[int], place: int) -> bool:
    before = parts[place - 1] if place else 0
    return bool(parts[place] & Part.OPEN and before & (Part.ANSWER | Part.MARKED | Part.COLON))


def _pauses(parts: Sequence[int], place: int) -> bool:
    """Whether a comma stands within an introduction: "the better one is, B"."""
    before = parts[place - 1] if place else 0
    return bool(parts[place] & Part.COMMA and before & (Part.LINK | Part.ANSWER))


def _opening(parts: Sequence[int], closing: int) -> int:
    """The place of the bracket that is closed; the closing one itself where the answer phrase stands in brackets."""
    for place in range(closing - 1, -1, -1):
        if parts[place] & Part.OPEN:
            inside = parts[place + 1 : closing]
            return closing if inside and all(part & (Part.ANSWER | Part.FILLER) for part in inside) else place
    return closing


def stands_alone(sentence: Sentence, letter: int, *, colon: bool) -> bool:
    """Whether what follows a letter leaves it as the answer; after a colon, a word may make another statement of it."""
    parts = sentence.parts
    place = after_brackets(parts, letter)
    if place == len(parts) or parts[letter] & Part.LABEL:
        return True
    part = parts[place]
    if part & Part.LETTER:
        alone = place in sentence.rejected
    elif part & (Part.NOT | Part.NOT_AFTER):
        alone = sentence.stands_beside(place)
    elif part & Part.AND:
        alone = place + 1 < len(parts) and bool(parts[place + 1] & Part.NOT)
    elif colon and part & Part.FILLER_AFTER and parts[letter] & Part.WORDLIKE and _word_at(parts, place + 1):
        alone = False  # "Answer: A thank you note"
    elif part & Part.OPEN and all_parts(parts[place + 1 : place + 2]) & (Part.NOT | Part.NOT_AFTER):
        alone = not all_parts(parts[place + 2 : place + 3]) & Part.CLOSE  # "Answer: A (wrong)"
    elif part & (_ENDING | Part.BETTER | Part.CHOSEN):
        alone = True
    elif part & (Part.LINK | Part.ALL | Part.AMONG):
        alone = False
    elif parts[letter] & (Part.LOWER | Part.NATIVE):
        alone = bool(part & Part.OPTION)
    elif part & Part.NOUN and part & Part.WEST and not part & Part.CAPITALS and not parts[letter] & Part.NAME:
        alone = True  # a new sentence without a mark before it: "Answer: B It is fair"
    elif part & Part.EAST:
        alone = bool(part & Part.OPTION) or not part & Part.BESIDE
    else:
        alone = not colon
    return alone


def _word_at(parts: Sequence[int], place: int) -> bool:
    return place < len(parts) and bool(parts[place] & Part.WORD and parts[place] & Part.WEST)


def after_brackets(parts: Sequence[int], letter: int) -> int:
    """The place after a letter and what closes after it."""
    place = letter + 1
    while place < len(parts) and parts[place] & (Part.CLOSE | Part.QUOTE):
        place += 1
    return place


def names_other(sentence: Sentence, letter: int) -> bool:
    """Whether the word before a letter makes it the name of something else: "Team A is better"."""
    before = sentence.parts[letter - 1] if letter else 0
    return bool(before & Part.NOUN and (not before & Part.EAST or sentence.parts[letter] & Part.BESIDE))


def said_after(sentence: Sentence, letter: int) -> tuple[Level | None, bool]:
    """What is said of a letter after it, that it is chosen or preferred; whether the sentence ends with that."""
    parts = sentence.parts
    found: tuple[Level | None, bool] = None, False
    link = False
    for place in range(letter + 1, len(parts)):
        part, last = parts[place], place + 1 == len(parts)
        if part & Part.CHOSEN or (part & Part.ANSWER and (link or last)):
            if _defines(parts, place):
                break
            if not _letter_follows(sentence, place):
                return Level.CHOOSES, last and not sentence.ended
        if part & Part.BETTER:
            found = found if found[0] else (Level.PREFERS, last and not sentence.ended)
        elif not (_is_aside(sentence, place) or part & _PASSED_AFTER):
            break
        link = link or bool(part & Part.LINK)
    return found


def _defines(parts: Sequence[int], place: int) -> bool:
    """Whether a verb is part of a noun that follows without a space: "the people who choose A" in Japanese."""
    after = parts[place + 1] if place + 1 < len(parts) else 0
    return bool(after & Part.WORD and after & Part.EAST and after & Part.BESIDE)


def _is_aside(sentence: Sentence, place: int) -> bool:
    """Whether a letter that is set aside stands there, or what sets it aside: "B is, rather than A, ..."."""
    parts = sentence.parts
    if parts[place] & Part.COMMA:
        return place + 1 in sentence.rejected
    if parts[place] & Part.NOT_AFTER and place - 1 in sentence.rejected:
        return True
    return place in sentence.rejected or sentence.stands_beside(place)


def _letter_follows(sentence: Sentence, place: int) -> bool:
    """Whether a phrase that may stand before an option or after one stands before one."""
    for following in range(place + 1, len(sentence.parts)):
        if sentence.parts[following] & Part.LETTER:
            return following not in sentence.rejected
        if not sentence.parts[following] & (_PASSED_BEFORE | Part.OPEN):
            return False
    return False


def set_against(sentence: Sentence, letter: int) -> bool:
    """Whether a letter stands alone against others that are set aside: "not A but B", "B, not A"."""
    parts, key = sentence.parts, sentence.keys[letter]
    aside = sentence.rejected | sentence.silent
    if not {sentence.keys[each] for each in aside} - {key}:
        return False
    if {sentence.keys[each] for each in sentence.letters if each not in aside} != {key}:
        return False
    place = letter - 1
    while place >= 0 and parts[place] & (_PASSED_BEFORE | Part.BETTER) and not parts[place] & Part.NOT_AFTER:
        place -= 1
    if not (place < 0 or parts[place] & _BORDERS or place in aside):
        return False
    place = after_brackets(parts, letter)
    if place + 1 < len(parts) and parts[place] & Part.COMMA and parts[place + 1] & Part.LETTER:
        return place + 1 in sentence.apart  # "B, A is wrong" may mean "B and A are wrong"
    if place == len(parts) or parts[place] & (_ENDING & ~(Part.COLON | Part.JOIN)):
        return True
    negation = place + 1 if parts[place] & Part.AND else place  # "B and not A"
    return place in sentence.rejected or sentence.stands_beside(negation)
