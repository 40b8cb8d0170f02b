"""The cells that scores are about: the rows of one condition, overall and by category and language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasfw import Form, Table
from biasfw_plugins.metrics._weights import Bools, Ints


@dataclass(frozen=True, slots=True)
class Column:
    """A column as codes (n,) into ``names``."""

    names: tuple[str, ...]
    codes: Ints


@dataclass(frozen=True, slots=True)
class Cell:
    """``rows`` that share ``keys`` (the slice of a score); ``by`` names the kind of cell, e.g. ``category``."""

    by: str
    keys: Mapping[str, str]
    rows: Ints


class Cells:
    """The cells of a table, with its clusters as codes."""

    def __init__(self, table: Table, form: Form) -> None:
        self.clusters = factorised(table.cluster)
        self.conditions = factorised(table.condition, form.conditions)
        self._categories = factorised(table.category, tuple(form.categories))
        self.languages = factorised(table.language, form.languages)

    def within(self, rows: Ints) -> Iterator[Cell]:
        """Of ``rows``: all of them, then by category, and with several languages by language and by both."""
        yield Cell("overall", {}, rows)
        axes: list[dict[str, Column]] = [{"category": self._categories}]
        if len(self.languages.names) > 1:
            axes += [{"language": self.languages}, {"category": self._categories, "language": self.languages}]
        for axis in axes:
            yield from _by(axis, rows)

    def of_conditions(self) -> Iterator[Cell]:
        """The cells of every condition; their keys begin with it."""
        for code, condition in enumerate(self.conditions.names):
            for cell in self.within(np.flatnonzero(self.conditions.codes == code)):
                yield Cell(cell.by, {"condition": condition, **cell.keys}, cell.rows)

    def counts(self, rows: Ints, chosen: Bools | None = None) -> Ints:
        """(C,): how many of ``rows`` (those ``chosen`` (n,), if given) lie in each cluster."""
        some = rows if chosen is None else rows[chosen[rows]]
        return np.asarray(np.bincount(self.clusters.codes[some], minlength=len(self.clusters.names)), dtype=np.int64)


def factorised(column: NDArray[np.str_], declared: Sequence[str] = ()) -> Column:
    """``column`` as codes; names in the order of ``declared``, the others sorted behind; only names that occur."""
    values = column.tolist()
    present = set(values)
    names = [name for name in dict.fromkeys(declared) if name in present]
    names += sorted(present.difference(names))
    places = {name: place for place, name in enumerate(names)}
    return Column(tuple(names), np.array([places[value] for value in values], dtype=np.int64))


def _by(axis: Mapping[str, Column], rows: Ints) -> Iterator[Cell]:
    codes = np.zeros(len(rows), dtype=np.int64)
    for column in axis.values():
        codes = codes * len(column.names) + column.codes[rows]
    for code in np.unique(codes):
        some = rows[codes == code]
        names = {key: column.names[int(column.codes[some[0]])] for key, column in axis.items()}
        if all(names.values()):
            yield Cell(" and ".join(axis), names, some)
