"""How far raters agree who put units into nominal classes: coefficients with clustered intervals.

Rows that belong to one cluster are not independent: intervals of the coefficients are delete-one-cluster jackknives
(Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 11) with t(C - 1). Agreement is not accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from biasfw.records import Interval
from biasfw.stats import MIN_CLUSTERS, clustered_proportion, too_few

MISSING = -1
NO_VARIATION = "no variation: every label is the same"
_NOBODY = "no unit has two labels"
_JACKKNIFE = "delete-one-cluster jackknife: t(C - 1)"

Codes = NDArray[np.int64]
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient over ``n`` units that have two labels or more; null with a reason where it is undefined."""

    value: float | None
    n: int
    clusters: int
    interval: Interval
    reason: str | None = None


def percent_agreement(codes: Codes, clusters: NDArray[np.int64]) -> Coefficient:
    """The mean over units of the share of pairs of raters that agree.

    Args:
        codes: (R, n) the class that each rater put each unit in, 0 to L - 1, or ``MISSING``.
        clusters: (n,) what each unit belongs to.
    """
    counts = _counts(codes)
    usable = counts.sum(axis=1) >= 2
    found = clustered_proportion(_pairs_agreeing(counts[usable]), clusters[usable])
    return Coefficient(
        found.mean, found.n, found.clusters, found.interval(), None if found.mean is not None else _NOBODY
    )


def gwet_ac1(codes: Codes, clusters: NDArray[np.int64]) -> Coefficient:
    """Gwet's AC1 (Gwet 2008, Br. J. Math. Stat. Psychol. 61:29; with missing values Gwet 2014, Handbook).

    ``(p_a - p_e)/(1 - p_e)``, p_a over units with two labels, ``p_e = sum_k pi_k (1 - pi_k)/(q - 1)``, pi_k the mean
    over all labelled units of the share of their labels that are k, q the number of classes that occur. Arguments as
    for ``percent_agreement``.
    """
    counts = _counts(codes)
    rated = counts.sum(axis=1)
    shares = counts / np.maximum(rated, 1)[:, None]
    usable = rated >= 2
    agreeing = np.zeros(len(rated))
    agreeing[usable] = _pairs_agreeing(counts[usable])
    parts = np.column_stack([agreeing, usable, shares, rated > 0])
    classes = int((counts.sum(axis=0) > 0).sum())

    def value(sums: _Floats) -> float | None:
        if sums[1] == 0 or sums[-1] == 0 or classes < 2:
            return None
        pi = sums[2:-1] / sums[-1]
        chance = float((pi * (1 - pi)).sum()) / (classes - 1)
        return (float(sums[0] / sums[1]) - chance) / (1 - chance)

    return _coefficient(value, parts, clusters, usable)


def krippendorff_alpha(codes: Codes, clusters: NDArray[np.int64]) -> Coefficient:
    """Krippendorff's alpha for nominal data with missing values (Krippendorff 2019, Content Analysis, chapter 12).

    ``1 - (n - 1)(n - sum_k o_kk)/(n^2 - sum_k n_k^2)`` over the labels of units that have two or more. Arguments as for
    ``percent_agreement``.
    """
    counts = _counts(codes)
    usable = counts.sum(axis=1) >= 2
    counts = np.where(usable[:, None], counts, 0.0)
    same = (counts * (counts - 1)).sum(axis=1) / np.maximum(counts.sum(axis=1) - 1, 1)

    def value(sums: _Floats) -> float | None:
        per_class = sums[1:]
        n = float(per_class.sum())
        expected = n**2 - float((per_class**2).sum())
        return 1 - (n - 1) * (n - float(sums[0])) / expected if expected > 0 else None

    return _coefficient(value, np.column_stack([same, counts]), clusters, usable)


def cohen_kappa(first: Codes, second: Codes, clusters: NDArray[np.int64]) -> Coefficient:
    """Cohen's kappa of two raters (Cohen 1960) over the units (n,) that both labelled."""
    usable = (first != MISSING) & (second != MISSING)
    size = int(max(first.max(initial=0), second.max(initial=0))) + 1
    parts = np.zeros((len(first), 2 * size + 2))
    places = np.flatnonzero(usable)
    parts[places, first[places]] = 1
    parts[places, size + second[places]] = 1
    parts[:, -2] = usable & (first == second)
    parts[:, -1] = usable

    def value(sums: _Floats) -> float | None:
        n = float(sums[-1])
        if n == 0:
            return None
        chance = float(sums[:size] @ sums[size : 2 * size]) / n**2
        return (float(sums[-2]) / n - chance) / (1 - chance) if chance < 1 else None

    return _coefficient(value, parts, clusters, usable)


@dataclass(frozen=True, slots=True)
class Changes:
    """How often a second verdict differs from a first: of ``n`` units in which either gave a label."""

    n: int
    changed: int
    share: Coefficient
    to_another: int  # another label
    lost: int  # a label became none
    gained: int  # none became a label


def changes(before: Codes, after: Codes, clusters: NDArray[np.int64]) -> Changes:
    """Compare two verdicts (n,) on the same units, ``MISSING`` where there is none."""
    had, has = before != MISSING, after != MISSING
    either = had | has
    differ = before != after
    found = clustered_proportion(differ[either], clusters[either])
    reason = None if found.mean is not None else "no unit has a label"
    share = Coefficient(found.mean, found.n, found.clusters, found.interval(), reason)
    return Changes(
        int(either.sum()),
        int(differ[either].sum()),
        share,
        int((differ & had & has).sum()),
        int((had & ~has).sum()),
        int((~had & has).sum()),
    )


@dataclass(frozen=True, slots=True)
class PanelRule:
    """How a panel decides: ``majority`` (more than half of all members) or ``unanimous``; at least ``quorum`` vote."""

    name: str
    quorum: int = 0

    def verdict(self, votes: Codes) -> Codes:
        """The verdict (n,) of the members' votes (M, n): a class, or ``MISSING``. Who did not vote still counts."""
        members, n = votes.shape
        counts = _counts(votes)
        top = counts.argmax(axis=1) if counts.size else np.zeros(n, dtype=np.int64)
        most = counts.max(axis=1, initial=0.0)
        needed = most == members if self.name == "unanimous" else 2 * most > members
        decided = needed & (most > 0) & ((votes != MISSING).sum(axis=0) >= self.quorum)
        return np.where(decided, top, MISSING).astype(np.int64)

    def without_one(self) -> PanelRule:
        """The same rule for one member less."""
        return PanelRule(self.name, max(self.quorum - 1, 0))


def rule_of(votes: Codes, verdict: Codes, stated: Sequence[PanelRule] = ()) -> PanelRule | None:
    """The rule that makes the stored ``verdict`` (n,) of the ``votes`` (M, n): one of ``stated``, else any known one.

    None if none does: then nothing can be said about what the panel would have decided without a member.
    """
    members = len(votes)
    known = [PanelRule(name, quorum) for name in ("majority", "unanimous") for quorum in range(members + 1)]
    return next((rule for rule in (*stated, *known) if np.array_equal(rule.verdict(votes), verdict)), None)


def pairs_of(names: Sequence[str]) -> list[tuple[int, int]]:
    """The places of every two of ``names``."""
    return list(combinations(range(len(names)), 2))


def _counts(codes: Codes) -> _Floats:
    """(n, L): how many raters put a unit in a class."""
    raters, n = codes.shape
    counts = np.zeros((n, int(codes.max(initial=0)) + 1))
    for rater in range(raters):
        units = np.flatnonzero(codes[rater] != MISSING)
        counts[units, codes[rater, units]] += 1
    return counts


def _pairs_agreeing(counts: _Floats) -> _Floats:
    rated = counts.sum(axis=1)
    found: _Floats = (counts * (counts - 1)).sum(axis=1) / np.maximum(rated * (rated - 1), 1)
    return found


def _coefficient(
    value: Callable[[_Floats], float | None], parts: _Floats, clusters: NDArray[np.int64], usable: NDArray[np.bool_]
) -> Coefficient:
    """A coefficient that is a function of column sums of ``parts`` (n, P), with its jackknife interval."""
    n, count = int(usable.sum()), int(np.unique(clusters[usable]).size)
    total = parts.sum(axis=0)
    whole = value(total)
    if whole is None:
        why = _NOBODY if n == 0 else NO_VARIATION
        return Coefficient(None, n, count, Interval(None, None, _JACKKNIFE, reason=why), why)
    kept = parts.any(axis=1)
    names, codes = np.unique(clusters[kept], return_inverse=True)
    sums = np.zeros((len(names), parts.shape[1]))
    np.add.at(sums, codes, parts[kept])
    without = [value(total - each) for each in sums]
    defined = np.array([each for each in without if each is not None])
    reason = None
    if count < MIN_CLUSTERS:
        reason = too_few(count)
    elif len(defined) < len(without):
        reason = "undefined without one of the clusters"
    elif np.ptp(defined) < 1e-12:
        reason = "no variation between clusters"
    if reason is not None:
        return Coefficient(whole, n, count, Interval(None, None, _JACKKNIFE, reason=reason))
    size = len(defined)
    se = math.sqrt((size - 1) / size * float(((defined - defined.mean()) ** 2).sum()))
    half = float(stdtrit(size - 1, 0.975)) * se
    return Coefficient(whole, n, count, Interval(max(-1.0, whole - half), min(1.0, whole + half), _JACKKNIFE))
