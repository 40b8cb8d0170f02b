"""In which order a backend may read requests, so that those that begin alike stand together."""

from __future__ import annotations

from biasfw.contracts import RequestSequence


def by_beginning(requests: RequestSequence) -> list[int]:
    """All places of ``requests``: those that begin alike (of equal ``prefixes``) together, otherwise in order.

    What requests share can then be computed once, though only a part of them is read at a time.
    """
    prefixes = requests.prefixes
    first: dict[int, int] = {}
    for place, prefix in enumerate(prefixes):
        first.setdefault(prefix, place)
    return sorted(range(len(prefixes)), key=lambda place: first[prefixes[place]])
