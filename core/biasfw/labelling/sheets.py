"""Sheets for people: CSV that Excel opens, .xlsx or JSON lines. One row per response, and no judge's verdict."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biasfw.errors import ComponentError, StoreError, UsageError
from biasfw.jsonlines import write_atomically
from biasfw.labelling.drawing import RESERVED, Draw
from biasfw.labelling.texts import guarded, without_escapes

KINDS = (".csv", ".xlsx", ".jsonl")
ROW, DRAW, RESPONSE, OPTIONS, NOTE, LABEL = "row", "draw", "response", "options", "note", "label:"
SHEET, HELP, LABELS = "labels", "read me", "allowed"  # the sheets of an .xlsx file
_ILLEGAL = dict.fromkeys((65534, 65535), 65533)  # XML has no place for them


@dataclass(frozen=True, slots=True)
class Shown:
    """What a row shows: the response as ``cell_text`` has it, and the options it chooses from, where there are any."""

    response: str
    options: str = ""


def label_column(slot: str) -> str:
    """The column in which people write the label of a slot."""
    return f"{LABEL}{slot}"


def check_place(path: Path) -> None:
    """Whether a sheet can be written there.

    Raises:
        UsageError: another ending, or the file is there (it may hold people's work).
        ComponentError: .xlsx without openpyxl.
    """
    if path.suffix.lower() not in KINDS:
        raise UsageError(f"{path}: a sheet is {', '.join(KINDS)}; give such a name with -o")
    if path.exists():
        raise UsageError(f"{path} is there and may hold somebody's labels; give another name with -o")
    if path.suffix.lower() == ".xlsx":
        openpyxl()


def write_sheet(path: Path, draw: Draw, texts: Sequence[Shown], help_text: str) -> list[Path]:
    """Write the sheet, and beside a .csv or .jsonl the help as ``<sheet>.README.txt``; return what was written.

    Args:
        path: its ending says the kind.
        draw: its rows are written in their order.
        texts: what every row shows.
        help_text: content warning, labels and how to fill the sheet in.

    Raises:
        UsageError, ComponentError: as ``check_place``.
        StoreError: it cannot be written.
    """
    check_place(path)
    write = {".csv": _csv, ".xlsx": _xlsx, ".jsonl": _jsonl}[path.suffix.lower()]
    beside = path.with_name(f"{path.name}.README.txt")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, write(draw, texts, help_text))
        if path.suffix.lower() == ".xlsx":
            return [path]
        write_atomically(beside, help_text.encode("utf-8-sig", "replace"))
    except OSError as failure:
        raise StoreError(f"cannot write {path}: {failure.strerror or failure}; give another place with -o") from failure
    return [path, beside]


def help_text(draw: Draw, about: Mapping[str, str], headers: Mapping[str, Sequence[str]]) -> str:
    """What people must know: ``about`` are paragraphs by title, ``headers`` the names of each slot."""
    lines = [f"{title.upper()}\n{text}\n" for title, text in about.items() if text]
    lines.append("WHAT TO DO")
    lines.append("Read each response and write one label in each label column. Leave a cell empty if you have not")
    lines.append("decided yet. Work from the top: the order is random, so a part that is finished can be used.")
    lines.append("Change no other cell, and add no rows. An apostrophe at the beginning of a response is ours.\n")
    lines.append("COLUMNS")
    lines += [f"{label_column(slot)}: {', '.join(headers.get(slot, ())) or slot}" for slot in draw.slots]
    lines.append(f"{NOTE}: whatever you want to say; it is not read\n")
    lines.append("LABELS (the key, or one of the names)")
    if draw.letters:
        lines.append("Letters are those of the options; write that of the option which the response chooses.")
    lines += [f"{key}: {RESERVED.get(key) or ', '.join(names)}" for key, names in draw.labels.items()]
    return "\n".join(lines) + "\n"


def _rows(draw: Draw, texts: Sequence[Shown]) -> Iterator[dict[str, str]]:
    """Column -> cell, without those that people fill in; options only where some row has any."""
    optional = any(shown.options for shown in texts)
    for row, shown in zip(draw.rows, texts, strict=True):
        cells = {ROW: row.id, DRAW: draw.name, "language": row.language, RESPONSE: shown.response}
        yield {**cells, OPTIONS: shown.options} if optional else cells


def _cells(draw: Draw, texts: Sequence[Shown]) -> Iterator[dict[str, str]]:
    """The same with the empty columns, as a spreadsheet program may see it."""
    empty = {**dict.fromkeys(map(label_column, draw.slots), ""), NOTE: ""}
    for cells in _rows(draw, texts):
        yield {name: guarded(text) for name, text in cells.items()} | empty


def _csv(draw: Draw, texts: Sequence[Shown], _: str) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    for number, cells in enumerate(_cells(draw, texts)):
        if number == 0:
            writer.writerow(cells)
        writer.writerow(cells.values())
    return out.getvalue().encode("utf-8-sig")


def _jsonl(draw: Draw, texts: Sequence[Shown], _: str) -> bytes:
    rows = ({**cells, "labels": dict.fromkeys(draw.slots), NOTE: None} for cells in _rows(draw, texts))
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode("utf-8")


def openpyxl() -> Any:
    """The library that reads and writes .xlsx files.

    Raises:
        ComponentError: it is not installed.
    """
    try:
        import openpyxl as library  # noqa: PLC0415 - an extra
    except ImportError as failure:
        raise ComponentError(".xlsx files need openpyxl; pip install 'biasfw[xlsx]', or use .csv") from failure
    return library


def _xlsx(draw: Draw, texts: Sequence[Shown], help_text: str) -> bytes:
    library = openpyxl()
    book = library.Workbook()
    info, sheet, allowed = book.active, book.create_sheet(SHEET), book.create_sheet(LABELS)
    info.title = HELP
    wrapped = library.styles.Alignment(wrap_text=True, vertical="top")
    for number, line in enumerate(help_text.splitlines(), start=1):
        _put(info.cell(number, 1), line)
    info.column_dimensions["A"].width = 110
    for number, key in enumerate(draw.labels, start=1):
        _put(allowed.cell(number, 1), key)
    rows = list(_cells(draw, texts))
    for place, name in enumerate(rows[0], start=1):
        _put(sheet.cell(1, place), name)
        letter = library.utils.get_column_letter(place)
        sheet.column_dimensions[letter].width = {RESPONSE: 80, OPTIONS: 60}.get(name, 18)
        if name.startswith(LABEL):
            rule = library.worksheet.datavalidation.DataValidation(
                type="list", formula1=f"{LABELS}!$A$1:$A${len(draw.labels)}", allow_blank=True, showErrorMessage=False
            )
            sheet.add_data_validation(rule)
            rule.add(f"{letter}2:{letter}{len(texts) + 1}")
    for number, cells in enumerate(rows, start=2):
        for place, value in enumerate(cells.values(), start=1):
            cell = sheet.cell(number, place)
            cell.alignment = wrapped
            _put(cell, value)
    sheet.freeze_panes = "A2"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _put(cell: Any, text: str) -> None:
    """A text, whatever it looks like: neither a formula nor a number."""
    if text:
        cell.value = without_escapes(text.translate(_ILLEGAL))
        cell.data_type = "s"
        cell.number_format = "@"
