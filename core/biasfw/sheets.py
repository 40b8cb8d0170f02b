"""Items that were written in a spreadsheet program, as CSV or .xlsx: columns become the fields of items.

One row is one item, and the first row names the columns:

``source_id``, ``language``, ``category``, ``gold``, ``target``, ...   the fields of ``schemas/item.schema.json``
``choice_KEY (ROLE)``   the text of the option KEY, and what choosing it means; ``(ROLE)`` may be left out
``role_KEY``            the role of the option KEY, where it differs from row to row
``focus_1``, ``focus_2``   one list, ``focus``; cells at its end may be empty
``metadata_NAME``       kept with the item, seen by no prompt
``#anything``           notes for people, not read
any other name          a field of the item, which prompts can use

Every cell is text. What a program made of a text (a number, a date, a formula, an error) is told, never guessed at.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from biasfw.csvrecords import csv_records
from biasfw.errors import ComponentError, DataError
from biasfw.opening import open_file, unreadable
from biasfw.phrases import listed, shorten
from biasfw.rows import Row
from biasfw.sheetcolumns import Columns, read_header
from biasfw.textfile import FILE_LIMIT, read_text

SHEET = "items"
UNPACKED_LIMIT = 256 * 2**20  # bytes of a workbook
BEYOND_LIMIT = 500_000  # cells, all rows together, to the right of the last column with a name
SUFFIXES = (".csv", ".xlsx")
_SAVE_AS = 'save it as "CSV UTF-8", or as .xlsx (plain CSV of Excel is cp1252, cp1254, cp932, ... by country)'
_AS_TEXT = "format the column as text, and write it again"
_NO_FORMULA = "write the text itself (copy, then paste as values)"
_ERROR = re.compile(r"#(NAME\?|REF!|VALUE!|DIV/0!|N/A|NULL!|NUM!|SPILL!|CALC!|FIELD!|BLOCKED!)|#{3,}")
_SHRUNK = re.compile(r"[+-]?\d([.,]\d+)?E[+-]?\d{2,}")
_MONTH = "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DATE = re.compile(rf"\d{{1,2}}-{_MONTH}(-\d{{2,4}})?|{_MONTH}-\d{{2}}")
# What the library raises on a file that is broken or made to break it.
_BROKEN = (
    zipfile.BadZipFile, zlib.error, KeyError, ValueError, IndexError, TypeError, AttributeError, SyntaxError,
    NotImplementedError,
)  # fmt: skip
_TRUTHS = ("TRUE", "FALSE")
_OLD = b"\xd0\xcf\x11\xe0"  # .xls, and any workbook with a password


def read_sheet(path: Path, wrong: list[str] | None = None) -> Iterator[Row]:
    """The rows of a .csv file, or of the sheet ``items`` of a workbook; empty rows are left out.

    A row with cells that cannot be used has ``flaws``. ``wrong``: where what is wrong with the header, or with the name
    of the sheet, goes; the rows are then read as far as they can be told.

    Raises:
        DataError: the file cannot be read, or (without ``wrong``) its header is wrong; with line and column, or sheet
            and cell.
        ComponentError: it is a workbook, and the library that reads it is not installed.
    """
    return _read_csv(path, wrong) if path.suffix == ".csv" else _read_xlsx(path, wrong)


def openpyxl() -> Any:
    """The library that reads and writes .xlsx files.

    Raises:
        ComponentError: it is not installed.
    """
    try:
        import openpyxl as library  # noqa: PLC0415 - an extra
    except ImportError as failure:
        hint = 'pip install "biasfw[xlsx]", or save the sheet as "CSV UTF-8"'
        raise ComponentError(f".xlsx files need the library openpyxl: {hint}") from failure
    return library


def _read_csv(path: Path, wrong: list[str] | None) -> Iterator[Row]:
    columns: Columns | None = None
    for record in csv_records(path, read_text(path, save_as=_SAVE_AS)):
        cells = record.fields
        if not any(cell.strip() for cell in cells):
            continue
        row = Row(str(path), record.line, {}, raw=record.raw, delimiter=record.separator)
        if columns is None:
            columns = read_header(row, cells, wrong)
        else:
            yield columns.item(row, cells, [_wrong_text(cell, csv_file=True) for cell in cells])
    if columns is None:
        raise DataError(f"{path}:1:1: the file is empty; its first line names the columns")


def _read_xlsx(path: Path, wrong: list[str] | None) -> Iterator[Row]:
    library = openpyxl()
    _check_archive(path)
    try:
        with open_file(path, FILE_LIMIT) as file:
            book = library.load_workbook(file, read_only=True)
            yield from _book_rows(book, path, wrong)
            book.close()
    except _BROKEN as failure:
        raise DataError(f"{path}: is no .xlsx file that can be read ({shorten(f'{failure}')}); save it again") from None


def _book_rows(book: Any, path: Path, wrong: list[str] | None) -> Iterator[Row]:
    name = _sheet_named(book, path, wrong)
    columns: Columns | None = None
    beyond = 0
    page = book[name]
    page.reset_dimensions()  # else one cell far away makes every row as wide as it, and a million rows of nothing
    for number, cells in enumerate(page.iter_rows(), start=1):
        if not cells:
            continue
        row = Row(str(path), number, {}, sheet=name)
        texts = [_text(cell) for cell in cells]
        if not any(text.strip() for text in texts):
            continue
        if columns is None:
            columns = read_header(row, texts, wrong)
        else:
            if (beyond := beyond + max(0, len(cells) - max(columns.named) - 1)) > BEYOND_LIMIT:
                what = "this cell and others stand far to the right of the columns with names, so no more rows are read"
                raise DataError(f"{row.place(len(cells) - 1)}: {what}; delete what is there")
            flaws = [
                "" if text in _TRUTHS and columns.means_yes_or_no(at) else _wrong_cell(cell, text)
                for at, (cell, text) in enumerate(zip(cells, texts, strict=True))
            ]
            yield columns.item(row, texts, flaws)
    if columns is None:
        raise DataError(f"{path}: sheet {name}, cell A1: the sheet is empty; its first row names the columns")


def _check_archive(path: Path) -> None:
    try:
        with open_file(path, FILE_LIMIT) as file:
            old = file.read(4) == _OLD
        if old:
            raise DataError(f"{path}: an old .xls file, or one with a password; save it as .xlsx, without a password")
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    except OSError as failure:
        raise DataError(unreadable(path, failure)) from None
    except zipfile.BadZipFile:
        raise DataError(f"{path}: is no .xlsx file; save it as .xlsx (Excel workbook)") from None
    if unpacked > UNPACKED_LIMIT:
        raise DataError(f"{path}: larger than {UNPACKED_LIMIT / 2**20:g} MiB when unpacked; split the sheet")


def _sheet_named(book: Any, path: Path, wrong: list[str] | None) -> str:
    names = [sheet.title for sheet in book.worksheets]
    found = [name for name in names if name.strip().casefold() == SHEET]
    if found or len(names) == 1:
        return str((found or names)[0])
    if wrong is not None and (meant := [name for name in names if _has_items(book[name])]):
        what = f'no sheet is called "{SHEET}" (there are: {listed(names)}); rename this one'
        wrong.append(f"{path}: sheet {meant[0]}, cell A1: {what}")
        return str(meant[0])
    raise DataError(f'{path}: no sheet is called "{SHEET}" (there are: {listed(names)}); rename the one with the items')


def _has_items(page: Any) -> bool:
    """Whether the first row of a sheet names the columns of items."""
    header = next(page.iter_rows(max_row=1, values_only=True), ())
    return any(str(name).strip().casefold().replace(" ", "_") == "source_id" for name in header)


def _text(cell: Any) -> str:
    from openpyxl.utils.escape import unescape  # noqa: PLC0415 - an extra

    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return _TRUTHS[not value]
    return str(unescape(value)) if isinstance(value, str) else str(value)


def _wrong_cell(cell: Any, text: str) -> str:
    """What is wrong with a cell of a workbook; "" for a text."""
    kind = getattr(cell, "data_type", "n")
    if cell.value is None:
        return ""
    told = {
        "b": f"the program made {text} of it, which may have been another word; {_AS_TEXT}",
        "f": f"a formula ({shorten(text)}), not a text; {_NO_FORMULA}",
        "e": f"an error of the spreadsheet program ({text}); write the text that was meant",
        "d": f"the program made a date of it ({text}); {_AS_TEXT}",
        "n": f"a number ({text}), not a text: zeros and points may be lost; {_AS_TEXT}",
    }
    return told[kind] if kind in told else _wrong_text(text, csv_file=False)


def _wrong_text(text: str, *, csv_file: bool) -> str:
    """What is wrong with the text of a cell; "" where nothing is."""
    bare = text.strip()
    if _ERROR.fullmatch(bare):
        return f"an error of the spreadsheet program ({bare}); write the text that was meant"
    if not csv_file:
        return ""
    if bare.startswith("="):
        return f"a formula ({shorten(bare)}), not a text; {_NO_FORMULA}"
    if _DATE.fullmatch(bare):
        return f"the program may have made a date of it ({bare}); {_AS_TEXT}"
    if _SHRUNK.fullmatch(bare):
        return f"the program has shortened a number ({bare}); {_AS_TEXT}"
    return ""
