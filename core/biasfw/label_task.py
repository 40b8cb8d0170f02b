"""Task ``labels``: a model fills the slots of an answer with groups from a list."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

from biasfw.bundles import Bundle
from biasfw.errors import DataError
from biasfw.form import JOIN, Form, Label
from biasfw.keys import request_seed
from biasfw.languages import LanguagePack, refusal_text
from biasfw.records import ChoiceText, Item, Request
from biasfw.templates import compiled


@dataclass(frozen=True)
class LabelTask:
    """The label lists, headers and joint answers of one bundle."""

    bundle: Bundle
    form: Form
    packs: Mapping[str, LanguagePack]
    names_in: str | None = None

    makes: ClassVar[frozenset[str]] = frozenset({"label_list", "labels", "header", "instruction"})
    choices_begin_with_separator: ClassVar[bool] = False

    def variables(self, item: Item) -> dict[str, Any]:
        """``label_list``, ``labels`` (names), ``header`` per slot, the instruction, and the fields of the item."""
        language = self._naming(item)
        names = [self._labels[key].name(language) for key in item.order]
        style = self.bundle.manifest.get("list_style", {}).get(language, {"between": ", ", "last": ", "})
        text = style["between"].join(names[:-1]) + style["last"] + names[-1] if len(names) > 1 else "".join(names)
        made = {"label_list": text, "labels": names, "header": self._headers(item)}
        return {**item.fields, **made, **self.bundle.instruction(item)}

    def choices(self, item: Item) -> tuple[ChoiceText, ...]:
        """Every way to fill the slots without naming a group twice, in the presented order of the labels."""
        terminator = self.bundle.manifest["protocols"]["choices"].get("terminator", "\n")
        slots = [slot.key for slot in self.form.slots]
        abstaining = {key for key in item.order if self._labels[key].abstains}
        fillings = [
            filling
            for filling in product(item.order, repeat=len(slots))
            if all(filling.count(key) == 1 or key in abstaining for key in filling)
        ]
        return tuple(
            ChoiceText(JOIN.join(filling), self.answer(item, dict(zip(slots, filling, strict=True))) + terminator)
            for filling in fillings
        )

    def solution(self, item: Item) -> str:
        raise DataError(f"{self.bundle.name}: item {item.source_id!r} has no right answer: labels have none")

    def raw_separator(self, language: str) -> str:
        return str(self.bundle.manifest.get("raw_separator", {}).get(language, "\n\n"))

    def answer(self, item: Item, filled: Mapping[str, str]) -> str:
        """The text of an answer that fills the slots with the label keys ``filled``, in the item's language."""
        texts = self.bundle.manifest["answer_template"]
        if item.language not in texts:
            raise DataError(f"{self.bundle.name}: answer_template has no text for language {item.language!r}")
        template = compiled(texts[item.language], f"{self.bundle.name}: answer_template/{item.language}")
        language = self._naming(item)
        names = {slot: self._labels[key].name(language) for slot, key in filled.items()}
        return template.render({"header": self._headers(item), **names})

    def references(self, item: Item, request: Request) -> dict[str, str]:
        """The models know the benchmark's own data (reference answers), nothing else.

        Where a condition attaches no value to the slots, ``stereotyped`` and ``anti-stereotyped`` have no preference.
        """
        said = self._fillings(item, request)
        if request.choices:
            by_length = sorted(request.choices, key=lambda choice: len(choice.text))
            keys = {model: JOIN.join(filling.values()) if filling else "" for model, filling in said.items()}
            longest = max(request.choices, key=lambda choice: len(choice.text))
            return {**keys, "refuses": "", "shorter": by_length[0].key, "longer": longest.key}
        chance = said["random"]
        texts = {model: self.answer(item, filling or chance or {}) for model, filling in said.items()}
        return {**texts, **refusal_text(self.packs, item.language)}

    @cached_property
    def _labels(self) -> dict[str, Label]:
        return {label.key: label for label in self.form.labels}

    def _naming(self, item: Item) -> str:
        """The language in which the groups are named."""
        return self.names_in or item.language

    def _headers(self, item: Item) -> dict[str, str]:
        return {slot.key: slot.header(item.condition, item.language) for slot in self.form.slots}

    def _fillings(self, item: Item, request: Request) -> dict[str, dict[str, str] | None]:
        slots = [slot.key for slot in self.form.slots]
        groups = [key for key in item.order if not self._labels[key].abstains]
        drawn = random.Random(request_seed(request)).sample(groups, len(slots))  # noqa: S311 - not for secrets
        fillings: dict[str, dict[str, str] | None] = {
            "first": dict(zip(slots, groups, strict=False)),
            "random": dict(zip(slots, drawn, strict=True)),
            "stereotyped": None,
            "anti-stereotyped": None,
        }
        reference = self.bundle.manifest.get("reference_answers", {}).get(item.category)
        valued = self.bundle.manifest["conditions"][item.condition].get("valued", True)
        if reference and valued and set(reference["answer"].values()) <= set(groups):
            answer = {slot: reference["answer"][slot] for slot in slots}
            fillings["stereotyped"] = answer
            fillings["anti-stereotyped"] = dict(zip(slots, reversed(list(answer.values())), strict=True))
        return fillings
