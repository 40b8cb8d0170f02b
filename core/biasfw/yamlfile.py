"""The one YAML loader: YAML 1.2 with JSON's types only, every value with its line and column.

``no``, ``on``, ``1.10`` and ``0x1F`` are texts. Of plain scalars, ``null``, ``~`` and nothing are null, ``true`` and
``false`` are booleans, and numbers are what JSON calls a number and a float keeps as written: a version ``1.10`` must
not become 1.1. Keys are always texts.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from biasfw.document import MAX_DEPTH, Document, Position, child
from biasfw.errors import DataError
from biasfw.phrases import shorten
from biasfw.textfile import read_text

SIZE_LIMIT = 20 * 2**20  # bytes, or characters of a text

_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
_MAX_DIGITS = 400
# Line ends of YAML 1.1 only: libyaml folds them away, an editor does not show them.
_SURROGATE = re.compile("[\ud800-\udfff]")
_OLD_LINE_ENDS = re.compile("[\x85\u2028\u2029]")
_HINTS = (
    (
        "cannot start any token",
        "put a text that begins with a special character in quotes; indent with spaces, not tabs",
    ),
    ("mapping values are not allowed", 'put a text that contains ": " in quotes'),
    ("Unicode character escape", "write the character itself"),
    ("did not find expected", "check the indentation, quotes and brackets here and in the line above"),
    ("nesting depth", "flatten the data"),
    ("could not find expected ':'", "check the indentation and the colon after the key"),
)


def load_yaml(path: Path) -> Document:
    """Read the YAML file ``path`` (UTF-8, at most 20 MiB, one document).

    Raises:
        DataError: the file cannot be read or is not what this module's first lines say; the message begins with
            file, line and column.
    """
    return parse_yaml(read_text(path, limit=SIZE_LIMIT), str(path))


def parse_yaml(text: str, name: str) -> Document:
    """Parse ``text``; ``name`` stands for the file in messages.

    Raises:
        DataError: as in ``load_yaml``.
    """
    if len(text) > SIZE_LIMIT:
        raise DataError(
            f"{name}: more than {SIZE_LIMIT // 2**20} MiB of YAML; split it, or put the data in a JSONL file"
        )
    text = text.removeprefix("\ufeff")
    if odd := _OLD_LINE_ENDS.search(text):
        what = f"the invisible line end U+{ord(odd[0]):04X}"
        raise DataError(f"{_at(name, text, odd.start())}: {what} is not allowed here; write an ordinary line end")
    builder = _Builder(name)
    try:
        for event in yaml.parse(text, Loader=_PARSER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        raise DataError(_explain(name, error)) from None
    except yaml.reader.ReaderError as error:
        code = ord(error.character) if isinstance(error.character, str) else error.character
        what = f"the control character U+{code:04X}"
        raise DataError(f"{_at(name, text, error.position)}: {what} is not allowed; remove it") from None
    except UnicodeEncodeError as error:
        what = f"{_at(name, text, error.start)}: half a surrogate pair is not a character"
        raise DataError(f"{what}; remove it") from None
    return builder.document()


class _Builder:
    """Builds the value from parser events, without recursion; ``stack`` holds the open lists and mappings."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.positions: dict[str, Position] = {}
        self.keys: dict[str, Position] = {}
        self.value: Any = None
        self.documents = 0
        self.stack: list[_Open] = []

    def document(self) -> Document:
        if not self.documents:
            raise DataError(f"{self.name}:1:1: the file is empty; write the fields it should have")
        return Document(self.name, self.value, self.positions, self.keys)

    def take(self, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._refuse_tricks(event)
            self._refuse_surrogates(event)
            top = self.stack[-1] if self.stack else None
            if top is not None and top.awaits_key:
                self._key(top, event)
            else:
                self._put(event, self._scalar(event))
        elif isinstance(event, yaml.CollectionStartEvent):
            self._refuse_tricks(event)
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self.stack.pop()
        elif isinstance(event, yaml.AliasEvent):
            raise self._error(event, f"the alias *{event.anchor}", "write the value out")
        elif isinstance(event, yaml.DocumentStartEvent):
            self._start(event)

    def _start(self, event: Any) -> None:
        self.documents += 1
        if event.version or event.tags:
            raise self._error(event, "a % directive", "remove that line")
        if self.documents > 1:
            raise self._error(event, "a second document", 'keep one document in a file and remove the line "---"')

    def _refuse_tricks(self, event: Any) -> None:
        if event.anchor is not None:
            raise self._error(event, f"the anchor &{event.anchor}", "write the value out wherever it is needed")
        if event.tag is not None:
            raise self._error(event, f"the tag {shorten(event.tag)}", "remove it: only plain data is read")

    def _refuse_surrogates(self, event: Any) -> None:
        # Only the parser in Python lets an escaped one through.
        if not event.value.isascii() and _SURROGATE.search(event.value):
            raise self._error(event, "half a surrogate pair", "write the character itself")

    def _open(self, event: Any) -> None:
        if self.stack and self.stack[-1].awaits_key:
            raise self._error(event, "a list or mapping as a key", "keys are texts")
        if len(self.stack) >= MAX_DEPTH:
            raise self._error(event, f"nesting deeper than {MAX_DEPTH} levels", "flatten the data")
        opened: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        self.stack.append(_Open(opened, self._put(event, opened)))

    def _put(self, event: Any, value: Any) -> str:
        """Add ``value`` to the innermost open list or mapping; return its pointer."""
        if not self.stack:
            pointer = ""
            self.value = value
        else:
            pointer = self.stack[-1].add(value)
        self.positions[pointer] = (event.start_mark.line + 1, event.start_mark.column + 1)
        return pointer

    def _key(self, top: _Open, event: Any) -> None:
        key = event.value
        pointer = child(top.pointer, key)
        folded = key if key.isascii() else unicodedata.normalize("NFC", key)
        if (first := top.seen.get(folded)) is not None:
            raise self._error(event, f"the key {shorten(key)} for a second time (first in line {first})", "remove one")
        top.seen[folded] = event.start_mark.line + 1
        top.key, top.key_pointer, top.awaits_key = key, pointer, False
        self.keys[pointer] = (event.start_mark.line + 1, event.start_mark.column + 1)

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if not event.implicit[0]:  # in quotes, or a block
            return text
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if text[0] not in "-+.0123456789":
            return text
        if _NOT_FINITE.fullmatch(text):
            raise self._error(event, f"the number {text}", "write a finite number, or the text in quotes")
        match = _NUMBER.fullmatch(text)
        if match is None:
            return text
        if len(text) > _MAX_DIGITS:
            raise self._error(event, f"a number of {len(text)} digits", "write a text of digits in quotes")
        if match[2] is None and match[3] is None:
            return int(text) if text != "-0" else text
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise self._error(event, f"the number {text} (too large for a float)", "write it in quotes if it is a text")
        return number if _keeps(text, number) else text

    def _error(self, event: Any, what: str, hint: str) -> DataError:
        mark = event.start_mark
        return DataError(f"{self.name}:{mark.line + 1}:{mark.column + 1}: {what} is not allowed; {hint}")


class _Open:
    """A list or mapping whose end has not been read yet."""

    __slots__ = ("awaits_key", "items", "key", "key_pointer", "pointer", "seen", "value")

    def __init__(self, value: dict[str, Any] | list[Any], pointer: str) -> None:
        self.value = value
        self.pointer = pointer
        self.awaits_key = isinstance(value, dict)
        self.key = ""
        self.key_pointer = ""
        self.seen: dict[str, int] = {}

    def add(self, value: Any) -> str:
        """Add ``value`` under the key read before it, or at the end of the list; return its pointer."""
        if isinstance(self.value, list):
            self.value.append(value)
            return f"{self.pointer}/{len(self.value) - 1}"
        self.value[self.key] = value
        self.awaits_key = True
        return self.key_pointer


def _keeps(text: str, number: float) -> bool:
    """Whether ``number`` says all that ``text`` says: no trailing zero but ``.0``, no digits beyond a float's."""
    mantissa = re.split("[eE]", text)[0]
    fraction = mantissa.partition(".")[2]
    return (fraction == "0" or not fraction.endswith("0")) and Decimal(text) == Decimal(repr(number))


def _explain(name: str, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    problem = error.problem or "not YAML"
    hint = next((hint for part, hint in _HINTS if part in problem), "check the quotes, brackets and indentation")
    context = ""
    if error.context:
        begun = f", begun in line {error.context_mark.line + 1}" if error.context_mark else ""
        context = f" ({error.context}{begun})"
    return f"{name}:{line}:{column}: {problem}{context}; {hint}"


def _at(name: str, text: str, offset: int) -> str:
    """``file:line:column`` of the character at ``offset``."""
    starts = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text))]
    line = bisect_right(starts, offset)
    return f"{name}:{line}:{offset - starts[line - 1] + 1}"
