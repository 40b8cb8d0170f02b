"""Parts of one-line messages: values shortened, names listed, near matches."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_LISTED = 12  # how many names a message lists at most


def shorten(value: object, limit: int = 40) -> str:
    """``value`` for a one-line message: texts in double quotes, line ends and control characters escaped, cut."""
    text = str(value)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    escaped = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return f'"{escaped}"' if isinstance(value, str) else escaped


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``did you mean "x"?`` or, where nothing is near, the names that are known."""
    names = sorted(known)
    folded = {_fold(each): each for each in names}
    near = difflib.get_close_matches(_fold(name), folded, n=1, cutoff=0.6)
    if near:
        return f'did you mean "{folded[near[0]]}"?'
    return f"known here: {listed(names)}" if names else "none is known here"


def near_path(path: Path) -> str:
    """What lies beside ``path`` under nearly the same name, as one would write it; "" where nothing does."""
    try:
        beside = [n.name for n in path.parent.iterdir() if not n.name.startswith(".") and n.name != path.name]
    except (OSError, ValueError):
        return ""
    near = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.7)
    if not near:
        return ""
    found = str(path.parent / near[0])
    return found if path.is_absolute() or found.startswith("..") else f"./{found}"


def listed(names: Iterable[Any]) -> str:
    """Names in a row, cut after a dozen."""
    texts = [each if isinstance(each, str) else json.dumps(each) for each in names]
    more = f" and {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
    return ", ".join(texts[:_LISTED]) + more


def many(count: int, noun: str, plural: str = "") -> str:
    """``1 item``, ``2 items``: a count with its noun."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def have(count: int) -> str:
    """``has`` or ``have``, after a count."""
    return "has" if count == 1 else "have"


def are(count: int) -> str:
    """``is`` or ``are``, after a count."""
    return "is" if count == 1 else "are"


def found_in_words(value: Any) -> str:
    """``the text "4"``, ``the number 3``, ``a list``: for ``expected ..., found ...``."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {shorten(value)}"
    if isinstance(value, (int, float)):
        return f"the number {shorten(value)}"
    return "a list" if isinstance(value, list) else "a mapping" if isinstance(value, dict) else type(value).__name__


def _fold(name: str) -> str:
    return name.casefold().replace("-", "_").replace(" ", "_")
