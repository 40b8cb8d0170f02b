"""How much each response gives each label in each slot: the one thing that all share metrics are made of.

A generated response gives its label 1. A scored one (choices mode) gives each label the share that the normalised
joint table of its choices puts on it; calibrated, the log-probabilities of the same choices in the partner row under
the form's calibrating condition are subtracted first (Zhao et al. 2021 calibrate by a content-free prompt alike).
Rows whose slot is not ``answered`` give nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasfw import ComponentError, Form, Outcome, Table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Mass:
    """What ``n`` rows give to each of ``k`` ``labels``: one label each (``codes``) or ``weights``.

    ``counted`` (n,) says which rows give anything; ``codes`` (n,) is -1 elsewhere, ``weights`` (n, k) is 0.
    """

    labels: tuple[str, ...]
    counted: Bools
    codes: Ints | None = None
    weights: Floats | None = None

    def sums(self, rows: Ints, groups: Ints, size: int) -> Floats:
        """(size, k): what ``rows`` give to each label, added up by their ``groups`` (len(rows),) < ``size``."""
        k = len(self.labels)
        if self.codes is not None:
            codes = self.codes[rows]
            given = codes >= 0
            flat = np.bincount(groups[given] * k + codes[given], minlength=size * k)
            return flat.reshape(size, k).astype(np.float64)
        weights = self.dense()[rows]
        columns = [np.bincount(groups, weights=weights[:, column], minlength=size) for column in range(k)]
        return np.stack(columns, axis=1) if columns else np.zeros((size, 0))

    def dense(self) -> Floats:
        """The weights as a matrix (n, k)."""
        if self.weights is not None:
            return self.weights
        dense = np.zeros((len(self.counted), len(self.labels)))
        if self.codes is not None:
            dense[self.counted, self.codes[self.counted]] = 1.0
        return dense


@dataclass(frozen=True, slots=True)
class Scoring:
    """One way to weigh the responses: ``name`` is None (generated), ``raw`` or ``calibrated``.

    ``picks`` are the labels of the best choice; ``partnerless`` the rows that could not be calibrated; ``excluded``
    the condition it says nothing about.
    """

    name: str | None
    slots: Mapping[str, Mass]
    pairs: Mass | None  # the first two slots together, labels joined by "|"; None with fewer slots
    picks: Mapping[str, Mass]
    partnerless: Bools
    excluded: str | None = None


def scorings(table: Table, form: Form) -> list[Scoring]:
    """The ways in which the responses of ``table`` can be weighed.

    Raises:
        ComponentError: a choice key does not name one label per slot.
    """
    groups = tuple(label.key for label in form.groups)
    slots = tuple(slot.key for slot in form.slots)
    answered = {slot: np.asarray(table.outcomes[slot] == Outcome.ANSWERED.value) for slot in slots}
    if table.logprobs is None or not table.choice_keys:
        return [_generated(table, groups, answered)]
    named = _named(table.choice_keys, slots, groups)
    raw = _scored("raw", table.logprobs, answered, groups, named)
    if form.calibrate is None:
        return [raw]
    return [raw, _calibrated(table, table.logprobs, form.calibrate, answered, groups, named)]


def label_codes(values: NDArray[np.str_], labels: Sequence[str]) -> Ints:
    """(n,): the place of each value in ``labels``, -1 for any other."""
    places = {label: place for place, label in enumerate(labels)}
    return np.array([places.get(value, -1) for value in values.tolist()], dtype=np.int64)


def _generated(table: Table, groups: tuple[str, ...], answered: Mapping[str, Bools]) -> Scoring:
    codes = [np.where(rows, label_codes(table.values[slot], groups), -1) for slot, rows in answered.items()]
    slots = {slot: _hard(groups, column) for slot, column in zip(answered, codes, strict=True)}
    pairs = None
    if len(codes) > 1:
        first, second = codes[:2]
        both = (first >= 0) & (second >= 0)
        labels = tuple(f"{one}|{other}" for one in groups for other in groups)
        pairs = _hard(labels, np.where(both, first * len(groups) + second, -1))
    return Scoring(None, slots, pairs, slots, np.zeros(len(table), dtype=np.bool_))


def _hard(labels: tuple[str, ...], codes: Ints) -> Mass:
    return Mass(labels, codes >= 0, codes=codes)


def _named(keys: Sequence[str], slots: Sequence[str], groups: Sequence[str]) -> Ints:
    """(K, S): the place in ``groups`` of the label that each choice puts into each slot, -1 for an abstention."""
    parts = [key.split("|") for key in keys]
    for key, labels in zip(keys, parts, strict=True):
        if len(labels) != len(slots):
            raise ComponentError(
                f"choice {key!r} does not name one label for each of the slots {', '.join(slots)}; "
                "score this benchmark with a metric of its own"
            )
    named = [label_codes(np.array(column, dtype=np.str_), groups) for column in zip(*parts, strict=True)]
    return np.stack(named, axis=1) if named else np.zeros((0, len(slots)), dtype=np.int64)


def _scored(
    name: str, logprobs: Floats, answered: Mapping[str, Bools], groups: tuple[str, ...], named: Ints
) -> Scoring:
    joint, best = _softmax(logprobs)
    slots, picks = {}, {}
    for column, (slot, rows) in enumerate(answered.items()):
        weights = joint @ _indicator(named[:, column], len(groups))
        counted = rows & weights.any(axis=1)
        slots[slot] = Mass(groups, counted, weights=np.where(counted[:, np.newaxis], weights, 0.0))
        picks[slot] = _hard(groups, np.where(counted & (best >= 0), named[best, column], -1))
    return Scoring(name, slots, _joint_pairs(joint, slots, groups, named), picks, np.zeros(len(joint), dtype=np.bool_))


def _calibrated(
    table: Table, logprobs: Floats, condition: str, answered: Mapping[str, Bools], groups: tuple[str, ...], named: Ints
) -> Scoring:
    partner = _partners(table, condition, [table.labels.index(group) for group in groups if group in table.labels])
    base = np.where((partner >= 0)[:, np.newaxis], logprobs[partner], np.nan)
    partnerless: Bools = np.asarray((np.isfinite(logprobs) & ~np.isfinite(base)).any(axis=1), dtype=np.bool_)
    difference = np.where(partnerless[:, np.newaxis], np.nan, logprobs - base)
    scored = _scored("calibrated", difference, answered, groups, named)
    return Scoring(scored.name, scored.slots, scored.pairs, scored.picks, partnerless, excluded=condition)


def _partners(table: Table, condition: str, columns: Sequence[int]) -> Ints:
    """(n,): the row under ``condition`` with the same source, language, variant, order and repeat, else -1."""
    orders = np.ascontiguousarray(table.order[:, columns])
    keys = list(
        zip(
            table.source.tolist(),
            table.language.tolist(),
            table.variant.tolist(),
            table.repeat.tolist(),
            [row.tobytes() for row in orders],
            strict=True,
        )
    )
    rows = np.flatnonzero(table.condition == condition).tolist()
    places = {keys[row]: row for row in rows}
    return np.array([places.get(key, -1) for key in keys], dtype=np.int64)


def _softmax(logprobs: Floats) -> tuple[Floats, Ints]:
    """The normalised joint table (n, K), 0 where nothing was scored, and the one best choice (n,), else -1."""
    scores = np.where(np.isfinite(logprobs), logprobs, -np.inf)
    top = scores.max(axis=1, initial=-np.inf)
    known = np.isfinite(top)
    powers = np.exp(scores - np.where(known, top, 0.0)[:, np.newaxis])
    joint = powers / np.where(known, powers.sum(axis=1), 1.0)[:, np.newaxis]
    single = known & ((scores == top[:, np.newaxis]).sum(axis=1) == 1)
    return joint, np.where(single, scores.argmax(axis=1) if scores.shape[1] else 0, -1)


def _joint_pairs(joint: Floats, slots: Mapping[str, Mass], groups: tuple[str, ...], named: Ints) -> Mass | None:
    if len(slots) < 2:
        return None
    codes = np.where((named[:, :2] >= 0).all(axis=1), named[:, 0] * len(groups) + named[:, 1], -1)
    used = np.unique(codes[codes >= 0])
    labels = tuple(f"{groups[code // len(groups)]}|{groups[code % len(groups)]}" for code in used.tolist())
    first, second = list(slots.values())[:2]
    counted = first.counted & second.counted
    cells = np.where(codes >= 0, np.searchsorted(used, codes), -1)
    return Mass(labels, counted, weights=np.where(counted[:, np.newaxis], joint @ _indicator(cells, len(used)), 0.0))


def _indicator(codes: Ints, size: int) -> Floats:
    """(len(codes), size): 1 at each code, rows of 0 for -1."""
    return np.asarray(codes[:, np.newaxis] == np.arange(size), dtype=np.float64)
