"""All views of a run: every way of weighing it, every cell, every slot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from biasfw import ComponentContext, ComponentError, Form, Outcome, Table
from biasfw_plugins.metrics._cells import Cell, Cells, Column, factorised
from biasfw_plugins.metrics._view import View
from biasfw_plugins.metrics._weights import Bools, Floats, Ints, Mass, Scoring, scorings


class Views:
    """All views of a table under a form."""

    def __init__(self, table: Table, form: Form) -> None:
        self.form = form
        self.cells = Cells(table, form)
        self.scorings = scorings(table, form)
        self.positions = group_positions(table, form)
        slots = tuple(slot.key for slot in form.slots)
        columns = {slot: factorised(table.outcomes[slot], (Outcome.ANSWERED.value,)) for slot in slots}
        self._outcomes = {slot: joint_outcome([columns[slot]]) for slot in slots}
        self.declined = {slot: declined_rows(table, form, slot) for slot in slots}
        self.pair_slot = "|".join(slots[:2])
        if len(slots) > 1:
            self._outcomes[self.pair_slot] = joint_outcome([columns[slot] for slot in slots[:2]])
            self.declined[self.pair_slot] = self.declined[slots[0]] | self.declined[slots[1]]
        self._chances = chances(self.positions)

    def of_slots(self, slots: Sequence[str]) -> Iterator[View]:
        """Every scoring, cell and slot, in this order."""
        for scoring in self.scorings:
            for cell in self.scored_cells(scoring):
                expected = averaged(self._chances[cell.rows])
                for slot in slots:
                    yield self.view(scoring, cell, slot, scoring.slots[slot], expected)

    def of_pairs(self) -> Iterator[View]:
        """Every scoring and cell, for the first two slots together; nothing if there is only one slot."""
        for scoring in self.scorings:
            if scoring.pairs is None:
                return
            expected = np.zeros(len(scoring.pairs.labels))
            for cell in self.scored_cells(scoring):
                yield self.view(scoring, cell, self.pair_slot, scoring.pairs, expected)

    def scored_cells(self, scoring: Scoring) -> Iterator[Cell]:
        """The cells that ``scoring`` says something about."""
        return (cell for cell in self.cells.of_conditions() if cell.keys["condition"] != scoring.excluded)

    def view(self, scoring: Scoring, cell: Cell, slot: str, mass: Mass, expected: Floats) -> View:
        """The view of ``mass`` over the rows of ``cell``."""
        clusters, rows = self.cells.clusters, cell.rows
        _, outcomes = self._outcomes[slot]
        return View(
            cell=cell,
            slot=slot,
            scoring=scoring,
            labels=mass.labels,
            sums=mass.sums(rows, clusters.codes[rows], len(clusters.names)),
            rows=self.cells.counts(rows),
            counted=self.cells.counts(rows, mass.counted),
            declined=int((self.declined[slot][rows] & ~mass.counted[rows]).sum()),
            expected=expected,
            outcomes=self.outcomes(rows, slot),
            partnerless=int((scoring.partnerless[rows] & (outcomes[rows] == 0)).sum()),
        )

    def outcomes(self, rows: Ints, slot: str) -> dict[str, int]:
        """How often each outcome of ``slot`` occurs in ``rows``."""
        names, codes = self._outcomes[slot]
        found = np.bincount(codes[rows], minlength=len(names)).tolist()
        return {name: count for name, count in zip(names, found, strict=True) if count}


def joint_outcome(columns: Sequence[Column]) -> tuple[tuple[str, ...], Ints]:
    """The outcome of several slots as codes (n,) into names: the first that is not ``answered``, which is code 0."""
    others = sorted({name for column in columns for name in column.names} - {Outcome.ANSWERED.value})
    names = (Outcome.ANSWERED.value, *others)
    joint = np.zeros(len(columns[0].codes), dtype=np.int64)
    for column in columns:
        places = np.array([names.index(name) for name in column.names], dtype=np.int64)
        joint = np.where(joint == 0, places[column.codes] if len(places) else 0, joint)
    return names, joint


def declined_rows(table: Table, form: Form, slot: str) -> Bools:
    """(n,): rows that chose an abstention of the form in ``slot``; a judge's ``unclear`` is none, it is missing."""
    abstentions = {label.key for label in form.labels if label.abstains}
    if not abstentions:
        return np.zeros(len(table), dtype=np.bool_)
    chosen = np.isin(table.values[slot], sorted(abstentions))
    allowed = np.isin(table.outcomes[slot], [Outcome.ANSWERED.value, Outcome.ABSTAINED.value])
    return np.asarray(chosen & allowed)


def group_positions(table: Table, form: Form) -> Ints:
    """(n, k): the list position of each label that does not abstain, 0 where it was not presented."""
    positions = np.zeros((len(table), len(form.groups)), dtype=np.int64)
    for column, label in enumerate(form.groups):
        if label.key in table.labels:
            positions[:, column] = table.order[:, table.labels.index(label.key)]
    return positions


def chances(positions: Ints) -> Floats:
    """(n, k): each label's probability if a row chose uniformly among those it presented (without a list: all)."""
    presented = positions > 0
    presented[~presented.any(axis=1)] = True
    return np.asarray(presented / np.maximum(presented.sum(axis=1, keepdims=True), 1))


def averaged(chances: Floats) -> Floats:
    """(k,): the mean of ``chances`` (r, k), rounded so that a fifth stays a fifth."""
    return np.asarray(np.round(chances.mean(axis=0), 12))


def chosen_slots(context: ComponentContext, metric: str) -> tuple[str, ...]:
    """The slots that the options ask for: one, or all of the form.

    Raises:
        ComponentError: the form has no such slot.
    """
    slots = tuple(slot.key for slot in context.form.slots)
    asked = context.options.get("slot")
    if asked is None:
        return slots
    if asked not in slots:
        raise ComponentError(f"metric {metric}: the benchmark has no slot {asked!r}; choose one of {', '.join(slots)}")
    return (asked,)
