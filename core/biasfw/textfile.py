r"""Text files from outside, read strictly: no byte is ever replaced, every error has its line.

JSON lines end at ``\n`` only: U+2028 and U+0085 inside a text are data.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import io
import json
import re
import unicodedata
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from biasfw.document import MAX_DEPTH, Document
from biasfw.errors import DataError, UsageError
from biasfw.jsontext import JsonFlaw, locate
from biasfw.opening import open_file, too_large, unreadable
from biasfw.phrases import many

LINE_LIMIT = 8 * 2**20  # bytes (characters in a CSV file)
FILE_LIMIT = 512 * 2**20  # bytes
SAVE_AS = "save the file as UTF-8"
OR_NAME_IT = (
    f"{SAVE_AS}, or give its encoding with --encoding (plain CSV of Excel: cp1252, cp1254, cp932, ... by country)"
)
_MARKS = {  # those of UTF-32 begin with those of UTF-16
    codecs.BOM_UTF32_LE: "UTF-32", codecs.BOM_UTF32_BE: "UTF-32", codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}  # fmt: skip
_WIDE = re.compile(r"utf-(16|32)(-[lb]e)?")


def read_text(path: Path, encoding: str | None = None, *, limit: int = FILE_LIMIT, save_as: str = SAVE_AS) -> str:
    """The whole text of ``path``, in UTF-8 or ``encoding``, without a byte-order mark; line ends stay as they are.

    ``save_as`` is the way out that a message names where no encoding was given.

    Raises:
        DataError: no such file, larger than ``limit`` bytes, not in that encoding (with line, column and byte), or
            with a NUL character.
        UsageError: ``encoding`` is not the name of a text encoding.
    """
    try:
        with open_file(path, limit) as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise DataError(unreadable(path, error)) from None
    if len(data) > limit:  # it grew
        raise DataError(too_large(path, limit))
    text = _decode(data, encoding, path, save_as)
    if (at := text.find("\0")) >= 0:
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        hint = "it may be a binary file or UTF-16; save it as UTF-8 text"
        raise DataError(f"{path}:{line}:{column}: a NUL character; {hint}")
    return text


def read_jsonl(path: Path, *, limit: int = LINE_LIMIT) -> Iterator[tuple[int, Any]]:
    """Yield (line number from 1, value) of every line of ``path`` that is not blank.

    Escapes of lone surrogates are kept as they are.

    Raises:
        DataError: the file cannot be read, or a line is longer than ``limit`` bytes, not UTF-8, not JSON, nested too
            deep, or has NaN, an infinite number or the same key twice in one object; with line and column.
    """
    for number, line in _lines(path, limit):
        if not line.isspace():
            yield number, parse_json_line(line, f"{path}", number)


def row_document(path: Path, number: int, *, limit: int = LINE_LIMIT) -> Document:
    """Line ``number`` of a JSONL file, with the position of every value: for messages about a line that was read."""
    for at, line in _lines(path, limit):
        if at == number:
            value = parse_json_line(line, f"{path}", number)
            places = locate(line.decode("utf-8"))
            positions = {pointer: (number, offset + 1) for pointer, offset in places.values.items()}
            keys = {pointer: (number, offset + 1) for pointer, offset in places.keys.items()}
            return Document(f"{path}", value, positions, keys)
    raise DataError(f"{path}: there is no line {number}; the file has changed while it was read")


def read_csv(
    path: Path, required_columns: Collection[str] = (), encoding: str | None = None, *, limit: int = LINE_LIMIT
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line on which the row begins, column -> text) of a comma-separated file with a header line.

    Quoted texts may hold commas and line ends. Names of columns are compared after NFC, without outer spaces;
    columns without a name are left out, blank lines skipped.

    Raises:
        DataError: the file cannot be read (as ``read_text``), a required column is missing, a name stands twice, a
            row has more or fewer fields than the header, or a line is longer than ``limit``.
        UsageError: ``encoding`` is not the name of a text encoding.
    """
    text = read_text(path, encoding, save_as=OR_NAME_IT)
    reader = csv.reader(_checked_lines(text, path, limit), strict=True)
    columns: list[str] | None = None
    while True:
        start = reader.line_num + 1
        try:
            fields = next(reader, None)
        except csv.Error as error:
            hint = "check the quotes: a text with a quote, comma or line end stands in quotes, a quote in it is doubled"
            raise DataError(f"{path}:{start}: {error}; {hint}") from None
        if fields is None:
            break
        if not fields:
            continue
        if columns is None:
            columns = csv_columns(fields, required_columns, f"{path}:{start}")
        elif len(fields) != len(columns):
            what = f"{many(len(fields), 'field')} where the header has {len(columns)}"
            raise DataError(f"{path}:{start}: {what}; put a text that holds a comma in double quotes")
        else:
            yield start, {name: field for name, field in zip(columns, fields, strict=True) if name}
    if columns is None:
        raise DataError(f"{path}:1: the file is empty; write a header line with the names of the columns")


def _decode(data: bytes, encoding: str | None, path: Path, save_as: str) -> str:
    if encoding is None and (wide := marked(data)):
        hint = f", or give --encoding {wide.lower()}" if save_as == OR_NAME_IT else ""
        raise DataError(f"{path}:1:1: the file is {wide}; save it as UTF-8{hint}")
    try:
        if encoding is not None:
            _refuse_narrow(data, encoding, path)
        return data.decode(encoding or "utf-8").removeprefix("\ufeff")
    except LookupError:
        hint = "give a name that Python knows, such as utf-8 or cp932"
        raise UsageError(f'{path}: there is no text encoding "{encoding}"; {hint}') from None
    except UnicodeDecodeError as error:
        start = data.rfind(b"\n", 0, error.start) + 1
        line = data.count(b"\n", 0, error.start) + 1
        column = len(data[start : error.start].decode(encoding or "utf-8", "ignore")) + 1
        hint = save_as if encoding is None else "give the encoding it was saved in, or save it as UTF-8"
        what = f"byte {error.start + 1} of the file (0x{data[error.start]:02X}) is not {encoding or 'UTF-8'}"
        raise DataError(f"{path}:{line}:{column}: {what}; {hint}") from None
    except UnicodeError as error:  # codecs such as utf-16 without a mark
        raise DataError(f"{path}: not {encoding} ({error}); give the encoding it was saved in") from None


def marked(data: bytes) -> str:
    """What the byte-order mark at the beginning says: UTF-16 or UTF-32; "" for none and for that of UTF-8."""
    return next((name for mark, name in _MARKS.items() if data.startswith(mark)), "")


def _refuse_narrow(data: bytes, encoding: str, path: Path) -> None:
    """Texts of Latin letters that are read in two bytes a letter become other letters, and no error."""
    if not _WIDE.fullmatch(codecs.lookup(encoding).name) or marked(data) or b"\0" in data:
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return
    raise DataError(f"{path}:1:1: the file is UTF-8, not {encoding}; leave out --encoding")


def _lines(path: Path, limit: int) -> Iterator[tuple[int, bytes]]:
    """The lines of ``path`` as bytes, without a byte-order mark; none is held in memory beyond ``limit``."""
    try:
        with open_file(path) as file:
            number = 0
            while line := file.readline(limit + 3):  # with room for the line end
                number += 1
                if number == 1:
                    if wide := marked(line):
                        raise DataError(f"{path}:1:1: the file is {wide}; save it as UTF-8")
                    line = line.removeprefix(codecs.BOM_UTF8) or b"\n"
                if len(line.rstrip(b"\r\n")) > limit:
                    raise DataError(long_line(path, number, limit))
                yield number, line
    except OSError as error:
        raise DataError(unreadable(path, error)) from None


def long_line(path: Path, number: int, limit: int) -> str:
    """What is said of a line that is too long."""
    size = f"{limit / 2**20:g} MiB" if limit >= 2**20 else f"{limit} bytes"
    return f"{path}:{number}: the line is longer than {size}; write one row a line, and shorten what is in it"


class _FlawError(ValueError):
    """What Python's json module would let pass; ``locate`` then finds the place."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _FlawError
    return value


def _number(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _FlawError
    return value


def _constant(_: str) -> float:
    raise _FlawError


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_float=_number, parse_constant=_constant)


def parse_json_line(line: bytes, name: str, number: int) -> Any:
    """The value of one line of JSON, read as strictly as ``read_jsonl`` does; ``name`` and ``number`` are for messages.

    Raises:
        DataError: as ``read_jsonl``, with line and column.
    """
    try:
        text = line.rstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError as error:
        column = len(line[: error.start].decode("utf-8")) + 1
        what = f"byte {error.start + 1} of the line (0x{line[error.start]:02X}) is not UTF-8"
        raise DataError(f"{name}:{number}:{column}: {what}; save the file as UTF-8") from None
    try:
        if text.count("[") + text.count("{") > MAX_DEPTH:
            locate(text)  # refuses deep nesting without recursion
        return _decoder.decode(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name}:{number}:{_flaw(text, error)}") from None


def _flaw(text: str, error: ValueError | RecursionError) -> str:
    """``column: what is wrong; the way out`` of a line that cannot be read."""
    if not isinstance(error, JsonFlaw):
        try:
            locate(text)
        except JsonFlaw as found:
            error = found
    if isinstance(error, JsonFlaw):
        return f"{error.offset + 1}: {error}"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.pos + 1}: not JSON ({error.msg}); write one JSON object a line"
    return f"1: not JSON ({error}); write one JSON object a line"


def _checked_lines(text: str, path: Path, limit: int) -> Iterator[str]:
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        if len(line) > limit:
            raise DataError(long_line(path, number, limit))
        yield line


def csv_columns(fields: list[str], required: Collection[str], where: str) -> list[str]:
    """The names in the header of a CSV file, "" for a column without one.

    Raises:
        DataError: a name stands twice, or one that is ``required`` is missing.
    """
    columns = [unicodedata.normalize("NFC", field).strip() for field in fields]
    named = [name for name in columns if name]
    if twice := next((name for name in named if named.count(name) > 1), None):
        raise DataError(f'{where}: the column "{twice}" stands there twice; rename or remove one')
    missing = [name for name in required if unicodedata.normalize("NFC", name) not in named]
    if not missing:
        return columns
    names = ", ".join(f'"{name}"' for name in missing)
    what = f"the column {names} is missing" if len(missing) == 1 else f"the columns {names} are missing"
    hint = f"the header has {', '.join(named) or 'no name'}"
    if len(columns) == 1 and (odd := re.search("[;\t]", columns[0])):
        hint = f"the fields seem to be separated by {'tabs' if odd[0] == chr(9) else 'semicolons'}; save with commas"
    elif near := difflib.get_close_matches(missing[0], named, n=1):
        hint += f'; did you mean "{near[0]}"?'
    raise DataError(f"{where}: {what}; {hint}")
