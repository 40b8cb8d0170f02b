"""Items to requests: templates, label lists, the choices to score, and what each reference model would say."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import Any, Literal

from biasfw.bundles import Bundle
from biasfw.errors import DataError
from biasfw.expansion import Trial
from biasfw.form import Form, Label
from biasfw.keys import request_seed, sha256_json
from biasfw.languages import LanguagePack
from biasfw.records import ChoiceText, Item, Message, Mode, PromptStyle, Request, Sampling
from biasfw.templates import Template, compile_template

REFERENCE_MODELS = ("first", "stereotyped", "anti-stereotyped", "random", "refuses", "shorter", "longer")
JOIN = "|"  # joins label keys of several slots in the key of a joint choice


@dataclass(frozen=True)
class Renderer:
    """Renders the items of one bundle under one protocol. A pure function of its fields and the trial."""

    bundle: Bundle
    form: Form
    mode: Mode
    prompt_style: PromptStyle
    sampling: Sampling
    packs: Mapping[str, LanguagePack]
    names_in: str | None = None  # name the groups in this language, whatever the item's

    def request(self, trial: Trial) -> Request:
        """The request for one trial, without references.

        Raises:
            DataError: a template has no text in the item's language, or names a field that the item lacks.
        """
        item = trial.item
        messages = self._messages(item)
        choices = self._choices(item) if self.mode == "choices" else ()
        # Nothing is drawn when choices are scored: the sampling is not part of that question.
        sampling = self.sampling if self.mode == "generate" else Sampling()
        request = Request("", item.id, sampling, choices=choices, repeat=trial.repeat)
        if self.prompt_style == "raw":
            request = replace(request, prompt="\n\n".join(m.content.strip("\n") for m in messages) + "\n\n")
        else:
            request = replace(request, messages=messages)
        return replace(request, key=request_key(request))

    def _condition(self, item: Item) -> Mapping[str, Any]:
        condition: Mapping[str, Any] = self.bundle.manifest["conditions"][item.condition]
        return condition

    def _templates(self, item: Item) -> Iterator[tuple[Literal["system", "user"], Template]]:
        """The texts of a prompt; a condition may word the user's for every language itself."""
        condition, language = self._condition(item), item.language
        name = condition["template"]
        texts = self.bundle.manifest["templates"][name]
        if language not in texts:
            raise DataError(f"{self.bundle.name}: template {name!r} has no text for language {language!r}")
        if "system" in texts[language]:
            where = f"{self.bundle.name}: template {name}/{language}/system"
            yield "system", compiled(texts[language]["system"], where)
        if "user" in condition:
            yield "user", compiled(condition["user"], f"{self.bundle.full_name}: condition {item.condition}/user")
        else:
            yield "user", compiled(texts[language]["user"], f"{self.bundle.name}: template {name}/{language}/user")

    def check_fields(self, trials: Iterable[Trial]) -> None:
        """Every item has the fields that its templates use; found before anything is asked.

        Raises:
            DataError: a template has no text in a language, or names a field that an item lacks.
        """
        given = {"label_list", "labels", "header"}
        needed: dict[tuple[str, str], set[str]] = {}
        for trial in trials:
            item = trial.item
            kind = item.condition, item.language
            if kind not in needed:
                needed[kind] = {name for _, template in self._templates(item) for name in template.variables} - given
            missing = needed[kind] - set(item.fields)
            if missing:
                name = self._condition(item)["template"]
                raise DataError(
                    f"{self.bundle.folder}: item {item.source_id!r} ({item.language}) lacks "
                    f"{', '.join(sorted(missing))}, which template {name!r} uses; add it to the item"
                )

    def _messages(self, item: Item) -> tuple[Message, ...]:
        variables = self._variables(item)
        whole = "user" in self._condition(item)  # the item's own text: it reaches the model as it is
        messages = []
        for part, template in self._templates(item):
            text = template.render(variables)
            messages.append(Message(part, text if whole and part == "user" else text.rstrip("\n")))
        return tuple(messages)

    @cached_property
    def _labels(self) -> dict[str, Label]:
        return {label.key: label for label in self.form.labels}

    def _naming(self, item: Item) -> str:
        """The language in which the groups are named."""
        return self.names_in or item.language

    def _variables(self, item: Item) -> dict[str, Any]:
        language = self._naming(item)
        names = [self._labels[key].name(language) for key in item.order]
        headers = {slot.key: slot.header(item.condition, item.language) for slot in self.form.slots}
        style = self.bundle.manifest.get("list_style", {}).get(language, {"between": ", ", "last": ", "})
        text = style["between"].join(names[:-1]) + style["last"] + names[-1] if len(names) > 1 else "".join(names)
        return {**item.fields, "label_list": text, "labels": names, "header": headers}

    def answer(self, item: Item, filled: Mapping[str, str]) -> str:
        """The text of an answer that fills the slots with the label keys ``filled``, in the item's language."""
        texts = self.bundle.manifest["answer_template"]
        if item.language not in texts:
            raise DataError(f"{self.bundle.name}: answer_template has no text for language {item.language!r}")
        template = compiled(texts[item.language], f"{self.bundle.name}: answer_template/{item.language}")
        headers = {slot.key: slot.header(item.condition, item.language) for slot in self.form.slots}
        language = self._naming(item)
        names = {slot: self._labels[key].name(language) for slot, key in filled.items()}
        return template.render({"header": headers, **names})

    def _choices(self, item: Item) -> tuple[ChoiceText, ...]:
        """Every way to fill the slots without naming a group twice, in the presented order of the labels."""
        terminator = self.bundle.manifest["protocols"]["choices"].get("terminator", "\n")
        slots = [slot.key for slot in self.form.slots]
        abstaining = {key for key in item.order if self._labels[key].abstains}
        fillings = [
            filling
            for filling in product(item.order, repeat=len(slots))
            if all(filling.count(key) == 1 or key in abstaining for key in filling)
        ]
        choices = tuple(
            ChoiceText(JOIN.join(filling), self.answer(item, dict(zip(slots, filling, strict=True))) + terminator)
            for filling in fillings
        )
        check_prefix_free(choices, item.id)
        return choices

    def references(self, item: Item, request: Request) -> dict[str, str]:
        """What each reference model says: a text, or in choices mode the key of a choice ("" prefers none).

        The models know the benchmark's own data (reference answers), nothing else. Where a condition attaches no
        value to the slots, ``stereotyped`` and ``anti-stereotyped`` have no preference.
        """
        said = self._fillings(item, request)
        if self.mode == "choices":
            by_length = sorted(request.choices, key=lambda choice: len(choice.text))
            keys = {model: JOIN.join(filling.values()) if filling else "" for model, filling in said.items()}
            longest = max(request.choices, key=lambda choice: len(choice.text))
            return {**keys, "refuses": "", "shorter": by_length[0].key, "longer": longest.key}
        chance = said["random"]
        texts = {model: self.answer(item, filling or chance or {}) for model, filling in said.items()}
        pack = self.packs.get(item.language) or self.packs.get(item.language.partition("-")[0])
        if pack is not None and pack.refusal_text:
            texts["refuses"] = pack.refusal_text
        return texts

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
        valued = self._condition(item).get("valued", True)
        if reference and valued and set(reference["answer"].values()) <= set(groups):
            answer = {slot: reference["answer"][slot] for slot in slots}
            fillings["stereotyped"] = answer
            fillings["anti-stereotyped"] = dict(zip(slots, reversed(list(answer.values())), strict=True))
        return fillings


_compiled: dict[tuple[str, str], Template] = {}


def compiled(text: str, where: str) -> Template:
    """A compiled template; compiled once per text, since a bundle renders thousands of items with one frame."""
    key = (text, where)
    if key not in _compiled:
        _compiled[key] = compile_template(text, where)
    return _compiled[key]


def request_key(request: Request) -> str:
    """sha256 of the canonical (item id, messages or prompt, choices, sampling, repeat)."""
    content = request.prompt if request.prompt is not None else [asdict(message) for message in request.messages]
    choices = [asdict(choice) for choice in request.choices]
    return sha256_json([request.item_id, content, choices, asdict(request.sampling), request.repeat])


def check_prefix_free(choices: Sequence[ChoiceText], item_id: str) -> None:
    """No choice may begin another, or their probabilities could not be compared.

    Raises:
        DataError: two choices are equal, or one is the beginning of the other.
    """
    texts = sorted(choice.text for choice in choices)
    for left, right in pairwise(texts):
        if right.startswith(left):
            raise DataError(
                f"{item_id}: the choice {left!r} is the beginning of {right!r}; end choices with a terminator"
            )
