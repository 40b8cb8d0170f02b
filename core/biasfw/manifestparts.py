"""Parts of a manifest that several checks go through, whole or with some left out."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from biasfw.document import child

Manifest = Mapping[str, Any]
Found = tuple[str, str]  # JSON pointer, message


def unknown(kind: str, name: str, known: Collection[str]) -> str:
    """What is said of a name that is not there, with the nearest."""
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(sorted(known)) or 'none'}"
    return f"no {kind} is named {name!r}; {hint}"


def all_conditions(manifest: Manifest) -> Iterator[tuple[str | None, str, Mapping[str, Any]]]:
    """Split (None: all), pointer and text of every condition."""
    places: list[tuple[str | None, str, Mapping[str, Any]]] = [(None, "/conditions", manifest.get("conditions", {}))]
    for split, entry in manifest.get("splits", {}).items():
        places.append((split, child(child("/splits", split), "conditions"), entry.get("conditions", {})))
    for of_split, place, conditions in places:
        for name, condition in conditions.items():
            yield of_split, child(place, name), condition
