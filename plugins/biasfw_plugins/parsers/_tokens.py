"""A line of an answer as tokens: phrases of the lexicon, option letters that stand free, marks, and other words."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import NamedTuple

import regex

from biasfw_plugins.parsers._lexicon import ASCII_SPANS, EAST, SPANS, WEST, Lexicon
from biasfw_plugins.parsers._marks import MARKS
from biasfw_plugins.parsers._parts import Part, Token
from biasfw_plugins.parsers._settling import settle
from biasfw_plugins.parsers._text import fold

_HIRAGANA, _HANGUL = "ぁゟ", "가힣"
_GLUED = ("+", "@", "%", "°")  # directly after a letter they make something else of it: a grade, an address
_STEM = Part.NOT_AFTER | Part.BETTER | Part.CHOSEN
_UNSETTLED = Part.LOWER | Part.WORDLIKE | Part.NATIVE

_SHORT, _SHORTEST = 60, 25  # characters of a line, and of a sentence in a longer one, that is looked at in any case
_SENTENCE_ENDS = regex.compile(rf"[.!?।۔؟…](?:\s|(?=[{EAST}]))|[。]")
_ANY_WORD = "ⵣⵣ"  # of a script that no pack uses


_NUMBER, _WORD, _NOUN = Token(Part.NUMBER), Token(Part.WORD), Token(Part.WORD | Part.NOUN)
_CAPITALS = Token(Part.WORD | Part.NOUN | Part.CAPITALS)
_EAST_WORD, _EAST_NOUN = Token(Part.WORD | Part.EAST), Token(Part.WORD | Part.EAST | Part.NOUN)


class Words(NamedTuple):
    """The tokens of a line, as two lists of the same length; ``keys`` as in ``Token``."""

    parts: list[int]
    keys: list[str | None]

    def add(self, token: Token, more: int = 0) -> None:
        """Append a token that plays ``more`` parts as well."""
        self.parts.append(token.parts | more)
        self.keys.append(token.key)


class Tokens:
    """Splits lines into tokens."""

    def __init__(self, lexicon: Lexicon, colon_marks: tuple[str, ...]) -> None:
        self._lexicon = lexicon
        self._marks = {**MARKS, **dict.fromkeys(lexicon.joining_marks, Part.JOIN)}
        self._unknown = lru_cache(maxsize=16_384)(self._unknown_once)
        self._candidate, self._heading = _candidate(lexicon), _heading(lexicon)
        # The visarga of Hindi is a vowel sign that is typed for a colon: it counts as one at the end of a word.
        signs = "".join(fold(mark) for mark in colon_marks if len(mark) == 1 and mark not in MARKS)
        self._colon = regex.compile(rf"[{regex.escape(signs)}](?![\p{{L}}\p{{M}}])") if signs else None

    def of(self, line: str) -> Words:
        """The tokens of one prepared line; none of a long one that says nothing of an option."""
        words = Words([], [])
        if len(line) > _SHORT and not self._lexicon.names:
            line = self._told(line)
        if self._colon is not None and not line.isascii():
            line = self._colon.sub(":", line)
        self._read(line, words)
        for index in [index for index, parts in enumerate(words.parts) if parts & _UNSETTLED]:
            settle(words.parts, index)
        return words

    def _told(self, line: str) -> str:
        """A long line in which one word stands for each long sentence that says nothing of an option."""
        places = [found.start() for found in self._candidate.finditer(line)]
        if not places:
            return line[:_SHORT].rpartition(" ")[0] if self._heading.match(line) else ""
        kept: list[str] = []
        start = told = 0
        for mark, end in (*(found.span() for found in _SENTENCE_ENDS.finditer(line)), (len(line), len(line))):
            before, told = told, bisect_left(places, end, told)
            looked_at = told > before or not start or end - start <= _SHORTEST
            kept.append(line[start:end] if looked_at else f"{_ANY_WORD}{line[mark:end]}")
            start = end
        return "".join(kept)

    def _read(self, line: str, words: Words) -> None:
        low = _lower(line)
        found = (ASCII_SPANS if low.isascii() else SPANS).finditer(low)
        spans = [(span.lastgroup, *span.span()) for span in found]
        ends = {end for group, _, end in spans if group != "p"}
        known, single, unknown = self._lexicon.first_words, self._lexicon.single_words, self._unknown
        add_parts, add_key = words.parts.append, words.keys.append
        stop = last = 0
        for group, begin, end in spans:
            if begin < stop >= end:
                continue
            start = begin if begin > stop else stop  # as max(), and faster
            beside = Part.BESIDE if start == last and start else 0
            stop = end
            if group == "p":
                parts = self._marks.get(line[start], 0)
                if parts and not (parts == Part.STOP and line[start] == "." and line[end : end + 1].isdigit()):
                    add_parts(parts | beside)
                    add_key(None)
            elif group == "e":
                stop = self._east(low, (start, end), beside, words)
            else:
                word = low[start:end]
                if word in single:
                    token = single[word]
                elif end - start > 1 and word not in known and word[0] not in self._lexicon.attached:
                    token = unknown(line[start:end])
                else:
                    token, stop = self._word(line, low, (start, end), ends)
                add_parts(token[0] | beside | (Part.WEST if group == "w" else 0))
                add_key(token[1])
            last = stop

    def _word(self, line: str, low: str, span: tuple[int, int], ends: set[int]) -> tuple[Token, int]:
        start, end = span
        word = low[start:end]
        native = self._lexicon.natives.get(word)
        found = self._lexicon.phrase(low, start, word, ends)
        if found is None and word[0] in self._lexicon.attached:  # "and" is written as one word with the next
            rest = self._lexicon.phrase(low, start + 1, word[1:], ends)
            found = rest if rest is not None and rest[0].key is None else None
        if native is not None and (found is None or found[1] == end):
            found = Token(Part.LETTER | Part.NATIVE | (found[0].parts if found else 0), native), end
        if found is not None:
            return found
        if (
            len(word) == 1
            and line[end : end + 1] not in _GLUED
            and (word in self._lexicon.letters or not word.isdigit())
        ):
            return self._letter(line[start], word), end
        return self._unknown(line[start:end]), end

    def _unknown_once(self, word: str) -> Token:
        """A word that begins no phrase; "option-b" ends in a letter."""
        if word.isdigit():
            return _NUMBER
        if word[-2:-1] == "-" and self._lexicon.parts.get(_lower(word[:-2]), 0) & Part.OPTION:
            return self._letter(word[-1], _lower(word[-1]))
        if not word[0].isupper():
            return _WORD
        return _CAPITALS if len(word) > 1 and word.isupper() else _NOUN

    def _letter(self, written: str, letter: str) -> Token:
        """A single letter: of an option, of none (also a look-alike of another script), or a word."""
        wordlike = Part.WORDLIKE if letter in self._lexicon.wordlike else 0
        if letter in self._lexicon.letters:
            small = written.isalpha() and not written.isupper()
            return Token(Part.LETTER | wordlike | (Part.LOWER if small else 0), self._lexicon.letters[letter])
        if not written.isupper():
            return _WORD
        return _NOUN if wordlike else Token(Part.LETTER)

    def _east(self, low: str, span: tuple[int, int], beside: int, words: Words) -> int:
        """Add the tokens of text that is written without spaces; what stands between phrases is one word.

        Returns where the last of them ends: a phrase may have several words.
        """
        place, end = span
        known, natives = self._lexicon.first_words, self._lexicon.natives
        unknown, stem = -1, False
        while place < end:
            character = low[place]
            found = self._lexicon.phrase(low, place, character, None) if character in known else None
            native = natives.get(character) if unknown < 0 else None
            if found is None and native is None:
                # Korean words are set apart by spaces: what begins with something unknown is unknown to its end.
                hangul = _HANGUL[0] <= character <= _HANGUL[1]
                # An ending belongs to the stem before it.
                stem = stem and (hangul or _HIRAGANA[0] <= character <= _HIRAGANA[1])
                if not stem and unknown < 0:
                    unknown = place
                place = end if hangul else place + 1
                continue
            if unknown >= 0:
                words.add(_word_between(low[place - 1]), beside if unknown == span[0] else Part.BESIDE)
            token, stop = found or (Token(0), place + 1)
            if native is not None and stop == place + 1:
                wordlike = 0 if character in self._lexicon.plain_natives else Part.WORDLIKE
                token = Token(token.parts | Part.LETTER | Part.NATIVE | wordlike, native)
            words.add(token, Part.EAST | (beside if place == span[0] else Part.BESIDE))
            place, unknown, stem = stop, -1, bool(token.parts & _STEM)
        if unknown >= 0:
            words.add(_word_between(low[end - 1]), beside if unknown == span[0] else Part.BESIDE)
        return max(place, end)


def _word_between(last: str) -> Token:
    """An unknown word; in Japanese and Chinese a noun makes a compound with the letter that is written to it."""
    return _EAST_WORD if _HIRAGANA[0] <= last <= _HIRAGANA[1] else _EAST_NOUN


def _lower(line: str) -> str:
    """``line`` after case folding, of the same length."""
    folded = line.casefold()
    if len(folded) == len(line):
        return folded
    return "".join(each if len(each.casefold()) != 1 else each.casefold() for each in line)


def _candidate(lexicon: Lexicon) -> regex.Pattern[str]:
    """What a long text has to hold to be looked at: a letter that stands free. All begins with one set, for speed."""
    word = rf"[{WEST}\p{{M}}]"
    free = rf"(?<!{word}.)(?!{word})"
    signs, patterns = r"\p{Lu}", [rf"(?<=\p{{Lu}}){free}"]
    if lexicon.letters:
        letters = "".join(map(regex.escape, lexicon.letters))
        options = "|".join(regex.escape(text) for text, parts in lexicon.parts.items() if parts & Part.OPTION)
        article = rf"\s?\p{{Latin}}(?<!(?i:{options})[^\p{{L}}\p{{N}}]{{0,3}}..{{1,2}})" if options else r"\s?\p{Latin}"
        signs += letters
        patterns.append(rf"(?<=[{letters}]){free}(?!{article})")
    if lexicon.natives:
        natives = "".join(map(regex.escape, lexicon.natives))
        signs += natives
        patterns.append(rf"(?<=[{natives}])(?:(?=[{EAST}])|(?![\p{{L}}\p{{M}}]))")
    return regex.compile(f"[{signs}](?:{'|'.join(patterns)})")


def _heading(lexicon: Lexicon) -> regex.Pattern[str]:
    """A line that begins with a word such as "Question", or with an answer phrase and a mark: "Answer: neither"."""

    def any_of(part: int) -> str:
        return "|".join(regex.escape(text) for text, parts in lexicon.parts.items() if parts & part) or "(?!)"

    return regex.compile(rf"[^\p{{L}}\p{{N}}]{{0,4}}(?i:{any_of(Part.QUESTION)}|(?:{any_of(Part.ANSWER)})\s?[:=])")
