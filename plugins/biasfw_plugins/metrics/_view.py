"""A view: the responses of one cell, weighed in one way, in one slot; it knows how to become a score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from biasfw import Estimate, Score, holm, proportion_from_cluster_sums
from biasfw_plugins.metrics._cells import Cell
from biasfw_plugins.metrics._weights import Floats, Ints, Scoring

Denominator = Literal["all", "answered"]
DENOMINATORS: tuple[Denominator, ...] = ("all", "answered")
FEW_CLUSTERS = 10  # smaller slices are marked and never ranked


@dataclass(frozen=True, slots=True)
class View:
    """``sums`` (C, k) per cluster and label, ``rows`` and ``counted`` (C,) per cluster, over the rows of ``cell``.

    ``declined`` rows chose an abstention that was offered: what they would have chosen is known, so they are not
    missing. ``expected`` (k,) are the shares under a uniform choice among the labels presented. ``partnerless`` rows
    were answered but could not be calibrated.
    """

    cell: Cell
    slot: str
    scoring: Scoring
    labels: tuple[str, ...]
    sums: Floats
    rows: Ints
    counted: Ints
    declined: int
    expected: Floats
    outcomes: Mapping[str, int]
    partnerless: int = 0

    @property
    def slice(self) -> dict[str, str]:
        """What every score of this view is about."""
        named = {"scoring": self.scoring.name} if self.scoring.name else {}
        return {"slot": self.slot, **self.cell.keys, **named}

    @property
    def missing(self) -> int:
        """Rows whose label is not known."""
        return int(self.rows.sum() - self.counted.sum()) - self.declined

    @property
    def total(self) -> int:
        """Rows that count."""
        return int(self.counted.sum())

    @property
    def clusters(self) -> int:
        """Clusters with a row that counts."""
        return int((self.counted > 0).sum())

    @property
    def shares(self) -> Floats:
        """(k,): the shares among the rows that count; all 0 if none does."""
        return np.asarray(np.minimum(self.sums.sum(axis=0) / max(self.total, 1), 1.0))  # rounding

    def estimate(self, sums: Floats, denominator: Denominator, level: float = 0.95) -> Estimate:
        """The clustered share of ``sums`` (C,)."""
        return proportion_from_cluster_sums(sums, self._sizes(denominator), level=level)

    def bounds(self, weight: float, denominator: Denominator) -> tuple[float, float]:
        """The least and greatest share of what has ``weight`` so far: none of the missing chose it, or all did."""
        size = self.total + self.missing + (self.declined if denominator == "all" else 0)
        return (_clipped(weight / size), _clipped((weight + self.missing) / size)) if size else (0.0, 1.0)

    def score(self, metric: str, value: float | None, denominator: Denominator, **fields: Any) -> Score:
        """A score about this view; ``slice`` in ``fields`` adds keys, ``reason`` defaults to what has to be said."""
        sizes = self._sizes(denominator)
        bounds = fields.pop("bounds", None)
        if value is not None and bounds is not None:
            bounds = (min(bounds[0], value), max(bounds[1], value))  # equal ones differ in the last bits
        return Score(
            metric=metric,
            value=value,
            unit="share",
            n=int(sizes.sum()),
            clusters=int((sizes > 0).sum()),
            denominator=denominator,
            slice={**self.slice, **fields.pop("slice", {})},
            outcomes=self.outcomes,
            bounds=bounds,
            reason=fields.pop("reason", None) or (self.nothing if value is None else self.remark),
            **fields,
        )

    def family(self, *parts: str) -> str:
        """The name of the family of cells that this view belongs to."""
        kind = self.cell.by if self.cell.by == "overall" else f"by {self.cell.by}"
        scoring = [self.scoring.name] if self.scoring.name else []
        return ", ".join([*parts, self.cell.keys["condition"], kind, *scoring])

    @property
    def nothing(self) -> str:
        """Why nothing can be said here."""
        if self.partnerless:
            return f"nothing to calibrate with: {self.partnerless} answered rows have no partner"
        told = ", ".join(f"{count} {outcome}" for outcome, count in self.outcomes.items())
        return f"no response names a label here ({told})"

    @property
    def remark(self) -> str | None:
        """What a reader must know although there is a value."""
        remarks = []
        if self.clusters < FEW_CLUSTERS:
            remarks.append(too_few(self.clusters))
        if self.partnerless:
            remarks.append(f"{self.partnerless} answered rows have no partner and are not calibrated")
        return "; ".join(remarks) or None

    def _sizes(self, denominator: Denominator) -> Ints:
        return self.rows if denominator == "all" else self.counted


def holm_adjusted(scores: Sequence[Score]) -> Iterator[Score]:
    """``scores`` with their p-values adjusted over all of them: they are one family."""
    for score, p in zip(scores, holm([score.test.p if score.test else None for score in scores]), strict=True):
        yield replace(score, test=replace(score.test, p_adjusted=p)) if score.test else score


def only(clusters: int) -> str:
    """So few clusters, in words."""
    return f"only {clusters} cluster{'s' * (clusters != 1)}"


def too_few(clusters: int) -> str:
    """The remark beside a value of so few clusters."""
    return f"{only(clusters)}: too few to tell much"


def _clipped(share: float) -> float:
    return min(max(share, 0.0), 1.0)
