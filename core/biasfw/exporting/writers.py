"""Rows to files. What a spreadsheet would run as a formula is shown, not run."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from biasfw.codec import dumps
from biasfw.errors import ComponentError, UsageError
from biasfw.exporting.rows import Column
from biasfw.phrases import many

_BATCH = 2000  # rows of Parquet in memory
_CELL = 32_767  # characters that a cell of xlsx can hold
_SHEET = 1_048_576 - 1  # rows of a sheet below the head
# What makes spreadsheets take a text for a formula, in ASCII and full width, and behind blanks; and our own mark.
_FORMULA = re.compile("^[\\s\ufeff\u200b]*[=+\\-@|%\uff1d\uff0b\uff0d\uff20]|^[\t\r\n']")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_LONE = re.compile("[\ud800-\udfff]")

Rows = Iterable[dict[str, Any]]


def write_csv(path: Path, columns: tuple[Column, ...], rows: Rows, canary: str) -> list[str]:
    """RFC 4180 in UTF-8 with a head line. The canary is a column."""
    del canary
    names = [column.name for column in columns]
    marked = escaped = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for row in rows:
            values = [row.get(name) for name in names]
            marked += sum(map(_is_marked, values))
            escaped += sum(map(_is_escaped, values))
            writer.writerow(map(_in_a_sheet, values))
    return _told(marked, escaped)


def write_jsonl(path: Path, columns: tuple[Column, ...], rows: Rows, canary: str) -> list[str]:
    """One JSON object a line, with every column; texts as they are, but lone surrogates, which few readers take."""
    del canary
    names = [column.name for column in columns]
    lone = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            lone += sum(_has_lone(row.get(name)) for name in names)
            file.write(f"{dumps({name: _whole(row.get(name)) for name in names})}\n")
    return _told_lone(lone)


def write_parquet(path: Path, columns: tuple[Column, ...], rows: Rows, canary: str) -> list[str]:
    """Parquet with typed columns; the canary is a column and in the metadata of the file."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as failure:
        raise _missing("parquet", "pyarrow") from failure
    kinds = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "truth": pa.bool_()}
    schema = pa.schema([(column.name, kinds[column.kind]) for column in columns], metadata={"canary": canary})
    lone = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in _batches(rows):
            lone += sum(_has_lone(row.get(column.name)) for row in batch for column in columns)
            table = {c.name: [_whole(row.get(c.name)) for row in batch] for c in columns}
            writer.write_table(pa.table(table, schema=schema))
    return _told_lone(lone)


def write_xlsx(path: Path, columns: tuple[Column, ...], rows: Rows, canary: str) -> list[str]:
    """One sheet. Every text is a text cell; what a cell cannot hold is cut or shown as an escape."""
    try:
        from openpyxl import Workbook  # noqa: PLC0415 - an extra
        from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415
    except ImportError as failure:
        raise _missing("xlsx", "openpyxl") from failure
    book = Workbook(write_only=True)
    book.properties.description = canary
    sheet = book.create_sheet("responses")
    cut = marked = escaped = 0

    def cell(value: Any) -> Any:
        nonlocal cut, marked, escaped
        marked += _is_marked(value)
        escaped += _is_escaped(value)
        value = _in_a_sheet(value)
        if not isinstance(value, str):
            return value
        if len(value) > _CELL:
            value, cut = f"{value[: _CELL - 6]} [...]", cut + 1
        made = WriteOnlyCell(sheet, "")
        made.value = value
        made.data_type = "s"  # whatever it begins with
        return made

    sheet.append([column.name for column in columns])
    for number, row in enumerate(rows):
        if number == _SHEET:
            raise UsageError(f"a sheet holds {_SHEET:,} rows; export to csv or parquet")
        sheet.append([cell(row.get(column.name)) for column in columns])
    book.save(path)
    said = f"{many(cut, 'text was', 'texts were')} cut at {_CELL:,} characters, which is all a cell holds"
    return [*_told(marked, escaped), *([said] if cut else [])]


def _told(marked: int, escaped: int) -> list[str]:
    said = []
    if marked:
        texts = many(marked, "text that a spreadsheet could run begins", "texts that a spreadsheet could run begin")
        said.append(f"{texts} with an apostrophe, which is not part of {'it' if marked == 1 else 'them'}")
    if escaped:
        texts = many(escaped, "text holds", "texts hold")
        said.append(
            f"{texts} control characters, which are written as escapes such as \\u001b; jsonl has them as they are"
        )
    return said


def _told_lone(lone: int) -> list[str]:
    if not lone:
        return []
    texts = many(lone, "text holds", "texts hold")
    return [f"{texts} halves of characters (lone surrogates), which are written as escapes such as \\ud83d"]


def _missing(what: str, package: str) -> ComponentError:
    return ComponentError(f"{what} needs the package {package}; install it with: pip install 'biasfw[export]'")


def _batches(rows: Rows) -> Iterator[list[dict[str, Any]]]:
    waiting = iter(rows)
    while batch := list(islice(waiting, _BATCH)):
        yield batch


def _in_a_sheet(value: Any) -> Any:
    """A cell of a spreadsheet: numbers as they are; texts without control characters and not to be run.

    Undone by taking away one apostrophe at the beginning: a text that begins with one gets another.
    """
    if not isinstance(value, str):
        return value
    text = _shown(value)
    return f"'{text}" if _FORMULA.match(text) else text


def _is_marked(value: Any) -> bool:
    return isinstance(value, str) and _FORMULA.match(_shown(value)) is not None


def _is_escaped(value: Any) -> bool:
    return isinstance(value, str) and _UNPRINTABLE.search(value) is not None


def _has_lone(value: Any) -> bool:
    return isinstance(value, str) and not value.isascii() and _LONE.search(value) is not None


def _shown(text: str) -> str:
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _whole(value: Any) -> Any:
    """Text that UTF-8 can hold: lone surrogates as escapes."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode()
    return value
