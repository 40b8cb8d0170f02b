"""Finds the headers that name the slots of an answer: at the start of a line, after a mark, or as keys of JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from biasfw import Form, LanguagePack, Slot
from biasfw_plugins.parsers._text import fold, is_letter, joins, spellings, words

_MOST = 2000  # headers looked at in one text; more is no answer
_WINDOW = 80  # characters looked at before a header
_LEAD_INS = 3
_CLOSERS = re.escape("""*_~`"'”’»›」』】]〕》〉)}>#\\""")
_SET_APART = frozenset("*_]】」』〕》〉")
_OPENERS = "*_~`#>\"'“”‘’„«»‹›「」『』【】〔〕《》〈〉[](){}<-‐‑–—−•·+\\ \t"
_ATTACHING = "-‐‑/"  # directly before a header they make one word of it: "non-MODERN GROUP", "X/MODERN GROUP"
_NUMBERING = re.compile(
    rf"(?:^\W{{0,6}}\d{{1,2}}[.)\]:\u20e3]{{0,2}}|(?<=[\s(])\d{{1,2}}[.)\]:]{{1,2}})[{re.escape(_OPENERS)}]*$"
)
_SPACE = r"[^\S\n]"


@dataclass(frozen=True, slots=True)
class Header:
    """One way to write the header of ``slot``. ``exact``: as asked for; otherwise it is the slot's bare key."""

    slot: str
    exact: bool
    english: bool  # English, and not the header of the language itself


class Hit(NamedTuple):
    """A header found: it begins at ``start``, its value at ``end``.

    ``free``: it begins its line or stands after a mark or a lead-in; if not, it counts only after a header's name.
    """

    start: int
    end: int
    header: Header
    free: bool


class Headers:
    """The headers of a form under one condition, in the language of the prompt, in English and in all others."""

    def __init__(self, form: Form, condition: str, language: str, packs: Sequence[LanguagePack]) -> None:
        self._headers = _spellings(form, condition, language)
        colons = re.escape("".join(sorted({fold(mark) for pack in packs for mark in pack.colon_marks} | set(":=|"))))
        tail = (
            rf"(?P<close>(?:{_SPACE}|[{_CLOSERS}]){{0,12}}+)"
            rf"(?:\([^()\n]{{0,60}}\)(?:{_SPACE}|[{_CLOSERS}]){{0,12}}+)?+"
            rf"(?P<mark>[-=]>|[→⇒]|[{colons}]++|(?<=\s)[-‐‑‒–—―−]+|[-‐‑‒–—―−]+(?=\s))?+"
        )
        by_first_word: dict[str, list[str]] = {}
        for spelling in sorted(self._headers, key=len, reverse=True):
            by_first_word.setdefault(spelling.split(" ")[0], []).append(spelling)
        self._patterns = {
            first: re.compile("(" + "|".join(map(_spaced, spellings)) + ")" + tail)
            for first, spellings in by_first_word.items()
        }
        lead_ins = sorted({words(fold(each)) for pack in packs for each in _lead_ins(pack)}, key=len, reverse=True)
        self._lead_ins = tuple(each if joins(each[0]) else f" {each}" for each in lead_ins if each)

    def find(self, text: str, *, last: bool = False) -> list[Hit]:
        """The headers in folded text, in order; of too many the first (or last) ones."""
        hits: list[Hit] = []
        for first, pattern in self._patterns.items():
            found = (hit for start in _positions(text, first, last=last) if (hit := self._hit(text, start, pattern)))
            hits += islice(found, _MOST)
        hits.sort(key=lambda hit: (hit.start, -hit.end))
        kept: list[Hit] = []
        for hit in hits[-_MOST:] if last else hits[:_MOST]:
            if not kept or hit.start >= kept[-1].end:
                kept.append(hit)
        return kept

    def _hit(self, text: str, start: int, pattern: re.Pattern[str]) -> Hit | None:
        match = pattern.match(text, start)
        if match is None:
            return None
        end = match.end()
        alone = end == len(text) or text[end] == "\n"
        if not match["mark"] and not alone and _SET_APART.isdisjoint(match["close"]):
            return None
        header = self._headers.get(words(match[1]))
        begins, free = self._place(text, start)
        return Hit(start, end, header, free) if header and (begins or match["mark"]) else None

    def _place(self, text: str, start: int) -> tuple[bool, bool]:
        """Whether a header at ``start`` begins its line, and whether it does so or stands after a mark.

        Decoration, a number and words such as "and the" may come before it.
        """
        window = text[max(0, start - _WINDOW) : start]
        _, line_end, line = window.rpartition("\n")
        whole = bool(line_end) or start <= _WINDOW
        numbered = _NUMBERING.search(line) is not None
        before = _NUMBERING.sub("", line).rstrip(_OPENERS)
        if before and line[-1] in _ATTACHING and is_letter(before.rstrip(_ATTACHING)[-1:] or " "):
            return False, False
        for _ in range(_LEAD_INS):
            if not before:
                return whole, whole
            if numbered or not is_letter(before[-1]):
                return False, True
            spaced = f" {before}"
            word = next((each for each in self._lead_ins if spaced.endswith(each)), None)
            if word is None:
                return False, False
            before = spaced[: -len(word)].strip(" ").rstrip(_OPENERS)
        begins = whole and not before
        return begins, begins


def _positions(text: str, word: str, *, last: bool) -> Iterator[int]:
    """Where ``word`` stands in ``text``, from the beginning or from the end."""
    start = text.rfind(word) if last else text.find(word)
    while start >= 0:
        yield start
        start = text.rfind(word, 0, start) if last else text.find(word, start + len(word))


def _spellings(form: Form, condition: str, language: str) -> dict[str, Header]:
    """Words of a header -> header. The language's own come first, then English, then the others, then slot keys."""
    base = language.partition("-")[0]
    preferred = (language, base, "en")
    ranked: list[tuple[int, str, Header]] = []
    for slot in form.slots:
        key = words(fold(slot.key))
        bare = not any(tag == "en" for tag, _ in _names(slot, condition))
        for tag, names in _names(slot, condition):
            rank = preferred.index(tag) if tag in preferred else len(preferred)
            for spelling in (spelling for name in names for spelling in spellings(name)):
                ranked.append((rank, spelling, Header(slot.key, exact=True, english=tag == "en" != base)))
                # "MODERN: ..." may stand for "MODERN GROUP: ...", not for the "EXPERT 1 GROUP: ..." of a condition.
                bare = bare or (tag == "en" and f" {key} " in f" {spelling} ")
        if bare:
            ranked.append((len(preferred) + 1, key, Header(slot.key, exact=False, english=False)))
    found: dict[str, Header] = {}
    for _, spelling, header in sorted(ranked, key=lambda entry: entry[0]):
        if spelling:
            found.setdefault(spelling, header)
    return found


def _names(slot: Slot, condition: str) -> list[tuple[str, tuple[str, ...]]]:
    """The (language, headers) of a slot; of all its conditions if it has none for this one."""
    chosen = slot.headers.get(condition)
    tables = [chosen] if chosen else list(slot.headers.values())
    return [pair for table in tables for pair in table.items()]


def _spaced(spelling: str) -> str:
    """A pattern for the words of ``spelling`` with anything but words and line ends between them."""
    return r"(?:[^\w\n]|_){1,6}".join(re.escape(word) for word in spelling.split(" "))


def _lead_ins(pack: LanguagePack) -> tuple[str, ...]:
    fillers = tuple(filler for filler in pack.name_fillers if "-" not in (filler[:1], filler[-1:]))
    return fillers + pack.conjunctions + pack.answer_phrases
