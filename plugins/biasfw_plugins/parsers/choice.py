"""The parser ``choice``: reads which of the offered options a free text chooses, in any language."""

from __future__ import annotations

import re
from functools import lru_cache

from biasfw import Answer, ComponentContext, LanguagePack, Outcome, Reading
from biasfw_plugins.parsers._lexicon import Lexicon
from biasfw_plugins.parsers._lines import Line, read_line
from biasfw_plugins.parsers._marks import prepare
from biasfw_plugins.parsers._reasoning import Reasoning
from biasfw_plugins.parsers._refusals import Refusals
from biasfw_plugins.parsers._statements import DECLINED
from biasfw_plugins.parsers._text import fold, normalise
from biasfw_plugins.parsers._tokens import Tokens
from biasfw_plugins.parsers._verdict import Verdict, decide
from biasfw_plugins.parsers._wrappers import Wrappers, mark_boxes, one_turn

_CUT = frozenset({"length", "content_filter"})  # finish reasons of a text that was not finished
_NO_PACK = LanguagePack("und", "unknown", "", "Zyyy", reviewed_by_natives=0)
_LONGEST, _HEAD, _TAIL = 60_000, 20_000, 40_000  # characters: an answer stands at the beginning or at the end
_LONGEST_LINE = 8_000
_BLANKS = re.compile(r"[ \t]{3,}|\n(?:[ \t]*\n){2,}")
_SHORT = 100
_SENTENCE_ENDS = re.compile(r"[.!?。！？।۔؟\n]")


class Choice:
    """Fills the slot of the form with the option that a text chooses; says what became of it, and never guesses.

    An option is named by its letter or by its text. The letter has to stand free, and something has to be said of it:
    it stands alone, an answer phrase comes before it, it is called chosen or better, or the others are set aside. The
    last explicit choice decides; where that cannot be read ("Answer: A" and then "Answer: both"), nothing is. Phrases
    are those of the language of the prompt and of English.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._context = context
        self._abstaining = [label.key for label in context.form.labels if label.abstains]
        self._languages: dict[str, _Language] = {}
        self._read_short = lru_cache(maxsize=4096)(self._read)  # most answers are a letter, and little else

    def parse(self, text: str, *, language: str, condition: str, finish_reason: str | None = None) -> Answer:  # noqa: ARG002
        """Read ``text``.

        Flags: reasoning_removed, shortened (its middle was not read), changed_answer, runs_on, refusal_phrase.
        """
        read = self._read_short if len(text) <= _SHORT else self._read
        reading, flags = read(text, language, finish_reason in _CUT)
        return Answer({slot.key: reading for slot in self._context.form.slots}, flags)

    def _read(self, text: str, language: str, cut: bool) -> tuple[Reading, tuple[str, ...]]:
        known = self._languages.get(language)
        if known is None:
            known = self._languages[language] = _Language(self._context, language)
        rest, removed, unclosed = known.reasoning.remove(normalise(mark_boxes(text)))
        flags = ["reasoning_removed"] if removed else []
        if unclosed:
            return Reading(Outcome.TRUNCATED), tuple(flags)
        turn = one_turn(rest)
        short = _shortened(turn)
        texts, lines = known.lines(known.wrappers.open(short))
        verdict = decide(lines, known.lexicon.options, cut=cut)
        # "I will not choose A" refuses nothing: it sets one option aside.
        undenied = (each for each, line in zip(texts, lines, strict=True) if not line.denies)
        refused = known.refusals.found("\n".join(undenied).casefold())
        said = {
            "shortened": len(short) < len(turn) > _LONGEST,
            "changed_answer": verdict.changed,
            "runs_on": verdict.runs_on,
            "refusal_phrase": refused,
        }
        flags += [flag for flag, holds in said.items() if holds]
        if cut and (verdict.loose or (verdict.open and known.lexicon.negates_after)):
            verdict = Verdict()
        return self._reading(verdict.key, refused=refused, cut=cut), tuple(flags)

    def _reading(self, key: str | None, *, refused: bool, cut: bool) -> Reading:
        if key == DECLINED:
            return Reading(Outcome.ABSTAINED, self._abstaining[0]) if self._abstaining else Reading(Outcome.REFUSED)
        if key is not None:
            return Reading(Outcome.ABSTAINED if key in self._abstaining else Outcome.ANSWERED, key)
        if refused:
            return Reading(Outcome.REFUSED)
        return Reading(Outcome.TRUNCATED if cut else Outcome.UNPARSED)


class _Language:
    """What reads the answers to prompts in one language; English is read in answers to any prompt."""

    def __init__(self, context: ComponentContext, language: str) -> None:
        own = context.pack(language) or _NO_PACK
        packs = [own] if own.language == "en" else [own, context.pack("en") or _NO_PACK]
        self.lexicon = Lexicon(context.form, language, packs)
        self.reasoning = Reasoning(tag for pack in packs for tag in pack.thinking_tags)
        self.refusals = Refusals(
            phrase
            for pack in packs
            for phrase in (*pack.refusal_phrases, pack.refusal_text, *pack.choice_words.get("declining", ()))
        )
        self._read_short = lru_cache(maxsize=4096)(self._read_line)  # many answers share a line
        self._tokens = Tokens(self.lexicon, tuple(mark for pack in packs for mark in pack.colon_marks))
        self.wrappers = Wrappers(self._tokens, frozenset(fold(slot.key) for slot in context.form.slots))

    def lines(self, text: str) -> tuple[list[str], list[Line]]:
        """The lines of a text that are not blank, and what each says."""
        texts = [line for line in (line.strip(" >|・") for line in prepare(text).split("\n")) if line]
        return texts, [self._read_short(line) if len(line) <= _SHORT else self._read_line(line) for line in texts]

    def _read_line(self, line: str) -> Line:
        if len(line) > _LONGEST_LINE:
            line = " … ".join(_ends(line, _LONGEST_LINE // 4, _LONGEST_LINE * 3 // 4))
        return read_line(self._tokens.of(line))


def _shortened(text: str) -> str:
    """A long text without runs of blanks, and if that is not enough without its middle."""
    if len(text) <= _LONGEST:
        return text
    text = _BLANKS.sub(lambda run: "\n\n" if "\n" in run[0] else " ", text)
    if len(text) <= _LONGEST:
        return text
    return "…\n…\n".join(_ends(text, _HEAD, _TAIL))


def _ends(text: str, before: int, after: int) -> tuple[str, str]:
    """Whole sentences from the beginning and the end: what was cut through could read as a letter that stands free."""
    head, tail = text[:before], text[-after:]
    stops = [stop.end() for stop in _SENTENCE_ENDS.finditer(head)]
    begins = _SENTENCE_ENDS.search(tail)
    return head[: stops[-1]] if stops else "", tail[begins.end() :] if begins else ""
