"""What an author has not replaced yet: TODO in the files and the items of a bundle. Warnings, never errors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from biasfw.errors import BiasfwError
from biasfw.findings import Finding, Report
from biasfw.records import Seed
from biasfw.schemas import Problem
from biasfw.textfile import read_text

if TYPE_CHECKING:
    from biasfw.validating.inspection import Inspected

_MARK = re.compile(r"\bTODO\b")
_SHOWN = 60  # characters of a line


def check(seen: Inspected) -> None:
    """Warn of every line with TODO in manifest and datasheet, and once a split of the items that hold it."""
    manifest = Path(seen.report.file)
    for path in (manifest, manifest.parent / "DATASHEET.md"):
        check_file(seen.report, path)
    for split in seen.splits:
        check_items(seen.report, split.name, split.seeds)


def check_file(report: Report, path: Path) -> None:
    """Warn of every line with TODO in a text file, if it exists."""
    try:
        lines = read_text(path).splitlines()
    except BiasfwError:
        return  # its own check says why
    for number, line in enumerate(lines, start=1):
        if mark := _MARK.search(line):
            rest = line[mark.end() :].strip(" :\"'}")[:_SHOWN]
            _warn(report, f"{path}", number, mark.start() + 1, f"left to do: {rest or 'replace this line'}")


def check_items(report: Report, split: str, seeds: list[Seed]) -> None:
    """Warn once of the items of a split that still hold TODO."""
    marked = [seed for seed in seeds if _MARK.search(repr(seed))]
    if marked:
        first = f"{marked[0].source_id!r} ({marked[0].language})"
        what = f"split {split}: {len(marked)} of {len(seeds)} items hold TODO, the first is {first}"
        _warn(report, report.file, 0, 0, f"{what}; replace what is marked, or the items")


def _warn(report: Report, file: str, line: int, column: int, message: str) -> None:
    report.findings.append(Finding("warning", Problem(file, line, column, "", message)))
