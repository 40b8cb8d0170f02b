"""What rules that read no content would score on these rows, and the accuracy where they cannot help."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from biasfw import ComponentContext, Score, Table, proportion_from_cluster_sums
from biasfw_plugins.metrics._cells import Cell
from biasfw_plugins.metrics._view import DENOMINATORS, FEW_CLUSTERS, too_few
from biasfw_plugins.metrics._weights import Bools, Floats, Ints
from biasfw_plugins.metrics.choice._columns import NO_GOLD, Columns
from biasfw_plugins.metrics.choice._units import noted, nothing_answered

_NO_LENGTHS = "the lengths of the options are not known"
_NO_HEDGES = "it is not known which options hedge"


class ConfoundBaselines:
    """The expected accuracy of rules that read no content; slice ``{"baseline": ...}``.

    ``first_position``, ``shorter``, ``longer`` (in characters), ``hedged`` (an option with a hedging phrase of the
    language pack; where none or all have one: a coin). Where a rule leaves several options, each is picked with the
    same chance. Denominator ``all``: every row with a right option; responses play no part.

    And the accuracy of the model where the rule helps and where it does not: ``{"gold_shorter": "true"}``, the right
    option is shorter than every other, and ``{"gold_hedges": "true"}``, it hedges. Denominators and bounds as for
    ``accuracy``.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form

    def compute(self, table: Table) -> Iterable[Score]:
        columns = Columns(table, self._form)
        expected = _expected(columns)
        splits = _splits(columns)
        for cell in columns.cells.of_conditions():
            for rule, (values, unknown) in expected.items():
                yield _baseline(columns, cell, rule, values, unknown)
            if cell.by in ("overall", "language"):
                for split, (holds, unknown) in splits.items():
                    yield from _split(columns, cell, split, holds, unknown)


def _expected(columns: Columns) -> Mapping[str, tuple[Floats | None, str]]:
    """Per rule: the chance (n,) that it picks the right option; None, and why, where it cannot be followed."""
    table, shown = columns.table, columns.shown
    rules: dict[str, tuple[Bools | None, str]] = {"first_position": (table.order == 1, "")}
    for rule, sign in (("shorter", 1), ("longer", -1)):
        rules[rule] = (None if table.lengths is None else _least(sign * table.lengths, shown), _NO_LENGTHS)
    rules["hedged"] = (None if table.hedges is None else table.hedges & shown, _NO_HEDGES)
    return {
        rule: (None if candidates is None else _chance_of_gold(columns, candidates), unknown)
        for rule, (candidates, unknown) in rules.items()
    }


def _least(values: Ints, shown: Bools) -> Bools:
    """(n, L): the options with the least value among those ``shown``."""
    some = np.where(shown, values.astype(np.float64), np.inf)
    return np.asarray(shown & (some == some.min(axis=1, keepdims=True, initial=np.inf)))


def _chance_of_gold(columns: Columns, candidates: Bools) -> Floats:
    """(n,): the chance of the right option among ``candidates`` (n, L), or among all where there are none."""
    some = np.where(candidates.any(axis=1, keepdims=True), candidates, columns.shown)
    return np.asarray(_at_gold(columns, some) / np.maximum(some.sum(axis=1), 1))


def _at_gold(columns: Columns, matrix: Bools) -> Bools:
    if not columns.table.labels:
        return np.zeros(len(columns.table), dtype=np.bool_)
    return np.asarray(columns.judged & matrix[np.arange(len(matrix)), columns.gold])


def _splits(columns: Columns) -> Mapping[str, tuple[Bools | None, str]]:
    """Per split: the rows (n,) for which it holds; None, and why, where it is not known."""
    lengths, hedges = columns.table.lengths, columns.table.hedges
    shorter = None
    if lengths is not None:
        shortest = _least(lengths, columns.shown)
        shorter = _at_gold(columns, shortest) & (shortest.sum(axis=1) == 1)
    return {
        "gold_shorter": (shorter, _NO_LENGTHS),
        "gold_hedges": (None if hedges is None else _at_gold(columns, hedges), _NO_HEDGES),
    }


def _baseline(columns: Columns, cell: Cell, rule: str, values: Floats | None, unknown: str) -> Score:
    units = columns.judged_units(cell.rows)
    rows = cell.rows[columns.judged[cell.rows]]
    sizes = columns.cells.counts(rows)
    known = np.zeros(len(columns.table)) if values is None else values
    sums = np.bincount(columns.clusters[rows], weights=known[rows], minlength=len(sizes))
    estimate = proportion_from_cluster_sums(sums, sizes)
    few = too_few(estimate.clusters) if estimate.clusters < FEW_CLUSTERS else None
    defined = values is not None and estimate.mean is not None
    return Score(
        metric="confound_baselines",
        value=estimate.mean if defined else None,
        unit="share",
        n=estimate.n,
        clusters=estimate.clusters,
        denominator="all",
        slice={**cell.keys, "baseline": rule},
        reason=noted(units.said, few) if defined else (NO_GOLD if estimate.mean is None else unknown),
        interval=estimate.interval() if defined else None,
        reference=units.reference("all"),
    )


def _split(columns: Columns, cell: Cell, split: str, holds: Bools | None, unknown: str) -> Iterator[Score]:
    for side in (True, False):
        rows = cell.rows[:0] if holds is None else cell.rows[holds[cell.rows] == side]
        units = columns.judged_units(rows)
        said = "true" if side else "false"
        for over in DENOMINATORS:
            empty = unknown if holds is None else f"no item here with {split} = {said}"
            yield units.score(
                "confound_baselines",
                over,
                nothing=nothing_answered(units.outcomes) if len(units.hit) else empty,
                slice={**cell.keys, split: said},
            )
