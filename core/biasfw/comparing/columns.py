"""The responses that two runs have in common, as columns: one row per pair of responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasfw.comparing.measure import Shared
from biasfw.records import Outcome
from biasfw.storedrun import Asked, Record, StoredRun

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Strings = NDArray[np.object_]

_SAYS = frozenset((Outcome.ANSWERED.value, Outcome.ABSTAINED.value))


@dataclass(frozen=True)
class Side:
    """What one of the runs answered: slot -> (n,) outcome, and (n,) key of the label or option, "" for none.

    ``position`` (n,): where the option that was picked stood, from 1; 0 where none was, or there is no order.
    """

    outcomes: Mapping[str, Strings]
    values: Mapping[str, Strings]
    position: Ints

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
    target: Strings  # the option that the share counts: the right one, or the one with ``role``; "" where there is none
    role: str  # "" where the share is that of right options
    pair: Ints  # rows with the same number differ only in the order of their options; -1: alone
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
    role = role_of(a)
    return Columns(
        items=tuple(x.item for x in shared.a),
        repeats=tuple(x.repeat for x in shared.a),
        cluster=_column(items, "cluster"),
        condition=_column(items, "condition"),
        category=_column(items, "category"),
        language=_column(items, "language"),
        gold=_column(items, "gold"),
        target=_column(items, "gold") if not role else _having(items, role),
        role=role,
        pair=_pairs(items, [x.repeat for x in shared.a]),
        a=_side(shared.a, items, a.slots(judges[0]), slots),
        b=_side(shared.b, items, b.slots(judges[1]), slots),
    )


def role_of(run: StoredRun) -> str:
    """The role of the options whose share is the primary score of the run's benchmark; "" where it is another score."""
    primary = run.bundle.manifest["primary"]
    if primary["metric"] != "choice_share":
        return ""
    return str(primary.get("slice", {}).get("role", "stereotyped"))


def slots_of(run: StoredRun) -> tuple[str, ...]:
    """The slots of an answer to the run's benchmark."""
    if run.bundle.manifest["task"] != "labels":
        return ("choice",)
    return tuple(slot["key"] for slot in run.bundle.manifest["slots"])


def _column(items: Sequence[Record], name: str) -> Strings:
    return np.array([item.get(name) or "" for item in items], dtype=object)


def _having(items: Sequence[Record], role: str) -> Strings:
    """The key of the option with ``role`` in each of ``items``."""
    return np.array(
        [next((each["key"] for each in item.get("choices", ()) if each.get("role") == role), "") for item in items],
        dtype=object,
    )


_ALIKE = ("pair", "cluster", "variant", "category", "condition", "language")


def _pairs(items: Sequence[Record], repeats: Iterable[int]) -> Ints:
    known: dict[tuple[object, ...], int] = {}
    return np.array(
        [
            known.setdefault((*(item.get(name) for name in _ALIKE), repeat), len(known)) if item.get("pair") else -1
            for item, repeat in zip(items, repeats, strict=True)
        ],
        dtype=np.int64,
    )


def _side(
    asked: Sequence[Asked], items: Sequence[Record], judgements: Mapping[str, Record], slots: Sequence[str]
) -> Side:
    outcomes: dict[str, list[str]] = {slot: [] for slot in slots}
    values: dict[str, list[str]] = {slot: [] for slot in slots}
    for request in asked:
        judged = judgements.get(request.key, {})
        for slot in slots:
            reading = judged.get(slot, {})
            outcome = reading.get("outcome", Outcome.ERROR.value)
            outcomes[slot].append(outcome)
            values[slot].append((reading.get("value") or "") if outcome in _SAYS else "")
    orders = (item.get("order", ()) for item in items)
    position = [
        order.index(value) + 1 if value in order else 0 for order, value in zip(orders, values[slots[0]], strict=True)
    ]
    return Side(
        {slot: np.array(column, dtype=object) for slot, column in outcomes.items()},
        {slot: np.array(column, dtype=object) for slot, column in values.items()},
        np.array(position, dtype=np.int64),
    )
