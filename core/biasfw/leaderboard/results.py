"""What a leaderboard holds: frozen records that ``codec.encode`` turns into JSON."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Entry:
    """A run in a table: its primary score under one condition and the ranks that it may have (None: not ranked)."""

    model: str
    backend: str
    about: str
    run: str
    value: float | None
    low: float | None
    high: float | None
    missing: float  # share of responses without an answer
    best: int | None = None
    worst: int | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Board:
    """Runs of one benchmark that were measured alike, under one condition."""

    benchmark: str
    title: str
    demo: bool
    condition: str
    metric: str
    judge: str
    mode: str
    reference: float | None
    n: int
    clusters: int
    cluster_name: str
    construct: str
    does_not_show: str
    canary: str
    ranked: tuple[Entry, ...]
    apart: tuple[tuple[str, tuple[Entry, ...]], ...]  # why they stand apart, and who
    order: str  # how they are ranked, or why they are not
    chance: str  # what chance alone gives, where it is not the reference; or ""


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The boards, those of official sets first, and what was left out."""

    boards: tuple[Board, ...]
    left_out: tuple[tuple[str, str], ...] = field(default_factory=tuple)  # folder, why
    flaws: tuple[str, ...] = ()  # what could not be read of the runs that are in it
