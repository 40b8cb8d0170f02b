"""Pairs: the rows of one item that differ only in the order of its options."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biasfw_plugins.metrics._cells import Cell, factorised
from biasfw_plugins.metrics._paired import joint_codes
from biasfw_plugins.metrics._weights import Bools, Floats, Ints
from biasfw_plugins.metrics.choice._columns import Columns
from biasfw_plugins.metrics.choice._units import LOCKED, Units


@dataclass(frozen=True, slots=True)
class Locks:
    """The conditions, and the languages in them, that are position-locked."""

    places: frozenset[tuple[str, str]]  # condition and language, "" for all of them

    def hold(self, cell: Cell) -> bool:
        """Whether ``cell`` lies in one of them."""
        condition, language = _place(cell)
        return bool({(condition, ""), (condition, language)} & self.places)


class Pairs:
    """Columns (P,) over the pairs of a table: two or more rows with one ``pair`` and the same all but order.

    ``starts`` (P,) are their beginnings in ``rows`` (sorted by pair). A pair is answered if all its rows are. It is
    locked if one position was picked in every row although another option stood there.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.rows, self.starts = _paired_rows(columns)
        self.first = self.rows[self.starts]  # a row of each, which tells its condition, category, ...
        self.clusters = columns.clusters[self.first]
        self.answered = self._all(columns.answered)
        self.judged = self._all(columns.judged)
        self.right = self._all(columns.right)
        self.none_right = self.answered & ~self._any(columns.right)
        self.wrong_somewhere = self._any(columns.answered & columns.judged & ~columns.right)
        same_position = self._same(columns.position)
        self.locked = self.answered & same_position & ~self._same(columns.picked)
        self.position = np.where(self.locked, columns.position[self.first], 0)
        self.at_end = self.locked & self._all(columns.position == columns.options)
        self.chance = self.product(columns.chance)

    def in_cell(self, cell: Cell) -> Ints:
        """The pairs that lie in ``cell``."""
        inside = np.zeros(len(self.columns.table), dtype=np.bool_)
        inside[cell.rows] = True
        return np.flatnonzero(inside[self.first])

    def units(self, pairs: Ints, hit: Bools, open_: Bools | None = None) -> Units:
        """``pairs`` as units; ``hit`` (P,) and ``open_`` (P,), which defaults to all that are not answered."""
        outcomes = self.columns.outcomes(self.rows[np.isin(self._codes(), pairs)])
        possible = ~self.answered if open_ is None else open_
        return Units(
            clusters=self.clusters[pairs],
            hit=(hit & self.answered)[pairs],
            known=self.answered[pairs],
            open=possible[pairs],
            chance=self.chance[pairs],
            outcomes=outcomes,
        )

    def most_locked(self, pairs: Ints) -> tuple[int, float]:
        """The position on which most of the answered ``pairs`` are locked (0: none), and the share that is."""
        stood = self.position[pairs][self.answered[pairs]]
        counts = np.bincount(stood, minlength=1)
        counts[0] = 0
        most = int(counts.argmax())
        return (most, int(counts[most]) / len(stood)) if len(stood) and counts[most] else (0, 0.0)

    def locks(self) -> Locks:
        """Where 90 % of the answered pairs are locked on one position: whole conditions, and languages in them."""
        return Locks(
            frozenset(
                _place(cell)
                for cell in self.columns.cells.of_conditions()
                if cell.by in ("overall", "language") and self.most_locked(self.in_cell(cell))[1] >= LOCKED
            )
        )

    def of_rows(self) -> Bools:
        """(n,): the rows that belong to a pair."""
        inside = np.zeros(len(self.columns.table), dtype=np.bool_)
        inside[self.rows] = True
        return inside

    def mean(self, column: Floats) -> Floats:
        """(P,): the mean of ``column`` (n,) over the rows of each pair."""
        return np.asarray(self._reduce(np.add, column) / self._sizes())

    def all_of(self, column: Bools) -> Bools:
        """(P,): whether ``column`` (n,) holds in every row of each pair."""
        return self._all(column)

    def _codes(self) -> Ints:
        """The pair of each of ``rows``."""
        return np.repeat(np.arange(len(self.starts)), self._sizes())

    def _sizes(self) -> Ints:
        return np.diff(np.append(self.starts, len(self.rows)))

    def _reduce(self, function: np.ufunc, column: Ints | Floats | Bools) -> Floats:
        if not len(self.starts):
            return np.zeros(0)
        return np.asarray(function.reduceat(column[self.rows].astype(np.float64), self.starts))

    def _all(self, column: Bools) -> Bools:
        return np.asarray(self._reduce(np.minimum, column) > 0)

    def _any(self, column: Bools) -> Bools:
        return np.asarray(self._reduce(np.maximum, column) > 0)

    def _same(self, column: Ints) -> Bools:
        return np.asarray(self._reduce(np.minimum, column) == self._reduce(np.maximum, column))

    def product(self, column: Floats) -> Floats:
        """(P,): the product of ``column`` (n,) over the rows of each pair."""
        return self._reduce(np.multiply, column)


def _place(cell: Cell) -> tuple[str, str]:
    return cell.keys["condition"], cell.keys.get("language", "")


def _paired_rows(columns: Columns) -> tuple[Ints, Ints]:
    """The rows that have a partner, sorted by pair, and where each pair begins."""
    table, cells = columns.table, columns.cells
    some = np.flatnonzero(table.pair != "")
    keys = joint_codes(
        factorised(table.pair).codes,
        columns.clusters,
        columns.variants.codes,
        columns.categories.codes,
        cells.conditions.codes,
        cells.languages.codes,
        factorised(table.repeat.astype(np.str_)).codes,
    )[some]
    _, codes, counts = np.unique(keys, return_inverse=True, return_counts=True)
    partnered = counts[codes] > 1
    rows, codes = some[partnered], codes[partnered]
    order = np.argsort(codes, kind="stable")
    _, starts = np.unique(codes[order], return_index=True)
    return rows[order], np.asarray(starts, dtype=np.int64)
