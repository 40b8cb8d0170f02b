"""Rows of items files, as they stand in JSON lines, CSV or a workbook, to seeds; the first mistake ends it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from biasfw import schemas, seedcheck, sheets
from biasfw.errors import DataError
from biasfw.oddtext import Odd, odd
from biasfw.records import Choice, Seed
from biasfw.rows import Row
from biasfw.textfile import read_jsonl, row_document

_FIXED = frozenset(f.name for f in fields(Seed)) - {"fields"}


def make_seed(row: Mapping[str, Any]) -> Seed:
    """The seed in a row that fits ``item.schema.json``."""
    known = {name: value for name, value in row.items() if name in _FIXED}
    extra = {name: value for name, value in row.items() if name not in _FIXED}
    known["choices"] = tuple(Choice(**choice) for choice in known.get("choices", ()))
    known["order"] = tuple(known.get("order", ()))
    return Seed(fields=extra, **known)


@dataclass
class SeedReader:
    """Reads the ``files`` of a split one after the other; no item may stand in two of them."""

    manifest: Mapping[str, Any]
    files: int = 1
    _seen: dict[tuple[str, ...], str] = field(default_factory=dict)

    def read(self, path: Path) -> Iterator[Seed]:
        """Every seed of a file.

        Raises:
            DataError: with file and line, or sheet and cell, of the first thing that is wrong.
        """
        if path.suffix in sheets.SUFFIXES:
            rows = sheets.read_sheet(path)
        else:
            rows = (Row(str(path), line, value) for line, value in read_jsonl(path))
        return (self._checked(path, row) for row in rows)

    def _checked(self, path: Path, row: Row) -> Seed:
        if row.flaws:
            raise DataError(row.flaws[0])
        if (wrong := next((each for each in odd(row.value) if each.grade != "doubtful"), None)) is not None:
            raise DataError(_odd(path, row, wrong))
        if not schemas.valid("item")(row.value):
            raise DataError(_unlike_the_schema(path, row))
        seed = make_seed(row.value)
        if seed.language not in self.manifest["languages"]:
            what = f"language {seed.language!r} is not among the manifest's languages"
            raise DataError(f"{row.where('/language')}: {what}")
        flaw = seedcheck.flaw(seed, self.manifest, {category["key"] for category in self.manifest["categories"]})
        if flaw is not None:
            raise DataError(f"{row.where(flaw.pointer)}: {flaw.message}")
        # Ids that differ only in their form of Unicode are one id to everybody who reads them.
        identity = (unicodedata.normalize("NFC", seed.source_id), seed.language, seed.variant or "", *seed.order)
        if identity in self._seen:
            raise DataError(
                f"{row.where('/source_id')}: source_id {seed.source_id!r} ({seed.language}) also stands in "
                f"{self._seen[identity]}; give every item its own"
            )
        self._seen[identity] = row.name + (f" of {path.name}" if self.files > 1 else "")
        return seed


def _odd(path: Path, row: Row, wrong: Odd) -> str:
    """What is said of a character that cannot stand there, at its exact place."""
    if path.suffix in sheets.SUFFIXES:
        return f"{row.where(wrong.pointer)}: {wrong.pointer}: {wrong.message}"
    where = row_document(path, row.line).where(wrong.pointer, key=wrong.is_key)
    return f"{where}: {wrong.pointer}: {wrong.message}"


def _unlike_the_schema(path: Path, row: Row) -> str:
    """What the first problem is; of a line of JSON, at its exact place."""
    if path.suffix not in sheets.SUFFIXES:
        return str(schemas.problems("item", row.value, path, row.line)[0])
    problem = schemas.problems("item", row.value)[0]
    return ": ".join(part for part in (row.where(problem.pointer), problem.pointer, problem.message) if part)
