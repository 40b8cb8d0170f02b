"""What the likelihoods of two runs prefer once the order of the options is averaged out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasfw.comparing.columns import Bools, Columns, Floats
from biasfw.comparing.means import Scores
from biasfw.comparing.results import Preferring
from biasfw.storedrun import Asked, Record, StoredRun

_ZERO = 1e-9  # nats: what is left of a difference of sums by rounding alone


def margins(run: StoredRun, asked: Sequence[Asked], targets: Sequence[str]) -> Floats:
    """(n,): the log-probability of the option that counts less that of the other, in nats; NaN where there is none."""
    stored = {row["key"]: row.get("choice_logprobs", ()) for row in run.files.responses.rows()}
    return np.array(
        [_margin(stored.get(each.key, ()), target) for each, target in zip(asked, targets, strict=True)],
        dtype=np.float64,
    )


def _margin(scores: Sequence[Record], target: str) -> float:
    sums = {each["key"]: each.get("sum") for each in scores}
    if len(sums) != 2 or target not in sums:
        return float("nan")
    own, other = sums[target], next(value for key, value in sums.items() if key != target)
    return float("nan") if own is None or other is None else float(own) - float(other)


def preferences(
    columns: Columns, rows: Bools, sides: tuple[Floats, Floats]
) -> tuple[Scores, tuple[Preferring, Preferring]] | None:
    """Pairs of ``rows`` as rows of their own: whether g, the mean of the margins over all orders, is above 0.

    ``g = 1/2 {[lp(A) - lp(B)] with the right option as A + [lp(B) - lp(A)] with it as B}``: what prefers a position
    alone cancels. A pair whose g is 0 prefers neither option, which is known: it counts, and is no missing answer. A
    pair without log-probabilities is open. None where no pair of two orders is scored.
    """
    some = np.flatnonzero(rows & (columns.pair >= 0))
    if not len(some) or all(np.isnan(side[some]).all() for side in sides):
        return None
    _, firsts, codes, sizes = np.unique(columns.pair[some], return_index=True, return_inverse=True, return_counts=True)
    paired = sizes == 2
    if not paired.any():
        return None
    hits, opened, counts = [], [], []
    for side in sides:
        g = np.bincount(codes, weights=side[some])[paired] / 2
        opened.append(np.isnan(g))
        hits.append(np.asarray(g > _ZERO, dtype=np.bool_))
        counts.append(_counts(g))
    found = Scores(columns.cluster[some[firsts[paired]]], hits[0], hits[1], opened[0], opened[1])
    return found, (counts[0], counts[1])


def _counts(g: Floats) -> Preferring:
    prefers, decided, unscored = (int(each.sum()) for each in (g > _ZERO, np.abs(g) > _ZERO, np.isnan(g)))
    return Preferring(prefers, decided, len(g) - decided - unscored, unscored)
