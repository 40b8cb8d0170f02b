"""Accuracy averaged over categories, each with the same weight."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from biasfw import Estimate, Score, stratified_proportion
from biasfw_plugins.metrics._cells import Cell
from biasfw_plugins.metrics._view import DENOMINATORS, FEW_CLUSTERS, Denominator, only
from biasfw_plugins.metrics._weights import Floats, Ints
from biasfw_plugins.metrics.choice._columns import Columns
from biasfw_plugins.metrics.choice._units import Units, noted, nothing_answered


def macro_accuracies(columns: Columns, cell: Cell) -> Iterator[Score]:
    """The mean of the accuracies of the categories; nothing where there are not at least two."""
    named = np.array([name != "" for name in columns.categories.names], dtype=np.bool_)
    rows = cell.rows[columns.judged[cell.rows]]
    rows = rows[named[columns.categories.codes[rows]]] if len(rows) else rows
    codes = columns.categories.codes[rows]
    categories = np.unique(codes)
    if len(categories) < 2:
        return
    units = columns.judged_units(rows)
    said = columns.judged_units(cell.rows).said
    parts = [columns.judged_units(rows[codes == code]) for code in categories.tolist()]
    silent = [
        columns.categories.names[code]
        for code, part in zip(categories.tolist(), parts, strict=True)
        if not part.known.any()
    ]
    for over in DENOMINATORS:
        estimate = _stratified(units, codes, over)
        undefined = not units.known.any() or (over == "answered" and bool(silent))
        bounds = np.array([part.bounds(over) for part in parts]).mean(axis=0).tolist()
        chances = [part.reference(over) for part in parts]
        known = [chance for chance in chances if chance is not None]
        value = estimate.mean
        few = only(estimate.clusters) if estimate.clusters < FEW_CLUSTERS else None
        nothing = f"nothing was answered in {', '.join(silent)}" if units.known.any() else None
        yield Score(
            metric="accuracy",
            value=None if undefined else value,
            unit="share",
            n=estimate.n,
            clusters=estimate.clusters,
            denominator=over,
            slice={**cell.keys, "average": "macro"},
            reason=(nothing or nothing_answered(units.outcomes)) if undefined else noted(said, few),
            outcomes=units.outcomes,
            bounds=_around(bounds, None if undefined else value),
            interval=None if undefined else estimate.interval(),
            reference=round(sum(known) / len(known), 12) if len(known) == len(chances) else None,
            ideal=1.0,
            direction="higher",
        )


def _stratified(units: Units, codes: Ints, over: Denominator) -> Estimate:
    some = units.known if over == "answered" else np.ones(len(codes), dtype=np.bool_)
    _, clusters = np.unique(units.clusters, return_inverse=True)
    _, strata = np.unique(codes, return_inverse=True)
    return stratified_proportion(
        _crossed(clusters[some], strata[some], units.hit[some].astype(np.float64)),
        _crossed(clusters[some], strata[some], np.ones(int(some.sum()))),
    )


def _crossed(clusters: Ints, strata: Ints, weights: Floats) -> Floats:
    """(C, K): the sum of ``weights`` in each cluster and stratum."""
    shape = int(clusters.max(initial=0)) + 1, int(strata.max(initial=0)) + 1
    flat = np.bincount(clusters * shape[1] + strata, weights=weights, minlength=shape[0] * shape[1])
    return np.asarray(flat.reshape(shape), dtype=np.float64)


def _around(bounds: list[float], value: float | None) -> tuple[float, float]:
    """Bounds that hold the value: equal ones differ in the last bits."""
    low, high = min(bounds[0], 1.0), min(bounds[1], 1.0)
    return (low, high) if value is None else (min(low, value), max(high, value))
