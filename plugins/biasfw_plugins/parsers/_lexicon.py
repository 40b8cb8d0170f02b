"""What a language pack and a form know about the words of an answer: phrase -> the parts it can play in a statement."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

import regex

from biasfw import Form, LanguagePack
from biasfw_plugins.parsers._names import index_names
from biasfw_plugins.parsers._parts import Part, Token
from biasfw_plugins.parsers._text import fold, joins, words

WEST = r"\p{Latin}\p{Cyrillic}\p{Greek}\p{N}"
EAST = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}ー"
# a: an abbreviation with points; w: a word of a script with upper and lower case, or a number; e: East Asian, without
# spaces; o: a word of any other script; p: a mark. A Latin letter beside another script is a word of its own.
SPANS = regex.compile(
    r"(?P<a>\p{Latin}(?:\.\p{Latin})+(?![\p{L}\p{M}\p{N}])\.?)"
    rf"|(?P<w>[{WEST}][{WEST}\p{{M}}]*+(?:[-‐‑][{WEST}]++)*+)"
    rf"|(?P<e>[{EAST}][{EAST}\p{{M}}]*+)"
    rf"|(?P<o>\p{{L}}(?:(?![{WEST}{EAST}])[\p{{L}}\p{{M}}])*+)"
    r"|(?P<p>[^\s\p{L}\p{M}\p{N}])"
)
# The same for texts in ASCII, which take half the time.
ASCII_SPANS = re.compile(
    r"(?P<a>[A-Za-z](?:\.[A-Za-z])+(?![A-Za-z0-9])\.?)|(?P<w>[A-Za-z0-9]++(?:-[A-Za-z0-9]++)*+)"
    r"|(?P<p>[^ \t\n\r\f\vA-Za-z0-9])"
)
_PHRASES = {  # field of a pack -> the part its phrases play; with a hyphen before it, the phrase stands after an option
    "answer_phrases": (Part.ANSWER, Part.ANSWER),
    "abstain_words": (Part.NONE, Part.NONE),
    "negations": (Part.NOT, Part.NOT_AFTER),
    "conjunctions": (Part.AND, Part.AND),
    "reason_words": (Part.REASON, Part.REASON),
}
_CHOICE_WORDS = {  # the same for the entries of choice_words
    "option": (Part.OPTION, Part.OPTION),
    "chosen": (Part.CHOSEN, Part.CHOSEN),
    "better": (Part.BETTER, Part.BETTER),
    "link": (Part.LINK, Part.LINK),
    "filler": (Part.FILLER, Part.FILLER_AFTER),
    "clause": (Part.CLAUSE, Part.CLAUSE),
    "all": (Part.ALL, Part.ALL),
    "among": (Part.AMONG, Part.AMONG_AFTER),
    "condition": (Part.IF, Part.IF),
    "question": (Part.QUESTION, Part.QUESTION),
    "than": (Part.THAN | Part.NOT, Part.THAN | Part.NOT_AFTER),
    "aside": (Part.ASIDE, Part.ASIDE),
}


class Lexicon:
    """The letters, names and phrases that answers to one form are read with, in one language and in English."""

    def __init__(self, form: Form, language: str, packs: Sequence[LanguagePack]) -> None:
        names = {name: value.label for name, value in index_names(form, language).items()}
        keys = {fold(label.key): label.key for label in form.labels if len(fold(label.key)) == 1}
        self.letters: Mapping[str, str | None] = {name: key for name, key in names.items() if len(name) == 1} or keys
        self.wordlike = {fold(word) for pack in packs for word in pack.choice_words.get("words", ())}
        displayed = {letter: key for letter, key in self.letters.items() if joins(letter)}
        self.natives = {**_natives(packs, self.letters), **displayed}
        # Those that are displayed stand for options wherever they are not joined to other words.
        self.plain_natives = displayed.keys() - self.wordlike
        self.options = tuple(label.key for label in form.labels)
        self.names = tuple(name for name in names if len(name) > 1)
        parts: dict[str, int] = {}
        for text, part in _entries(packs):
            parts[text] = parts.get(text, 0) | part
        for text, part in parts.items():
            if part & Part.ANSWER and part & (Part.FILLER | Part.LINK | Part.ASIDE):  # "it is" introduces anything
                parts[text] = part & ~Part.ANSWER
        self.parts: Mapping[str, int] = parts
        # A conjunction of one letter is written with the next word in Arabic, whose letters have no capitals.
        self.attached = frozenset(
            text
            for text, part in parts.items()
            if part & Part.AND and len(text) == 1 and text.upper() == text and not joins(text)
        )
        # Marks that join as "and" does, such as the Chinese enumeration comma.
        joining = {fold(text) for pack in packs for text in pack.conjunctions if not words(fold(text))}
        self.joining_marks = frozenset(mark for mark in joining if len(mark) == 1)
        self.negates_after = any(part & Part.NOT_AFTER for part in parts.values())
        self._tokens = {text: Token(part) for text, part in parts.items()}
        self._names = {
            name: (
                Token(Part.LETTER | Part.NAME, names[name]),
                re.compile(r"(?:[^\w\n]|_){1,6}".join(map(re.escape, name.split(" ")))),
            )
            for name in self.names
        }
        self._names_by_first = _by_first(self.names)
        self._texts_by_first = _by_first(parts)
        self._patterns = {
            first: re.compile("|".join(map(re.escape, texts))) for first, texts in self._texts_by_first.items()
        }
        # Words that may be more than a word; those of them that begin no longer phrase.
        self.first_words = frozenset((*self._patterns, *self._names_by_first, *self.natives))
        self.single_words = {
            first: self._tokens[first]
            for first, texts in self._texts_by_first.items()
            if texts == (first,) and first not in self._names_by_first and first not in self.natives
        }

    def phrase(self, text: str, start: int, first: str, ends: Container[int] | None) -> tuple[Token, int] | None:
        """The longest phrase in folded ``text`` that begins at ``start`` with the word (or East Asian sign) ``first``.

        It has to end at one of the places ``ends``, where words end, unless it ends in an East Asian script.
        """
        for name in self._names_by_first.get(first, ()):
            token, spelling = self._names[name]
            named = spelling.match(text, start)
            if named and (ends is None or named.end() in ends or joins(text[named.end() - 1])):
                return token, named.end()
        pattern = self._patterns.get(first)
        found = pattern.match(text, start) if pattern else None
        if not found:
            return None
        end = found.end()
        if ends is None or end in ends or joins(text[end - 1]):
            return self._tokens[found[0]], end
        for phrase in self._texts_by_first[first]:
            end = start + len(phrase)
            if end in ends and text.startswith(phrase, start):
                return self._tokens[phrase], end
        return None


def _by_first(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Texts by the word (in East Asian scripts: the sign) that they begin with, longest first."""
    found: dict[str, list[str]] = {}
    for text in sorted(texts, key=lambda each: (-len(each), each)):
        first = SPANS.match(text)
        if first is not None:
            found.setdefault(first[0][0] if first["e"] else first[0], []).append(text)
    return {first: tuple(each) for first, each in found.items()}


def _entries(packs: Sequence[LanguagePack]) -> Iterator[tuple[str, int]]:
    for pack in packs:
        lists = [(getattr(pack, field), parts) for field, parts in _PHRASES.items()]
        lists += [(pack.choice_words.get(kind, ()), parts) for kind, parts in _CHOICE_WORDS.items()]
        for texts, (before, after) in lists:
            for text in texts:
                folded = words(fold(text))
                for spelling in {folded, fold(text)} if "/" in text else {folded}:  # "N/A"
                    if spelling:
                        yield spelling, after if text.startswith("-") else before


def _natives(packs: Sequence[LanguagePack], letters: Mapping[str, str | None]) -> dict[str, str | None]:
    """The letters of the languages' own scripts -> the option they stand for."""
    natives: dict[str, str | None] = {}
    for pack in packs:
        for letter, spellings in pack.option_letters.items():
            for spelling in filter(None, (words(fold(spelling)) for spelling in spellings)):
                if letter in letters and spelling not in letters:
                    natives.setdefault(spelling, letters[letter])
    return natives
