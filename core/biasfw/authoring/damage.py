"""What is wrong with a log: lines that cannot be read, versions that are missing, verdicts that do not follow."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from biasfw.authoring.drafts import MAIN, PLACEBO, verdict_of
from biasfw.authoring.log import LOG, SETTINGS, Flaw, Log
from biasfw.errors import StoreError
from biasfw.phrases import are, many


def problems(log: Log) -> list[str]:
    """One line for everything that is wrong, with the number of its line where it has one."""
    rows, flaws = log.read()
    return [*_unread(flaws), *_versions(rows, flaws), *_verdicts(rows)]


def problems_in(folder: Path) -> list[str]:
    """The same, for a folder that may be no workbench."""
    if not (folder / SETTINGS).is_file():
        return []
    try:
        return problems(Log(folder))
    except StoreError as failure:
        return [str(failure)]


def _unread(flaws: Sequence[Flaw]) -> list[str]:
    found = []
    for flaw in (each for each in flaws if not each.aside):
        what = "the last line was cut off while it was written" if flaw.torn else "this line cannot be read"
        found.append(
            f"{LOG}:{flaw.number}: {what}{_named([flaw])}, so it does not count; mend it or put it back from a copy "
            f"(the next write moves it to {LOG}.damaged)"
        )
    aside = [flaw for flaw in flaws if flaw.aside]
    if aside:
        lines = ", ".join(str(flaw.number) for flaw in aside[:12])
        found.append(
            f"{LOG}.damaged:{lines}: {many(len(aside), 'line')} that could not be read {are(len(aside))} kept there"
            f"{_named(aside)}; mend them and put them back at the end of {LOG}, or remove the file"
        )
    return found


def _named(flaws: Sequence[Flaw]) -> str:
    named = dict.fromkeys(f"{flaw.about[0]} version {flaw.about[2]}" for flaw in flaws if flaw.about)
    return f" ({', '.join(named)})" if named else ""


def _versions(rows: Mapping[int, Mapping[str, Any]], flaws: Sequence[Flaw]) -> list[str]:
    """Numbers that are missing or were given twice, by draft and arm."""
    written: dict[tuple[str, str], list[int]] = defaultdict(list)
    named: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row in rows.values():
        if "item" in row and "version" in row:
            place = (row["item"], row.get("arm", MAIN))
            named[place].add(row["version"])
            if row["kind"] == "draft":
                written[place].append(row["version"])
    for item, arm, number in (flaw.about for flaw in flaws if flaw.about):
        named[item, arm].add(number)
    found = []
    for (item, arm), numbers in sorted(named.items()):
        own, what = written[item, arm], "version" if arm == MAIN else f"{PLACEBO} version"
        missing = _gaps(own, 0 if arm == MAIN else 1, max(numbers))
        if arm == PLACEBO and not own and item in {name for name, _ in written}:
            continue  # held-out models are asked about the first version in its place
        if missing:
            there = ", ".join(str(number) for number in sorted(own)) or "none"
            found.append(f"{item}: {what} {', '.join(missing)} missing; there: {there}")
        found += [f"{item}: {what} {number} is there twice; which one was tried and decided on cannot be told"
                  for number, count in sorted(Counter(own).items()) if count > 1]  # fmt: skip
    return found


def _gaps(own: Sequence[int], first: int, last: int) -> list[str]:
    """The numbers from ``first`` to ``last`` that are not there, ``4`` or ``4-7``."""
    found, expected = [], first
    for number in (*sorted(set(own)), last + 1):
        if number > expected:
            found.append(str(expected) if number == expected + 1 else f"{expected}-{number - 1}")
        expected = number + 1
    return found


def _verdicts(rows: Mapping[int, Mapping[str, Any]]) -> list[str]:
    found = []
    for number, row in rows.items():
        if row["kind"] == "try" and row["asked"] and verdict_of(row) != row["verdict"]:
            said, follows = row["verdict"].replace("_", " "), verdict_of(row).replace("_", " ")
            found.append(
                f"{LOG}:{number}: {row['item']} version {row['version']}: the verdict {said} does not follow from its "
                f"picks, which make it {follows}; the picks count"
            )
    return found
