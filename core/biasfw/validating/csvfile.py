"""The rows of a CSV file that no manifest describes, with the place of every field; a wrong row hides no other."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from biasfw.document import child
from biasfw.errors import DataError
from biasfw.phrases import many
from biasfw.rows import field_place
from biasfw.schemas import Problem
from biasfw.sheets import separator
from biasfw.textfile import LINE_LIMIT, OR_NAME_IT, csv_columns, long_line, read_text


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
    lines = io.StringIO(read_text(path, encoding, save_as=OR_NAME_IT), newline="")
    delimiter, skipped = separator(lines)
    taken: list[str] = []

    def recorded() -> Iterator[str]:
        for number, line in enumerate(lines, start=1 + skipped):
            if len(line) > LINE_LIMIT:
                raise DataError(long_line(path, number, LINE_LIMIT))
            taken.append(line)
            yield line

    reader = csv.reader(recorded(), delimiter=delimiter, strict=True)
    names: list[str] | None = None
    places: dict[str, int] = {}
    while True:
        taken.clear()
        start = reader.line_num + 1 + skipped
        try:
            fields = next(reader, None)
        except csv.Error as failure:
            hint = "a text with a quote, a separator or a line end stands in quotes, a quote in it is doubled"
            raise DataError(f"{path}:{start}:1: {failure}; {hint}") from None
        if fields is None:
            break
        if not fields:
            continue
        if names is None:
            names = csv_columns(fields, wanted, f"{path}:{start}:1")
            places = {child("", name): index for index, name in enumerate(names) if name}
            continue
        row = CsvRow(path, start, "".join(taken), places, separator=delimiter)
        if len(fields) == len(names):
            value = {name: field for name, field in zip(names, fields, strict=True) if name}
            yield replace(row, value=value)
        else:
            what = f"{many(len(fields), 'field')} where the header has {len(names)}"
            held = {",": "a comma", ";": "a semicolon", "\t": "a tab"}.get(delimiter, "a separator")
            yield replace(row, flaw=f"{what}; put a text that holds {held} in double quotes")
    if names is None:
        raise DataError(f"{path}:1:1: the file is empty; write a header line with the names of the columns")
