"""Reads the name of a label out of the text after a header. A name is read only if nothing else was named."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from biasfw import Form, LanguagePack
from biasfw_plugins.parsers._text import fold, is_letter, joins, spellings, words

_SENTENCE_ENDS = ".!?…。।۔؟"
_MARKS = r"()[]{}<>|/\,;:=+&\"“”„«»‹›、،؛।॥۔؟·•→⇒「」『』【】〔〕《》〈〉" + _SENTENCE_ENDS
_EDGE = _MARKS + "'*_~`# \t"
_NUMBERING = re.compile(r"\A\d{1,2}[.)]\s")
_DASHES = "-‐‑‒–—―−"
_LONGEST = 200  # characters of a text that may be a name with what stands around it
_BOUNDARIES = 12
_AFFIXES = 3
_NEAR = 20  # characters between a conjunction and the other name it joins


@dataclass(frozen=True, slots=True)
class Value:
    """What stands after a header: a label, an abstention (with the form's label for it, if it has one), or neither.

    ``named``: a label is named, but not alone ("A and B", "not A"), so nothing can be read.
    """

    label: str | None = None
    abstains: bool = False
    named: bool = False

    @property
    def filled(self) -> bool:
        """Whether the slot got an answer."""
        return self.label is not None or self.abstains


UNREAD = Value()
NAMED = Value(named=True)


class Names:
    """The labels of a form as they may be written in answers to prompts in ``language``."""

    def __init__(self, form: Form, language: str, packs: Sequence[LanguagePack]) -> None:
        self._values = index_names(form, language)
        abstention = next((label.key for label in form.labels if label.abstains), None)
        for word in (words(fold(word)) for pack in packs for word in pack.abstain_words):
            self._values.setdefault(word, Value(abstention, abstains=True))
        self._listed = sorted((name for name, value in self._values.items() if not value.abstains), key=len)
        self._conjunctions = _longest_first(words(fold(each)) for pack in packs for each in pack.conjunctions)
        self._before, self._after = _affixes(packs)
        self._boundary = _boundary(packs)
        self._read: Callable[[str], Value] = lru_cache(maxsize=4096)(self._read_once)

    def read(self, text: str, *, header_follows: bool = False) -> Value:
        """Read folded text (one line, from after the header). The longest piece that is a name counts."""
        found = self._read(text)
        return self._read(self._joining(text)) if header_follows and not found.filled else found

    def _joining(self, text: str) -> str:
        """``text`` without the conjunction it ends with."""
        spaced = f" {words(text)}"
        for conjunction in self._conjunctions:
            ending = conjunction if joins(conjunction[0]) else f" {conjunction}"
            if spaced.endswith(ending) and conjunction in text:
                return text[: text.rindex(conjunction)]
        return text

    def _read_once(self, text: str) -> Value:
        text = _NUMBERING.sub("", text.lstrip(_EDGE), count=1).lstrip(_EDGE)
        whole = words(text)
        if not whole:
            return UNREAD
        found = self._look_up(whole)
        if found is not None:
            return found
        for boundary in reversed(list(islice(self._boundary.finditer(text), _BOUNDARIES))):
            found = self._look_up(words(text[: boundary.start()]))
            if found is not None:
                return NAMED if self._another(found, text, boundary) else found
        return NAMED if any(name in whole for name in self._listed) else UNREAD

    def others(self, text: str, value: Value) -> bool:
        """Whether folded text holds the name of a label besides that of ``value``."""
        held = f" {words(text)} "
        return any(
            (name in held if joins(name[0]) else f" {name} " in held)
            for name in self._listed
            if self._values[name].label not in (None, value.label)
        )

    def is_name(self, text: str) -> bool:
        """Whether folded text is a name and nothing else, but for a conjunction at its end."""
        return self._look_up(words(text)) is not None or self._look_up(words(self._joining(text))) is not None

    def could_go_on(self, text: str) -> bool:
        """Whether the name that folded text ends in may be the beginning of another label's name."""
        whole = words(text)
        value = self._values.get(whole)
        return any(name.startswith(whole) and self._values[name] != value for name in self._listed)

    def _look_up(self, name: str, affixes: int = _AFFIXES) -> Value | None:
        """The value of ``name``, also with up to ``affixes`` words around it that change nothing."""
        found = self._values.get(name)
        if found is not None or not affixes or len(name) > _LONGEST:
            return found
        shorter: list[str] = []
        if name.endswith(self._after):
            shorter += [name[: -len(each)] for each in self._after if name.endswith(each)]
        if name.startswith(self._before):
            shorter += [name[len(each) :] for each in self._before if name.startswith(each)]
        for part in shorter:
            found = self._look_up(part.strip(), affixes - 1)
            if found is not None:
                return found
        return None

    def _another(self, found: Value, text: str, boundary: re.Match[str]) -> bool:
        """Whether what follows the ``boundary`` after a name goes on to name a different label."""
        others = [name for name in self._listed if self._values[name] != found]
        reason = boundary.lastgroup == "reason"
        start = boundary.start() if reason else boundary.end()
        rest = words(text[start : start + _LONGEST])
        for conjunction in self._conjunctions:
            if rest.startswith(conjunction):
                after = rest[len(conjunction) :]
                if any(name in after[: len(name) + _NEAR] for name in others):
                    return True
        if reason:
            return False
        if boundary[0] in _SENTENCE_ENDS:
            other = self._look_up(rest)
            return other is not None and other.label is not None and other != found
        begins = [name for name in self._listed if rest.startswith(name)]
        return bool(begins) and begins[-1] in others


def index_names(form: Form, language: str) -> dict[str, Value]:
    """Folded name -> label. A name that is given to two labels in languages of equal preference names neither."""
    preferred = (language, language.partition("-")[0], "en")
    tiers: dict[int, dict[str, set[str]]] = {}
    for label in form.labels:
        for tag, names in label.names.items():
            tier = preferred.index(tag) if tag in preferred else len(preferred)
            for spelling in filter(None, (spelling for name in names for spelling in spellings(name))):
                tiers.setdefault(tier, {}).setdefault(spelling, set()).add(label.key)
    abstaining = {label.key for label in form.labels if label.abstains}
    index: dict[str, Value] = {}
    for _, entries in sorted(tiers.items()):
        for name, keys in entries.items():
            label_key = min(keys)
            value = Value(label_key, abstains=label_key in abstaining) if len(keys) == 1 else NAMED
            index.setdefault(name, value)
    return index


def _affixes(packs: Sequence[LanguagePack]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What may stand before and after a name: words with a space, attached ones ("-x", "x-") without."""
    before: set[str] = set()
    after: set[str] = set()
    for pack in packs:
        for filler in pack.name_fillers:
            text = words(fold(filler))
            if filler.startswith("-"):
                after.add(text)
            elif filler.endswith("-"):
                before.add(text)
            else:
                before.add(f"{text} ")
                after.add(f" {text}")
        for phrase in (words(fold(phrase)) for phrase in pack.answer_phrases):
            before.add(phrase if joins(phrase[0]) else f"{phrase} ")
    return _longest_first(before), _longest_first(after)


def _boundary(packs: Sequence[LanguagePack]) -> re.Pattern[str]:
    """Where a name may end: a mark, a dash with a space, a numbering, or a word that begins a reason."""
    marks = {mark for pack in packs for mark in map(fold, (*pack.colon_marks, *pack.list_marks)) if len(mark) == 1}
    marks = {mark for mark in marks if not is_letter(mark)} | set(_MARKS)
    reasons = _longest_first(fold(word) for pack in packs for word in pack.reason_words)
    spaced = [re.escape(word) if joins(word[0]) else rf"(?<=\s){re.escape(word)}(?=\s)" for word in reasons]
    dash = rf"[–—―]|(?<=\s)[{_DASHES}]|[{_DASHES}](?=\s)"
    pattern = rf"[{re.escape(''.join(sorted(marks)))}]|{dash}|\s\d{{1,2}}[.)]"
    return re.compile(pattern + (rf"|(?P<reason>{'|'.join(spaced)})" if spaced else ""))


def _longest_first(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({text for text in texts if text}, key=lambda text: (-len(text), text)))
