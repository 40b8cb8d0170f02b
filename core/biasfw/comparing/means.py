"""Differences of means and of label tables: estimates, tests, and what the missing answers could have changed.

What may be claimed of them is decided in ``claims``, over all comparisons together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from biasfw._resampling import smallest_p, swap_test
from biasfw.comparing.columns import Bools, Floats, Strings
from biasfw.comparing.results import TABLE, Difference, Margin
from biasfw.paired import minimum_detectable, paired_mean
from biasfw.records import Test
from biasfw.stats import MIN_CLUSTERS, Estimate, sign_flips

NOT_ANSWERED = "(not answered)"
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Scores:
    """Hits (n,) of both runs in rows of the same requests, and where one did not answer."""

    cluster: Strings
    hit_a: Bools
    hit_b: Bools
    open_a: Bools
    open_b: Bools

    def where(self, rows: Bools) -> Scores:
        """Those of some rows."""
        return Scores(self.cluster[rows], self.hit_a[rows], self.hit_b[rows], self.open_a[rows], self.open_b[rows])

    @property
    def missing(self) -> tuple[int, int]:
        """How many rows each run did not answer."""
        return int(self.open_a.sum()), int(self.open_b.sum())

    def by_cluster(self) -> Floats:
        """(C, 5): hits of A and B, their difference, and the least and the greatest that it could have been."""
        _, codes = np.unique(self.cluster.astype(str), return_inverse=True)
        a, b = self.hit_a.astype(float), self.hit_b.astype(float)
        # What A left open was wrong and what B left open right, and the other way round.
        parts = [a, b, a - b, a - (self.hit_b | self.open_b), (self.hit_a | self.open_a) - b]
        sizes = np.bincount(codes)
        return np.stack([np.bincount(codes, weights=part) / sizes for part in parts], axis=1)


def mean_difference(scores: Scores, metric: str, where: Mapping[str, str], family: str, seed: int = 0) -> Difference:
    """``mean_c d_c`` with its interval and sign-flip tests, as observed and with the missing answers at their worst."""
    return mean_differences([(scores, where)], metric, family, seed)[0]


def mean_differences(
    parts: Sequence[tuple[Scores, Mapping[str, str]]], metric: str, family: str, seed: int = 0
) -> list[Difference]:
    """``mean_difference`` of several scores of the same rows: their tests share the drawn signs."""
    if not parts:
        return []
    if not len(parts[0][0].cluster):
        return [_nothing(metric, where, family) for _, where in parts]
    means = [scores.by_cluster() for scores, _ in parts]
    tests = iter(sign_flips(np.concatenate([each[:, 2:] for each in means], axis=1), null="no difference", seed=seed))
    return [
        _difference(scores, each, (next(tests), next(tests), next(tests)), (metric, dict(where), family))
        for (scores, where), each in zip(parts, means, strict=True)
    ]


def _difference(
    scores: Scores, means: Floats, tests: tuple[Test, Test, Test], names: tuple[str, dict[str, str], str]
) -> Difference:
    """From the (C, 5) means of clusters and the tests of their last three columns."""
    metric, where, family = names
    differences = means[:, 2]
    estimate = paired_mean(differences)
    value, low, high = (float(column.mean()) for column in means[:, 2:].T)
    observed, least, greatest = tests
    worst = least if value > 0 else greatest
    against = low if value > 0 else -high
    missing = scores.missing
    p_least = observed.p if not any(missing) else worst.p if against > _ROUNDING else 1.0
    return Difference(
        metric=metric,
        slice=where,
        a=float(means[:, 0].mean()),
        b=float(means[:, 1].mean()),
        value=value,
        interval=estimate.interval(),
        test=observed,
        p_least=p_least,
        n=len(scores.cluster),
        clusters=len(means),
        missing=missing,
        bounds=(low, high),
        detectable=minimum_detectable(estimate.se if differences.any() else None, len(means)),
        family=family,
        se=estimate.se,
        smallest_p=smallest_p(int((np.abs(differences) > _ROUNDING).sum())),
        means=means,
    )


def _nothing(metric: str, where: Mapping[str, str], family: str) -> Difference:
    test = Test("no difference", "sign-flip over clusters", None, reason="no rows")
    return Difference(
        metric, dict(where), None, None, None, None, test, None, 0, 0, (0, 0), None, None, family, reason="no rows"
    )


def table_difference(
    cluster: Strings,
    cells: tuple[Strings, Strings],
    opened: tuple[Bools, Bools],
    where: Mapping[str, str],
    family: str,
    seed: int = 0,
) -> Difference:
    """The total variation of the tables of ``cells`` (n,) of both runs, tested by swapping the runs in each cluster.

    What is missing could make the tables more alike by at most the mean of both shares of missing: ``p_least`` tests
    the part that lies among the answers, ``sum_k |a_k - b_k|/2`` over them, and is 1 where that is no more than it.

    Args:
        cluster: (n,) clusters.
        cells: the joint label of each response of A and of B.
        opened: where A and B left a slot open.
        where: the slice.
        family: for Holm.
        seed: of the swaps that are drawn.
    """
    metric = TABLE
    if not len(cluster):
        return _nothing(metric, where, family)
    _, codes = np.unique(cluster.astype(str), return_inverse=True)
    names, both = np.unique(np.concatenate(cells).astype(str), return_inverse=True)
    rows, count, clusters = len(cluster), len(names), int(codes.max()) + 1
    sizes = np.bincount(codes)[:, np.newaxis]
    tables = [
        np.bincount(codes * count + side, minlength=clusters * count).reshape(clusters, count) / sizes
        for side in (both[:rows], both[rows:])
    ]
    differences = tables[0] - tables[1]
    test = swap_test(differences, seed=seed)
    assert test.statistic is not None  # noqa: S101
    missing = (int(opened[0].sum()), int(opened[1].sum()))
    holes = np.isin(np.arange(count), np.concatenate([both[:rows][opened[0]], both[rows:][opened[1]]]))
    lost = sum(float(table[:, holes].sum(axis=1).mean()) for table in tables) / 2
    apart, p_least = test.statistic, test.p
    if any(missing):
        answered = swap_test(differences[:, ~holes], seed=seed)
        apart = max(0.0, (answered.statistic or 0.0) - lost)
        p_least = answered.p if apart > _ROUNDING else 1.0
    return Difference(
        metric=metric,
        slice=dict(where),
        a=None,
        b=None,
        value=test.statistic,
        interval=None,
        test=test,
        p_least=p_least,
        n=rows,
        clusters=clusters,
        missing=missing,
        bounds=(apart, min(1.0, test.statistic + lost)),
        detectable=None,
        family=family,
        smallest_p=smallest_p(int((np.abs(differences) > _ROUNDING).any(axis=1).sum())),
    )


def margin_of(scores: Sequence[Scores], kind: Literal["noninferior", "equivalent"], margin: float) -> Margin:
    """Non-inferiority or equivalence of the first run in every one of ``scores``.

    Non-inferior: the lower limit of the 90 % interval lies above ``-margin``. Equivalent: the whole interval lies
    within the margin (two one-sided tests at 5 %, Schuirmann 1987); for several shares in each of them, which needs
    no correction, since all must hold (Berger 1982). Missing answers are taken at their least favourable.
    """
    lows: list[float] = []
    highs: list[float] = []
    for each in scores:
        means = each.by_cluster()
        least, greatest = (paired_mean(means[:, place], 0.90) for place in (3, 4))
        if least.low is None or greatest.high is None:
            reason = f"no interval: {_why(least, greatest)}"
            return Margin(kind, margin, least.low, greatest.high, shown=False, reason=reason)
        lows.append(least.low)
        highs.append(greatest.high)
    if not lows:
        return Margin(kind, margin, None, None, shown=False, reason="no rows")
    low, high = min(lows), max(highs)
    shown = low > -margin and (kind == "noninferior" or high < margin)
    return Margin(kind, margin, low, high, shown=shown, reason=None if shown else "the 90 % interval reaches beyond it")


def _why(*estimates: Estimate) -> str:
    reasons = [each.reason for each in estimates if each.reason]
    return reasons[0] if reasons else f"at least {MIN_CLUSTERS} clusters are needed"
