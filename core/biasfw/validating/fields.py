"""The fields of items against the templates that use them: what an item lacks is told where the item stands."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from biasfw import schemas
from biasfw.document import child
from biasfw.errors import DataError
from biasfw.phrases import shorten
from biasfw.schemas import Problem
from biasfw.templates import compiled

if TYPE_CHECKING:
    from biasfw.validating.items import Told

Manifest = Mapping[str, Any]
MADE = {  # what the engine makes for a template, by task
    "labels": frozenset({"label_list", "labels", "header", "instruction"}),
    "choice": frozenset({"options", "letters", "instruction"}),
    "sentence_pair": frozenset(),
}
NEAR = 0.8  # likeness of a name to that of a field of the schema


def needed(manifest: Manifest) -> dict[str, dict[str, str]]:
    """Language -> field -> what uses it, of the manifest as it holds for a split. What does not compile is left out."""
    made = MADE[manifest["task"]]
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for language, what, text in _asked(manifest):
        try:
            names = compiled(text, what).variables - made
        except DataError:
            continue  # told where the template stands
        for name in sorted(names):
            found[language].setdefault(name, what)
    return found


def _asked(manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    """Language, what it is, and the text of everything that a condition asks."""
    for key, condition in manifest["conditions"].items():
        name = condition.get("template", "")
        for language, parts in manifest.get("templates", {}).get(name, {}).items():
            for part, text in parts.items():
                if part != "user" or "user" not in condition:
                    yield language, f"template {name!r}", text
        if "user" in condition:
            for language in manifest["languages"]:
                yield language, f"condition {key!r}", condition["user"]


def offered(items: Iterable[Told]) -> dict[str, set[str]]:
    """Language -> the fields that some item in it has."""
    found: dict[str, set[str]] = defaultdict(set)
    for told in items:
        found[told.seed.language].update(told.seed.fields)
    return found


class Lacking:
    """Looks for what items lack. What no item of a language has is told at the template, but for a sheet's empty cells.

    ``there``: language -> fields of the items of all splits.
    """

    def __init__(self, manifest: Manifest, there: Mapping[str, Collection[str]]) -> None:
        self._needed = needed(manifest)
        self._there = there
        self._known = frozenset(schemas.schema("item")["properties"])

    def problems(self, told: Told) -> list[Problem]:
        """What an item lacks, or has under another name."""
        seed = told.seed
        wanted = self._needed.get(seed.language, {})
        if wanted.keys() <= seed.fields.keys():
            return []
        spare = [name for name in seed.fields if name not in wanted]
        found = []
        for name in wanted:
            if name in seed.fields or not self._to_blame(told, name):
                continue
            pointer = child("", name)
            if near := difflib.get_close_matches(name, spare, n=1):
                what = f'{shorten(near[0])} is not a name for this; did you mean "{name}"? {wanted[name]} uses it'
                found.append(told.place(child("", near[0]), what))
            else:
                state = "is empty" if has_cell(told, name) else "is missing"
                found.append(told.place(pointer, f'the field "{name}" {state}, which {wanted[name]} uses; write it'))
        return found

    def _to_blame(self, told: Told, name: str) -> bool:
        """Whether the item is to blame, not the template."""
        return name in self._there[told.seed.language] or has_cell(told, name)

    def doubts(self, items: Iterable[Told]) -> Iterator[Problem]:
        """Once a name: a field that no template uses, and that is nearly one of those that every item may have."""
        told_of: set[str] = set()
        for told in items:
            for name in told.seed.fields:
                if name in told_of or name in self._needed.get(told.seed.language, {}):
                    continue
                told_of.add(name)
                near = difflib.get_close_matches(name, self._known, n=1, cutoff=NEAR)
                if near and not _given(told, near[0]):
                    what = f"unknown property {shorten(name)}: no prompt uses it"
                    yield told.place(child("", name), f'{what}; did you mean "{near[0]}"?')


def _given(told: Told, name: str) -> bool:
    return bool(getattr(told.seed, name, None))


def has_cell(told: Told, name: str) -> bool:
    """Whether a sheet has a column for a field that the item lacks, so that its cell is empty."""
    if name in schemas.schema("item")["properties"]:
        return False  # no field of its own, and seen by no prompt
    own, whole = told.place(child("", name), ""), told.place("", "")
    return (own.line, own.column) != (whole.line, whole.column)
