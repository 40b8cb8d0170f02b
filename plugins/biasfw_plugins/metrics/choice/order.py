"""What the order of the options does: pairs right in every order, pairs locked on one position, first picks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from biasfw import ComponentContext, Score, Table, Test, sign_flip
from biasfw_plugins.metrics._cells import Cell
from biasfw_plugins.metrics._paired import by_family
from biasfw_plugins.metrics._view import DENOMINATORS
from biasfw_plugins.metrics._weights import Bools, Ints
from biasfw_plugins.metrics.choice._columns import NO_GOLD, Columns
from biasfw_plugins.metrics.choice._pairs import Pairs
from biasfw_plugins.metrics.choice._units import (
    LOCKED,
    LOCKED_REASON,
    Units,
    adjusted,
    judged_of,
    nothing_answered,
    withheld,
)

_NO_PAIRS = "no item here is presented in more than one order"
_PAIR = "pair is answered in every order"


class PairAccuracy:
    """The share of pairs in which the right option is picked in every order.

    Denominator ``all``: every pair with a right option; a pair with a row that picks none is not right. ``answered``:
    pairs whose rows all pick an option. Bounds of ``all``: of the pairs that are not answered, none had been right,
    or all those without a wrong answer. Reference: chance, the product of 1/k (a quarter for two orders of two
    options). Test as for ``accuracy``: the least favourable case, Holm per family, none where position-locked.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form

    def compute(self, table: Table) -> Iterable[Score]:
        return adjusted(self._scores(table))

    def _scores(self, table: Table) -> Iterator[Score]:
        pairs = Pairs(Columns(table, self._form))
        locks = pairs.locks()
        for cell in pairs.columns.cells.of_conditions():
            found = pairs.in_cell(cell)
            some = found[pairs.judged[found]]
            units = pairs.units(some, pairs.right, ~pairs.answered & ~pairs.wrong_somewhere)
            units = replace(units, said=judged_of(len(some), len(found), "pairs"))
            for over in DENOMINATORS:
                test = withheld(LOCKED_REASON) if locks.hold(cell) else units.chance_test()
                yield units.score(
                    "pair_accuracy",
                    over,
                    nothing=_nothing(units, found),
                    slice=cell.keys,
                    ideal=1.0,
                    direction="higher",
                    test=test if over == "all" else None,
                    family=_family("pair_accuracy", cell),
                )


class OrderLedger:
    """What became of the pairs; slice ``{"ledger": ...}``; the shares sum to 1.

    ``right`` and ``wrong``: in every order. ``locked_first``, ``locked_last``, ``locked_between``: one position was
    picked in every order, though another option stood there. ``mixed``: anything else, which needs more than two
    options. Denominator ``all``: every pair; ``not_answered`` are those with a row that picks no option (refused,
    unparsed, truncated, tied, error, ...). ``answered``: the others. Bounds: none of the pairs that are not answered
    had been so, or all. Reference, for pairs of two options: a uniform choice.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form

    def compute(self, table: Table) -> Iterable[Score]:
        pairs = Pairs(Columns(table, self._form))
        ledger = _ledger(pairs)
        single = bool((pairs.columns.options[pairs.rows] == 2).all())
        wrong = pairs.product(1 - pairs.columns.chance)
        for cell in pairs.columns.cells.of_conditions():
            found = pairs.in_cell(cell)
            judged = bool(len(found) and pairs.judged[found].all())
            for name, hit in ledger.items():
                if name in ("mixed", "locked_between") and single:
                    continue
                units = pairs.units(found, hit)
                units = replace(units, chance=wrong[found]) if name == "wrong" else units
                undefined = name in ("right", "wrong", "mixed") and len(found) > 0 and not judged
                expected = name != "mixed" and single
                for over in DENOMINATORS:
                    fields: dict[str, Any] = {} if expected else {"reference": None}
                    score = units.score(
                        "order_ledger",
                        over,
                        nothing=_nothing(units, found),
                        slice={**cell.keys, "ledger": name},
                        family=_family("order_ledger", cell),
                        **fields,
                    )
                    yield replace(score, value=None, interval=None, reason=NO_GOLD) if undefined else score
            yield _not_answered(pairs, cell, found)


def _ledger(pairs: Pairs) -> dict[str, Bools]:
    """Per entry of the ledger: the pairs (P,) that it holds; no pair is in two."""
    free = pairs.answered & ~pairs.locked
    first = pairs.locked & (pairs.position == 1)
    last = pairs.locked & ~first & pairs.at_end
    return {
        "right": free & pairs.right,
        "wrong": free & pairs.none_right,
        "locked_first": first,
        "locked_last": last,
        "locked_between": pairs.locked & ~first & ~last,
        "mixed": free & ~pairs.right & ~pairs.none_right,
    }


def _not_answered(pairs: Pairs, cell: Cell, found: Ints) -> Score:
    """What became of every pair is known, so that nothing is missing here."""
    everything = np.ones(len(found), dtype=np.bool_)
    missed = replace(pairs.units(found, pairs.right), hit=~pairs.answered[found], known=everything, open=~everything)
    return missed.score(
        "order_ledger", "all", nothing=_NO_PAIRS, slice={**cell.keys, "ledger": "not_answered"}, reference=None
    )


class PositionLocked:
    """The share of pairs that are locked on one position, the most frequent one; slice ``{"position": "1"}``.

    Denominator: pairs that are answered in every order. Locked: the same position in every order, though another
    option stood there. From 90 % on, accuracy says nothing about bias, the score says so, and no test of accuracy is
    made in this condition. Bounds: none of the pairs that are not answered is locked on it, or all.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form

    def compute(self, table: Table) -> Iterable[Score]:
        pairs = Pairs(Columns(table, self._form))
        for cell in pairs.columns.cells.of_conditions():
            found = pairs.in_cell(cell)
            position, share = pairs.most_locked(found)
            units = pairs.units(found, pairs.locked & (pairs.position == position))
            yield units.score(
                "position_locked",
                "answered",
                nothing=_nothing(units, found),
                slice={**cell.keys, **({"position": str(position)} if position else {})},
                ideal=0.0,
                direction="lower",
                remark=LOCKED_REASON if share >= LOCKED else None,
                reference=None,
                family=_family("position_locked", cell),
            )


class PositionPreference:
    """The share of rows that pick the option in the first position.

    Denominators ``answered`` (primary, with the test) and ``all``. Bounds: none of the rows that pick no option had
    picked the first, or all. Reference: 1/k. Test: sign-flip over clusters of the sums of (first - 1/k); exact in
    distribution for two options shown in both orders, approximate for more; Holm over the cells of a family. Without
    an item in more than one order the position cannot be told from what stands there: no test.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form

    def compute(self, table: Table) -> Iterable[Score]:
        return by_family(self._scores(table))

    def _scores(self, table: Table) -> Iterator[Score]:
        columns = Columns(table, self._form)
        paired = Pairs(columns).of_rows()
        for cell in columns.cells.of_conditions():
            units = columns.units(cell.rows, columns.position == 1)
            alone = int((columns.answered & ~paired)[cell.rows].sum())
            for over in ("answered", "all"):
                test = None
                if over == "answered":
                    test = _flipped(units) if paired[cell.rows].any() else withheld(_NO_PAIRS)
                yield units.score(
                    "position_preference",
                    over,
                    nothing=nothing_answered(units.outcomes),
                    slice=cell.keys,
                    remark=f"{alone} answered rows are presented in one order only" if alone else None,
                    test=test,
                    family=_family("position_preference", cell),
                )


def _flipped(units: Units) -> Test:
    """The clusters' sums, scaled so that their mean is the share of first picks less that under chance."""
    some = units.known
    if not some.any():
        return withheld("nothing was answered")
    _, codes = np.unique(units.clusters[some], return_inverse=True)
    excess = np.bincount(codes, weights=units.hit[some] - units.chance[some])
    return sign_flip(excess * len(excess) / int(some.sum()), null="the first position is picked with chance 1/k")


def _family(metric: str, cell: Cell) -> str:
    kind = cell.by if cell.by == "overall" else f"by {cell.by}"
    return f"{metric}, {cell.keys['condition']}, {kind}"


def _nothing(units: Units, found: Ints) -> str:
    if not len(found):
        return _NO_PAIRS
    return nothing_answered(units.outcomes, _PAIR) if len(units.hit) else NO_GOLD
