"""The log of a workbench: append-only, schema-checked, one line at a time under a lock."""

from __future__ import annotations

import json
import os
import re
import secrets
import string
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from biasfw import schemas
from biasfw.codec import dumps
from biasfw.errors import StoreError, UsageError
from biasfw.jsonlines import JsonLines, write_atomically

LOG, SETTINGS = "attempts.jsonl", "workbench.yaml"
_LETTERS = string.ascii_lowercase + string.digits
_PATIENCE = 20.0  # seconds to wait for another process that writes
_NAMED = {name: re.compile(rf'"{name}"\s*:\s*"?([A-Za-z0-9_-]{{1,80}})\b') for name in ("item", "version", "arm")}


def new_pseudonym() -> str:
    """A random pseudonym: nothing about the person is in it."""
    return "a-" + "".join(secrets.choice(_LETTERS) for _ in range(8))


def today() -> str:
    """The day in UTC; nothing finer is ever stored."""
    return datetime.now(UTC).date().isoformat()


@dataclass(frozen=True, slots=True)
class Flaw:
    """A line that cannot be read. ``number``: its line, of the log or (``aside``) of the file beside it."""

    number: int
    text: str
    torn: bool = False
    aside: bool = False

    @property
    def about(self) -> tuple[str, str, int] | None:
        """Draft, arm and version that it still names; None if it does not."""
        found = {name: match[1] for name, pattern in _NAMED.items() if (match := pattern.search(self.text))}
        if "item" not in found or not found.get("version", "").isdecimal():
            return None
        arm = "placebo" if found.get("arm") == "placebo" else "main"
        return found["item"], arm, int(found["version"][:9])


class Log:
    """The lines of ``attempts.jsonl``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / LOG

    @contextmanager
    def locked(self, name: str = "log") -> Iterator[None]:
        """Hold the lock of the log, or of one draft.

        Raises:
            StoreError: another process holds it, or the folder cannot be written.
        """
        place = self.folder / ".locks"
        try:
            place.mkdir(parents=True, exist_ok=True)
            lock = FileLock(place / f"{name}.lock", timeout=_PATIENCE)
            lock.acquire()
        except Timeout as failure:
            raise StoreError(f"{self.folder}: {name} is being written by somebody else; try again") from failure
        except OSError as failure:
            reason = failure.strerror or failure
            raise StoreError(f"cannot write in {self.folder}: {reason}; make it writable") from failure
        try:
            yield
        finally:
            lock.release()

    def append(self, kind: str, **values: Any) -> dict[str, Any]:
        """Add a line; values that are None are left out. It is on the disk when this returns.

        Raises:
            UsageError: the line does not fit the schema.
            StoreError: it cannot be written; what was there stays.
        """
        with self.locked():
            return self.append_locked(kind, **values)

    def append_locked(self, kind: str, **values: Any) -> dict[str, Any]:
        """The same, for a caller that holds the lock."""
        given = {name: value for name, value in values.items() if value is not None}
        row = {"id": uuid.uuid4().hex, "kind": kind, "day": today(), **given}
        if not schemas.valid("attempt")(row):
            raise UsageError(str(schemas.problems("attempt", row, LOG)[0]))
        with JsonLines(self.path, "attempt", id_field="id", keep_torn=True).open(write=True) as file:
            file.append(row["id"], row)
        return row

    def rows(self) -> list[dict[str, Any]]:
        """Every line, in the order of the file."""
        return list(self.read()[0].values())

    def rows_locked(self) -> list[dict[str, Any]]:
        """The same, for a caller that holds the lock."""
        return list(self._read()[0].values())

    def read(self) -> tuple[dict[int, dict[str, Any]], list[Flaw]]:
        """Every line that can be read, by its number, and those that cannot. A disk that is read-only is no obstacle.

        Raises:
            StoreError: another process writes all the time, or the log cannot be read.
        """
        if not self.path.exists():
            return {}, self._aside()
        if not os.access(self.folder, os.W_OK):
            return self._read()
        with self.locked():
            return self._read()

    def _read(self) -> tuple[dict[int, dict[str, Any]], list[Flaw]]:
        rows: dict[int, dict[str, Any]] = {}
        flaws, ids = [], set()
        try:
            content = self.path.read_bytes() if self.path.exists() else b""
        except OSError as failure:
            raise StoreError(f"cannot read {self.path}: {failure.strerror or failure}; make it readable") from failure
        for number, line in enumerate(_lines(content), start=1):
            row = _row(line)
            if row is None:
                if line.strip():
                    flaws.append(Flaw(number, line.decode("utf-8", "replace"), not line.endswith(b"\n")))
            elif row["id"] not in ids:  # of several lines with one id the first counts, as everywhere
                rows[number] = row
                ids.add(row["id"])
        return rows, [*self._aside(), *flaws]

    def _aside(self) -> list[Flaw]:
        try:
            lines = (self.folder / f"{LOG}.damaged").read_bytes().split(b"\n")
        except OSError:
            return []
        return [Flaw(n, line.decode("utf-8", "replace"), aside=True) for n, line in enumerate(lines, 1) if line.strip()]

    def replace_locked(self, rows: list[dict[str, Any]]) -> None:
        """Write the log anew: only for a withdrawal."""
        for row in rows:
            if not schemas.valid("attempt")(row):
                raise AssertionError(f"a withdrawal made a wrong line: {schemas.problems('attempt', row, LOG)[0]}")
        write_atomically(self.path, "".join(f"{dumps(row)}\n" for row in rows).encode("utf-8"))


def _lines(content: bytes) -> list[bytes]:
    """Lines with their ends; only a newline ends one."""
    found = content.split(b"\n")
    return [each + b"\n" for each in found[:-1]] + ([found[-1]] if found[-1] else [])


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return dict(row) if schemas.valid("attempt")(row) else None
