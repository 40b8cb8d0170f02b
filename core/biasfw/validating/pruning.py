"""What is left of a document without the parts that do not fit its schema, so that the rest can be checked too."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from biasfw import schemas
from biasfw.document import Document, child
from biasfw.findings import Finding
from biasfw.schemas import Problem

_ROUNDS = 12  # what is left out of an entry can spoil the entry, then the list it stands in, and so on
_LACKS = re.compile(r'the property "([^"]*)" is missing')
_UNKNOWN = re.compile(r'unknown property "[^"]*"; did you mean "([^"]*)"\?')
_NO_SUCH = re.compile(r"no .*? is named '([^']*)'")


@dataclass(frozen=True, slots=True)
class Pruned:
    """``document`` fits its schema but for the properties in ``lacking``, which are missing at the top.

    ``gone`` are the names of what was left out: who uses one of them makes no mistake of its own.
    """

    document: Document
    lacking: frozenset[str]
    gone: frozenset[str]

    def has(self, *names: str) -> bool:
        """Whether these properties stand at the top."""
        return isinstance(self.document.value, dict) and all(name in self.document.value for name in names)

    def consequence(self, message: str, strange: Collection[str] = ()) -> bool:
        """Whether what a message says may follow from what was left out, or from names that nobody knows.

        Who names accuracy where the list has "accurcy" makes no mistake of its own.
        """
        named = _NO_SUCH.match(message)
        return named is not None and (named[1] in self.gone or bool(difflib.get_close_matches(named[1], strange, n=1)))


def problems(schema: str, document: Document) -> list[Problem]:
    """What is wrong with a document by its schema. A property that is misspelt is not told as missing, too."""
    found = schemas.problems(schema, document.value, document)
    meant = set()
    for problem in found:
        if said := _UNKNOWN.match(problem.message):
            meant.add((problem.pointer.rpartition("/")[0], said[1]))
    return [
        problem
        for problem in found
        if (lacks := _LACKS.match(problem.message)) is None or (problem.pointer, lacks[1]) not in meant
    ]


def prune(schema: str, document: Document) -> Pruned:
    """``document`` without what does not fit the schema; an entry that needs what is wrong in it goes, too."""
    if not isinstance(document.value, dict):
        return Pruned(replace(document, value={}), frozenset(), frozenset())
    doomed: set[str] = set()
    left, origins = document.value, dict[str, str]()
    for _ in range(_ROUNDS):
        origins = {}
        left = _without(document.value, "", "", doomed, origins)
        wrong = schemas.problems(schema, left, "")
        new = {origins.get(problem.pointer, problem.pointer) for problem in wrong} - {""} - doomed
        if not new:
            break
        doomed |= new
    lacking = frozenset(said[1] for problem in wrong if (said := _LACKS.match(problem.message)))
    kept = {here: document.positions[origin] for here, origin in origins.items() if origin in document.positions}
    keys = {here: document.keys[origin] for here, origin in origins.items() if origin in document.keys}
    rest = Document(document.name, left, kept, keys, origins)
    return Pruned(rest, lacking, frozenset(name for each in doomed for name in _names(document.value, each)))


def _without(value: Any, pointer: str, here: str, doomed: set[str], origins: dict[str, str]) -> Any:
    origins[here] = pointer
    if isinstance(value, dict):
        kept = {}
        for key, each in value.items():
            if (there := child(pointer, key)) not in doomed:
                kept[key] = _without(each, there, child(here, key), doomed, origins)
        return kept
    if isinstance(value, list):
        entries: list[Any] = []
        for index, each in enumerate(value):
            if (there := child(pointer, index)) not in doomed:
                entries.append(_without(each, there, child(here, len(entries)), doomed, origins))
        return entries
    return value


def _names(value: Any, pointer: str) -> Sequence[str]:
    """What an entry is called by others: its key in a mapping, and its ``key`` or ``use``."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for part in parts:
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return parts[-1:]
    own = [value[name] for name in ("key", "use") if isinstance(value, dict) and isinstance(value.get(name), str)]
    return [*parts[-1:], *own, *([value] if isinstance(value, str) else [])]


def as_errors(found: Sequence[Problem]) -> list[Finding]:
    """Problems as errors of a report."""
    return [Finding("error", problem) for problem in found]
