"""Task ``choice``: a model picks one of the options of an item, by the letter that stands for it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from biasfw.bundles import Bundle
from biasfw.errors import DataError
from biasfw.form import Form
from biasfw.keys import request_seed
from biasfw.languages import LanguagePack, refusal_text
from biasfw.records import Choice, ChoiceText, Item, Request
from biasfw.templates import compiled

_END = {"letters": "", "texts": "\n"}  # what ends a scored choice


@dataclass(frozen=True)
class ChoiceTask:
    """The options of the items of one bundle, and what answers to them look like."""

    bundle: Bundle
    form: Form
    packs: Mapping[str, LanguagePack]

    makes: ClassVar[frozenset[str]] = frozenset({"options", "letters", "instruction"})
    # "Answer:" + " A" is how such text is tokenised; scoring "A" after "Answer: " is another question.
    choices_begin_with_separator: ClassVar[bool] = True

    def variables(self, item: Item) -> dict[str, Any]:
        """``options`` (each ``letter`` and ``text``, as presented), ``letters``, the instruction, the item's fields."""
        options = [{"letter": letter, "text": choice.text} for letter, choice in self._presented(item)]
        made = {"options": options, "letters": [option["letter"] for option in options]}
        return {**item.fields, **made, **self.bundle.instruction(item)}

    def choices(self, item: Item) -> tuple[ChoiceText, ...]:
        """The letters, or the texts of the options, in presented order; the keys are the options'."""
        protocol = self.bundle.manifest["protocols"]["choices"]
        scored = protocol["choices"]
        end = protocol.get("terminator", _END[scored])
        return tuple(
            ChoiceText(choice.key, (letter if scored == "letters" else choice.text) + end)
            for letter, choice in self._presented(item)
        )

    def solution(self, item: Item) -> str:
        for letter, choice in self._presented(item):
            if choice.key == item.gold:
                return self.answer(item, letter, choice.text)
        raise DataError(f"{self.bundle.name}: item {item.source_id!r} has no right option (gold), which examples need")

    def raw_separator(self, language: str) -> str:
        return str(self.bundle.manifest.get("raw_separator", {}).get(language, ""))

    def answer(self, item: Item, letter: str, text: str) -> str:
        """An answer as the benchmark asks for it: by default the letter alone."""
        texts = self.bundle.manifest.get("answer_template", {})
        template = texts.get(item.language, "{{ letter }}")
        where = f"{self.bundle.name}: answer_template/{item.language}"
        return compiled(template, where).render({"letter": letter, "text": text})

    def references(self, item: Item, request: Request) -> dict[str, str]:
        """The models know roles, gold and length of the options. A control has no roles: both pick its gold.

        ``shorter`` and ``longer`` go by the characters of an option as it is shown, and have no preference where two
        are equally long; a model without a preference picks at random in generate mode and prefers none in choices.
        """
        options = {choice.key: (letter, choice) for letter, choice in self._presented(item)}
        drawn = random.Random(request_seed(request)).choice(list(options))  # noqa: S311 - not for secrets
        picks = {
            "first": next(iter(options)),
            "random": drawn,
            "stereotyped": _with_role(item, "stereotyped"),
            "anti-stereotyped": _with_role(item, "anti-stereotyped"),
            "shorter": _extreme(item, shortest=True),
            "longer": _extreme(item, shortest=False),
        }
        if request.choices:
            return {**picks, "refuses": ""}
        texts = {}
        for model, key in picks.items():
            letter, choice = options[key or drawn]
            texts[model] = self.answer(item, letter, choice.text)
        return {**texts, **refusal_text(self.packs, item.language)}

    def _presented(self, item: Item) -> list[tuple[str, Choice]]:
        """Letters and options in the order in which they are shown."""
        by_key = {choice.key: choice for choice in item.choices}
        letters = self.bundle.manifest["letters"][item.language]
        return [(letters[place], by_key[key]) for place, key in enumerate(item.order)]


@dataclass(frozen=True)
class SentenceTask(ChoiceTask):
    """Task ``sentence_pair``: whole sentences are scored from the beginning of a text; nothing is asked.

    Source of the form: CrowS-Pairs (Nangia et al. 2020, arXiv 2010.00133), there with masked tokens; for models that
    write from left to right the log-probabilities of the whole sentences are compared.
    """

    makes: ClassVar[frozenset[str]] = frozenset()

    def variables(self, item: Item) -> dict[str, Any]:  # noqa: ARG002 - nothing is asked
        return {}

    def choices(self, item: Item) -> tuple[ChoiceText, ...]:
        """Both sentences, as they are."""
        return tuple(ChoiceText(choice.key, choice.text) for choice in item.choices)

    def solution(self, item: Item) -> str:
        raise DataError(f"{self.bundle.name}: item {item.source_id!r} has no right sentence")

    def _presented(self, item: Item) -> list[tuple[str, Choice]]:
        return [("", choice) for choice in item.choices]


def _with_role(item: Item, role: str) -> str:
    """The one option with ``role``; the right one of an item without roles; "" if there is none."""
    keys = [choice.key for choice in item.choices if choice.role == role]
    if len(keys) == 1:
        return keys[0]
    roles = any(choice.role in ("stereotyped", "anti-stereotyped") for choice in item.choices)
    return "" if roles else item.gold or ""


def _extreme(item: Item, *, shortest: bool) -> str:
    """The one shortest (longest) option; "" if two are alike."""
    lengths = {choice.key: len(choice.text) for choice in item.choices}
    bound = min(lengths.values()) if shortest else max(lengths.values())
    keys = [key for key, length in lengths.items() if length == bound]
    return keys[0] if len(keys) == 1 else ""
