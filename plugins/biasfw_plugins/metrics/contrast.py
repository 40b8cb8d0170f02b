"""One condition against another: what the difference between two prompts does to the shares of labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from biasfw import ComponentContext, ComponentError, Score, Table
from biasfw_plugins.metrics._cells import Cell, factorised
from biasfw_plugins.metrics._paired import Differences, Pairs, by_family, filled, flipped, joint_codes
from biasfw_plugins.metrics._view import DENOMINATORS, Denominator
from biasfw_plugins.metrics._views import Views, chosen_slots

_NULL = "no difference between the conditions"
_UNPAIRED = "no source was answered under both conditions"
_SILENT = "one condition names no label"


class ConditionContrast:
    """The share of each label under one condition minus that under another, paired by source and language.

    Clustered t interval, sign-flip test over clusters, Holm over the slots, labels and cells of a family. Denominators
    ``all`` and ``answered``, both with bounds (``_paired`` says how). Choices mode: raw shares. Default: the first
    condition of the benchmark against the one that calibrates; without both there is no score.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = form = context.form
        self._slots = chosen_slots(context, "condition_contrast")
        self._one = _known(context, "condition", form.conditions[0] if form.conditions else None)
        self._other = _known(context, "against", form.calibrate)

    def compute(self, table: Table) -> Iterable[Score]:
        present = set(table.condition.tolist())
        if self._one is None or self._other is None or self._one == self._other:
            return
        if not {self._one, self._other} <= present:
            return
        yield from by_family(self._scores(table, Views(table, self._form)))

    def _scores(self, table: Table, views: Views) -> Iterator[Score]:
        scoring = views.scorings[0]
        keys = joint_codes(factorised(table.source).codes, factorised(table.language).codes)
        first = table.condition == self._one
        for cell in views.cells.within(np.flatnonzero(first | (table.condition == self._other))):
            sides = cell.rows[first[cell.rows]], cell.rows[~first[cell.rows]]
            pairs = Pairs.of(*sides, keys, views.cells.clusters.codes)
            asked = [(denominator, slot) for denominator in DENOMINATORS for slot in self._slots]
            found = [Differences.of(scoring.slots[slot], views.declined[slot], pairs, over) for over, slot in asked]
            for (over, slot), differences, tests in zip(asked, found, flipped(found, _NULL), strict=True):
                base = self._base(views, cell, slot, over, differences)
                yield from filled(base, differences, tests, unpaired=_UNPAIRED, silent=_SILENT)

    def _base(self, views: Views, cell: Cell, slot: str, over: Denominator, found: Differences) -> Score:
        scoring = views.scorings[0].name
        kind = cell.by if cell.by == "overall" else f"by {cell.by}"
        conditions = {"condition": str(self._one), "against": str(self._other)}
        return Score(
            metric="condition_contrast",
            value=None,
            unit="share",
            n=found.pairs,
            clusters=len(found.clusters),
            denominator=over,
            slice={"slot": slot, **conditions, **cell.keys, **({"scoring": scoring} if scoring else {})},
            outcomes=views.outcomes(cell.rows, slot),
            ideal=0.0,
            direction="toward-ideal",
            family=f"condition_contrast, {self._one} - {self._other}, {kind}, {over}",
        )


def _known(context: ComponentContext, option: str, default: str | None) -> str | None:
    """The condition that an option names.

    Raises:
        ComponentError: the benchmark has no such condition.
    """
    asked = context.options.get(option)
    if asked is None:
        return default
    conditions = context.form.conditions
    if asked not in conditions:
        raise ComponentError(
            f"metric condition_contrast: there is no condition {asked!r}; choose one of {', '.join(conditions)}"
        )
    return str(asked)
