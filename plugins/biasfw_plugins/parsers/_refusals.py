"""Refusal phrases of language packs, found as words: punctuation between them makes no difference."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import islice

from biasfw_plugins.parsers._text import fold, joins, words

# A refusal stands where an answer begins or ends. In the middle of a long debate the same words are a character's.
_HEAD, _TAIL = 600, 400  # characters


class Refusals:
    """Finds the phrases given; they are literal, compared after folding."""

    def __init__(self, phrases: Iterable[str]) -> None:
        by_word: dict[str, set[str]] = {}
        for phrase in map(fold, phrases):
            plain = words(phrase)
            if plain:
                rare = max((word for word in words(phrase.replace("'", "' ")).split(" ")), key=len)
                by_word.setdefault(rare, set()).add(plain if joins(plain[0]) else f" {plain}")
        # Looking for one word of each phrase first spares most texts the rest; short texts hold only short phrases.
        shortest = {word: min(map(len, phrases)) for word, phrases in by_word.items()}
        self._words = sorted(shortest, key=lambda word: (shortest[word], word))
        self._lengths = [shortest[word] for word in self._words]
        self._phrases = {word: tuple(sorted(phrases)) for word, phrases in by_word.items()}

    def found(self, folded: str) -> bool:
        """Whether one of the phrases stands at the beginning or the end of folded text."""
        if len(folded) > _HEAD + _TAIL:
            folded = f"{folded[:_HEAD]}\n{folded[-_TAIL:]}"
        candidates = islice(self._words, bisect_right(self._lengths, len(folded) + 1))
        near = [word for word in candidates if word in folded]
        if not near:
            return False
        text = f" {words(folded)}"
        return any(phrase in text for word in near for phrase in self._phrases[word])
