"""What plugins offer, as data: a name, where the class lives, and the JSON Schema of its options.

A spec is made without importing the module it points to; the engine imports that on first use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

_NO_OPTIONS: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class ComponentSpec:
    """``load`` is ``"package.module:Class"``; ``extra`` the pip extra of biasfw, or the requirement, it needs.

    ``options`` is a JSON Schema (draft 2020-12) of an object. A property may carry ``"affects_answers": false``
    (transport and speed options): changing it then continues the same run. ``examples`` are shown in help.
    """

    name: str
    load: str
    summary: str
    extra: str | None = None
    options: Mapping[str, Any] = field(default_factory=lambda: _NO_OPTIONS)


@dataclass(frozen=True, slots=True)
class BackendSpec(ComponentSpec):
    """``capabilities``: ``generate``, ``choices`` (scores any text), ``first_token`` (single-token keys).

    ``references``: the backend answers from ``Request.references``; all others never see them. ``lacks``: what its
    answers say nothing about (``orders``, ``variants``, ``logprobs``), with the reason: a metric that requires it, and
    a slice by it, is null there.
    """

    capabilities: frozenset[str] = frozenset({"generate"})
    references: bool = False
    lacks: Mapping[str, str] = field(default_factory=dict)
    models: tuple[str, ...] = ()  # known model names, if the set is closed


@dataclass(frozen=True, slots=True)
class ParserSpec(ComponentSpec):
    """``tasks``: the tasks whose answers it can read."""

    tasks: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class JudgeSpec(ComponentSpec):
    """``roles``: the one model it needs (``("model",)``), bound to a backend by the user; empty for rules.

    ``combines``: it asks nothing and sees no response, but turns the verdicts of its members into one (a panel).
    """

    tasks: frozenset[str] = frozenset()
    roles: tuple[str, ...] = ()
    combines: bool = False


@dataclass(frozen=True, slots=True)
class MetricSpec(ComponentSpec):
    """``ideal`` and ``direction`` say what is good; ``requires`` what must mean something (``BackendSpec.lacks``).

    It may require ``logprobs`` (scores of the options), ``orders`` or ``variants`` (answers to several of them).
    ``gold``: it compares with the right option, and leaves out the rows whose item has none.
    ``rows``: the metric gets the items, or the controls (items of the same format without social content), or all.
    """

    tasks: frozenset[str] = frozenset()
    unit: str = "share"
    range: tuple[float, float] | None = (0.0, 1.0)
    ideal: float | None = None
    direction: str = "none"
    requires: frozenset[str] = frozenset()
    rows: Literal["items", "controls", "all"] = "items"
    gold: bool = False


@dataclass(frozen=True, slots=True)
class ReaderSpec(ComponentSpec):
    """Reads official files of a benchmark; named by a manifest's split."""


@dataclass(frozen=True, slots=True)
class ReporterSpec(ComponentSpec):
    """``suffix``: the file it writes."""

    suffix: str = ".html"


@dataclass(frozen=True, slots=True)
class CommandSpec(ComponentSpec):
    """A subcommand of ``biasfw``: ``load`` points to a ``click.Command``."""
