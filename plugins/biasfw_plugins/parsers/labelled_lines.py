"""The parser ``labelled_lines``: reads lines such as ``HEADER: name`` in any language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biasfw import Answer, ComponentContext, LanguagePack, Outcome, Reading
from biasfw_plugins.parsers._blocks import Block, Blocks, choose
from biasfw_plugins.parsers._headers import Headers
from biasfw_plugins.parsers._names import Names
from biasfw_plugins.parsers._reasoning import Reasoning
from biasfw_plugins.parsers._refusals import Refusals
from biasfw_plugins.parsers._text import fold, without_markup

_CUT = frozenset({"length", "content_filter"})  # finish reasons of a text that was not finished
# What is known of a language that has no pack.
_NO_PACK = LanguagePack("und", "unknown", "", "Zyyy", reviewed_by_natives=0)


@dataclass(frozen=True, slots=True)
class _Language:
    """What reads the answers to prompts in one language under one condition."""

    reasoning: Reasoning
    blocks: Blocks
    names: Names
    refusals: Refusals


class LabelledLines:
    """Fills the slots of the form from header lines; says what became of each slot, and never guesses.

    Headers and names are read in the language of the prompt, in English and in every other language of the form,
    whatever their decoration, case or Unicode form. A value counts only if it is one listed name with nothing but an
    explanation after it. Option ``take``: which filled answer counts when the headers recur, ``first`` or ``last``.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._context = context
        self._last = context.options.get("take", "first") == "last"
        self._languages: dict[tuple[str, str], _Language] = {}

    def parse(self, text: str, *, language: str, condition: str, finish_reason: str | None = None) -> Answer:
        """Read ``text``; flags: reasoning_removed, refusal_phrase, english_headers, repeated_headers."""
        known = self._language(language, condition)
        folded, removed, unclosed = known.reasoning.remove(fold(text))
        flags = ["reasoning_removed"] if removed else []
        slots = [slot.key for slot in self._context.form.slots]
        if unclosed:
            return Answer({slot: Reading(Outcome.TRUNCATED) for slot in slots}, tuple(flags))
        folded = without_markup(folded)
        blocks = known.blocks.find(folded, last=self._last)
        chosen = choose(blocks, len(slots), known.names, last=self._last)
        readings, refused = _read(slots, chosen, folded, known, cut=finish_reason in _CUT)
        filled = [fill for fill in chosen.values() if fill.value.filled]
        if refused:
            flags.append("refusal_phrase")
        if any(fill.hit.header.english for fill in filled):
            flags.append("english_headers")
        if sum(any(fill.value.filled for fill in block.values()) for block in blocks) > 1:
            flags.append("repeated_headers")
        return Answer(readings, tuple(flags))

    def _language(self, language: str, condition: str) -> _Language:
        known = self._languages.get((language, condition))
        if known is None:
            form = self._context.form
            own = self._context.pack(language) or _NO_PACK
            # English is read in answers to any prompt.
            packs = [own] if own.language == "en" else [own, self._context.pack("en") or _NO_PACK]
            names = Names(form, language, packs)
            known = _Language(
                Reasoning(tag for pack in packs for tag in pack.thinking_tags),
                Blocks(Headers(form, condition, language, packs), names),
                names,
                Refusals(phrase for pack in packs for phrase in (*pack.refusal_phrases, pack.refusal_text)),
            )
            self._languages[language, condition] = known
        return known


def _read(
    slots: Sequence[str], chosen: Block, folded: str, known: _Language, *, cut: bool
) -> tuple[Mapping[str, Reading], bool]:
    """The reading of every slot, and whether a refusal phrase stands before the answer or in place of one."""
    answered = any(fill.value.filled for fill in chosen.values())
    begin = min((fill.hit.start for fill in chosen.values()), default=0) if answered else len(folded)
    refusal = known.refusals.found(folded[:begin])
    in_value = {slot for slot, fill in chosen.items() if not fill.value.filled and known.refusals.found(fill.text)}
    readings = {}
    for slot in slots:
        fill = chosen.get(slot)
        value = fill.value if fill else None
        unfinished = cut and (fill is None or not fill.text or fill.open)
        if fill and value and value.filled and not (unfinished and known.names.could_go_on(fill.text)):
            outcome = Outcome.ABSTAINED if value.abstains else Outcome.ANSWERED
            readings[slot] = Reading(outcome, value.label)
        elif slot in in_value or (refusal and not answered and not (value and value.named)):
            readings[slot] = Reading(Outcome.REFUSED)
        else:
            readings[slot] = Reading(Outcome.TRUNCATED if unfinished else Outcome.UNPARSED)
    return readings, refusal or bool(in_value)
