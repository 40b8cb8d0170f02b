"""What a sentence states: the option that is chosen or preferred, or that nothing but a letter stands there."""

from __future__ import annotations

from typing import NamedTuple

from biasfw_plugins.parsers._parts import Part
from biasfw_plugins.parsers._sentence import Sentence
from biasfw_plugins.parsers._surroundings import Level, introduction, names_other, said_after, set_against

_BEFORE = (
    Part.LETTER | Part.FILLER | Part.OPTION | Part.ANSWER | Part.LINK | Part.CLAUSE | Part.QUOTE | Part.OPEN
    | Part.CLOSE | Part.COMMA | Part.COLON | Part.DASH | Part.MARKED
)  # fmt: skip
_AFTER = Part.LETTER | Part.FILLER_AFTER | Part.OPTION | Part.QUOTE | Part.OPEN | Part.CLOSE | Part.COMMA | Part.DASH
_LEADING = Part.FILLER | Part.OPTION | Part.QUOTE | Part.OPEN | Part.CLAUSE | Part.NUMBER | Part.DASH | Part.COMMA
_BREAKING = Part.COLON | Part.COMMA | Part.DASH | Part.REASON | Part.OPEN | Part.CLAUSE | Part.FILLER_AFTER
_HEADING = Part.ANSWER | Part.LINK | Part.COLON | Part.OPTION | Part.OPEN | Part.QUOTE | Part.FILLER
_NAMING = Part.LETTER | Part.TAKEN | Part.ALL | Part.NONE | Part.NOT
DECLINED = ""  # the key of a statement that declines all options


class Statement(NamedTuple):
    """``key``: the option; ``DECLINED``; None if several options, or none that is offered, are stated.

    ``open``: its last word ends the sentence, and a negation might have followed. ``loose``: its last word is a letter
    that might have been an article, or the subject of a sentence. Both matter only where a text was cut. ``about``:
    the option that is named where it cannot be read whether it is meant.
    """

    level: Level
    key: str | None
    open: bool = False
    loose: bool = False
    about: str | None = None


def statements(sentence: Sentence) -> list[Statement]:
    """What ``sentence`` states, in order."""
    if not sentence.letters:
        return _declining(sentence)
    aside = sentence.rejected | sentence.silent
    stated = [_of_letter(sentence, letter) for letter in sentence.letters if letter not in aside]
    found = [statement for statement in stated if statement is not None]
    found += _final_clause(sentence)
    chosen = {statement.key for statement in found if statement.level is Level.CHOOSES} - {None}
    if len(chosen) > 1 and not any(part & Part.CLAUSE for part in sentence.parts):
        return [Statement(Level.CHOOSES, None)]
    return found


def _final_clause(sentence: Sentence) -> list[Statement]:
    """What the last clause states if it holds nothing but a letter: "I liked A, but it is B"; "A or B: B"."""
    parts, letter = sentence.parts, sentence.letters[-1]
    aside = sentence.rejected | sentence.silent | sentence.several
    if letter in aside:
        return []
    begins = Part.CLAUSE | (Part.COLON if aside.issuperset(sentence.letters[:-1]) and aside else 0)
    clauses = [place for place in range(1, letter) if parts[place] & begins]
    if not clauses:
        return []
    final = bare(Sentence(parts[clauses[-1] :], sentence.keys[clauses[-1] :], ended=sentence.ended))
    return [final._replace(level=Level.CHOOSES)] if final and final.key else []


def _of_letter(sentence: Sentence, letter: int) -> Statement | None:
    key = sentence.keys[letter]
    before = introduction(sentence, letter)
    if letter in sentence.several or before.several:
        return Statement(Level.CHOOSES, None) if before.level is Level.CHOOSES else None
    last = letter + 1 == len(sentence.parts) and not sentence.ended
    loose = last and bool(sentence.parts[letter] & Part.LOWER)
    if before.level is not Level.CHOOSES:
        if key is None or names_other(sentence, letter):
            return None
        level, ends = said_after(sentence, letter)
        if level is not Level.CHOOSES and set_against(sentence, letter):
            return Statement(Level.CHOOSES, key, last, loose)
        if level is Level.PREFERS and before.headed:
            return Statement(Level.CHOOSES, key, ends)
        if level is not None or before.level is None:
            return Statement(level, key, ends) if level is not None else None
    return Statement(before.level, key, last and not before.colon, loose)


def unread(sentence: Sentence, *, asks: bool = False) -> list[Statement]:
    """That an answer after a header cannot be read, so that it takes back an earlier one: "Answer: B is biased"."""
    parts = sentence.parts
    if not (sentence.kinds & Part.ANSWER and sentence.kinds & Part.COLON):
        return []
    begins = next((place for place, part in enumerate(parts) if part & Part.ANSWER or not part & _LEADING), 0)
    ends = next((place for place in range(begins, len(parts)) if not parts[place] & _HEADING), len(parts))
    heading = parts[begins:ends]
    if not any(part & Part.ANSWER for part in heading) or not any(part & Part.COLON for part in heading):
        return []  # the answer phrase stands elsewhere
    if ends == len(parts) or not parts[ends] & _NAMING or (bare(sentence) and not asks):
        return []
    return [Statement(Level.CHOOSES, None, about=sentence.keys[ends])]


def _declining(sentence: Sentence) -> list[Statement]:
    """That all options are declined: a word such as "none" stands alone, or fills a header."""
    parts = sentence.parts
    place = next((index for index, part in enumerate(parts) if part & Part.NONE), None)
    if place is None or any(not part & (_AFTER | Part.REASON | Part.CLAUSE) for part in parts[place + 1 : place + 2]):
        return []
    passed = Part.COLON | Part.DASH | Part.QUOTE | Part.LINK | Part.FILLER | Part.OPEN | Part.MARKED
    before = place - 1
    while before >= 0 and parts[before] & passed and not parts[before] & Part.MARKED:
        before -= 1
    between = parts[before + 1 : place]
    if before < 0:
        return [] if any(part & (Part.COLON | Part.DASH) for part in between) else [Statement(Level.NAMES, DECLINED)]
    fills = any(part & (Part.COLON | Part.DASH | Part.LINK) for part in between) and parts[before] & Part.ANSWER
    return [Statement(Level.CHOOSES, DECLINED)] if fills or parts[before] & Part.MARKED else []


def bare(sentence: Sentence, *, asks: bool = False) -> Statement | None:
    """The statement of a sentence that says nothing but a letter (once or more); a question says less."""
    keys = {sentence.keys[letter] for letter in sentence.letters}
    if len(keys) != 1 or sentence.rejected or sentence.silent:
        return None
    parts = sentence.parts
    first, last = sentence.letters[0], sentence.letters[-1]
    before, after = parts[:first], parts[first:]
    if first > 1 and before[0] & (Part.NOT | Part.NOT_AFTER) and before[1] & Part.COMMA:  # "No, it is B"
        before = before[2:]
    if before and before[-1] & Part.COMMA and before[0] & Part.AMONG:  # "of the two, B"
        before = [part for part in before if not part & (Part.AMONG | Part.ALL)]
    if not all(part & _BEFORE for part in before) or not all(part & _AFTER for part in after[last - first :]):
        return None
    if not all(part & (_BEFORE | _AFTER) for part in after):
        return None
    if asks and any(part & (Part.LINK | Part.ANSWER) for part in parts):
        return None
    introduced = first == last == 0 or parts[last - 1] & (Part.COLON | Part.DASH | Part.OPEN | Part.QUOTE | Part.MARKED)
    loose = last + 1 == len(parts) and not sentence.ended and not introduced
    return Statement(Level.NAMES, keys.pop(), loose=loose)


def leading(sentence: Sentence) -> int | None:
    """The place of a letter that begins the sentence and is set apart from what follows: "B, because", "B: ..."."""
    parts = sentence.parts
    if not sentence.letters:
        return None
    place = sentence.letters[0]
    if not all(part & _LEADING and not part & (Part.NOT | Part.NOT_AFTER) for part in parts[:place]):
        return None
    after = parts[place + 1] if place + 1 < len(parts) else 0
    if after & Part.COMMA and _goes_on(sentence, place):
        return None
    if after & (Part.COLON | Part.DASH) and parts[-1] & Part.LETTER and _goes_on(sentence, place):  # "A - sorry, B"
        return None
    apart = not after or after & _BREAKING or parts[place] & Part.LABEL or sentence.stands_beside(place + 1)
    return place if apart else None


def _goes_on(sentence: Sentence, letter: int) -> bool:
    """Whether another option is named after a comma as well: "B, then A"."""
    for other in sentence.letters:
        if sentence.keys[other] == sentence.keys[letter] or other in sentence.silent:
            continue
        if other in sentence.apart or (other in sentence.rejected and other != letter + 2):
            continue
        if not any(part & Part.CLAUSE for part in sentence.parts[letter + 1 : other]):
            return True
    return False
