"""One condition against another: what the difference between two prompts does to the shares of labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from biasfw import ComponentContext, ComponentError, Score, Table, Test, clustered_mean, sign_flips
from biasfw_plugins.metrics._cells import Cell, Cells, factorised
from biasfw_plugins.metrics._view import DENOMINATORS, FEW_CLUSTERS, Denominator, holm_adjusted
from biasfw_plugins.metrics._views import Views, chosen_slots
from biasfw_plugins.metrics._weights import Bools, Floats, Ints, Mass

_NULL = "no difference between the conditions"


class ConditionContrast:
    """The share of each label under one condition minus that under another, paired by source and language.

    A pair's difference is the mean weight of its rows under ``condition`` minus that under ``against``; differences
    are averaged within clusters, then over them. Clustered t interval, sign-flip test over clusters, Holm over the
    slots, labels and cells of a family. Denominator ``all``: responses without a label weigh 0, and bounds say what
    the missing could have changed; ``answered``: pairs with an answered row on both sides. Choices mode: raw shares.
    Default: the first condition of the benchmark against the one that calibrates; without both there is no score.
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
        views = Views(table, self._form)
        rows = np.flatnonzero(np.isin(table.condition, [self._one, self._other]))
        found: list[tuple[Score, _Differences]] = []
        for denominator in DENOMINATORS:
            for cell in views.cells.within(rows):
                pairs = _Pairs.of(table, views.cells, cell, table.condition == self._one)
                found.extend(self._found(views, cell, pairs, denominator))
        tests = _tests([differences for _, differences in found])
        scores = [
            _scored(base, differences, place, test)
            for (base, differences), column in zip(found, tests, strict=True)
            for place, test in enumerate(column)
        ]
        for _, family in groupby(scores, key=lambda score: score.family):
            yield from holm_adjusted(list(family))

    def _found(
        self, views: Views, cell: Cell, pairs: _Pairs, denominator: Denominator
    ) -> Iterator[tuple[Score, _Differences]]:
        """For each slot the score without a value, and the differences that it is to be filled with."""
        scoring = views.scorings[0]
        kind = cell.by if cell.by == "overall" else f"by {cell.by}"
        extra = {"scoring": scoring.name} if scoring.name else {}
        for slot in self._slots:
            differences = _differences(scoring.slots[slot], views.declined[slot], pairs, denominator)
            base = Score(
                metric="condition_contrast",
                value=None,
                unit="share",
                n=differences.pairs,
                clusters=len(differences.values),
                denominator=denominator,
                slice={"slot": slot, "condition": str(self._one), "against": str(self._other), **cell.keys, **extra},
                outcomes=views.outcomes(cell.rows, slot),
                ideal=0.0,
                direction="toward-ideal",
                family=f"condition_contrast, {self._one} - {self._other}, {kind}, {denominator}",
            )
            yield base, differences


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The rows of one cell and the pair (source and language) of each; which are under the first condition."""

    rows: Ints  # (r,)
    codes: Ints  # (r,) < size
    first: Bools  # (r,)
    clusters: Ints  # (size,) the cluster of each pair

    @classmethod
    def of(cls, table: Table, cells: Cells, cell: Cell, first: Bools) -> _Pairs:
        sources, languages = factorised(table.source[cell.rows]), factorised(table.language[cell.rows])
        joined = sources.codes * max(len(languages.names), 1) + languages.codes
        _, begin, codes = np.unique(joined, return_index=True, return_inverse=True)
        return cls(cell.rows, codes, first[cell.rows], cells.clusters.codes[cell.rows[begin]])


@dataclass(frozen=True, slots=True)
class _Differences:
    """Mean differences (C, k) per cluster; ``slack`` is what the missing rows could take away and add, on average."""

    labels: tuple[str, ...]
    values: Floats
    clusters: Ints  # (C,) which clusters
    pairs: int
    slack: tuple[float, float]
    named: bool  # both conditions have a row that names a label


def _differences(mass: Mass, declined: Bools, pairs: _Pairs, denominator: Denominator) -> _Differences:
    means, sizes, missing = [], [], []
    for side in (pairs.first, ~pairs.first):
        rows, codes, size = pairs.rows[side], pairs.codes[side], len(pairs.clusters)
        counted = mass.counted[rows]
        used = np.bincount(codes if denominator == "all" else codes[counted], minlength=size)
        lost = np.bincount(codes[~counted & ~declined[rows]], minlength=size)
        divisor = np.maximum(used, 1)
        means.append(mass.sums(rows, codes, size) / divisor[:, np.newaxis])
        missing.append(lost / divisor)
        sizes.append(used)
    paired = (sizes[0] > 0) & (sizes[1] > 0)
    names, clusters = np.unique(pairs.clusters[paired], return_inverse=True)
    named = all(bool(mass.counted[pairs.rows[side]].any()) for side in (pairs.first, ~pairs.first))
    return _Differences(
        labels=mass.labels,
        values=_by_cluster(means[0][paired] - means[1][paired], clusters),
        clusters=names,
        pairs=int(paired.sum()),
        slack=(_mean_of(missing[1][paired], clusters), _mean_of(missing[0][paired], clusters)),
        named=named,
    )


def _by_cluster(values: Floats, clusters: Ints) -> Floats:
    """(C, k): the mean of the rows of ``values`` (p, k) in each of the ``clusters`` (p,)."""
    sizes = np.bincount(clusters)
    columns = [np.bincount(clusters, weights=column) / sizes for column in values.T]
    return np.stack(columns, axis=1) if columns else np.zeros((len(sizes), 0))


def _mean_of(values: Floats, clusters: Ints) -> float:
    return float(_by_cluster(values[:, np.newaxis], clusters).mean()) if len(values) else 0.0


def _tests(found: Sequence[_Differences]) -> list[list[Test]]:
    """The tests of all columns of ``found``; those over the same clusters share their drawn signs, and so the work."""
    alike: dict[bytes, list[int]] = {}
    for place, differences in enumerate(found):
        alike.setdefault(differences.clusters.tobytes(), []).append(place)
    tests: list[list[Test]] = [[] for _ in found]
    for places in alike.values():
        drawn = iter(sign_flips(np.hstack([found[place].values for place in places]), null=_NULL))
        for place in places:
            tests[place] = [next(drawn) for _ in found[place].labels]
    return tests


def _scored(base: Score, found: _Differences, place: int, test: Test) -> Score:
    base = replace(base, slice={**base.slice, "label": found.labels[place]})
    if not found.pairs or not found.named:
        reason = "no source was answered under both conditions" if found.named else "one condition names no label"
        return replace(base, reason=reason)
    values = found.values[:, place]
    estimate = clustered_mean(values, np.arange(len(values)))
    value = float(values.mean())
    few = base.clusters < FEW_CLUSTERS
    bounds = (max(-1.0, value - found.slack[0]), min(1.0, value + found.slack[1]))
    return replace(
        base,
        value=value,
        bounds=bounds if base.denominator == "all" else None,
        interval=estimate.interval(),
        test=test,
        reason=f"only {base.clusters} clusters: too few to be ranked" if few else None,
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
