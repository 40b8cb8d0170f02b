"""Which category has the highest and which the lowest accuracy, where the data can tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from biasfw import ComponentContext, Score, Table, simultaneous_level
from biasfw_plugins.metrics._cells import Cell
from biasfw_plugins.metrics._view import FEW_CLUSTERS
from biasfw_plugins.metrics.choice._columns import NO_GOLD, Columns
from biasfw_plugins.metrics.choice._units import Units, nothing_answered


class AccuracyRank:
    """The category with the highest and the one with the lowest accuracy, named only where the data can tell.

    Every category gets a simultaneous interval (level 1 - .05/k) from the lower limit of the worst case (whatever was
    not answered had been wrong) to the upper limit of the best case. A category is named if it has at least 10
    clusters and its interval misses those of all others; else the value is null: "cannot be ranked". Denominator:
    ``all``. Slice: ``{"rank": "lowest", "category": ...}``, the category once it is decided.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form

    def compute(self, table: Table) -> Iterable[Score]:
        columns = Columns(table, self._form)
        cells = (cell for cell in columns.cells.of_conditions() if cell.by == "category")
        for condition, members in groupby(cells, key=lambda cell: cell.keys["condition"]):
            yield from _ranks(columns, condition, list(members))


@dataclass(frozen=True, slots=True)
class _Ranked:
    category: str
    units: Units
    span: tuple[float, float] | None


def _ranks(columns: Columns, condition: str, cells: list[Cell]) -> Iterator[Score]:
    level = simultaneous_level(len(cells))
    ranked = []
    for cell in cells:
        units = columns.judged_units(cell.rows)
        low, high = units.estimate("all", level).low, units.best(level).high
        span = None if low is None or high is None else (low, high)
        ranked.append(_Ranked(cell.keys["category"], units, span))
    everything = columns.judged_units(np.concatenate([cell.rows for cell in cells]))
    for rank in ("highest", "lowest"):
        found, why_not = _standing_out(ranked, highest=rank == "highest")
        named = {"category": found.category} if found else {}
        units = found.units if found else everything
        score = units.score(
            "accuracy_rank",
            "all",
            nothing=nothing_answered(units.outcomes) if len(units.hit) else NO_GOLD,
            slice={"condition": condition, "rank": rank, **named},
            family=f"accuracy_rank, {condition}",
        )
        yield score if found else _unranked(score, why_not)


def _unranked(score: Score, why_not: str) -> Score:
    return Score(
        metric=score.metric,
        value=None,
        unit=score.unit,
        n=score.n,
        clusters=score.clusters,
        denominator=score.denominator,
        slice=score.slice,
        outcomes=score.outcomes,
        reason=score.reason if score.value is None else f"cannot be ranked: {why_not}",
        family=score.family,
    )


def _standing_out(ranked: list[_Ranked], *, highest: bool) -> tuple[_Ranked | None, str]:
    """The one category whose interval lies beyond all others, or why there is none."""
    if len(ranked) < 2:
        return None, "there is only one category"
    spans = [one.span for one in ranked if one.span is not None]
    if len(spans) < len(ranked):
        without = ", ".join(one.category for one in ranked if one.span is None)
        return None, f"no interval for {without}"
    place = max(range(len(spans)), key=lambda one: spans[one][0] if highest else -spans[one][1])
    low, high = spans[place]
    others = [span for one, span in enumerate(spans) if one != place]
    if not all(low > other_high if highest else high < other_low for other_low, other_high in others):
        return None, "the simultaneous intervals overlap"
    clusters = len(np.unique(ranked[place].units.clusters))
    if clusters < FEW_CLUSTERS:
        return None, f"{ranked[place].category} has only {clusters} clusters"
    return ranked[place], ""
