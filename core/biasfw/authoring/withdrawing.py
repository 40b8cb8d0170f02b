"""Somebody withdraws: their texts leave the log, the items, bundles and annotations; counts are kept.

A version that was made from a withdrawn one holds words of it, so it goes as well; versions before it stay.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from biasfw.authoring.bench import Workbench
from biasfw.authoring.exports import leave_exports
from biasfw.authoring.log import LOG
from biasfw.errors import UsageError

NOBODY = "a-00000000"  # stands for everybody whose numbers were erased
_NUMBERS = ("try", "decision", "review", "flag", "skip", "pause", "consent", "aside")


def withdraw(bench: Workbench, by: str, *, erase: bool = False) -> dict[str, int]:
    """Take out the texts of ``by``; with ``erase`` also the numbers. Return how many lines of each kind were touched.

    Raises:
        UsageError: nobody of this pseudonym is in the log.
    """
    touched = sorted({row["item"] for row in bench.log.rows() if row.get("by") == by and "item" in row})
    with ExitStack() as locks:
        for name in (*touched, "items", "log"):  # nobody builds on a text that is being withdrawn
            locks.enter_context(bench.log.locked(name))
        rows = bench.log.rows_locked()
        if not any(row.get("by") == by for row in rows):
            raise UsageError(f"{bench.folder / LOG} has nobody called {by}; check the pseudonym")
        counts: Counter[str] = Counter()
        gone = _tainted(rows, by)
        kept = [new for row in rows if (new := _emptied(row, by, gone, counts, erase=erase)) is not None]
        reasons = _reasons(rows, by, {item for item, _, _ in gone})
        bench.log.replace_locked(kept)
        damaged = bench.folder / f"{LOG}.damaged"
        damaged.unlink(missing_ok=True)  # what could not be read may hold anybody's texts
        who = NOBODY if erase else by
        bench.log.append_locked("withdrawn", by=who, erased=erase, counts=dict(sorted(counts.items())))
    for path in (bench.folder / "working").glob("*.json"):
        if _written_by(path, by) or path.name.partition(".")[0] in {item for item, _, _ in gone}:
            path.unlink()
    for pattern in (".try-*", ".staging-*"):  # left by a process that was killed
        for place in bench.folder.glob(pattern):
            shutil.rmtree(place, ignore_errors=True)
    for path in (bench.folder / ".locks").glob(f"*{by}*") if erase else ():
        path.unlink()
    bench.rebuild()
    counts.update(leave_exports(bench, by, {item for item, _, _ in gone}, erase=erase, reasons=reasons))
    return dict(counts)


def _tainted(rows: list[dict[str, Any]], by: str) -> set[tuple[str, str, int]]:
    """(item, arm, version) of every text that is, or was made from, a text of ``by``."""
    first: dict[tuple[str, str], int] = {}
    for row in rows:
        if row["kind"] == "draft" and row["by"] == by:
            first.setdefault((row["item"], row["arm"]), row["version"])
    gone = set()
    for row in rows:
        if row["kind"] == "draft":
            since = first.get((row["item"], row["arm"]))
            if row["arm"] == "placebo" and first.get((row["item"], "main")) == 0:  # it began from that version
                since = 0
            if since is not None and row["version"] >= since:
                gone.add((row["item"], row["arm"], row["version"]))
    return gone


def _reasons(rows: list[dict[str, Any]], by: str, gone: set[str]) -> set[str]:
    """What they said against items, and what others said against theirs: bundles quote it."""
    said = [row for row in rows if row["kind"] in ("review", "flag") and row.get("reason")]
    return {row["reason"] for row in said if row["by"] == by or row["item"] in gone}


def _emptied(
    row: dict[str, Any], by: str, gone: set[tuple[str, str, int]], counts: Counter[str], *, erase: bool
) -> dict[str, Any] | None:
    """The line without what has to go; None if nothing of it stays."""
    kind, own = row["kind"], row.get("by") == by
    about = (row.get("item"), row.get("arm", "main"), row.get("version"))
    if kind == "draft" and about in gone:
        counts[kind] += 1
        new = {name: value for name, value in row.items() if name not in ("draft", "changed")} | {"removed": True}
        return {**new, "by": NOBODY} if erase and own else new
    if kind == "aside" and (own or any(row.get("item") == item for item, _, _ in gone)):
        counts[kind] += 1
        return None
    if kind == "withdrawn" and own and erase:  # they withdrew before, and were named
        return {**row, "by": NOBODY}
    quotes = row.get("item") in {item for item, _, _ in gone}  # what others said about it may hold words of it
    said = own and bool(row.get("reason"))
    if row.get("reason") and (own or quotes):
        row = {**row, "reason": ""}
    erased = erase and ((own and kind in _NUMBERS) or (kind == "try" and about in gone))
    counts[kind] += erased or said
    if erased:
        return None
    if own and kind == "consent":
        return {**row, "yes": False}
    return row


def _written_by(path: Path, by: str) -> bool:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return True  # nobody can say whose it is
    return bool(found.get("by") == by)
