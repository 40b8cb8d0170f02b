"""The lines of a JSONL file one by one: a line that cannot be read is a problem, and the next ones are read too."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from biasfw.document import Document
from biasfw.errors import DataError
from biasfw.jsontext import Places, locate
from biasfw.opening import open_file, unreadable
from biasfw.schemas import Problem
from biasfw.textfile import LINE_LIMIT, marked, parse_json_line

_PLACED = re.compile(r":(?P<line>\d+):(?P<column>\d+): (?P<message>.*)", re.DOTALL)


@dataclass
class Line:
    """A line of JSON: ``value``, or the ``flaw`` for which it has none."""

    path: Path
    number: int  # from 1
    raw: bytes
    value: Any = None
    flaw: Problem | None = None

    @property
    def _places(self) -> Places:
        return _located(self.raw)

    def problem(self, pointer: str, message: str, *, key: bool = False) -> Problem:
        """What is wrong at ``pointer``, with its exact place."""
        line, column = self.document.position(pointer, key=key)
        return Problem(str(self.path), line, column, pointer, message)

    @cached_property
    def document(self) -> Document:
        """The value with the place of every part."""
        places = self._places
        values = {pointer: (self.number, offset + 1) for pointer, offset in places.values.items()}
        keys = {pointer: (self.number, offset + 1) for pointer, offset in places.keys.items()}
        return Document(str(self.path), self.value, values, keys)


@lru_cache(maxsize=1)  # what is wrong with a row is told together
def _located(raw: bytes) -> Places:
    return locate(raw.decode("utf-8"))


def read_lines(path: Path, limit: int = LINE_LIMIT) -> Iterator[Line]:
    """Every line of ``path`` that is not blank. Only a newline ends a line; no more than ``limit`` bytes are in memory.

    Raises:
        DataError: the file cannot be opened, or is UTF-16.
    """
    try:
        with open_file(path) as file:
            number = 0
            while raw := file.readline(limit + 3):
                number += 1
                if number == 1:
                    if wide := marked(raw):
                        raise DataError(f"{path}:1:1: the file is {wide}; save it as UTF-8")
                    raw = raw.removeprefix(codecs.BOM_UTF8) or b"\n"
                if len(raw.rstrip(b"\r\n")) > limit:
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(2**20)
                    yield Line(path, number, b"", flaw=_too_long(path, number, limit))
                elif not raw.isspace():
                    yield _parsed(path, number, raw)
    except OSError as error:
        raise DataError(unreadable(path, error)) from None


def _parsed(path: Path, number: int, raw: bytes) -> Line:
    try:
        return Line(path, number, raw, parse_json_line(raw, "", number))
    except DataError as failure:
        said = _PLACED.fullmatch(str(failure))
        column, message = (int(said["column"]), said["message"]) if said else (1, str(failure))
        return Line(path, number, raw, flaw=Problem(str(path), number, column, "", message))


def _too_long(path: Path, number: int, limit: int) -> Problem:
    size = f"{limit / 2**20:g} MiB" if limit >= 2**20 else f"{limit} bytes"
    what = f"the line is longer than {size}; write one row a line, and shorten what is in it"
    return Problem(str(path), number, 1, "", what)
