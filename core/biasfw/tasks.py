"""The tasks a benchmark can set. A task says what templates may use, what is scored, and what reference models say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol

from biasfw.bundles import Bundle
from biasfw.choice_task import ChoiceTask, SentenceTask
from biasfw.form import Form
from biasfw.label_task import LabelTask
from biasfw.languages import LanguagePack
from biasfw.records import ChoiceText, Item, Request

REFERENCE_MODELS = ("first", "stereotyped", "anti-stereotyped", "random", "refuses", "shorter", "longer")


class Task(Protocol):
    """What a task adds to the templates of a bundle. Pure functions of the item."""

    makes: ClassVar[frozenset[str]]  # template variables that no item has to bring
    choices_begin_with_separator: ClassVar[bool]  # whether what parts a raw prompt from its answer is scored with it

    def variables(self, item: Item) -> Mapping[str, object]:
        """What the templates may use for ``item``."""
        ...

    def choices(self, item: Item) -> tuple[ChoiceText, ...]:
        """Every answer that is scored in choices mode, without any separator."""
        ...

    def solution(self, item: Item) -> str:
        """The right answer, written as the benchmark asks for it; for solved examples.

        Raises:
            DataError: the item has no right answer.
        """
        ...

    def raw_separator(self, language: str) -> str:
        """What stands between a raw prompt and its answer."""
        ...

    def references(self, item: Item, request: Request) -> dict[str, str]:
        """What each reference model says: a text, or in choices mode the key of a choice ("" prefers none)."""
        ...


def make_task(
    bundle: Bundle, form: Form, packs: Mapping[str, LanguagePack], names_in: str | None = None
) -> LabelTask | ChoiceTask | SentenceTask:
    """The task of ``bundle``. ``names_in``: the language in which labels are named, whatever the item's."""
    if bundle.manifest["task"] == "choice":
        return ChoiceTask(bundle, form, packs)
    if bundle.manifest["task"] == "sentence_pair":
        return SentenceTask(bundle, form, packs)
    return LabelTask(bundle, form, packs, names_in)
