"""Whether an answer is in the language that was asked for, as far as its script tells: a flag, never an outcome.

Method: at least half of the letters of an answer (Unicode category L: marks, digits and signs do not count) belong to
the script of the language's pack. What counts is the answer without reasoning and without lines that begin with a
header of the form, since models keep headers whatever they write in; if fewer than 10 letters are left, those lines
count too. Of a long text 600 characters at most count, evenly spread. Han with kana is Japanese, without it Chinese.

A script tells Arabic from English, but not Arabic from Persian, Hindi from Marathi or Swahili from English. So it
decides only for languages whose pack says ``answer_language_method: script``.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import cache

from biasfw.form import Form
from biasfw.languages import LanguagePack

ASKED = "asked"
OTHER = "other:"  # and the main script, as a code of ISO 15924
FLAG = "language:"  # begins the flag on a judgement

_LEAST_SHARE = 0.5
_LEAST_LETTERS = 10
_SAMPLE = 600  # characters
_KANA = 0.1  # of Han and kana: Japanese prose has about half, Chinese a stray one

# Codes that stand for several scripts, or for variants of one; any other stands for itself.
_ACCEPTED = {
    "Hans": ("Hani", "Bopo"),
    "Hant": ("Hani", "Bopo"),
    "Hani": ("Hani", "Bopo"),
    "Kore": ("Hang", "Hani"),
}
# The scripts that are told apart by name: those recommended for identifiers (UAX 31, table 5).
_NAMED = (
    "Latn", "Arab", "Deva", "Hani", "Hang", "Hira", "Kana", "Cyrl", "Grek", "Hebr", "Thai", "Beng", "Taml", "Telu",
    "Armn", "Bopo", "Ethi", "Geor", "Gujr", "Guru", "Khmr", "Knda", "Laoo", "Mlym", "Mymr", "Orya", "Sinh", "Thaa",
    "Tibt",
)  # fmt: skip
_UNNAMED = "Zzzz"


class AnswerLanguages:
    """Tells for the answers to one form whether they are in the language that was asked for."""

    def __init__(self, form: Form, packs: Mapping[str, LanguagePack]) -> None:
        self._packs = packs
        self._headers = {condition: _header_lines(form, condition) for condition in form.conditions}

    def flags(self, text: str, language: str, condition: str) -> tuple[str, ...]:
        """``language:asked``, ``language:other:Latn``; nothing where the script does not tell or nothing is written."""
        pack = self._packs.get(language) or self._packs.get(language.partition("-")[0])
        if pack is None or pack.answer_language_method != "script":
            return ()
        answer = _without_reasoning(text, pack.thinking_tags)
        headers = self._headers.get(condition)
        body = headers.sub("", answer) if headers else answer
        found = written_in(body, pack.script) or written_in(answer, pack.script)
        return (FLAG + found,) if found else ()


def written_in(text: str, script: str) -> str | None:
    """``asked`` if ``text`` is written in ``script`` (ISO 15924), else ``other:`` and its main script.

    None if the text has fewer than 10 letters.
    """
    letters = _letters(text)
    total = letters.total()
    if total < _LEAST_LETTERS:
        return None
    accepted = _ACCEPTED.get(script, (script,))
    if sum(letters[name] for name in accepted) >= _LEAST_SHARE * total:
        return ASKED
    return OTHER + max((name for name in letters if name not in accepted), key=lambda name: (letters[name], name))


def is_told(script: str) -> bool:
    """Whether letters can be told by the ISO 15924 code ``script``."""
    return script in _ACCEPTED or script == "Jpan" or script in _NAMED


def _letters(text: str) -> Counter[str]:
    """How many letters of each script a text has; Han and kana are counted together, as ``Hani`` or ``Jpan``."""
    letters: Counter[str] = Counter()
    for character, count in Counter(text[:: max(1, -(-len(text) // _SAMPLE))]).items():
        if script := _script_of(character):
            letters[script] += count
    kana = letters.pop("Hira", 0) + letters.pop("Kana", 0)
    east = kana + letters["Hani"]
    if kana and kana >= _KANA * east:
        letters["Jpan"] = east
        del letters["Hani"]
    else:
        letters["Hani"] = east
    return +letters


@cache
def _script_of(character: str) -> str | None:
    """The script of a letter; None for anything else, and for letters that several scripts share."""
    if not character.isalpha() or _pattern("Zyyy").match(character):
        return None
    return next((script for script in _NAMED if _pattern(script).match(character)), _UNNAMED)


@cache
def _pattern(script: str) -> re.Pattern[str]:
    import regex  # noqa: PLC0415 - start-up time

    pattern: re.Pattern[str] = regex.compile(rf"\p{{Script={script}}}")
    return pattern


def _header_lines(form: Form, condition: str) -> re.Pattern[str] | None:
    """What finds the lines that begin with a header of ``form``, in any of its languages and whatever the case."""
    names = [name for slot in form.slots for some in slot.headers.get(condition, {}).values() for name in some]
    spellings = {unicodedata.normalize(kind, name) for name in names for kind in ("NFC", "NFD")}
    if not spellings:
        return None
    headers = "|".join(re.escape(spelling) for spelling in sorted(spellings))
    return re.compile(rf"^(?:[^\w\n]|_)*+(?:{headers}).*", re.IGNORECASE | re.MULTILINE)


@cache
def _reasoning(tags: tuple[str, ...], *, square: bool) -> re.Pattern[str]:
    names = "|".join(re.escape(tag) for tag in tags)
    opening, closing = (r"[<◁\[]", r"[>▷\]]") if square else ("[<◁]", "[>▷]")
    return re.compile(rf"{opening}\|?(?P<close>/?)(?:{names})\b[^<>\[\]◁▷\n]{{0,60}}{closing}", re.IGNORECASE)


def _without_reasoning(text: str, tags: tuple[str, ...]) -> str:
    """``text`` without blocks such as ``<think>...</think>``, closed or not; a lone closing tag ends one too."""
    if not tags or not any(mark in text for mark in "<◁["):
        return text
    kept: list[str] = []
    last, inside = 0, False
    # "[thinking]" alone is a stage direction: square brackets count only where something closes them.
    for tag in _reasoning(tags, square="[/" in text).finditer(text):
        if tag["close"]:
            kept = kept if inside else []
        elif not inside:
            kept.append(text[last : tag.start()])
        inside = not tag["close"]
        last = tag.end()
    return "".join(kept if inside else [*kept, text[last:]])
