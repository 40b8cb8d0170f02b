"""Items files and digests of plain data."""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from biasfw.errors import StoreError
from biasfw.jsonlines import write_atomically


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write an items file whole.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8"))
    except OSError as failure:
        raise StoreError(f"cannot write {path}: {failure.strerror or failure}; make room or permission") from failure


@contextmanager
def workplace(folder: Path, kind: str) -> Iterator[Path]:
    """A new folder ``.KIND-...`` in ``folder``, gone afterwards; those of killed processes are cleared away first.

    Raises:
        StoreError: it cannot be made.
    """
    locks = folder / ".locks"
    try:
        locks.mkdir(exist_ok=True)
        for left in folder.glob(f".{kind}-*"):
            _clear(left, locks)
        place = folder / f".{kind}-{secrets.token_hex(6)}"
        lock = FileLock(locks / f"{place.name}.lock")
        lock.acquire()  # before there is a folder: whoever clears away sees that somebody works in it
        place.mkdir()
    except OSError as failure:
        raise StoreError(f"cannot write in {folder}: {failure.strerror or failure}; make it writable") from failure
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        lock.release()
        Path(lock.lock_file).unlink(missing_ok=True)


def _clear(left: Path, locks: Path) -> None:
    lock = FileLock(locks / f"{left.name}.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        return  # somebody works in it
    shutil.rmtree(left, ignore_errors=True)
    lock.release()
    Path(lock.lock_file).unlink(missing_ok=True)


def text_digest(rows: Any) -> str:
    """sha256 of plain data."""
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False, sort_keys=True).encode("utf-8")).hexdigest()
