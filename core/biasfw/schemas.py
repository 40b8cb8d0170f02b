"""The JSON Schemas under schemas/ and what is wrong with a value, with its place.

Whether a value is valid is decided by jsonschema-rs, which is fast; only what is not is worded by way of jsonschema.
Neither is imported before it is needed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from biasfw.document import Document
from biasfw.errors import DataError
from biasfw.options import check_options
from biasfw.resources import shipped
from biasfw.textfile import row_document

__all__ = ["Problem", "check", "check_options", "names", "newer", "problems", "schema", "valid"]

Validate = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a value. ``line`` and ``column`` count from 1, 0 where they are not known."""

    file: str
    line: int
    column: int
    pointer: str  # JSON pointer of the value, of the property that is unknown, or of what lacks a property
    message: str  # what is wrong; what was expected; how to mend it
    cell: str = ""  # of a workbook, such as "sheet items, cell D12"; line and column are then its row and column

    @property
    def place(self) -> str:
        """``file:line:column``, ``file: sheet items, cell D12``, or the file alone."""
        if self.cell:
            return f"{self.file}: {self.cell}"
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def __str__(self) -> str:
        return ": ".join(part for part in (self.place, self.pointer, self.message) if part)


@cache
def schema(name: str) -> dict[str, Any]:
    """The shipped schema ``name`` (``benchmark``, ``item``, ``response``, ...). Not to be changed."""
    path = shipped("schemas") / f"{name}.schema.json"
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


@cache
def names() -> tuple[str, ...]:
    """The names of all shipped schemas."""
    return tuple(sorted(path.name.removesuffix(".schema.json") for path in shipped("schemas").glob("*.schema.json")))


def problems(
    schema_or_name: str | Mapping[str, Any], value: Any, where: Document | Path | str = "", line: int = 0
) -> list[Problem]:
    """Everything that is wrong with ``value``, in the order of the file; empty if it is valid.

    ``where`` is the document that holds the value, or just a name for messages; with ``line``, the JSONL file whose
    line it is (which is read again, for the columns).
    """
    from biasfw import wording  # noqa: PLC0415 - start-up time

    if line:
        where = row_document(Path(where.name if isinstance(where, Document) else where), line)
    wanted = schema(schema_or_name) if isinstance(schema_or_name, str) else schema_or_name
    version = wanted.get("properties", {}).get("schema_version", {}).get("const")
    if version is not None and (told := newer(value, version)):
        of_version = where.position("/schema_version") if isinstance(where, Document) else (0, 0)
        return [
            Problem(where.name if isinstance(where, Document) else str(where), *of_version, "/schema_version", told)
        ]
    found = []
    finder = _finder(schema_or_name) if isinstance(schema_or_name, str) else wording.validator(wanted, _shipped())
    for pointer, is_key, message in wording.find(finder, value):
        line, column = where.position(pointer, key=is_key) if isinstance(where, Document) else (0, 0)
        file = where.name if isinstance(where, Document) else str(where)
        found.append(Problem(file, line, column, pointer, message))
    return sorted(found, key=lambda problem: (problem.line, problem.column))


@cache
def _finder(name: str) -> Any:
    """What finds the mistakes in values of the shipped schema ``name``, made once."""
    from biasfw import wording  # noqa: PLC0415 - start-up time

    return wording.validator(schema(name), _shipped())


def _shipped() -> Iterator[dict[str, Any]]:
    return map(schema, names())


def newer(value: Any, known: int) -> str:
    """What is said of a document that a newer biasfw wrote; "" of any other. Nothing more can be told of it."""
    version = value.get("schema_version") if isinstance(value, Mapping) else None
    if not isinstance(version, int) or version <= known:
        return ""
    what = f"it is of version {version} of its format, this biasfw knows {known}: a newer biasfw made it"
    return f"{what}; upgrade: pip install -U biasfw"


def check(name: str, document: Document) -> None:
    """Check a document against the shipped schema ``name``.

    Raises:
        DataError: it is not valid; the message words the first problem and says how many more there are.
    """
    if valid(name)(document.value):
        return
    found = problems(name, document.value, document)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise DataError(f"{found[0]}{more}")


@cache
def valid(name: str) -> Validate:
    """A fast test of values against the shipped schema ``name``, compiled once."""
    import jsonschema_rs  # noqa: PLC0415 - start-up time

    registry = jsonschema_rs.Registry([(schema(each)["$id"], schema(each)) for each in names()])
    fast: Validate = jsonschema_rs.validator_for(schema(name), registry=registry).is_valid

    def test(value: Any) -> bool:
        try:
            return fast(value)
        except UnicodeEncodeError:  # half a surrogate pair in a key, or where a pattern is tried
            return not problems(name, value)

    return test
