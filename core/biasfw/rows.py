"""A row of an items file, from JSON lines, CSV or a workbook, and the place of every part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """``value`` as it stands for the item; ``line`` counts lines of the file, or rows of the sheet, from 1."""

    file: str
    line: int
    value: Any
    sheet: str | None = None  # of a workbook
    columns: Mapping[str, int] = field(default_factory=dict)  # JSON pointer -> index of the field or cell, from 0
    raw: str = ""  # CSV: the text of the row
    delimiter: str = ""  # CSV: what separates its fields
    flaws: tuple[str, ...] = ()  # what is wrong with single cells, with their places; the value is then not to be used
    unsure: frozenset[str] = frozenset()  # what a header with mistakes leaves open: see ``sheetcolumns.Columns``

    @property
    def name(self) -> str:
        """``line 3`` or ``row 3``, for messages."""
        return f"{'line' if self.sheet is None else 'row'} {self.line}"

    def where(self, pointer: str = "") -> str:
        """``file:line:column``, or ``file: sheet items, cell D12``, of what ``pointer`` points to."""
        while pointer and pointer not in self.columns:
            pointer = pointer.rpartition("/")[0]
        return self.place(self.columns.get(pointer, 0))

    def place(self, index: int) -> str:
        """The same for the field or cell ``index``, from 0."""
        if self.sheet is not None:
            return f"{self.file}: sheet {self.sheet}, cell {letters(index)}{self.line}"
        line, column = field_place(self.raw, self.delimiter, index) if self.raw else (0, 1)
        return f"{self.file}:{self.line + line}:{column}"


def letters(index: int) -> str:
    """What spreadsheet programs call a column: 0 is A, 26 is AA."""
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def field_place(raw: str, delimiter: str, index: int) -> tuple[int, int]:
    """Where the field ``index`` (from 0) of a CSV row begins: lines below the first, column from 1."""
    raw = raw.rstrip("\r\n")
    line, start, quoted = 0, 0, False
    for at, character in enumerate(raw):
        if index == 0:
            return line, at - start + 1
        if character == '"':
            quoted = not quoted
        elif character == "\n" or (character == "\r" and raw[at + 1 : at + 2] != "\n"):
            line, start = line + 1, at + 1
        elif character == delimiter and not quoted:
            index -= 1
    return line, len(raw) - start + 1  # a field that is not there: the end of the row
