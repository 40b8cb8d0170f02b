"""What the log-probabilities prefer once the order of the options is averaged out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from biasfw import ComponentContext, Estimate, Score, Table, clustered_mean, sign_flip
from biasfw_plugins.metrics._cells import Cell
from biasfw_plugins.metrics._paired import by_family
from biasfw_plugins.metrics._view import FEW_CLUSTERS, too_few
from biasfw_plugins.metrics._weights import Bools, Floats, Ints, label_codes
from biasfw_plugins.metrics.choice._columns import NO_GOLD, Columns
from biasfw_plugins.metrics.choice._pairs import Pairs
from biasfw_plugins.metrics.choice._units import Units, adjusted, judged_of, noted

_NO_SCORES = "no log-probabilities: run it with --mode choices"
_NO_PREFERENCE = "no pair prefers either option: g is 0"
_ZERO = 1e-9  # nats: what is left of a difference of sums by rounding alone
_NO_PAIRS = "no pair of two options has log-probabilities in both orders"


class OrderAveragedPreference:
    """The order-averaged preference g of a pair for its right option, in nats.

    ``g = 1/2 {[lp(A) - lp(B)] with the right option as A + [lp(B) - lp(A)] with it as B}``: what prefers a position
    alone cancels. Slices: ``{"statistic": "share_positive"}``, P(g > 0), tested against 1/2; ``{"statistic":
    "mean"}``, mean g, tested against 0 by sign-flip over clusters.

    Denominator ``returned``: pairs with finite log-probabilities of both options in every order, whatever was picked.
    A pair whose g is 0 prefers neither: it counts in the mean, and for P(g > 0) it is not known, like the pairs without
    log-probabilities; bounds: none of those had a positive g, or all. Only for two options: with more there is no one
    difference that the positions cancel from. It is the one score that a position-locked model leaves open.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form

    def compute(self, table: Table) -> Iterable[Score]:
        columns = Columns(table, self._form)
        pairs = Pairs(columns)
        margins = right_margins(columns)
        scores = list(self._scores(pairs, margins))
        yield from adjusted(score for score in scores if score.slice["statistic"] == "share_positive")
        yield from by_family(score for score in scores if score.slice["statistic"] == "mean")

    def _scores(self, pairs: Pairs, margins: Floats) -> Iterator[Score]:
        scored = pairs.all_of(np.isfinite(margins))
        g = pairs.mean(np.where(np.isfinite(margins), margins, 0.0))
        two = pairs.all_of(pairs.columns.options == 2) & pairs.judged
        unscored = pairs.columns.table.logprobs is None
        for cell in pairs.columns.cells.of_conditions():
            inside = pairs.in_cell(cell)
            judged = bool(pairs.columns.judged[cell.rows].any())
            some = inside[two[inside]]
            nothing = _NO_SCORES if unscored else (_NO_PAIRS if judged else NO_GOLD)
            said = judged_of(int(pairs.judged[inside].sum()), len(inside), "pairs")
            yield from _of_cell(pairs, cell, _Preferences(some, scored[some], g[some], said), nothing)


@dataclass(frozen=True, slots=True)
class _Preferences:
    """Pairs of two options, which of them have all log-probabilities, and their g."""

    pairs: Ints
    scored: Bools
    g: Floats
    said: str = ""


def _of_cell(pairs: Pairs, cell: Cell, found: _Preferences, nothing: str) -> Iterator[Score]:
    prefers = found.scored & (np.abs(found.g) > _ZERO)
    units = Units(
        clusters=pairs.clusters[found.pairs],
        hit=prefers & (found.g > 0),
        known=prefers,
        open=~prefers,
        chance=np.full(len(found.pairs), 0.5),
        outcomes=pairs.units(found.pairs, pairs.right).outcomes,
        said=found.said,
    )
    kind = cell.by if cell.by == "overall" else f"by {cell.by}"
    family = f"order_averaged_preference, {cell.keys['condition']}, {kind}"
    share = units.score(
        "order_averaged_preference",
        "answered",
        nothing=_NO_PREFERENCE if found.scored.any() else nothing,
        slice={**cell.keys, "statistic": "share_positive"},
        direction="higher",
        test=units.chance_test(),
        family=f"{family}, share_positive",
    )
    yield replace(share, denominator="returned")
    mean = clustered_mean(found.g[found.scored], units.clusters[found.scored])
    few = too_few(mean.clusters)
    yield replace(
        share,
        denominator="returned",
        value=mean.mean,
        n=mean.n,
        clusters=mean.clusters,
        unit="nats",
        slice={**cell.keys, "statistic": "mean"},
        bounds=None,
        interval=mean.interval() if mean.n else None,
        reference=0.0,
        test=sign_flip(_by_cluster(mean, found, units), null="mean g is 0") if mean.n else None,
        reason=nothing if mean.mean is None else noted(found.said, few if mean.clusters < FEW_CLUSTERS else None),
        family=f"{family}, mean",
    )


def _by_cluster(mean: Estimate, found: _Preferences, units: Units) -> Floats:
    """(C,): the clusters' sums of g, scaled so that their mean is that over pairs."""
    _, codes = np.unique(units.clusters[found.scored], return_inverse=True)
    return np.asarray(np.bincount(codes, weights=found.g[found.scored]) * mean.clusters / mean.n)


def right_margins(columns: Columns) -> Floats:
    """(n,): the log-probability of the right option less that of the other one, NaN where there are not just two."""
    table = columns.table
    if table.logprobs is None or not table.choice_keys:
        return np.full(len(table), np.nan)
    places = label_codes(np.array(table.choice_keys, dtype=np.str_), table.labels)
    right = columns.judged[:, np.newaxis] & (places[np.newaxis] == columns.gold[:, np.newaxis])
    known = np.asarray(columns.shown[:, places] & (places >= 0)) if table.labels else np.zeros_like(right)
    other = known & ~right
    single = (right.sum(axis=1) == 1) & (other.sum(axis=1) == 1) & (columns.options == 2)
    picked = (np.where(mask, table.logprobs, 0.0).sum(axis=1) for mask in (right, other))
    with np.errstate(invalid="ignore"):  # -inf less -inf
        margins = np.subtract(*picked)
    return np.where(single, margins, np.nan)
