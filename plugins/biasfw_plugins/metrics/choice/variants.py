"""How much the instruction moves the accuracy, and how many answers it changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from biasfw import ComponentContext, Interval, Score, Table, clustered_mean, simultaneous_level
from biasfw_plugins.metrics._cells import Cell, factorised
from biasfw_plugins.metrics._paired import joint_codes
from biasfw_plugins.metrics._view import DENOMINATORS, FEW_CLUSTERS, too_few
from biasfw_plugins.metrics._weights import Bools, Floats, Ints
from biasfw_plugins.metrics.choice._columns import NO_GOLD, Columns
from biasfw_plugins.metrics.choice._units import Units, noted, nothing_answered

_PROJECTED = "projection of simultaneous clustered intervals of all differences (level 1 - .05/k each)"
_ONE = "there is only one instruction"


class VariantSpread:
    """What the instruction does; slice ``{"statistic": ...}``, per condition, and per language where there are several.

    ``range`` and ``sd``: the largest less the smallest of the accuracies of the instructions, and their standard
    deviation (with V - 1). Denominator ``all``: a row that picks no option counts as wrong. Bounds: every way the rows
    that are not answered might have gone. Interval: all values that the simultaneous intervals of the paired
    differences allow (conservative); both are biased upwards in small samples.

    ``changed``: the share of items in one order (same cluster, order and repeat) whose pick differs between
    instructions. Denominator ``answered``: those that pick an option under every instruction; ``all``: all, where
    those that are not answered throughout count as changed once two picks differ, and may have changed otherwise.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form

    def compute(self, table: Table) -> Iterable[Score]:
        columns = Columns(table, self._form)
        keys = _keys(columns)
        for cell in columns.cells.of_conditions():
            if cell.by in ("overall", "language"):
                yield from _spreads(columns, cell)
                yield from _changes(columns, cell, keys)


def _spreads(columns: Columns, cell: Cell) -> Iterator[Score]:
    rows = cell.rows[columns.judged[cell.rows]]
    codes = columns.variants.codes[rows]
    units = columns.judged_units(rows)
    said = columns.judged_units(cell.rows).said
    parts = [columns.judged_units(rows[codes == code]) for code in np.unique(codes)]
    reason = _undefined(units, parts)
    accuracies = np.array([part.hit.mean() for part in parts])
    lows, highs = (np.array([part.bounds("all")[end] for part in parts]) for end in (0, 1))
    differences = None if reason else _Differences.of(parts)
    for statistic in ("range", "sd"):
        value, bounds, interval = None, None, None
        if differences is not None:
            spread = np.ptp(accuracies) if statistic == "range" else accuracies.std(ddof=1)
            value = float(spread)
            bounds = _range_bounds(lows, highs) if statistic == "range" else _sd_bounds(lows, highs)
            bounds = min(bounds[0], value), max(bounds[1], value)
            interval = differences.interval(statistic, value)
        clusters = len(np.unique(units.clusters))
        few = too_few(clusters) if clusters < FEW_CLUSTERS else None
        yield Score(
            metric="variant_spread",
            value=value,
            unit="share",
            n=len(rows),
            clusters=clusters,
            denominator="all",
            slice={**cell.keys, "statistic": statistic},
            reason=reason or noted(said, few),
            outcomes=units.outcomes,
            bounds=bounds,
            interval=interval,
            ideal=0.0,
            direction="lower",
        )


def _undefined(units: Units, parts: Sequence[Units]) -> str | None:
    if not len(units.hit):
        return NO_GOLD
    if len(parts) < 2:
        return _ONE
    return None if units.known.any() else nothing_answered(units.outcomes)


@dataclass(frozen=True, slots=True)
class _Differences:
    """The simultaneous limits (k,) of the differences of all pairs of instructions, or the reason why there are none.

    The difference of two accuracies on the same clusters has the linearised residual of the one less that of the
    other; so their covariance counts, whatever the clusters' sizes.
    """

    lows: Floats
    highs: Floats
    variants: int
    reason: str | None

    @classmethod
    def of(cls, parts: Sequence[Units]) -> _Differences:
        names = np.unique(np.concatenate([part.clusters for part in parts]))
        residuals = [_residuals(part, names) for part in parts]
        pairs = list(combinations(range(len(parts)), 2))
        level = simultaneous_level(len(pairs))
        limits, reason = [], None
        for one, other in pairs:
            difference = float(parts[one].hit.mean() - parts[other].hit.mean())
            values = difference + len(names) * (residuals[one] - residuals[other])
            estimate = clustered_mean(values, np.arange(len(names)), level, possible=(-1.0, 1.0))
            limits.append((estimate.low or 0.0, estimate.high or 0.0))
            reason = reason or estimate.reason
        lows, highs = np.array(limits).T
        return cls(lows, highs, len(parts), reason)

    def interval(self, statistic: str, value: float) -> Interval:
        """What the limits allow for the range or the standard deviation."""
        if self.reason:
            return Interval(None, None, _PROJECTED, reason=self.reason)
        least = np.maximum(np.maximum(self.lows, -self.highs), 0.0)
        most = np.maximum(np.abs(self.lows), np.abs(self.highs))
        if statistic == "range":
            low, high = float(least.max()), float(most.max())
        else:  # the variance is the sum of the squared differences / (V (V - 1))
            scale = self.variants * (self.variants - 1)
            low, high = (float(np.sqrt((limit**2).sum() / scale)) for limit in (least, most))
            # Shares differ most where half of them are 0 and half 1: not all pairs can differ by 1.
            high = min(high, float(np.sqrt((self.variants // 2) * -(-self.variants // 2) / scale)))
        return Interval(min(low, value), max(high, value), _PROJECTED)


def _residuals(part: Units, names: Ints) -> Floats:
    """(C,): sum_i (s_ci - m) / N of each cluster; 0 where it has no row."""
    codes = np.searchsorted(names, part.clusters)
    return np.asarray(np.bincount(codes, weights=part.hit - part.hit.mean(), minlength=len(names)) / len(part.hit))


def _range_bounds(lows: Floats, highs: Floats) -> tuple[float, float]:
    """The least and the greatest range of values that lie between ``lows`` and ``highs`` (V,)."""
    greatest = max(highs[one] - lows[other] for one in range(len(lows)) for other in range(len(lows)) if one != other)
    return max(0.0, float(lows.max() - highs.min())), float(greatest)


def _sd_bounds(lows: Floats, highs: Floats) -> tuple[float, float]:
    """The same for the standard deviation: least with all as near to one value as they can be, greatest at the ends."""
    below, above = float(lows.min()), float(highs.max())
    for _ in range(60):
        centre = (below + above) / 2
        if float(np.clip(centre, lows, highs).mean()) > centre:
            below = centre
        else:
            above = centre
    least = np.clip((below + above) / 2, lows, highs)
    # At the greatest, every value is at the end that is farther from the mean.
    order = np.argsort(lows + highs)
    ends = [np.where(np.isin(np.arange(len(lows)), order[:cut]), lows, highs) for cut in range(len(lows) + 1)]
    return float(least.std(ddof=1)), max(float(values.std(ddof=1)) for values in ends)


def _changes(columns: Columns, cell: Cell, keys: Ints) -> Iterator[Score]:
    groups = _Groups.of(columns, cell.rows, keys)
    for over in DENOMINATORS:
        units = groups.units
        if over == "all" and len(groups.changed):
            units = Units(
                clusters=units.clusters,
                hit=groups.changed,
                known=units.known | groups.changed,
                open=~units.known & ~groups.changed,
                chance=units.chance,
                outcomes=units.outcomes,
            )
        nothing = nothing_answered(units.outcomes, "item is answered under every instruction")
        yield units.score(
            "variant_spread",
            over,
            nothing=nothing if len(units.hit) else _ONE,
            slice={**cell.keys, "statistic": "changed"},
            ideal=0.0,
            direction="lower",
            reference=None,
        )


@dataclass(frozen=True, slots=True)
class _Groups:
    """Items in one order under all their instructions; ``changed`` (G,): two of the picks differ."""

    units: Units
    changed: Bools

    @classmethod
    def of(cls, columns: Columns, rows: Ints, keys: Ints) -> _Groups:
        _, codes, counts = np.unique(keys[rows], return_inverse=True, return_counts=True)
        some = counts[codes] > 1
        rows = rows[some][np.argsort(codes[some], kind="stable")]
        _, starts = np.unique(np.sort(codes[some]), return_index=True)
        if not len(starts):
            none = np.zeros(0, dtype=np.bool_)
            return cls(Units(np.zeros(0, dtype=np.int64), none, none, none, np.zeros(0), {}), none)
        picks = columns.picked[rows]
        least = np.minimum.reduceat(np.where(picks < 0, np.iinfo(np.int64).max, picks), starts)
        changed = np.asarray(least < np.maximum.reduceat(picks, starts))
        known = np.asarray(np.minimum.reduceat(picks, starts) >= 0)
        units = Units(
            clusters=columns.clusters[rows[starts]],
            hit=changed & known,
            known=known,
            open=~known,
            chance=np.zeros(len(starts)),
            outcomes=columns.outcomes(rows),
        )
        return cls(units, changed)


def _keys(columns: Columns) -> Ints:
    """(n,): what rows share that differ only in the instruction; the source counts where a cluster has several."""
    table, cells = columns.table, columns.cells
    _, orders = np.unique(table.order, axis=0, return_inverse=True)
    shared = [
        columns.clusters,
        cells.conditions.codes,
        cells.languages.codes,
        columns.gold + 1,
        factorised(table.repeat.astype(np.str_)).codes,
    ]
    keys = joint_codes(*shared, orders.reshape(-1))
    if np.bincount(_dense(joint_codes(_dense(keys), columns.variants.codes))).max(initial=1) == 1:
        return keys
    keys = joint_codes(_dense(keys), factorised(table.source).codes)
    places = _dense(joint_codes(_dense(keys), columns.variants.codes))
    counts = np.bincount(places)
    # Rows that even so cannot be told apart are compared with nothing: each is a key of its own.
    lone = counts[places] > 1
    return np.where(lone, int(keys.max()) + 1 + np.arange(len(keys)), keys)


def _dense(codes: Ints) -> Ints:
    return np.asarray(np.unique(codes, return_inverse=True)[1], dtype=np.int64)
