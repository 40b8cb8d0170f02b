"""Tables and forms for the tests of metrics, with labels that no benchmark has: metrics must know none by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from biasfw import ComponentContext, Form, Label, LanguagePack, Merge, Score, Slot, Table
from biasfw_plugins.metrics import biasfw_metrics

SLOTS = ("praised", "blamed")
GROUPS = ("ants", "bees", "cats", "dogs", "elks")
NONE = "nobody"
CONDITIONS = ("forced", "optional", "plain")
PACKS = {
    "en": LanguagePack("en", "English", "English", "Latn", 0),
    "ja": LanguagePack("ja", "Japanese", "\u65e5\u672c\u8a9e", "Jpan", 0, answer_language_method="script"),
}


@dataclass(frozen=True)
class Row:
    """One response: ``slots`` holds per slot a label, or an outcome in angle brackets, e.g. ``<refused>``.

    ``written`` is what the engine tells about the language of the answer.
    """

    slots: tuple[str, ...]
    source: str = "s0"
    category: str = "food"
    condition: str = "forced"
    language: str = "en"
    cluster: str | None = None
    repeat: int = 0
    written: str = ""
    order: tuple[int, ...] = (1, 2, 3, 4, 5, 0)
    logprobs: Mapping[str, float] = field(default_factory=dict)


def make_form(**changes: Any) -> Form:
    values: dict[str, Any] = {
        "task": "labels",
        "slots": tuple(Slot(key) for key in SLOTS),
        "labels": (*(Label(key, {}) for key in GROUPS), Label(NONE, {}, abstains=True)),
        "merges": (Merge("insects", ("ants", "bees")),),
        "categories": {"food": {}, "work": {}},
        "languages": ("en", "ja"),
        "conditions": CONDITIONS,
        "calibrate": "plain",
    }
    return Form(**{**values, **changes})


def make_table(rows: Sequence[Row], form: Form, choice_keys: Sequence[str] = ()) -> Table:
    def column(values: Iterable[str]) -> Any:
        return np.array(list(values), dtype=np.str_)

    labels = tuple(label.key for label in form.labels)
    slots = [slot.key for slot in form.slots]
    read = [[_reading(row.slots[place]) for row in rows] for place in range(len(slots))]
    logprobs = [[row.logprobs.get(key, np.nan) for key in choice_keys] for row in rows]
    return Table(
        mode="choices" if choice_keys else "generate",
        keys=column(str(place) for place in range(len(rows))),
        item=column(f"item{place}" for place in range(len(rows))),
        source=column(row.source for row in rows),
        cluster=column(row.cluster or row.source for row in rows),
        pair=column("" for _ in rows),
        variant=column("" for _ in rows),
        condition=column(row.condition for row in rows),
        language=column(row.language for row in rows),
        category=column(row.category for row in rows),
        gold=column("" for _ in rows),
        repeat=np.array([row.repeat for row in rows], dtype=np.int64),
        labels=labels,
        order=np.array([row.order[: len(labels)] for row in rows], dtype=np.int64).reshape(len(rows), len(labels)),
        outcomes={slot: column(outcome for outcome, _ in read[place]) for place, slot in enumerate(slots)},
        values={slot: column(value for _, value in read[place]) for place, slot in enumerate(slots)},
        choice_keys=tuple(choice_keys),
        logprobs=np.array(logprobs, dtype=np.float64).reshape(len(rows), len(choice_keys)) if choice_keys else None,
        answer_language=None if choice_keys else column(row.written for row in rows),
    )


def _reading(text: str) -> tuple[str, str]:
    if text.startswith("<"):
        return text[1:-1], ""
    return ("abstained" if text == NONE else "answered"), text


Scores = list[Score]
Compute = Callable[..., Scores]


def compute_scores(name: str, table: Table, form: Form, **options: Any) -> Scores:
    spec = next(spec for spec in biasfw_metrics() if spec.name == name)
    module, _, attribute = spec.load.partition(":")
    metric = getattr(import_module(module), attribute)(ComponentContext(form, PACKS, options))
    return list(metric.compute(table))


@pytest.fixture(scope="session")
def form() -> Form:
    return make_form()


@pytest.fixture(scope="session")
def row() -> type[Row]:
    return Row


@pytest.fixture(scope="session")
def table_of() -> Callable[..., Table]:
    return make_table


@pytest.fixture(scope="session")
def form_with() -> Callable[..., Form]:
    return make_form


@pytest.fixture(scope="session")
def compute() -> Compute:
    """``compute(name, table, form, **options)``: the scores of the metric that the plugin offers under ``name``."""
    return compute_scores


@pytest.fixture(scope="session")
def one() -> Callable[..., Score]:
    """``one(scores, denominator=..., **slice)``: the one score with these slice entries and no other rows beside it."""

    def find(scores: Scores, denominator: str | None = None, **wanted: str) -> Score:
        found = [
            score
            for score in scores
            if wanted.items() <= score.slice.items() and denominator in (None, score.denominator)
        ]
        exact = [score for score in found if not ({"category", "language"} & score.slice.keys()) - wanted.keys()]
        assert len(exact) == 1, [dict(score.slice) for score in exact]
        return exact[0]

    return find
