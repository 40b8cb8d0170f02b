"""The responses that two runs have in common, as columns: one row per pair of responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasfw.comparing.measure import Shared
from biasfw.records import Outcome
from biasfw.storedrun import Asked, Record, StoredRun

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Strings = NDArray[np.object_]

_SAYS = frozenset((Outcome.ANSWERED.value, Outcome.ABSTAINED.value))


@dataclass(frozen=True)
class Side:
    """What one of the runs answered: slot -> (n,) outcome, and (n,) key of the label or option, "" for none."""

    outcomes: Mapping[str, Strings]
    values: Mapping[str, Strings]

    def answered(self, slot: str) -> Bools:
        """(n,): the slot is filled; declining to choose, where that is offered, is an answer."""
        return np.asarray(self.values[slot] != "", dtype=np.bool_)


@dataclass(frozen=True)
class Columns:
    """Pairs of responses to the same request, in the order of the first run."""

    items: tuple[str, ...]
    repeats: tuple[int, ...]
    cluster: Strings
    condition: Strings
    category: Strings
    language: Strings
    gold: Strings  # "" where there is none
    a: Side
    b: Side

    def __len__(self) -> int:
        return len(self.items)

    def names(self, column: str) -> list[str]:
        """The values of a column, in the order in which they first occur."""
        return list(dict.fromkeys(getattr(self, column).tolist()))


def columns(a: StoredRun, b: StoredRun, shared: Shared, judges: tuple[str, str]) -> Columns:
    """The columns of what two runs share, as one judge (or, by force, one judge each) read it."""
    items = [a.items[x.item] for x in shared.a]
    slots = slots_of(a)
    return Columns(
        items=tuple(x.item for x in shared.a),
        repeats=tuple(x.repeat for x in shared.a),
        cluster=_column(items, "cluster"),
        condition=_column(items, "condition"),
        category=_column(items, "category"),
        language=_column(items, "language"),
        gold=_column(items, "gold"),
        a=_side(shared.a, a.slots(judges[0]), slots),
        b=_side(shared.b, b.slots(judges[1]), slots),
    )


def slots_of(run: StoredRun) -> tuple[str, ...]:
    """The slots of an answer to the run's benchmark."""
    if run.bundle.manifest["task"] != "labels":
        return ("choice",)
    return tuple(slot["key"] for slot in run.bundle.manifest["slots"])


def _column(items: Sequence[Record], name: str) -> Strings:
    return np.array([item.get(name) or "" for item in items], dtype=object)


def _side(asked: Sequence[Asked], judgements: Mapping[str, Record], slots: Sequence[str]) -> Side:
    outcomes: dict[str, list[str]] = {slot: [] for slot in slots}
    values: dict[str, list[str]] = {slot: [] for slot in slots}
    for request in asked:
        judged = judgements.get(request.key, {})
        for slot in slots:
            reading = judged.get(slot, {})
            outcome = reading.get("outcome", Outcome.ERROR.value)
            outcomes[slot].append(outcome)
            values[slot].append((reading.get("value") or "") if outcome in _SAYS else "")
    return Side(
        {slot: np.array(column, dtype=object) for slot, column in outcomes.items()},
        {slot: np.array(column, dtype=object) for slot, column in values.items()},
    )
