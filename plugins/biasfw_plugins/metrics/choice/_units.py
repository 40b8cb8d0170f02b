"""Units that either hit or miss (rows, or pairs of rows) in one cell, and how their share becomes a score.

Units whose result is not known count as misses in the denominator ``all`` and are left out of ``answered``. Bounds:
none of the unknown hits, or all that still can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biasfw import Estimate, Score, Test, point_test, proportion_from_cluster_sums, standing
from biasfw_plugins.metrics._paired import by_family
from biasfw_plugins.metrics._view import FEW_CLUSTERS, Denominator, too_few
from biasfw_plugins.metrics._weights import Bools, Floats, Ints

CHANCE = "a uniform choice among the options"
LOCKED = 0.9  # from this share of locked pairs on, accuracy says nothing about bias
LOCKED_REASON = "position-locked: accuracy says nothing about bias"
_SIGNIFICANT = 0.05


def judged_of(judged: int, there: int, what: str = "rows") -> str:
    """What is said where some of the rows have no right option, and are not divided by; "" where all have one."""
    return f"only {judged} of {there} {what} have a right option (gold)" if 0 < judged < there else ""


def noted(*parts: str | None) -> str | None:
    """What is remarked of a value, without the parts that say nothing."""
    return "; ".join(part for part in parts if part) or None


@dataclass(frozen=True, slots=True)
class Units:
    """``hit`` (u,) implies ``known``; ``open``: not known, and may still have been a hit; ``chance`` (u,) of a hit."""

    clusters: Ints
    hit: Bools
    known: Bools
    open: Bools
    chance: Floats
    outcomes: Mapping[str, int]
    said: str = ""  # of what these are only a part

    @property
    def missing(self) -> int:
        """Units whose result is not known."""
        return int((~self.known).sum())

    def estimate(self, over: Denominator, level: float = 0.95) -> Estimate:
        """The clustered share of hits."""
        return self._share(self.hit, self.known if over == "answered" else None, level)

    def best(self, level: float = 0.95) -> Estimate:
        """The share over all units if every open one had been a hit."""
        return self._share(self.hit | self.open, None, level)

    def reference(self, over: Denominator) -> float | None:
        """The share under a uniform choice; null without units. Rounded, so that a half stays a half."""
        some = self.chance[self.known] if over == "answered" else self.chance
        return round(float(some.mean()), 12) if len(some) else None

    def bounds(self, over: Denominator) -> tuple[float, float]:
        """The least and the greatest share that the missing could have given."""
        size = len(self.hit)
        if not size:
            return 0.0, 1.0
        hits = int(self.hit.sum())
        return hits / size, (hits + (int(self.open.sum()) if over == "all" else self.missing)) / size

    def chance_test(self) -> Test:
        """The test of all units against chance, in the least favourable case of the units that are not known.

        Its p is the largest that any completion of the missing can give: that of the worst or the best case, or 1 if
        chance lies between the two. ``reason`` says what ``standing`` says where it decides nothing.
        """
        point = self.reference("all")
        if point is None or not 0 < point < 1:
            return Test(CHANCE, "none", None, reason="no rows" if point is None else "there is nothing to choose from")
        worst, best = self.estimate("all"), self.best()
        low, high = point_test(worst, point, null=CHANCE), point_test(best, point, null=CHANCE)
        if low.p is None or high.p is None:
            return low if low.p is None else high
        chosen = low if low.p >= high.p else high
        if self.open.any():
            method = f"{chosen.method}; the least favourable case of {int(self.open.sum())} not answered"
            between = worst.mean is not None and best.mean is not None and worst.mean <= point <= best.mean
            chosen = replace(chosen, method=method, p=1.0 if between else chosen.p)
        return replace(chosen, reason=standing(worst, best, point, int(self.open.sum())).reason)

    def score(self, metric: str, over: Denominator, *, nothing: str, **fields: Any) -> Score:
        """The share as a score; ``nothing`` is the reason where no unit counts; ``remark`` adds to what is remarked."""
        estimate = self.estimate(over)
        remark, test = fields.pop("remark", None), fields.pop("test", None)
        defined = bool(self.known.any())
        reasons = [too_few(estimate.clusters)] * (estimate.clusters < FEW_CLUSTERS)
        return Score(
            metric=metric,
            value=estimate.mean if defined else None,
            unit="share",
            n=estimate.n,
            clusters=estimate.clusters,
            denominator=over,
            outcomes=self.outcomes,
            bounds=self.bounds(over) if len(self.hit) else None,
            interval=estimate.interval() if defined else None,
            reference=fields.pop("reference", self.reference(over)),
            test=test if defined else None,
            reason=noted(remark, self.said, *reasons) if defined else nothing,
            **fields,
        )

    def _share(self, hit: Bools, known: Bools | None, level: float) -> Estimate:
        clusters = self.clusters if known is None else self.clusters[known]
        hits = hit if known is None else hit[known]
        size = int(self.clusters.max(initial=-1)) + 1
        sums = np.bincount(clusters, weights=hits.astype(np.float64), minlength=size)
        return proportion_from_cluster_sums(sums, np.bincount(clusters, minlength=size), level=level)


def withheld(reason: str) -> Test:
    """A test against chance that is not made."""
    return Test(CHANCE, "not made", None, reason=reason)


def adjusted(scores: Iterable[Score]) -> Iterator[Score]:
    """``scores`` with p-values adjusted within each family (Holm), and said in words which side of chance they are.

    "Below chance" needs an adjusted p below 0.05 in the least favourable case of the missing answers, and so does
    "above".
    """
    return (_said(score) for score in by_family(scores))


def _said(score: Score) -> Score:
    test = score.test
    if score.value is None or test is None or test.p is None or score.reference is None:
        return score
    p = test.p if test.p_adjusted is None else test.p_adjusted
    if p < _SIGNIFICANT and score.bounds is not None:
        said = "below chance" if score.bounds[1] < score.reference else "above chance"
    elif test.reason and "not decidable" in test.reason:
        said = f"{test.reason}: whether above or below chance"
    else:
        return score
    return replace(score, reason="; ".join(part for part in (said, score.reason) if part))


def nothing_answered(outcomes: Mapping[str, int], what: str = "response names an option") -> str:
    """Why there is no value, although there may be rows."""
    told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
    return f"no {what} here" + (f" ({told})" if told else "")
