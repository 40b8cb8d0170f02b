"""What every metric of task ``choice`` reads from the table: the option picked, where it stood, whether it is right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from biasfw import Form, Outcome, Table
from biasfw_plugins.metrics._cells import Cell, Cells, factorised
from biasfw_plugins.metrics._views import joint_outcome
from biasfw_plugins.metrics._weights import Bools, Floats, Ints, label_codes
from biasfw_plugins.metrics.choice._units import Units, judged_of

SLOT = "choice"
NO_GOLD = "no item here has a right option"


class Columns:
    """Columns (n,) over the rows of a table. A row is answered if it names an option that its item has."""

    def __init__(self, table: Table, form: Form) -> None:
        self.table = table
        self.cells = Cells(table, form)
        self.clusters = self.cells.clusters.codes
        self.shown = table.order > 0  # (n, L)
        self.options = self.shown.sum(axis=1)  # how many
        self.chance = 1 / np.maximum(self.options, 1)
        picked = self._present(table.values[SLOT])
        answered = (table.outcomes[SLOT] == Outcome.ANSWERED.value) & (picked >= 0)
        self.answered = np.asarray(answered, dtype=np.bool_)
        self.picked = np.where(answered, picked, -1)  # place in the labels, -1: none
        self.position = self._position(self.picked)  # 1-based, 0: none
        self.gold = self._present(table.gold)
        self.gold_position = self._position(self.gold)
        self.judged = self.gold >= 0  # there is a right option
        self.right = self.judged & (self.picked == self.gold)
        self.variants = factorised(table.variant)
        self.categories = factorised(table.category, tuple(form.categories))
        self._outcomes = joint_outcome([factorised(table.outcomes[SLOT])])

    def whole_conditions(self) -> Iterator[Cell]:
        """The cells of whole conditions: no categories or languages."""
        return (cell for cell in self.cells.of_conditions() if cell.by == "overall")

    def units(self, rows: Ints, hit: Bools, chance: Floats | None = None) -> Units:
        """``rows`` as units that hit where ``hit`` (n,); ``chance`` (n,) of a hit defaults to 1/k."""
        answered = self.answered[rows]
        return Units(
            clusters=self.clusters[rows],
            hit=hit[rows] & answered,
            known=answered,
            open=~answered,
            chance=(self.chance if chance is None else chance)[rows],
            outcomes=self.outcomes(rows),
        )

    def judged_units(self, rows: Ints) -> Units:
        """Those of ``rows`` whose item has a right option, as units that hit where it is picked."""
        some = rows[self.judged[rows]]
        return replace(self.units(some, self.right), said=judged_of(len(some), len(rows)))

    def outcomes(self, rows: Ints) -> dict[str, int]:
        """How often each outcome occurs in ``rows``."""
        names, codes = self._outcomes
        found = np.bincount(codes[rows], minlength=len(names)).tolist()
        return {name: count for name, count in zip(names, found, strict=True) if count}

    def _present(self, keys: NDArray[np.str_]) -> Ints:
        """(n,): the place of each option key in the labels, -1 where the item has no such option."""
        codes = label_codes(keys, self.table.labels)
        if not self.table.labels:
            return codes
        return np.where(self.shown[np.arange(len(codes)), codes], codes, -1)  # of -1 the last is read, and stays -1

    def _position(self, places: Ints) -> Ints:
        if not self.table.labels:
            return np.zeros(len(places), dtype=np.int64)
        return np.where(places >= 0, self.table.order[np.arange(len(places)), places], 0)
