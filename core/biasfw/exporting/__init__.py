"""Runs as flat tables for other programs: one row per response, with what every judge made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biasfw.errors import UsageError
from biasfw.exporting.rows import Column, Flat
from biasfw.exporting.writers import write_csv, write_jsonl, write_parquet, write_xlsx
from biasfw.jsonlines import write_atomically
from biasfw.plugins import Plugins
from biasfw.storedrun import open_run

Rows = Iterator[dict[str, Any]]
Write = Callable[[Path, tuple[Column, ...], Rows, str], list[str]]

_TABLES: dict[str, Write] = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet, "xlsx": write_xlsx}
FORMATS = (*_TABLES, "every-eval-ever")


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: the file, its rows (of every-eval-ever: its results), and what a reader must know of it."""

    path: Path
    rows: int
    notes: tuple[str, ...]


def export(run: Path, to: str, output: Path | None = None, plugins: Plugins | None = None) -> Exported:
    """Write a run as ``to``; a file that is there is replaced whole.

    Args:
        run: a run directory.
        to: one of ``FORMATS``.
        output: default: the name of the run with the format's ending, in the current folder.
        plugins: default: those that are installed.

    Raises:
        UsageError: an unknown format, or the file cannot be written.
        ComponentError: the format needs the extra ``export``.
    """
    if to not in FORMATS:
        raise UsageError(f"cannot export to {to!r}; give --to {'|'.join(FORMATS)}")
    stored = open_run(run, plugins or Plugins.installed())
    name = stored.path.resolve().name
    path = output or Path(f"{name}.{'eee.json' if to == 'every-eval-ever' else to}")
    try:
        if to == "every-eval-ever":
            from biasfw.exporting.everyevalever import document, text  # noqa: PLC0415 - only for this format

            found = document(stored)
            write_atomically(path, text(found))
            return Exported(path, len(found["evaluation_results"]), stored.flaws)
        flat = Flat(stored)
        temporary = path.with_name(f".{path.name}.tmp")
        try:
            notes = _TABLES[to](temporary, flat.columns, flat.rows(), stored.bundle.manifest["canary"])
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as failure:
        raise UsageError(f"cannot write {path}: {failure.strerror or failure}; give another file with -o") from failure
    if flat.withheld:
        notes = [f"{stored.name} may not be passed on: texts of items and prompts are left out", *notes]
    return Exported(path, len(stored.asked), (*notes, *stored.flaws))
