"""Items files and digests of plain data."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

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


def text_digest(rows: Any) -> str:
    """sha256 of plain data."""
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False, sort_keys=True).encode("utf-8")).hexdigest()
