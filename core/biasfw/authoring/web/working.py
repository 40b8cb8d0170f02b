"""Working copies: what somebody is typing, on the disk within a second, and never overwritten unseen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biasfw.authoring.bench import Workbench
from biasfw.authoring.checking import LONGEST
from biasfw.authoring.drafts import MAIN, TEXTS
from biasfw.authoring.log import Log
from biasfw.errors import StoreError, UsageError
from biasfw.jsonlines import write_atomically

FOLDER = "working"
NEW = "new"  # the name of a draft that has no name yet
NAMES = ("category", "language", *TEXTS)


class ChangedError(UsageError):
    """Another tab kept something since; ``kept`` is that."""

    def __init__(self, kept: Mapping[str, Any]) -> None:
        super().__init__("another tab has changed this draft since; look at what it holds, then go on from there")
        self.kept = dict(kept)


def place_of(item: str | None, texts: Mapping[str, Any]) -> str:
    """The name of a working copy: the draft, or the category of one that has no name yet."""
    return item or f"{NEW}-{texts['category']}"


def _path(bench: Workbench, by: str, place: str, arm: str) -> Path:
    return bench.folder / FOLDER / f"{place}{'' if arm == MAIN else f'.{arm}'}.{by}.json"


def kept(bench: Workbench, by: str, place: str, arm: str = MAIN) -> dict[str, Any] | None:
    """What ``by`` was typing at a place; None if there is nothing."""
    try:
        found: dict[str, Any] = json.loads(_path(bench, by, place, arm).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found


def keep(bench: Workbench, by: str, item: str | None, given: Mapping[str, Any], arm: str = MAIN) -> int:
    """Keep texts; return the revision. ``given`` has ``revision`` (the one it began from), ``base`` and ``texts``.

    Raises:
        ChangedError: the working copy has another revision by now.
        StoreError: it cannot be written.
    """
    texts = {name: text for name, text in given["texts"].items() if name in NAMES and isinstance(text, str)}
    if any(len(text) > LONGEST for text in texts.values()):
        raise UsageError(f"a text has at most {LONGEST} characters")
    with Log(bench.folder).locked(f"working-{by}"):
        place = place_of(item, texts)
        before = kept(bench, by, place, arm)
        revision = before["revision"] if before else 0
        if before is not None and given["revision"] != revision and before["texts"] != texts:
            raise ChangedError(before)
        path = _path(bench, by, place, arm)
        revision = int(revision) + 1
        row = {"by": by, "item": item, "base": given.get("base"), "revision": revision, "texts": texts}
        try:
            path.parent.mkdir(exist_ok=True)
            write_atomically(path, json.dumps(row).encode("ascii"))
        except OSError as failure:
            raise StoreError(f"cannot write {path}: {failure.strerror or failure}; make room") from failure
    return revision


def drop(bench: Workbench, by: str, place: str, arm: str = MAIN) -> None:
    """The texts are in the log now."""
    _path(bench, by, place, arm).unlink(missing_ok=True)
