"""The header of a sheet, and what its columns make of a row; ``sheets`` says what the names mean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from biasfw import schemas
from biasfw.asciikeys import ascii_key
from biasfw.document import child
from biasfw.errors import DataError
from biasfw.phrases import did_you_mean, listed, shorten
from biasfw.rows import Row

REQUIRED = ("source_id", "language", "category")
ROLES = ("stereotyped", "anti-stereotyped", "unknown")
_CHOICE = re.compile(r"choice_(?P<key>[A-Za-z0-9][A-Za-z0-9_-]*)\s*(\(\s*(?P<role>[^)]*?)\s*\))?", re.IGNORECASE)
_ROLE = re.compile(r"role_(?P<key>[A-Za-z0-9][A-Za-z0-9_-]*)", re.IGNORECASE)
_LISTED = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_]*?)_(?P<number>[0-9]+)")
_METADATA = re.compile(r"metadata_(?P<name>.+)", re.IGNORECASE)
_YES = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(slots=True)
class Columns:
    """What stands in which column, by index from 0."""

    plain: dict[int, str] = field(default_factory=dict)
    lists: dict[str, list[int]] = field(default_factory=dict)
    metadata: dict[int, str] = field(default_factory=dict)
    choices: dict[str, int] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)  # as the header says
    row_roles: dict[str, int] = field(default_factory=dict)
    notes: set[int] = field(default_factory=set)
    named: set[int] = field(default_factory=set)  # all of them
    # After mistakes in the header: required columns that are missing, "choices" or "fields" of which some may be.
    unsure: set[str] = field(default_factory=set)

    def item(self, row: Row, cells: Sequence[str], flaws: Sequence[str]) -> Row:
        """``row`` with the value that ``cells`` make and its flaws; ``flaws`` are those of single cells.

        Of a row with flaws, ``value`` is what can be told of the other cells.
        """
        texts = [cell.replace("\r\n", "\n").replace("\r", "\n").strip() for cell in cells]
        width = max(self.named) + 1
        texts += [""] * (width - len(texts))
        found: list[str] = []
        for index, text in enumerate(texts):
            if text and index not in self.named:
                found.append(f"{row.place(index)}: {_unnamed(too_many=bool(row.raw) and index >= width)}")
                break  # the next ones are there for the same reason
        found += [f"{row.place(at)}: {flaw}" for at, flaw in enumerate(flaws) if flaw and at not in self.notes]
        return self._made(replace(row, unsure=frozenset(self.unsure)), texts, found)

    def means_yes_or_no(self, index: int) -> bool:
        """Whether true and false are what belongs into a column."""
        return self.plain.get(index) == "contested"

    def _made(self, row: Row, texts: Sequence[str], flaws: list[str]) -> Row:
        value: dict[str, Any] = {}
        places: dict[str, int] = {"": min(self.plain, default=0)}
        for index, name in self.plain.items():
            places[child("", name)] = index
            if texts[index]:
                value[name] = texts[index]
            elif name in REQUIRED:
                flaws.append(f"{row.place(index)}: {name} is empty; every item has one")
        if "contested" in value:
            known = _YES.get(value["contested"].casefold())
            if known is None:
                at = row.place(places["/contested"])
                flaws.append(f"{at}: contested is {shorten(value.pop('contested'))}; write yes or no")
            else:
                value["contested"] = known
        for name, indices in self.lists.items():
            filled = [index for index in indices if texts[index]]
            if filled != indices[: len(filled)]:
                hole = next(index for index in indices if not texts[index])
                flaws.append(f"{row.place(hole)}: an empty cell in the list {name}; fill it, or move up")
            if filled:
                value[name] = [texts[index] for index in filled]
            places[child("", name)] = indices[0]
            places |= {f"/{name}/{number}": index for number, index in enumerate(indices)}
        if kept := {name: texts[index] for index, name in self.metadata.items() if texts[index]}:
            value["metadata"] = kept
        if self.choices:
            value["choices"] = self._choices(row, texts, places, flaws)
        return replace(row, value=value, columns=places, flaws=tuple(flaws))

    def _choices(
        self, row: Row, texts: Sequence[str], places: dict[str, int], flaws: list[str]
    ) -> list[dict[str, Any]]:
        """The options; what is wrong with their roles goes to ``flaws``."""
        made: list[dict[str, Any]] = []
        for key, index in self.choices.items():
            if not texts[index]:
                continue
            choice: dict[str, Any] = {"key": key, "text": texts[index]}
            own = self.row_roles.get(key)
            role = (texts[own].casefold() if own is not None else "") or self.roles.get(key, "")
            if role and role not in ROLES:
                at = row.place(own if own is not None else index)
                flaws.append(f"{at}: {shorten(role)} is no role; write {listed(ROLES)}, or nothing")
            elif role:
                choice["role"] = role
            places[f"/choices/{len(made)}"] = index
            made.append(choice)
        empty = [index for index in self.choices.values() if not texts[index]]
        places["/choices"] = (empty or list(self.choices.values()))[0]  # where there are too few, the first empty cell
        return made


def _unnamed(*, too_many: bool) -> str:
    if too_many:
        return "the row has more fields than the header; a text that holds a separator stands in quotes"
    return "the column has no name in the first row; give it one, beginning with # if these are notes"


def read_header(row: Row, cells: Sequence[str], wrong: list[str] | None = None) -> Columns:
    """The columns that the first row names. What is wrong with it is added to ``wrong``, and the rest is read.

    Raises:
        DataError: without ``wrong``: a name is wrong, stands twice, or is missing; with its place.
    """
    columns, problems = _read(cells)
    told = [f"{row.place(index)}: {problem}" for index, problem in problems]
    if told and wrong is None:
        raise DataError(told[0])
    if wrong is not None:
        wrong += told
    return columns


def _read(cells: Sequence[str]) -> tuple[Columns, list[tuple[int, str]]]:
    """The columns, and what is wrong by index. A column that cannot be used is read like notes."""
    problems: list[tuple[int, str]] = []
    columns = Columns()
    numbers: dict[str, dict[int, int]] = {}
    seen: set[str] = set()
    for index, cell in enumerate(cells):
        name = " ".join(unicodedata.normalize("NFC", cell).split())
        if not name:
            continue
        columns.named.add(index)
        if name.startswith("#"):
            columns.notes.add(index)
            continue
        known = _known(name)
        if known in seen:
            problems.append((index, f"the column {shorten(name)} stands there twice; rename or remove one"))
            columns.notes.add(index)
            continue
        seen.add(known)
        if problem := _take(columns, numbers, index, known):
            problems.append((index, problem))
            columns.unsure.add("choices" if known.casefold().startswith(("choice", "role")) else "fields")
            if index not in columns.choices.values():
                columns.notes.add(index)
    for name, places in numbers.items():
        if sorted(places) != list(range(1, len(places) + 1)):
            what = f"the columns of the list {name} are not numbered {name}_1, {name}_2, ...; number them from 1"
            problems.append((min(places.values()), what))
        columns.lists[name] = [places[number] for number in sorted(places)]
    problems += _complete(columns)
    return columns, problems


def _known(name: str) -> str:
    """``name``, or the field of an item that was meant: "Source ID" is source_id."""
    folded = name.casefold().replace(" ", "_").replace("-", "_")
    return folded if folded in schemas.schema("item")["properties"] else name


def _take(columns: Columns, numbers: dict[str, dict[int, int]], index: int, name: str) -> str:
    """Note one column; what is wrong with its name, or ""."""
    if found := _CHOICE.fullmatch(name):
        role = (found["role"] or "").casefold()
        if found["key"] in columns.choices:
            return f"the option {found['key']} stands there twice; rename or remove one"
        columns.choices[found["key"]] = index
        if role and role not in ROLES:
            return f"{shorten(role)} is no role; write {listed(ROLES)}, or no role"
        if role:
            columns.roles[found["key"]] = role
    elif found := _ROLE.fullmatch(name):
        columns.row_roles[found["key"]] = index
    elif found := _METADATA.fullmatch(name):
        columns.metadata[index] = found["name"]
    elif name in ("choices", "metadata"):
        meant = "choice_KEY, one column for each option" if name == "choices" else "metadata_NAME"
        return f"a cell cannot hold {name}; name the column {meant}"
    elif found := _LISTED.fullmatch(name):
        numbers.setdefault(_known(found["name"]), {})[int(found["number"])] = index
    elif re.fullmatch(schemas.schema("item")["$defs"]["field"]["pattern"], name):
        columns.plain[index] = name
    else:
        hint = "write letters a to z, digits and underscores, beginning with a letter, or # before a note"
        if near := ascii_key(name):
            hint = f'did you mean "{near}"? {hint}'
        return f"{shorten(name)} cannot name a field; {hint}"
    return ""


def _complete(columns: Columns) -> Iterator[tuple[int, str]]:
    names = list(columns.plain.values())
    spare = [name for name in names if name not in REQUIRED]
    for name in REQUIRED:
        if name not in names:
            columns.unsure.add(name)
            yield 0, f"the column {name} is missing from the first row; {did_you_mean(name, spare)}"
    for name in sorted(set(names) & set(columns.lists)):
        yield columns.lists[name][0], f"{name} is one column and a list; keep one of the two"
    for key, index in columns.row_roles.items():
        if key not in columns.choices:
            columns.unsure.add("choices")
            yield index, f"role_{key} has no option choice_{key}; {did_you_mean(key, columns.choices)}"
