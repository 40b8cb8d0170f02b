"""The records of a CSV text: fields with the line on which they begin, however a program separates them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from biasfw.errors import DataError
from biasfw.textfile import LINE_LIMIT, long_line


class CsvRecord(NamedTuple):
    """A record, the header included."""

    line: int  # on which it begins
    raw: str  # as it stands in the file, line ends included
    fields: list[str]
    separator: str


def csv_records(path: Path, text: str) -> Iterator[CsvRecord]:
    """Every record of ``text``, which was read from ``path``; an empty line has no fields.

    Raises:
        DataError: a line is too long, or a quote does not end.
    """
    lines = io.StringIO(text, newline="")
    delimiter, skipped = _separator(lines)
    taken: list[str] = []

    def recorded() -> Iterator[str]:
        for number, line in enumerate(lines, start=1 + skipped):
            if len(line) > LINE_LIMIT:
                raise DataError(long_line(path, number, LINE_LIMIT))
            taken.append(line)
            yield line

    reader = csv.reader(recorded(), delimiter=delimiter, strict=True)
    while True:
        taken.clear()
        start = reader.line_num + 1 + skipped
        try:
            fields = next(reader, None)
        except csv.Error as failure:
            hint = "a text with a quote, a separator or a line end stands in quotes, a quote in it is doubled"
            raise DataError(f"{path}:{start}:1: {failure}; {hint}") from None
        if fields is None:
            return
        yield CsvRecord(start, "".join(taken), fields, delimiter)


def _separator(lines: io.StringIO) -> tuple[str, int]:
    """What separates the fields, and how many lines are no rows: Excel writes semicolons in much of the world."""
    first = lines.readline()
    if said := re.fullmatch(r"sep=([,;|\t])\s*", first):
        return said[1], 1
    lines.seek(0)
    return max(",;\t", key=first.count), 0
