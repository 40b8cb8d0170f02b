"""Items to requests: templates, solved examples, the choices to score. What a task adds lives in ``biasfw.tasks``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from biasfw.bundles import Bundle
from biasfw.errors import DataError
from biasfw.expansion import Trial
from biasfw.form import Form
from biasfw.keys import canonical
from biasfw.languages import LanguagePack
from biasfw.records import ChoiceText, Item, Message, Mode, PromptStyle, Request, Sampling
from biasfw.tasks import Task, make_task
from biasfw.templates import Template, compiled

if TYPE_CHECKING:
    from hashlib import _Hash as Digest

KEPT = 32  # prompts that are kept for the repeats of their items: more than there are orders of a list of labels


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
    shots: Mapping[str, Sequence[Item]] = field(default_factory=dict)  # language -> solved examples, as items

    @cached_property
    def task(self) -> Task:
        """What the task of the benchmark adds to the templates."""
        return make_task(self.bundle, self.form, self.packs, self.names_in)

    def request(self, trial: Trial) -> Request:
        """The request for one trial, without references.

        Raises:
            DataError: a template has no text in the item's language, or names a field that the item lacks.
        """
        question, digest = self._rendered(trial.item)
        return replace(question, key=_key_of_repeat(digest, trial.repeat), repeat=trial.repeat)

    @cached_property
    def _rendered(self) -> Callable[[Item], tuple[Request, Digest]]:
        """The question about an item, and the digest of all of it but the repeat; the last few are kept for repeats."""
        kept: dict[str, tuple[Item, Request, Digest]] = {}

        def rendered(item: Item) -> tuple[Request, Digest]:
            known = kept.get(item.id)
            if known is None or known[0] != item:
                question = self._question(item)
                if len(kept) >= KEPT:
                    del kept[next(iter(kept))]
                known = kept[item.id] = item, question, _digest(question)
            return known[1:]

        return rendered

    def _question(self, item: Item) -> Request:
        choices = self._choices(item) if self.mode == "choices" else ()
        # Nothing is drawn when choices are scored: the sampling is not part of that question.
        sampling = self.sampling if self.mode == "generate" else Sampling()
        request = Request("", item.id, sampling, choices=choices)
        if self.prompt_style == "raw":
            return replace(request, prompt=self._prompt(item))
        return replace(request, messages=self._messages(item))

    def references(self, item: Item, request: Request) -> dict[str, str]:
        """What each reference model says: a text, or in choices mode the key of a choice ("" prefers none)."""
        return self.task.references(item, request)

    def check_fields(self, trials: Iterable[Trial]) -> None:
        """Every item has the fields that its templates use; found before anything is asked.

        Raises:
            DataError: a template has no text in a language, or names a field that an item lacks.
        """
        needed: dict[tuple[str, str], set[str]] = {}
        for trial in trials:
            item = trial.item
            kind = item.condition, item.language
            if kind not in needed:
                used = {name for _, template in self._templates(item) for name in template.variables}
                needed[kind] = used - self.task.makes
            missing = needed[kind] - set(item.fields)
            if missing:
                name = self._condition(item)["template"]
                raise DataError(
                    f"{self.bundle.folder}: item {item.source_id!r} ({item.language}) lacks "
                    f"{', '.join(sorted(missing))}, which template {name!r} uses; add it to the item"
                )

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

    def _messages(self, item: Item) -> tuple[Message, ...]:
        texts = list(self._texts(item))
        turns = []
        for shot in self._shots(item):
            turns += [m for m in self._texts(shot) if m.role == "user"]
            turns.append(Message("assistant", self.task.solution(shot)))
        system, user = ([m for m in texts if m.role == role] for role in ("system", "user"))
        return (*system, *turns, *user)

    def _prompt(self, item: Item) -> str:
        """The texts in a row. An empty line parts them; a label task's answer begins after one, too."""
        between = self.task.raw_separator(item.language)
        texts = list(self._texts(item))
        parts = [message.content.strip("\n") for message in texts if message.role == "system"]
        for shot in self._shots(item):
            asked = "".join(m.content for m in self._texts(shot) if m.role == "user")
            parts.append(asked + between + self.task.solution(shot))
        asked = "".join(m.content for m in texts if m.role == "user")
        return "\n\n".join([*parts, asked]) + ("" if self.task.choices_begin_with_separator else between)

    def _shots(self, item: Item) -> Iterator[Item]:
        """The examples of the item's language, put as the item is: under its condition, with its instruction."""
        for shot in self.shots.get(item.language, ())[: item.shot]:
            yield replace(shot, condition=item.condition, variant=item.variant)

    def _texts(self, item: Item) -> Iterator[Message]:
        variables = self.task.variables(item)
        whole = "user" in self._condition(item)  # the item's own text: it reaches the model as it is
        for part, template in self._templates(item):
            text = template.render(variables)
            yield Message(part, text if whole and part == "user" else text.rstrip("\n"))

    def _choices(self, item: Item) -> tuple[ChoiceText, ...]:
        choices = self.task.choices(item)
        if self.prompt_style == "raw" and self.task.choices_begin_with_separator:
            between = self.task.raw_separator(item.language)
            choices = tuple(replace(choice, text=between + choice.text) for choice in choices)
        if self.form.task != "sentence_pair":  # of two whole texts one may begin the other
            check_prefix_free(choices, item.id)
        return choices


def request_key(request: Request) -> str:
    """sha256 of the canonical (item id, messages or prompt, choices, sampling, repeat)."""
    return _key_of_repeat(_digest(request), request.repeat)


def _digest(request: Request) -> Digest:
    """The digest of the canonical list that makes the key, up to its last entry, the repeat."""
    content = request.prompt if request.prompt is not None else [_plain(message) for message in request.messages]
    choices = [_plain(choice) for choice in request.choices]
    text = canonical([request.item_id, content, choices, _plain(request.sampling)])
    return hashlib.sha256(text.removesuffix("]").encode("ascii"))


def _plain(record: Any) -> dict[str, Any]:
    """All fields of a flat record (``asdict`` copies them deeply, which takes three times as long)."""
    return {name: getattr(record, name) for name in record.__slots__}


def _key_of_repeat(digest: Digest, repeat: int) -> str:
    whole = digest.copy()
    whole.update(f",{repeat}]".encode("ascii"))
    return whole.hexdigest()


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
