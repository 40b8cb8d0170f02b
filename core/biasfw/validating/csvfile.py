"""The rows of a CSV file that no manifest describes, with the place of every field; a wrong row hides no other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from biasfw.csvrecords import csv_records
from biasfw.document import child
from biasfw.errors import DataError
from biasfw.phrases import many
from biasfw.rows import field_place
from biasfw.schemas import Problem
from biasfw.textfile import OR_NAME_IT, csv_columns, read_text


@dataclass(frozen=True)
class CsvRow:
    """A row: ``value``, or the ``flaw`` for which it has none. ``columns``: JSON pointer -> index of the field."""

    path: Path
    line: int  # on which it begins
    raw: str
    columns: Mapping[str, int]
    value: Mapping[str, str] | None = None
    flaw: str = ""
    separator: str = ","

    def place(self, pointer: str, message: str) -> Problem:
        """A problem at the field that ``pointer`` points to."""
        below, column = field_place(self.raw, self.separator, self.columns.get(pointer, 0))
        return Problem(str(self.path), self.line + below, column, pointer, message)


def read_rows(path: Path, wanted: Collection[str], encoding: str | None) -> Iterator[CsvRow]:
    """Every row below the header; blank lines are left out.

    Raises:
        DataError: the file cannot be read, its header is wrong or lacks a column that is ``wanted``, or a quote does
            not end.
        UsageError: ``encoding`` is not the name of a text encoding.
    """
    names: list[str] | None = None
    places: dict[str, int] = {}
    for record in csv_records(path, read_text(path, encoding, save_as=OR_NAME_IT)):
        fields = record.fields
        if not fields:
            continue
        if names is None:
            names = csv_columns(fields, wanted, f"{path}:{record.line}:1")
            places = {child("", name): index for index, name in enumerate(names) if name}
            continue
        row = CsvRow(path, record.line, record.raw, places, separator=record.separator)
        if len(fields) == len(names):
            value = {name: field for name, field in zip(names, fields, strict=True) if name}
            yield replace(row, value=value)
        else:
            what = f"{many(len(fields), 'field')} where the header has {len(names)}"
            held = {",": "a comma", ";": "a semicolon", "\t": "a tab"}.get(record.separator, "a separator")
            yield replace(row, flaw=f"{what}; put a text that holds {held} in double quotes")
    if names is None:
        raise DataError(f"{path}:1:1: the file is empty; write a header line with the names of the columns")
