"""What a comparison found: frozen records that ``codec.encode`` turns into JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from biasfw.comparing.measure import Unlike
from biasfw.comparing.places import Place
from biasfw.records import Interval, Test

ALPHA = 0.05
TABLE = "total_variation"  # the metric of whole tables of labels
RULE = (
    "a difference is claimed only where two things agree: the test (p below .05 after Holm's correction over all "
    "comparisons of a kind, also with missing answers at their worst) and the interval (without 0, at 95 % for all "
    "comparisons of that kind together)"
)
BOTH_LOCKED = "both runs are position-locked: their accuracies say nothing about bias, nor does the difference"
TABLE_RULE = "tables of labels have no interval: there the test alone decides"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first run less the second, in a slice of what both asked.

    ``value`` is a mean difference (``a - b``, every cluster with equal weight) or, for whole tables of labels, their
    total variation, where ``a`` and ``b`` are null. ``bounds`` are the least and the greatest value that the missing
    answers could have given. ``p_least`` is p where they fall against the difference.

    ``interval`` holds with 95 % by itself, ``simultaneous`` together with those of all ``comparisons`` of the
    ``family`` (null where there is only one). ``shown`` is set only if ``RULE`` holds; else ``reason`` says why not,
    and ``alone`` which of the two would have shown one. ``smallest_p``: the test cannot come below it, before Holm.
    """

    metric: str
    slice: Mapping[str, str]
    a: float | None
    b: float | None
    value: float | None
    interval: Interval | None
    test: Test
    p_least: float | None
    n: int
    clusters: int
    missing: tuple[int, int]
    bounds: tuple[float, float] | None
    detectable: float | None
    family: str
    se: float | None = None
    shown: Literal["higher", "lower", "differ"] | None = None
    reason: str | None = None
    simultaneous: Interval | None = None
    comparisons: int = 1
    smallest_p: float | None = None
    alone: Literal["test", "interval"] | None = None
    # (C, 5), as ``Scores.by_cluster`` has it: intervals at another level are made of it.
    means: NDArray[np.float64] | None = field(default=None, compare=False, repr=False, metadata={"stored": False})

    @property
    def outer(self) -> Interval | None:
        """The interval that claims are held against."""
        return self.simultaneous or self.interval


@dataclass(frozen=True, slots=True)
class Lock:
    """One position is picked in every order in ``share`` of ``pairs``: accuracy then says nothing about bias."""

    position: int
    share: float
    pairs: int


@dataclass(frozen=True, slots=True)
class Preferring:
    """How the likelihoods of one run are dealt out over pairs of both orders: what ``biasfw run`` counts.

    ``prefers`` of ``decided`` pairs prefer the option that counts; ``tied`` prefer neither, ``unscored`` are not known.
    """

    prefers: int
    decided: int
    tied: int
    unscored: int


@dataclass(frozen=True, slots=True)
class Margin:
    """Whether the first run is not worse than the second (or equivalent) by ``margin``, missing answers at worst."""

    kind: Literal["noninferior", "equivalent"]
    margin: float
    low: float | None  # of the 90 % interval, missing answers at their least
    high: float | None
    shown: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Flip:
    """A response that differs between the runs, by its place; no text of the benchmark."""

    item: str
    repeat: int
    category: str
    language: str
    condition: str
    slot: str
    a: str  # what was chosen, or the outcome in brackets
    b: str
    gold: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """Two runs under one condition of the benchmark."""

    condition: str
    overall: Difference
    slices: tuple[Difference, ...]  # by category, by language
    labels: tuple[Difference, ...]  # shares of labels, by slot; task labels only
    margin: Margin | None
    counts: Mapping[str, int]  # how pairs of responses agree
    flips: tuple[Flip, ...]
    locks: tuple[Lock | None, Lock | None] = (None, None)  # of the first and of the second run
    role: str = ""  # of the options whose share is compared; "" for right ones, and for labels
    preference: Difference | None = None  # share of all pairs whose order-averaged likelihoods prefer that option
    preferring: tuple[Preferring, Preferring] | None = None
    places: tuple[tuple[Place, ...], tuple[Place, ...]] = ((), ())  # that take most picks of a slot; task labels only


@dataclass(frozen=True, slots=True)
class Pair:
    """Two of the runs, by their numbers (from 1)."""

    a: int
    b: int
    treatment: tuple[Unlike, ...]
    left_out: tuple[Unlike, ...]  # of the measure, under --force-common
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """One of the runs."""

    number: int
    path: str
    model: str
    backend: str
    status: str
    judge: str
    remarks: tuple[str, ...] = ()  # why its scores say nothing about bias, other than picking by position


@dataclass(frozen=True, slots=True)
class Rank:
    """The ranks that a run may have under a condition: none outside can be shown.

    ``remark``: why a run has no ranks, since its accuracy says nothing about bias.
    """

    run: int
    condition: str
    best: int | None
    worst: int | None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything ``biasfw compare`` says."""

    benchmark: str
    version: str
    task: str
    demo: bool
    forced: bool
    canary: str
    runs: tuple[Compared, ...]
    pairs: tuple[Pair, ...]
    rule: str  # what is claimed, and when
    ranks: tuple[Rank, ...] = ()
    warnings: tuple[str, ...] = ()  # what stands against reading differences as such in bias
    notes: tuple[str, ...] = ()
    names: Mapping[str, Any] = field(default_factory=dict)  # categories, slots and labels as people read them
    cluster_name: str = "clusters"
