"""How many sequences to continue side by side: what memory holds and the cores can use."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_SYSTEM = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")
_MOST = 32  # beyond it the cores of a PC gain little, and a run ends with longer tails
_PER_CORE = 8
_SHARE = 4  # the caches get a quarter of the memory that is free


def side_by_side(cores: int, sequence_bytes: int, free_bytes: int | None) -> int:
    """Sequences that pay, at least 1: 8 a core (2 cores: 16 give twice the tokens a second of one), at most 32.

    ``sequence_bytes``: the cache of one. ``free_bytes``: None where unknown; then memory sets no bound.
    """
    wanted = min(_PER_CORE * cores, _MOST)
    if free_bytes is None:
        return wanted
    return max(1, min(wanted, free_bytes // _SHARE // max(1, sequence_bytes)))


def cell_bytes(metadata: Mapping[str, str]) -> int:
    """Bytes that the cache takes for one token, in half precision, read off a GGUF file's metadata (an estimate)."""

    def number(name: str, default: int) -> int:
        value = metadata.get(f"{architecture}.{name}", "")
        return int(value) if value.isdigit() else default  # some models have a list, one number per layer

    architecture = metadata.get("general.architecture", "")
    heads = max(1, number("attention.head_count", 1))
    size = number("embedding_length", 4096) // heads
    per_head = number("attention.key_length", size) + number("attention.value_length", size)
    return 2 * number("block_count", 32) * number("attention.head_count_kv", heads) * per_head


def free_memory(*, system: Path = _SYSTEM, group: Path = _GROUP) -> int | None:
    """Bytes that can still be allocated without swapping, within the container's limit; None where not told."""
    free = _available(system)
    limit, used = _number(group / "memory.max"), _number(group / "memory.current")
    if limit is not None and used is not None:
        left = max(0, limit - used)
        return left if free is None else min(free, left)
    return free


def _available(system: Path) -> int | None:
    for line in _read(system).splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) * 1024
    try:  # no Linux: half of what the machine has
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return None


def _number(path: Path) -> int | None:
    text = _read(path)
    return int(text) if text.isdigit() else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
