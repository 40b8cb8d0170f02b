"""Runs that pick one position whatever stands there: how often their answers are right says nothing about bias."""

from __future__ import annotations

import numpy as np

from biasfw.comparing.columns import Bools, Columns, Ints, Side
from biasfw.comparing.places import LOCKED
from biasfw.comparing.results import Lock


def lock_of(columns: Columns, rows: Bools, side: Side) -> Lock | None:
    """The position on which a side is locked: the same one in every order of nine pairs in ten, if not what is there.

    Args:
        columns: of both sides.
        rows: (n,) that count.
        side: one of the two.
    """
    some = np.flatnonzero(rows & (columns.pair >= 0))
    if not len(some):
        return None
    _, codes, sizes = np.unique(columns.pair[some], return_inverse=True, return_counts=True)
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    position = side.position[some][order]
    _, picks = np.unique(side.values["choice"][some].astype(str), return_inverse=True)
    first, last = _ends(position, starts)
    answered = (sizes > 1) & (first > 0)
    locked = answered & (first == last) & np.not_equal(*_ends(picks[order], starts))
    counts = np.bincount(first[locked], minlength=1)
    most, pairs = int(counts.argmax()), int(answered.sum())
    if not pairs or counts[most] / pairs < LOCKED:
        return None
    return Lock(most, int(counts[most]) / pairs, pairs)


def _ends(column: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """The least and the greatest entry of each group, which begin at ``starts``."""
    return np.minimum.reduceat(column, starts), np.maximum.reduceat(column, starts)
