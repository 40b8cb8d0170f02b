"""Sheets that come back: only responses that were drawn, unedited, once each, with labels that are allowed."""

from __future__ import annotations

import unicodedata
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasfw.errors import DataError
from biasfw.keys import sha256_file
from biasfw.labelling.drawing import Draw, DrawnRow
from biasfw.labelling.keeping import Labels, SheetRead, draws, load_draw
from biasfw.labelling.sheets import DRAW, KINDS, LABEL, RESPONSE, ROW, SHEET, label_column, openpyxl
from biasfw.labelling.texts import is_unedited
from biasfw.phrases import did_you_mean, shorten
from biasfw.textfile import read_csv, read_jsonl

_UNPACKED_LIMIT = 512 * 2**20  # bytes


@dataclass(slots=True)
class Imported:
    """What a sheet brought: new labels, those that were there with the same value, those that replaced another."""

    draw: Draw
    labels: Labels
    new: int = 0
    same: int = 0
    replaced: int = 0
    empty: int = 0  # cells of rows on the sheet


@dataclass(frozen=True, slots=True)
class _Line:
    """A row of a sheet: its cells by column, and what they are called in a message."""

    where: str
    cells: Mapping[str, Any]
    places: Mapping[str, str] = field(default_factory=dict)

    def at(self, column: str) -> str:
        return self.places.get(column) or f"{self.where}: column {column}"


def read_sheet(run: Path, path: Path, before: Mapping[str, Labels], *, replace: bool = False) -> Imported:
    """Check a sheet and add its labels to those that are there (``before``: draw -> labels).

    Raises:
        DataError: with file, row and column, and how many more problems there are: a row that was not drawn, a row
            twice, a response that was edited, a label that is none, or another label than was imported before.
    """
    lines = list(_lines(path))
    if not lines:
        raise DataError(f"{path}: there are no rows; fill in the sheet that `biasfw labels draw` wrote")
    draw = load_draw(run, _draw_of(lines[0], run))
    _check_columns(lines[0], draw, path.suffix.lower())
    read = _Reader(draw, before.get(draw.name, Labels(draw.name)), replace)
    for line in lines:
        read.take(line)
    if read.problems:
        more = f" (and {len(read.problems) - 1} more)" if len(read.problems) > 1 else ""
        raise DataError(f"{read.problems[0]}{more}; nothing was imported")
    entry = SheetRead(path.name, sha256_file(path), read.result.new + read.result.replaced)
    sheets = tuple(sheet for sheet in read.result.labels.sheets if sheet.sha256 != entry.sha256)
    read.result.labels = Labels(draw.name, read.found, (*sheets, entry))
    return read.result


def _draw_of(line: _Line, run: Path) -> str:
    name = line.cells.get(DRAW)
    if _text(name) not in draws(run):
        what = f"{shorten(name)} was not drawn from {run}" if name else "names no draw"
        raise DataError(f"{line.at(DRAW)}: {what}; only labels of a sheet that `biasfw labels draw` wrote are taken")
    return _text(name)


def _check_columns(line: _Line, draw: Draw, kind: str) -> None:
    """A label column that was renamed would look like a column without labels."""
    known = [label_column(slot) for slot in draw.slots]
    odd = [name for name in line.cells if name.startswith(LABEL) and name not in known]
    missing = [name for name in known if name not in line.cells and kind != ".jsonl"]
    if odd:
        raise DataError(f"{line.at(odd[0])}: there is no such slot; {did_you_mean(odd[0], known)}")
    if missing:
        raise DataError(f"{line.where}: the column {missing[0]} is missing; leave the first row as it was written")


class _Reader:
    """Takes the rows of a sheet one by one."""

    def __init__(self, draw: Draw, before: Labels, replace: bool) -> None:
        self.draw = draw
        self.problems: list[str] = []
        self.result = Imported(draw, before)
        self.found = {row: dict(slots) for row, slots in before.labels.items()}
        self._replace = replace
        self._rows = {row.id: row for row in draw.rows}
        self._seen: dict[str, str] = {}
        self._names = _names(draw)

    def take(self, line: _Line) -> None:
        """Check a row and keep its labels; problems are collected."""
        name = _text(line.cells.get(ROW))
        row = self._rows.get(name)
        if _text(line.cells.get(DRAW)) != self.draw.name:
            self.problems.append(f"{line.at(DRAW)}: another draw than {self.draw.name}; import one draw at a time")
        elif row is None:
            self.problems.append(f"{line.at(ROW)}: {shorten(name)} was not drawn; add no rows to a sheet")
        elif name in self._seen:
            self.problems.append(f"{line.at(ROW)}: {shorten(name)} stands there twice, first in {self._seen[name]}")
        elif not is_unedited(f"{line.cells.get(RESPONSE) or ''}", row.text_sha256):  # an empty cell is no text at all
            what = "the response is not the one that was drawn; copy it back from the sheet as it was written"
            self.problems.append(f"{line.at(RESPONSE)}: {what}")
        else:
            self._labels(line, row)
        self._seen.setdefault(name, line.where)

    def _labels(self, line: _Line, row: DrawnRow) -> None:
        for slot in self.draw.slots:
            column = label_column(slot)
            written = line.cells.get(column)
            if written is None or (isinstance(written, str) and not written.strip()):
                self.result.empty += 1
                continue
            label = self._names.get(_folded(written)) if isinstance(written, str) else None
            if label is None:
                what = f"{shorten(written)} is no label; {did_you_mean(str(written), self.draw.labels)}"
                self.problems.append(f"{line.at(column)}: {what}")
            elif (meant := self._meant(label, row)) is None:
                self.problems.append(f"{line.at(column)}: {shorten(written)} stands for no option of this item")
            else:
                self._keep(line.at(column), row, slot, meant)

    def _meant(self, label: str, row: DrawnRow) -> str | None:
        """The label, or the option for which a letter stands in this row."""
        if label not in self.draw.letters:
            return label
        place = self.draw.letters.index(label)
        return row.order[place] if place < len(row.order) else None

    def _keep(self, where: str, row: DrawnRow, slot: str, label: str) -> None:
        there = self.found.get(row.id, {}).get(slot)
        if there == label:
            self.result.same += 1
        elif there is not None and not self._replace:
            hint = "give --replace to take the new ones"
            self.problems.append(f"{where}: {shorten(label)} where {shorten(there)} was imported before; {hint}")
        else:
            self.found.setdefault(row.id, {})[slot] = label
            if there is None:
                self.result.new += 1
            else:
                self.result.replaced += 1


def _names(draw: Draw) -> dict[str, str]:
    """Everything that may be written for a label; a name that stands for two labels stands for none."""
    found: dict[str, str] = {}
    twice: set[str] = set()
    for key, names in draw.labels.items():
        for name in {_folded(name) for name in names}:
            if found.setdefault(name, key) != key:
                twice.add(name)
    kept = {name: key for name, key in found.items() if name not in twice}
    return kept | {_folded(key): key for key in draw.labels}


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _lines(path: Path) -> Iterator[_Line]:
    kind = path.suffix.lower()
    if kind == ".csv":
        for number, cells in read_csv(path, (ROW, DRAW, RESPONSE)):
            yield _Line(f"{path}:{number}", cells)
    elif kind == ".jsonl":
        for number, row in read_jsonl(path):
            if not isinstance(row, dict) or not isinstance(row.get("labels", {}), dict):
                raise DataError(f"{path}:{number}: a line is an object with labels by slot; keep the sheet's form")
            labels = {label_column(slot): label for slot, label in row.get("labels", {}).items()}
            yield _Line(f"{path}:{number}", {**row, **labels})
    elif kind == ".xlsx":
        yield from _xlsx_lines(path)
    else:
        raise DataError(f"{path}: a sheet is {', '.join(KINDS)}; save it as one of these")


def _xlsx_lines(path: Path) -> Iterator[_Line]:
    library = openpyxl()
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _UNPACKED_LIMIT:
                raise DataError(f"{path}: larger than {_UNPACKED_LIMIT / 2**20:g} MiB when unpacked; split the sheet")
        book = library.load_workbook(path, read_only=True)
        sheet = book[SHEET] if SHEET in book.sheetnames else book.worksheets[0]
        rows = list(sheet.iter_rows(values_only=True))
        book.close()
    except OSError as failure:
        raise DataError(f"{path}: cannot be read ({failure.strerror or failure}); check the path") from failure
    except (zipfile.BadZipFile, KeyError, ValueError, IndexError, TypeError, SyntaxError) as failure:
        raise DataError(f"{path}: is no .xlsx file ({failure}); save it again, or as .csv") from failure
    columns = [_text(name) for name in rows[0]] if rows else []
    missing = [name for name in (ROW, DRAW, RESPONSE) if name not in columns]
    if missing:
        raise DataError(f"{path}: sheet {sheet.title}: the column {missing[0]!r} is missing from the first row")
    for number, row in enumerate(rows[1:], start=2):
        if any(value is not None for value in row):
            cells = {name: _cell(value) for name, value in zip(columns, row, strict=False) if name}
            letters = {name: library.utils.get_column_letter(place) for place, name in enumerate(columns, start=1)}
            yield _Line(
                f"{path}: row {number}",
                cells,
                {name: f"{path}: cell {letter}{number} ({name})" for name, letter in letters.items()},
            )


def _cell(value: Any) -> Any:
    """A label such as 1 is a number in a sheet."""
    return f"{value}" if isinstance(value, (int, float)) and not isinstance(value, bool) else value
