"""Whether the prompt gives the right option away: in a field that prompts use, outside the list of options."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from biasfw.conforming.shared import here, one_each, scored, tell, warn_or_err
from biasfw.errors import DataError
from biasfw.phrases import many
from biasfw.templates import compile_template
from biasfw.validating.items import texts

if TYPE_CHECKING:
    from biasfw.records import Seed
    from biasfw.validating.inspection import Inspected, Split

_SHORTEST = 4  # characters of an option below which it may stand in a text by chance


def check(seen: Inspected) -> None:
    """Add the items whose prompt gives the right option away."""
    for split in here(seen):
        if split.bundle.manifest["task"] != "choice":
            continue
        used = _used(split)
        found: dict[str, list[Any]] = {}
        items = one_each(split, scored(split))
        for told in items:
            for name, pointer in _given_away(told.seed, used):
                found.setdefault(name, []).append((told, pointer))
        for name, leaks in found.items():
            count = f"{len(leaks)} of {many(len(items), 'item')}"
            what = f"leak: in {count} the field {name!r}, which the prompt shows, gives the right option away"
            what += "; take it out of the prompt, or put it under metadata"
            tell(seen, warn_or_err(split), [told for told, _ in leaks], leaks[0][1], what)
        if not found:
            seen.report.facts.append(f"split {split.name}: no prompt gives the right option away")


def _used(split: Split) -> set[str]:
    """The fields that any template of the split shows."""
    manifest = split.bundle.manifest
    names: set[str] = set()
    whole = [condition["user"] for condition in manifest["conditions"].values() if "user" in condition]
    frames = [parts for languages in manifest["templates"].values() for parts in languages.values()]
    framed = [text for parts in frames for text in parts.values()]
    for text in (*whole, *framed):
        try:
            names |= compile_template(text, "template").variables
        except DataError:
            continue  # told where prompts are rendered
    return names


def _given_away(seed: Seed, used: set[str]) -> Iterator[tuple[str, str]]:
    """The fields that hold the right option's text or key, and those of no other option."""
    for name, value in seed.fields.items():
        if name not in used:
            continue
        for pointer, text in texts(value, f"/{name}"):
            told = [choice for choice in seed.choices if _holds(text, choice.key, choice.text)]
            if [choice.key for choice in told] == [seed.gold]:
                yield name, pointer
                break


def _holds(text: str, key: str, option: str) -> bool:
    """A field that is the key of an option, or in which its text stands."""
    field, written = _plain(text), _plain(option)
    return field in (_plain(key), written) or (len(written) >= _SHORTEST and written in field)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
