"""Reports of `check` and `validate`, as text or as JSON, and the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from biasfw.cli._common import print_json, say
from biasfw.findings import Measure, Report


def show(reports: Sequence[Report], *, as_json: bool, tables: bool = False) -> None:
    """Print what was found; exit code 1 if there are errors."""
    errors = sum(report.errors for report in reports)
    warnings = sum(report.warnings for report in reports)
    if as_json:
        print_json(
            {"ok": not errors, "errors": errors, "warnings": warnings, "checked": [r.as_json() for r in reports]}
        )
    else:
        for report in reports:
            say(f"{report.kind} {report.name}")
            for fact in report.facts:
                say(f"  {fact}")
            if tables:
                for split in dict.fromkeys(measure.split for measure in report.measures):
                    _table(split, [measure for measure in report.measures if measure.split == split])
            for finding in report.findings:
                say(str(finding))
        click.echo(f"{_many(errors, 'error')}, {_many(warnings, 'warning')}")
    if errors:
        raise click.exceptions.Exit(1)


def _many(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"


def _table(split: str, measures: Sequence[Measure]) -> None:
    """The numbers of a split, then its tables."""
    say(f"  split {split}:")
    rows = [(measure.name, *_cells(measure)) for measure in measures if "columns" not in measure.about]
    _aligned(rows)
    for measure in measures:
        if "columns" in measure.about and measure.value:
            say(f"    {measure.name}")
            _aligned([measure.about["columns"], *measure.value], indent=6)


def _cells(measure: Measure) -> tuple[str, ...]:
    about = dict(measure.about)
    low, high = about.pop("low", None), about.pop("high", None)
    interval = f"[{low:.3f}, {high:.3f}]" if low is not None and high is not None else ""
    rest = ", ".join(f"{name} {_number(value)}" for name, value in about.items())
    return _number(measure.value), interval, rest


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_number(each)}" for name, each in value.items())
    return "-" if value is None else str(value)


def _aligned(rows: Sequence[Sequence[Any]], indent: int = 4) -> None:
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in texts if at < len(row)) for at in range(max(map(len, texts), default=0))]
    for row in texts:
        say((" " * indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))).rstrip())
