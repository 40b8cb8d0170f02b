"""What several checks need: the items that are scored, where each stands, and how findings are worded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from biasfw.findings import Finding, Level, Measure
from biasfw.phrases import listed
from biasfw.schemas import Problem

if TYPE_CHECKING:
    from biasfw.validating.inspection import Inspected, Split
    from biasfw.validating.items import Told

SHOWN = 5  # items that a finding names


def here(seen: Inspected) -> Iterator[Split]:
    """The splits whose items are there."""
    return (split for split in seen.splits if split.told)


def official(split: Split) -> bool:
    """Whether the items are files of somebody else, which no author here can edit."""
    return "reader" in split.bundle.entry


def scored(split: Split) -> list[Told]:
    """The items without the controls."""
    controls = split.bundle.manifest.get("controls", {}).get("categories", ())
    return [each for each in split.told if each.seed.category not in controls]


def cluster_of(split: Split, told: Told) -> str:
    """The independent observation that an item belongs to, as the engine has it."""
    field, seed = split.bundle.manifest["cluster"], told.seed
    if seed.cluster:
        return seed.cluster
    if field in ("each-item", "source_id"):
        return seed.source_id
    value = seed.fields.get(field, getattr(seed, field, None))
    return str(value) if value is not None else seed.source_id


def one_each(split: Split, items: Iterable[Told]) -> list[Told]:
    """The first item of each cluster in each language: variants and orders of a dialogue are one to an author."""
    first: dict[tuple[str, str], Told] = {}
    for told in items:
        first.setdefault((told.seed.language, cluster_of(split, told)), told)
    return list(first.values())


def warn_or_err(split: Split) -> Level:
    """An error in items that can be edited, a warning in those of somebody else."""
    return "warning" if official(split) else "error"


def tell(seen: Inspected, level: Level, items: Sequence[Told], pointer: str, message: str) -> None:
    """One finding about several items, at the place of the first; the next ones are named with their places."""
    problem = items[0].place(pointer, "")
    more = ""
    if len(items) > 1:
        places = [where(told, pointer, problem.file) for told in items[1:SHOWN]]
        rest = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
        more = f" (also {listed(places)}{rest})"
    found = Problem(problem.file, problem.line, problem.column, problem.pointer, message + more, problem.cell)
    seen.report.findings.append(Finding(level, found))


def where(told: Told, pointer: str, file: str = "") -> str:
    """``en-03 (line 3)``: an item for a list of items; ``file`` is the one that needs no naming."""
    problem = told.place(pointer, "")
    name = told.seed.source_id
    if problem.cell:
        return f"{name} ({problem.cell})"
    if not problem.line:
        return name
    return f"{name} (line {problem.line})" if problem.file == file else f"{name} ({problem.file}:{problem.line})"


def measure(seen: Inspected, split: Split, name: str, value: Any, **about: Any) -> None:
    """Add a number, or a table, to the report."""
    seen.report.measures.append(Measure(split.name, name, value, about))


def by_language(items: Sequence[Told]) -> Mapping[str, list[Told]]:
    """Items by language, in the order of the data."""
    ordered = sorted(items, key=lambda told: told.seed.language)
    return {tag: list(some) for tag, some in groupby(ordered, key=lambda told: told.seed.language)}
