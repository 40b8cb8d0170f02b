"""Content addresses: canonical JSON, sha256 of texts and files, the seed of a request."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biasfw.records import Request


def canonical(value: Any) -> str:
    """JSON with sorted keys, no spaces and no NaN: equal values give equal text. ASCII, so surrogates are safe."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def sha256_text(text: str) -> str:
    """The sha256 of ``text`` in UTF-8 (lone surrogates are kept), as 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sha256_json(value: Any) -> str:
    """The sha256 of the canonical JSON of ``value``."""
    return sha256_text(canonical(value))


def sha256_file(path: Path) -> str:
    """The sha256 of a file's bytes, as 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def request_seed(request: Request) -> int:
    """The 32-bit seed to draw a request's answer with; depends on nothing but the request (its key)."""
    return int(request.key[:8], 16)
