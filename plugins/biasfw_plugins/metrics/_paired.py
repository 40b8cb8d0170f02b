"""Paired differences of label shares: two sides that answer the same questions, such as two conditions or languages.

A pair's difference is the mean weight of its rows on the first side minus that on the second; differences are
averaged within clusters, then over them. Denominator ``all``: rows that name no label weigh 0. ``answered``: rows that
name one, and pairs that have such a row on both sides. Bounds, for both: the rows whose label is missing had none or
all named the label; those that chose an abstention that was offered are not missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from biasfw import Score, Test, clustered_mean, sign_flips
from biasfw_plugins.metrics._view import FEW_CLUSTERS, Denominator, holm_adjusted, too_few
from biasfw_plugins.metrics._weights import Bools, Floats, Ints, Mass

_FEW = 12  # clusters: so few have all their signs tried, which costs nothing


@dataclass(frozen=True, slots=True)
class Pairs:
    """The rows of the first and of the second side, the pair (< size) of each row, the cluster of each pair."""

    rows: tuple[Ints, Ints]
    codes: tuple[Ints, Ints]
    clusters: Ints  # (size,)

    @classmethod
    def of(cls, one: Ints, other: Ints, keys: Ints, clusters: Ints) -> Pairs:
        """Pair the rows ``one`` with the rows ``other`` by ``keys`` (n,); the second side says the cluster."""
        rows = np.concatenate([other, one])
        _, begin, codes = np.unique(keys[rows], return_index=True, return_inverse=True)
        return cls((one, other), (codes[len(other) :], codes[: len(other)]), clusters[rows[begin]])


@dataclass(frozen=True, slots=True)
class Differences:
    """Differences (C, k) per cluster and label; ``least`` and ``greatest`` (k,) bound their mean over clusters."""

    labels: tuple[str, ...]
    values: Floats
    clusters: Ints  # (C,) which clusters
    pairs: int
    least: Floats
    greatest: Floats
    named: bool  # both sides have a row that names a label

    @classmethod
    def of(cls, mass: Mass, declined: Bools, pairs: Pairs, denominator: Denominator) -> Differences:
        """The differences in what ``mass`` gives to each label."""
        one, other = (_Side.of(mass, declined, pairs, side, denominator) for side in (0, 1))
        paired = (one.used > 0) & (other.used > 0)
        possible = (one.possible > 0) & (other.possible > 0)
        clusters, values = _by_cluster((one.mean - other.mean)[paired], pairs.clusters[paired])
        _, least = _by_cluster((one.least - other.greatest)[possible], pairs.clusters[possible])
        _, greatest = _by_cluster((one.greatest - other.least)[possible], pairs.clusters[possible])
        named = bool(one.counted.any() and other.counted.any())
        return cls(mass.labels, values, clusters, int(paired.sum()), _mean(least), _mean(greatest), named)


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of pairs, per pair: weights (size, k), and the rows that name a label, count, or are missing (size,)."""

    sums: Floats
    counted: Ints
    used: Ints  # rows in the denominator
    possible: Ints  # rows in the denominator once the missing are known
    missing: Ints

    @classmethod
    def of(cls, mass: Mass, declined: Bools, pairs: Pairs, side: int, denominator: Denominator) -> _Side:
        rows, codes, size = pairs.rows[side], pairs.codes[side], len(pairs.clusters)
        given = mass.counted[rows]
        counted = np.bincount(codes[given], minlength=size)
        missing = np.bincount(codes[~given & ~declined[rows]], minlength=size)
        whole = np.bincount(codes, minlength=size)
        used, possible = (whole, whole) if denominator == "all" else (counted, counted + missing)
        return cls(mass.sums(rows, codes, size), counted, used, possible, missing)

    @property
    def mean(self) -> Floats:
        return np.asarray(self.sums / np.maximum(self.used, 1)[:, np.newaxis])

    @property
    def least(self) -> Floats:
        return np.asarray(self.sums / np.maximum(self.possible, 1)[:, np.newaxis])

    @property
    def greatest(self) -> Floats:
        return np.asarray((self.sums + self.missing[:, np.newaxis]) / np.maximum(self.possible, 1)[:, np.newaxis])


def joint_codes(*columns: Ints) -> Ints:
    """(n,): one code for each combination of the codes in ``columns`` (n,), none of them negative."""
    joint = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        joint = joint * (int(column.max(initial=0)) + 1) + column
    return joint


def flipped(found: Sequence[Differences], null: str) -> list[list[Test]]:
    """The sign-flip tests of all columns of ``found``, in their order; all share the drawn signs, and so the work."""
    tests = [sign_flips(one.values, null=null) if len(one.clusters) <= _FEW else [] for one in found]
    many = [place for place, one in enumerate(found) if len(one.clusters) > _FEW]
    if not many:
        return tests
    union = np.unique(np.concatenate([found[place].clusters for place in many]))
    columns = []
    for place in many:
        # A cluster without a difference has nothing to flip: its 0 changes no sum.
        values = np.zeros((len(union), len(found[place].labels)))
        values[np.searchsorted(union, found[place].clusters)] = found[place].values
        columns.append(values)
    drawn = iter(sign_flips(np.hstack(columns), null=null))
    for place in many:
        means = found[place].values.mean(axis=0).tolist()
        tests[place] = [replace(next(drawn), statistic=mean) for mean in means]
    return tests


def filled(base: Score, found: Differences, tests: Sequence[Test], *, unpaired: str, silent: str) -> Iterator[Score]:
    """``base`` for each label, with its value; or with the reason ``unpaired`` or ``silent`` why there is none."""
    for place, (label, test) in enumerate(zip(found.labels, tests, strict=True)):
        score = replace(base, slice={**base.slice, "label": label})
        if not found.pairs or not found.named:
            yield replace(score, reason=unpaired if found.named else silent)
            continue
        values = found.values[:, place]
        value = float(values.mean())
        few = too_few(score.clusters) if score.clusters < FEW_CLUSTERS else None
        yield replace(
            score,
            value=value,
            bounds=(min(value, float(found.least[place])), max(value, float(found.greatest[place]))),
            interval=clustered_mean(values, np.arange(len(values)), possible=(-1.0, 1.0)).interval(),
            test=test,
            reason=few,
        )


def by_family(scores: Iterable[Score]) -> Iterator[Score]:
    """``scores``, family by family, with p-values adjusted within each."""
    families: dict[str | None, list[Score]] = defaultdict(list)
    for score in scores:
        families[score.family].append(score)
    for family in families.values():
        yield from holm_adjusted(family)


def _by_cluster(values: Floats, clusters: Ints) -> tuple[Ints, Floats]:
    """The clusters (C,) that occur among ``clusters`` (p,), and the mean (C, k) of ``values`` (p, k) in each."""
    names, codes = np.unique(clusters, return_inverse=True)
    sizes = np.bincount(codes, minlength=len(names))
    columns = [np.bincount(codes, weights=column, minlength=len(names)) / sizes for column in values.T]
    return names, np.stack(columns, axis=1) if columns else np.zeros((len(names), 0))


def _mean(values: Floats) -> Floats:
    """(k,): the mean over rows; 0 without rows."""
    return np.asarray(values.sum(axis=0) / max(len(values), 1))
