"""What an author has not replaced yet: TODO in the files and the items of a bundle. Warnings, never errors."""

from __future__ import annotations

import re
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from biasfw.errors import BiasfwError
from biasfw.findings import Finding, Report
from biasfw.phrases import many
from biasfw.records import Seed
from biasfw.schemas import Problem
from biasfw.textfile import read_text
from biasfw.validating.items import texts

if TYPE_CHECKING:
    from biasfw.validating.inspection import Inspected, Split

_MARK = re.compile(r"(?<![`\w])TODO(?![`\w])")  # `TODO` is spoken of, not left to do
_SHOWN = 60  # characters of a line


def check(seen: Inspected) -> None:
    """Warn of every line with TODO in manifest and datasheet, and once a split of the items that hold it."""
    manifest = Path(seen.report.file)
    for path in (manifest, manifest.parent / "DATASHEET.md"):
        check_file(seen.report, path)
    for split in seen.splits:
        check_items(seen, split)


def check_file(report: Report, path: Path) -> None:
    """Warn of every line with TODO in a text file, if it exists."""
    try:
        lines = read_text(path).splitlines()
    except BiasfwError:
        return  # its own check says why
    for number, line in enumerate(lines, start=1):
        if mark := _MARK.search(line):
            rest = _cut(line[mark.end() :].strip(" :\"'}"))
            _warn(report, f"{path}", number, mark.start() + 1, f"left to do: {rest or 'replace this line'}")


def _cut(text: str) -> str:
    """The beginning of a text, to the end of a word."""
    return textwrap.shorten(text, _SHOWN, placeholder=" …") if " " in text[:_SHOWN] else text[:_SHOWN]


def check_items(seen: Inspected, split: Split) -> None:
    """Warn once of the items of a split that still hold TODO, at the first."""
    from biasfw.conforming.shared import tell  # noqa: PLC0415 - it lists this check

    marked = [(told, place) for told in split.told if (place := _marked(told.seed)) is not None]
    if marked:
        items = many(len(split.told), "item")
        what = f"left to do: {len(marked)} of {items} of split {split.name} with TODO; replace what is marked"
        tell(seen, "warning", [told for told, _ in marked], marked[0][1], what)


def is_marked(text: str) -> bool:
    """Whether a text holds a mark of what is left to do."""
    return _MARK.search(text) is not None


def _marked(seed: Seed) -> str | None:
    """The pointer of the first text with TODO."""
    for pointer, text in texts(asdict(seed)):
        if _MARK.search(text):
            return pointer.removeprefix("/fields")
    return None


def _warn(report: Report, file: str, line: int, column: int, message: str) -> None:
    report.findings.append(Finding("warning", Problem(file, line, column, "", message)))
