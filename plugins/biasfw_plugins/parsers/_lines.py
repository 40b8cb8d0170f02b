"""One line of an answer: its sentences, and whether it is a bare letter, an entry of a list, or begins a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from biasfw_plugins.parsers._continuing import join, unrank
from biasfw_plugins.parsers._parts import Part, all_parts
from biasfw_plugins.parsers._sentence import Sentence
from biasfw_plugins.parsers._statements import Statement, bare, leading, statements, unread
from biasfw_plugins.parsers._surroundings import Level
from biasfw_plugins.parsers._tokens import Words


@dataclass(frozen=True, slots=True)
class Line:
    """What one line says.

    ``bare``: it holds nothing but a letter. ``label``: the letter that it begins with and then says more about.
    ``leads``: the statement of such a letter, unless the line turns out to be an entry of a list; ``opens``: a colon
    stands between the two, so that a cut text might have gone on with the other options. ``question``: it
    begins a new question. ``denies``: it is one sentence that sets a single option aside and states nothing.
    ``sets_aside``: what stands on the next line is not the answer: "Alternative answer:". ``lone``: not even a word
    such as "oops" stands beside a bare letter. ``joins``: nothing but "or", or "and".
    """

    stated: tuple[Statement, ...] = ()
    bare: Statement | None = None
    leads: Statement | None = None
    opens: bool = False
    label: str | None = None
    question: bool = False
    denies: bool = False
    sets_aside: bool = False
    lone: bool = False
    joins: bool = False


EMPTY = Line()
_ASKS, _SETS_ASIDE, _JOINS = Line(question=True), Line(sets_aside=True), Line(joins=True)
_SHORT = 24  # tokens
_TELLING = Part.LETTER | Part.NONE | Part.TAKEN | Part.ALL
_OPENING = Part.FILLER | Part.CLAUSE | Part.COMMA
_SILENT = Sentence((Part.WORD,), (None,))  # for every sentence that names no option and declines none


def read_line(words: Words) -> Line:
    """Analyse the tokens of one line. Most short lines differ in words that say nothing: their tokens are equal."""
    if len(words.parts) > _SHORT:
        return _analyse(words)
    return _short_line(tuple(words.parts), tuple(words.keys))


@lru_cache(maxsize=8192)
def _short_line(parts: tuple[int, ...], keys: tuple[str | None, ...]) -> Line:
    return _analyse(Words(list(parts), list(keys)))


def _analyse(words: Words) -> Line:
    if not words.parts:
        return EMPTY
    kinds = all_parts(words.parts)
    if not kinds & _TELLING:
        return _without_options(words.parts, kinds)
    parts, keys = _unwrapped(words, kinds)
    question = bool(kinds & Part.QUESTION) and _is_question(parts)
    join(parts, kinds)
    if kinds & Part.NUMBER:
        unrank(parts, keys)
    ranges = _sentences(parts)
    if not ranges:
        return Line(question=question)
    while len(ranges) > 1 and all(part & _OPENING for part in parts[ranges[0][0] : ranges[0][1]]):  # "Sure! B."
        del ranges[0]
    sentences = [(_sentence(parts[start:end], keys[start:end], end < len(parts)), asks) for start, end, asks in ranges]
    first, asked = sentences[0]
    stated = _stated(sentences)
    alone = bare(first, asks=asked) if len(sentences) == 1 and not stated else None
    lists = _labels_several(parts, keys)
    if lists:
        stated = [each for each in stated if each.level is not Level.PREFERS]
    place = leading(first)
    if place is None:
        denies = len(sentences) == 1 and not stated and _denies(first)
        return Line(tuple(stated), alone, question=question, denies=denies, lone=_is_lone(parts, alone))
    opens = bool(first.parts[place + 1 : place + 2]) and bool(first.parts[place + 1] & Part.COLON)
    heading = opens and bool(parts[-1] & Part.COLON)
    says = not (lists or asked or heading or _is_judged(first, place))
    leads = says and place not in first.several and place not in first.rejected
    return Line(
        tuple(stated),
        alone,
        leads=Statement(Level.NAMES, first.keys[place]) if leads else None,
        opens=opens,
        label=None if alone else first.keys[place],
        question=question,
        denies=len(sentences) == 1 and not stated and _denies(first),
        lone=_is_lone(parts, alone),
    )


def _without_options(parts: Sequence[int], kinds: int) -> Line:
    """A line that states nothing, but may say what the lines beside it are."""
    if kinds & (Part.ASIDE | Part.NOT) and _sets_aside(parts):
        return _SETS_ASIDE
    if all(part & (Part.AND | Part.JOIN) for part in parts):
        return _JOINS
    return _ASKS if kinds & Part.QUESTION and _is_question(parts) else EMPTY


def _sentence(parts: Sequence[int], keys: Sequence[str | None], ended: bool) -> Sentence:
    kinds = all_parts(parts)
    return Sentence(parts, keys, ended=ended, kinds=kinds) if kinds & _TELLING else _SILENT


def _stated(sentences: Sequence[tuple[Sentence, bool]]) -> list[Statement]:
    """What the sentences of a line state; those that ask, or are not complete, state nothing."""
    stated: list[Statement] = []
    for index, (sentence, asks) in enumerate(sentences):
        if asks or sentence.parts[-1] & Part.AND:
            if asks and len({sentence.keys[each] for each in sentence.letters}) == 1:
                stated += unread(sentence, asks=True)  # "Answer: B?"
            continue
        found = statements(sentence) or unread(sentence)
        final = bare(sentence) if index and not found and _is_final(sentences, index) else None
        if final and any(each.level is Level.CHOOSES and each.key not in (None, final.key) for each in stated):
            found = [Statement(Level.CHOOSES, None, about=final.key)]  # "Answer: A. Actually B."
        elif final:
            found = [final]
        stated += found
    return stated


def _is_final(sentences: Sequence[tuple[Sentence, bool]], index: int) -> bool:
    """Whether no later sentence names an option; a letter alone may be an initial: "Mr. B. Smith"."""
    later = sentences[index + 1 :]
    return not later or (len(sentences[index][0].parts) > 1 and not any(each.letters for each, _ in later))


def _unwrapped(words: Words, kinds: int) -> tuple[list[int], list[str | None]]:
    """The tokens without brackets and quotation marks around a single letter: "(A)", "[Option B]", "A)"."""
    parts, keys = words
    if not kinds & (Part.OPEN | Part.CLOSE | Part.QUOTE):
        return parts, keys
    kept: list[int] = []  # places
    depth = place = 0
    more: dict[int, int] = {}  # place of a letter -> parts that it gains; it is beside what its bracket was beside
    while place < len(parts):
        part = parts[place]
        depth += bool(part & Part.OPEN) - bool(part & Part.CLOSE and depth > 0)
        right = place + 1
        if not part & Part.LETTER:
            kept.append(place)
            place = right
            continue
        while right < len(parts) and parts[right] & Part.FILLER_AFTER:
            right += 1
        after = range(place + 1, right)
        left = _around(parts, kept)
        while right < len(parts) and parts[right] & (Part.CLOSE | Part.QUOTE) and left is not None:
            depth -= bool(parts[kept[left]] & Part.OPEN)
            more[place] = parts[kept[left]] & Part.BESIDE
            del kept[left]
            left, right = _around(parts, kept), right + 1
        if right < len(parts) and parts[right] & Part.CLOSE and not depth:
            more[place] = parts[place] & Part.BESIDE | Part.LABEL
            right += 1
        kept += [place, *after]
        place = right
    for place, gained in more.items():
        parts[place] = parts[place] & ~Part.BESIDE | gained
    return [parts[each] for each in kept], [keys[each] for each in kept]


def _around(parts: Sequence[int], kept: Sequence[int]) -> int | None:
    """Where in ``kept`` a bracket or quotation mark stands at the end, before words such as "option"."""
    for index in range(len(kept) - 1, -1, -1):
        part = parts[kept[index]]
        if not part & (Part.OPTION | Part.FILLER) or part & Part.ANSWER:
            return index if part & (Part.OPEN | Part.QUOTE) else None
    return None


def _sentences(parts: list[int]) -> list[tuple[int, int, bool]]:
    """Where each sentence starts and ends, and whether it ends with a question mark."""
    found: list[tuple[int, int, bool]] = []
    start = 0
    for index in [index for index, part in enumerate(parts) if part & (Part.STOP | Part.ASK)]:
        part = parts[index]
        if part & Part.STOP and index == start + 1 < len(parts) - 1 and parts[start] & Part.ANSWER:
            parts[index] = Part.COLON  # "Ans. B"
            continue
        if part & Part.STOP and start < index < len(parts) - 1 and parts[index - 1] & Part.COLON:
            parts[index] = Part.COLON  # "Answer: ... B"
            continue
        if index > start:
            found.append((start, index, bool(part & Part.ASK)))
        elif found and part & Part.ASK:
            found[-1] = (*found[-1][:2], True)
        start = index + 1
    if start < len(parts):
        found.append((start, len(parts), False))
    return found


def _is_question(parts: Sequence[int]) -> bool:
    """Whether the line begins with a word such as "Question" that is set apart: "Question:", "Question 2"."""
    place = 0
    while place < len(parts) and parts[place] & (Part.OPEN | Part.NUMBER | Part.QUOTE | Part.FILLER):
        place += 1
    if place == len(parts) or not parts[place] & Part.QUESTION:
        return False
    after = parts[place + 1 : place + 2]
    return not after or bool(after[0] & (Part.COLON | Part.CLOSE | Part.NUMBER | Part.STOP | Part.DASH))


def _is_lone(parts: Sequence[int], alone: Statement | None) -> bool:
    return alone is not None and all(part & (Part.LETTER | Part.STOP) for part in parts)


def _sets_aside(parts: Sequence[int]) -> bool:
    """Whether a line without options heads one that is not the answer: "Second choice:", "Wrong answer:"."""
    heading, last = parts[:-1], parts[-1]
    return bool(last & Part.ASIDE) or bool(last & Part.COLON and all_parts(heading[-3:]) & (Part.ASIDE | Part.NOT))


def _labels_several(parts: Sequence[int], keys: Sequence[str | None]) -> bool:
    """Whether options are listed in the line: "A: 3/10, B: 8/10"; "A) rude B) fair"."""
    letters = [place for place, part in enumerate(parts[:-1]) if part & Part.LETTER]
    if len(letters) < 2:
        return False
    labelled: dict[int, set[str | None]] = {}
    for place in letters:
        if place and parts[place - 1] & Part.COLON:
            continue
        for mark in (Part.LABEL, Part.COLON, Part.DASH, Part.OPEN):
            if (parts[place] if mark == Part.LABEL else parts[place + 1]) & mark:
                labelled.setdefault(mark, set()).add(keys[place])
    return any(len(each) > 1 for each in labelled.values())


def _is_judged(sentence: Sentence, place: int) -> bool:
    """Whether something is denied of the letter at ``place`` in what follows it: "A: not suitable"."""
    for index in range(place + 1, len(sentence.parts)):
        part = sentence.parts[index]
        if part & (Part.REASON | Part.LETTER):
            return False
        if part & (Part.NOT | Part.NOT_AFTER) and index not in sentence.bound:
            return True
    return False


def _denies(sentence: Sentence) -> bool:
    """Whether the sentence sets a single option aside."""
    return bool(sentence.rejected) and len({sentence.keys[each] for each in sentence.letters}) == 1
