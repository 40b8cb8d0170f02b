"""Draws and labels in the run directory: labels/<draw>.json and labels/<draw>.labels.json."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasfw.codec import decode, encode
from biasfw.errors import DataError, StoreError, UsageError
from biasfw.labelling.drawing import Draw
from biasfw.phrases import listed
from biasfw.store import RunDirectory

FOLDER = "labels"
_NAME = re.compile(r"draw-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class SheetRead:
    """A sheet that was imported: what it was called, its sha256, how many labels it brought."""

    name: str
    sha256: str
    labels: int


@dataclass(frozen=True, slots=True)
class Labels:
    """What people said of the rows of a draw: row id -> slot -> label. A row or slot without a label is not there."""

    draw: str
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    sheets: tuple[SheetRead, ...] = ()
    schema_version: int = 1


def keep(directory: RunDirectory, record: Draw | Labels) -> Path:
    """Write a draw, or its labels, whole."""
    name = f"{record.name}.json" if isinstance(record, Draw) else f"{record.draw}.labels.json"
    return directory.write_file(f"{FOLDER}/{name}", json.dumps(encode(record), ensure_ascii=False, indent=1) + "\n")


def draws(run: Path) -> list[str]:
    """The names of the draws of a run."""
    return sorted(path.stem for path in (run / FOLDER).glob("draw-*.json") if _NAME.fullmatch(path.stem))


def load_draw(run: Path, name: str | None = None) -> Draw:
    """A draw of a run, by default the only one.

    Raises:
        UsageError: there is none, none of that name, or several to choose from.
        StoreError: the file was changed since it was written.
    """
    there = draws(run)
    if not there:
        raise UsageError(f"nothing was drawn from {run}; begin with: biasfw labels draw {run} -n 100")
    if name is None and len(there) > 1:
        raise UsageError(f"{run} has {len(there)} draws; name one with --draw: {listed(there)}")
    name = name or there[0]
    if name not in there:
        raise UsageError(f"{run} has no draw {name!r}; it has: {listed(there)}")
    path = run / FOLDER / f"{name}.json"
    draw: Draw = _decoded(Draw, path)
    if draw.sealed().name != name or draw.name != name:
        raise StoreError(f"{path} was changed since it was drawn, so that nothing follows from its labels; draw anew")
    return draw


def load_labels(run: Path, draw: Draw) -> Labels:
    """The labels of a draw; none where nothing was imported yet."""
    path = run / FOLDER / f"{draw.name}.labels.json"
    return _decoded(Labels, path) if path.is_file() else Labels(draw.name)


def _decoded(cls: Any, path: Path) -> Any:
    try:
        return decode(cls, json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError, AttributeError, DataError) as failure:
        raise StoreError(f"{path} is damaged ({failure}); put the file back as it was") from failure
