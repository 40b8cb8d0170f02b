"""What a comparison found: frozen records that ``codec.encode`` turns into JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from biasfw.comparing.measure import Unlike
from biasfw.records import Interval, Test

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """The first run less the second, in a slice of what both asked.

    ``value`` is a mean difference (``a - b``, every cluster with equal weight) or, for whole tables of labels, their
    total variation, where ``a`` and ``b`` are null. ``bounds`` are the least and the greatest value that the missing
    answers could have given. ``p_least`` is p where they fall against the difference. ``shown`` is set only if it
    stands then, too, after Holm over ``family``; else ``reason`` says why not.
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
    notes: tuple[str, ...] = ()


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


@dataclass(frozen=True, slots=True)
class Rank:
    """The ranks that a run may have under a condition: none outside can be shown."""

    run: int
    condition: str
    best: int
    worst: int


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
    ranks: tuple[Rank, ...] = ()
    notes: tuple[str, ...] = ()
    names: Mapping[str, Any] = field(default_factory=dict)  # categories, slots and labels as people read them
    cluster_name: str = "clusters"
