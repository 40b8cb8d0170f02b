"""The sha256 of large files, remembered, since hashing gigabytes takes time; and of files that grow at their end."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from biasfw.keys import sha256_file
from biasfw.sources import cache_folder

_DIGEST = re.compile(r"[0-9a-f]{64}")

_CHUNK = 1 << 20  # bytes


def beginning(path: Path, size: int | None = None) -> dict[str, Any]:
    """Size and sha256 of the first ``size`` bytes of a file, else of all of it; of what there is if it is shorter.

    Raises:
        OSError: the file cannot be read.
    """
    digest, read = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK if size is None else min(_CHUNK, size - read)):
            digest.update(chunk)
            read += len(chunk)
    return {"bytes": read, "sha256": digest.hexdigest()}


def begins_with(path: Path, size: int, sha256: str) -> bool:
    """Whether the first ``size`` bytes of a file have this digest."""
    try:
        return size >= 0 and beginning(path, size) == {"bytes": size, "sha256": sha256}
    except OSError:
        return False


def cache_file() -> Path:
    """Where digests are remembered."""
    return cache_folder() / "fingerprints.json"


def file_digest(path: Path) -> str:
    """The sha256 of ``path``, from the user's cache if path, size and times are those of the last hashing.

    A cache that cannot be read or written costs time and nothing else.
    """
    name, before = str(path.resolve()), _stamp(path)
    entry = _load().get(name)
    if isinstance(entry, dict) and entry.get("stamp") == before and _DIGEST.fullmatch(str(entry.get("sha256"))):
        return str(entry["sha256"])
    digest = sha256_file(path)
    if _stamp(path) == before:  # else it was written to while it was read
        known = {other: value for other, value in _load().items() if Path(other).exists()}
        _save({**known, name: {"stamp": before, "sha256": digest}})
    return digest


def _stamp(path: Path) -> list[int]:
    """Size and times; the time of change catches a file that was replaced under a preserved modification time."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _load() -> dict[str, Any]:
    try:
        known = json.loads(cache_file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}


def _save(known: dict[str, Any]) -> None:
    """Write beside and rename, so that a concurrent reader sees the old or the new file, never half of one."""
    with suppress(OSError):
        target = cache_file()
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(known, file)
            Path(name).replace(target)
        except OSError:
            Path(name).unlink(missing_ok=True)
