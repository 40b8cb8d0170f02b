"""What became of the responses: counts and rates of every outcome, of declining, of the format asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biasfw import ComponentContext, Outcome, Score, Table, proportion_from_cluster_sums
from biasfw_plugins.metrics._cells import Cell, Cells, factorised
from biasfw_plugins.metrics._views import chosen_slots, declined_rows, joint_outcome
from biasfw_plugins.metrics._weights import Bools, Ints

_DECLINES = (Outcome.REFUSED.value, Outcome.ABSTAINED.value)


@dataclass(frozen=True, slots=True)
class _Rates:
    """The outcomes of one slot (or of all together) as codes (n,) into names, and the cells to report on."""

    cells: Cells
    names: tuple[str, ...]
    codes: Ints
    slot: str

    def is_any(self, outcomes: Sequence[str]) -> Bools:
        """(n,): rows with one of ``outcomes``."""
        return np.isin(self.codes, [place for place, name in enumerate(self.names) if name in outcomes])

    def scores(self, metric: str, cell: Cell, chosen: Bools, over: Sequence[str], **fields: Any) -> Iterator[Score]:
        """The rate of ``chosen`` (n,) among the rows of ``cell``, for each denominator in ``over``."""
        failed = self.is_any([Outcome.ERROR.value])
        extra = fields.pop("slice", {})
        for denominator in over:
            rows = cell.rows if denominator == "all" else cell.rows[~failed[cell.rows]]
            sizes = self.cells.counts(rows)
            estimate = proportion_from_cluster_sums(self.cells.counts(rows, chosen), sizes)
            yield Score(
                metric=metric,
                value=estimate.mean,
                unit="share",
                n=estimate.n,
                clusters=estimate.clusters,
                denominator=denominator,
                slice={"slot": self.slot, **cell.keys, **extra},
                reason=None if estimate.n else "every request failed",
                outcomes=self.counted(cell),
                interval=estimate.interval() if estimate.n else None,
                **fields,
            )

    def counted(self, cell: Cell) -> Mapping[str, int]:
        """How often each outcome occurs in ``cell``."""
        found = np.bincount(self.codes[cell.rows], minlength=len(self.names)).tolist()
        return {name: count for name, count in zip(self.names, found, strict=True) if count}


def _of_slots(table: Table, cells: Cells, slots: Sequence[str]) -> Iterator[_Rates]:
    for slot in slots:
        names, codes = joint_outcome([factorised(table.outcomes[slot])])
        yield _Rates(cells, names, codes, slot)


class OutcomeRate:
    """The rate of each outcome in a slot; slice ``{"outcome": "refused"}``; the counts stand in ``outcomes``.

    Denominators ``all`` and ``returned`` (all but errors). ``answered`` is always reported, others where they
    occur.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form
        self._slots = chosen_slots(context, "outcome_rate")

    def compute(self, table: Table) -> Iterable[Score]:
        cells = Cells(table, self._form)
        for rates in _of_slots(table, cells, self._slots):
            masks = {name: rates.is_any([name]) for name in rates.names}
            for cell in cells.of_conditions():
                present = rates.counted(cell)
                for name, mask in masks.items():
                    if name in present or name == Outcome.ANSWERED.value:
                        over = ("all",) if name == Outcome.ERROR.value else ("all", "returned")
                        yield from rates.scores("outcome_rate", cell, mask, over, slice={"outcome": name})


class DeclineRate:
    """The rate of responses that refuse or abstain in a slot, over ``all`` and ``returned`` responses."""

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form
        self._slots = chosen_slots(context, "decline_rate")

    def compute(self, table: Table) -> Iterable[Score]:
        cells = Cells(table, self._form)
        for rates in _of_slots(table, cells, self._slots):
            mask = rates.is_any(_DECLINES) | declined_rows(table, self._form, rates.slot)
            for cell in cells.of_conditions():
                yield from rates.scores("decline_rate", cell, mask, ("all", "returned"))


class FormatCompliance:
    """The rate of responses whose slots can all be read: each is answered, or names an abstention that was offered.

    Over ``all`` and ``returned`` responses. In choices mode nothing is written: null.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form

    def compute(self, table: Table) -> Iterable[Score]:
        cells = Cells(table, self._form)
        slots = [slot.key for slot in self._form.slots]
        names, codes = joint_outcome([factorised(table.outcomes[slot]) for slot in slots])
        rates = _Rates(cells, names, codes, "|".join(slots))
        readable = np.ones(len(table), dtype=np.bool_)
        for slot in slots:
            readable &= (table.outcomes[slot] == Outcome.ANSWERED.value) | declined_rows(table, self._form, slot)
        for cell in cells.of_conditions():
            for score in rates.scores(
                "format_compliance", cell, readable, ("all", "returned"), ideal=1.0, direction="higher"
            ):
                yield score if table.mode == "generate" else _without_format(score)


def _without_format(score: Score) -> Score:
    return replace(score, value=None, interval=None, reason="choices are scored, not written: there is no format")
