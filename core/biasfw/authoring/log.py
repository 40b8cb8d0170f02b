"""The log of a workbench: append-only, schema-checked, one line at a time under a lock."""

from __future__ import annotations

import secrets
import string
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from biasfw import schemas
from biasfw.codec import dumps
from biasfw.errors import StoreError, UsageError
from biasfw.jsonlines import JsonLines, write_atomically

LOG = "attempts.jsonl"
_LETTERS = string.ascii_lowercase + string.digits
_PATIENCE = 20.0  # seconds to wait for another process that writes


def new_pseudonym() -> str:
    """A random pseudonym: nothing about the person is in it."""
    return "a-" + "".join(secrets.choice(_LETTERS) for _ in range(8))


def today() -> str:
    """The day in UTC; nothing finer is ever stored."""
    return datetime.now(UTC).date().isoformat()


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
        with JsonLines(self.path, "attempt", id_field="id").open(write=True) as file:
            file.append(row["id"], row)
        return row

    def rows(self) -> list[dict[str, Any]]:
        """Every line, in the order of the file."""
        if not self.path.exists():
            return []
        with self.locked():
            return self.rows_locked()

    def rows_locked(self) -> list[dict[str, Any]]:
        """The same, for a caller that holds the lock."""
        return [dict(row) for row in JsonLines(self.path, "attempt", id_field="id").open(write=False).rows()]

    def replace_locked(self, rows: list[dict[str, Any]]) -> None:
        """Write the log anew: only for a withdrawal."""
        for row in rows:
            if not schemas.valid("attempt")(row):
                raise AssertionError(f"a withdrawal made a wrong line: {schemas.problems('attempt', row, LOG)[0]}")
        write_atomically(self.path, "".join(f"{dumps(row)}\n" for row in rows).encode("utf-8"))
