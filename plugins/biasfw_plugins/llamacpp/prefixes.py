"""In which order requests are read, so that those that begin alike stand together."""

from __future__ import annotations

from collections.abc import Sequence


def together(prefixes: Sequence[int]) -> list[int]:
    """All places of ``prefixes``: those of equal prefixes together, otherwise in order."""
    first: dict[int, int] = {}
    for place, prefix in enumerate(prefixes):
        first.setdefault(prefix, place)
    return sorted(range(len(prefixes)), key=lambda place: first[prefixes[place]])
