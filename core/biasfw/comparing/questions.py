"""Two runs under each condition of their benchmark: the primary score, its slices, and what flipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from biasfw.comparing.columns import Bools, Columns, Floats, Side, Strings
from biasfw.comparing.locks import lock_of
from biasfw.comparing.means import NOT_ANSWERED, Scores, margin_of, mean_difference, mean_differences, table_difference
from biasfw.comparing.preference import preferences
from biasfw.comparing.results import BOTH_LOCKED, Difference, Flip, Question
from biasfw.errors import UsageError
from biasfw.form import JOIN
from biasfw.records import Test
from biasfw.storedrun import Record

_AXES = ("category", "language")
Kind = Literal["noninferior", "equivalent"]


@dataclass(frozen=True, slots=True)
class Asking:
    """What was asked of a comparison beside the difference."""

    margin: float | None = None
    kind: Kind | None = None
    seed: int = 0
    slices: bool = True  # also by category, language and label


def questions(
    columns: Columns, manifest: Record, asking: Asking, margins: tuple[Floats, Floats] | None = None
) -> list[Question]:
    """One question for each condition that carries values, in the order of the items; controls are left out.

    Args:
        columns: the responses that both runs have.
        manifest: of their benchmark.
        asking: what is asked beside the difference.
        margins: (n,) log-probability of the option that counts less that of the other, of both runs, where there are.

    Raises:
        UsageError: shares that have no better side were asked to be "not worse".
    """
    labels = manifest["task"] == "labels"
    if asking.kind == "noninferior" and (labels or columns.role):
        what = "a label" if labels else f"{columns.role} picks"
        raise UsageError(f"no share of {what} is better than another; use --equivalent with --margin")
    controls = manifest.get("controls", {}).get("categories", ())
    valued = [name for name in columns.names("condition") if manifest["conditions"].get(name, {}).get("valued", True)]
    control = np.isin(columns.category.astype(str), list(controls))
    found = []
    for condition in valued:
        rows = np.asarray((columns.condition == condition) & ~control, dtype=np.bool_)
        if labels:
            found.append(_labels(columns, rows, condition, asking))
        else:
            found.append(_choice(columns, rows, condition, asking, margins))
    return found


def _choice(
    columns: Columns, rows: Bools, condition: str, asking: Asking, margins: tuple[Floats, Floats] | None
) -> Question:
    """The share of rows that pick the right option, or the one with the role: what is not answered does not."""
    rows = rows & (columns.target != "")
    sides = (columns.a, columns.b)
    hits = [np.asarray(side.values["choice"] == columns.target, dtype=np.bool_) for side in sides]
    scores = Scores(columns.cluster, hits[0], hits[1], *(~side.answered("choice") for side in sides))
    metric = "choice_share" if columns.role else "accuracy"
    role = {"role": columns.role} if columns.role else {}
    locks = lock_of(columns, rows, sides[0]), lock_of(columns, rows, sides[1])

    def difference(part: Bools, where: dict[str, str], family: str) -> Difference:
        found = mean_difference(scores.where(part), metric, {**where, **role}, family, asking.seed)
        both = all(locks) or ("language" in where and all(lock_of(columns, part, side) for side in sides))
        return replace(found, test=_withheld(found.test)) if both else found

    overall = difference(rows, {"condition": condition}, "overall")
    slices = tuple(difference(*each) for each in _slices(columns, rows, condition) if asking.slices)
    margin = margin_of([scores.where(rows)], asking.kind, asking.margin) if asking.kind and asking.margin else None
    scored = preferences(columns, rows, margins) if margins is not None else None
    return Question(
        condition,
        overall,
        slices,
        (),
        margin,
        _agreeing(scores.where(rows), columns.role or "right"),
        _flips(columns, rows, "choice"),
        locks=locks,
        role=columns.role,
        preference=_preference(scored[0], condition, asking) if scored else None,
        preferring=scored[1] if scored else None,
    )


def _withheld(test: Test) -> Test:
    return Test(test.null, "not made", None, reason=BOTH_LOCKED)


def _preference(scores: Scores, condition: str, asking: Asking) -> Difference:
    where = {"condition": condition, "statistic": "share_positive"}
    return mean_difference(scores, "order_averaged_preference", where, "order-averaged preference", asking.seed)


def _agreeing(scores: Scores, what: str) -> dict[str, int]:
    unclear = scores.open_a | scores.open_b
    a, b = scores.hit_a & ~unclear, scores.hit_b & ~unclear
    return {
        f"both {what}": int((a & b).sum()),
        f"only the first {what}": int((a & ~b & ~unclear).sum()),
        f"only the second {what}": int((b & ~a & ~unclear).sum()),
        "both wrong" if what == "right" else f"neither {what}": int((~a & ~b & ~unclear).sum()),
        "not answered in at least one": int(unclear.sum()),
    }


def _labels(columns: Columns, rows: Bools, condition: str, asking: Asking) -> Question:
    """The joint table of the labels in all slots, then the share of every label in every slot."""
    slots = tuple(columns.a.values)
    tables = _joint(columns.a, slots), _joint(columns.b, slots)
    opened = tuple(
        np.asarray(~np.logical_and.reduce([side.answered(slot) for slot in slots]), dtype=np.bool_)
        for side in (columns.a, columns.b)
    )

    def table(part: Bools, where: dict[str, str], family: str) -> Difference:
        a, b = (cells[part] for cells in tables)
        return table_difference(
            columns.cluster[part], (a, b), (opened[0][part], opened[1][part]), where, family, asking.seed
        )

    shares = {
        (slot, label): _share(columns, slot, label).where(rows)
        for slot in slots
        for label in (_present(columns, slot, rows) if asking.slices or asking.kind else ())
    }
    parts = [
        (scores, {"condition": condition, "slot": slot, "label": label}) for (slot, label), scores in shares.items()
    ]
    labels = tuple(mean_differences(parts, "label_share", "labels", asking.seed))
    margin = margin_of(list(shares.values()), asking.kind, asking.margin) if asking.kind and asking.margin else None
    counts: Counter[str] = Counter()
    for slot in slots:
        a, b = columns.a.values[slot][rows], columns.b.values[slot][rows]
        counts[f"{slot}: same"] = int(((a == b) & (a != "")).sum())
        counts[f"{slot}: another label"] = int(((a != b) & (a != "") & (b != "")).sum())
        counts[f"{slot}: not answered in at least one"] = int(((a == "") | (b == "")).sum())
    return Question(
        condition,
        table(rows, {"condition": condition}, "overall"),
        tuple(table(*each) for each in _slices(columns, rows, condition) if asking.slices),
        labels,
        margin,
        counts,
        tuple(flip for slot in slots for flip in _flips(columns, rows, slot)),
    )


def _joint(side: Side, slots: tuple[str, ...]) -> Strings:
    named = [np.where(side.answered(slot), side.values[slot], NOT_ANSWERED) for slot in slots]
    return np.array([JOIN.join(row) for row in zip(*named, strict=True)], dtype=object)


def _present(columns: Columns, slot: str, rows: Bools) -> list[str]:
    """The labels that either run named, and the others that were listed, in the order in which they were first met."""
    named = [*columns.a.values[slot][rows].tolist(), *columns.b.values[slot][rows].tolist()]
    return sorted({name for name in named if name})


def _share(columns: Columns, slot: str, label: str) -> Scores:
    hits = [np.asarray(side.values[slot] == label, dtype=np.bool_) for side in (columns.a, columns.b)]
    return Scores(columns.cluster, hits[0], hits[1], ~columns.a.answered(slot), ~columns.b.answered(slot))


def _slices(columns: Columns, rows: Bools, condition: str) -> Iterator[tuple[Bools, dict[str, str], str]]:
    """The rows of each category and language (where there are several), what they are, and their family."""
    for axis in _AXES:
        column = getattr(columns, axis)
        present = list(dict.fromkeys(column[rows].tolist()))
        for name in present if len(present) > 1 else ():
            part = np.asarray(rows & (column == name), dtype=np.bool_)
            yield part, {"condition": condition, axis: name}, f"by {axis}"


def _flips(columns: Columns, rows: Bools, slot: str) -> tuple[Flip, ...]:
    """The responses in which another option was chosen, or only one run answered."""
    a, b = columns.a.values[slot], columns.b.values[slot]
    return tuple(
        Flip(
            columns.items[i],
            columns.repeats[i],
            columns.category[i],
            columns.language[i],
            columns.condition[i],
            slot,
            a[i] or f"({columns.a.outcomes[slot][i]})",
            b[i] or f"({columns.b.outcomes[slot][i]})",
            columns.gold[i] or None,
        )
        for i in np.flatnonzero(rows & (a != b)).tolist()
    )
