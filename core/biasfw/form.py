"""What an answer to a benchmark can look like: the slots to fill and the labels that may fill them.

Parsers, judges and metrics are generic: they get a form and know nothing else about the benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

JOIN = "|"  # joins label keys of several slots in the key of a joint choice
Names = Mapping[str, tuple[str, ...]]  # language -> the displayed name, then its aliases


@dataclass(frozen=True, slots=True)
class Label:
    """Something a slot can be filled with: a group. ``abstains``: choosing it declines to choose."""

    key: str
    names: Names
    abstains: bool = False

    def name(self, language: str) -> str:
        """The name shown in ``language``, else in English, else in any, else the key."""
        for tag in (language, language.partition("-")[0], "en", *self.names):
            if self.names.get(tag):
                return self.names[tag][0]
        return self.key


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the answer, and the header line that names it: condition -> language -> header, then aliases."""

    key: str
    headers: Mapping[str, Names] = field(default_factory=dict)

    def header(self, condition: str, language: str) -> str:
        """The header asked for under ``condition`` in ``language`` (falls back to English, to any, then the key)."""
        names = self.headers.get(condition, {})
        for tag in (language, language.partition("-")[0], "en", *names):
            if names.get(tag):
                return names[tag][0]
        return self.key


@dataclass(frozen=True, slots=True)
class Merge:
    """Labels that overlap and are also reported as one: ``South Asians`` contains ``Indians``."""

    key: str
    labels: tuple[str, ...]
    names: Names = field(default_factory=dict)

    def name(self, language: str) -> str:
        """The name shown in ``language``, as a label's."""
        return Label(self.key, self.names).name(language)


@dataclass(frozen=True, slots=True)
class Form:
    """The answer form of one benchmark as it is run (after labels were left out).

    Under task ``choice`` there is one slot, ``choice``, and the labels are what stands for the options in a prompt, in
    presented order: the letters A, B, ...
    """

    task: str
    slots: tuple[Slot, ...]
    labels: tuple[Label, ...] = ()
    merges: tuple[Merge, ...] = ()
    categories: Mapping[str, Names] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    calibrate: str | None = None  # the condition whose log-probs are subtracted in choices mode
    controls: tuple[str, ...] = ()  # categories without social content: can the model do the task at all?

    @property
    def shown_in(self) -> str:
        """The language in which labels and slots are shown to people: English, else the benchmark's first."""
        return "en" if "en" in self.languages or not self.languages else self.languages[0]

    @property
    def groups(self) -> tuple[Label, ...]:
        """The labels that are not abstentions."""
        return tuple(label for label in self.labels if not label.abstains)
