"""The workbook of a new benchmark: items with drop-downs, and sheets that explain the columns and show examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasfw.sheets import SHEET, openpyxl
from biasfw.yamlfile import load_yaml

if TYPE_CHECKING:
    from biasfw.newbenchmark import NewBenchmark

EXPLANATIONS, EXAMPLES, LISTS = "explanations", "examples", "lists"
_ROWS = 2000  # rows of the sheet that have drop-downs
_LISTED = 200  # rows of the sheet with the lists: there is room for more words than it begins with
_WIDTHS = {"source_id": 20, "language": 11, "category": 18, "gold": 10, "contested": 11}
_AS_TEXT = "@"

__all__ = ["columns_of", "openpyxl", "write_workbook"]


def columns_of(task: str) -> list[str]:
    """The names of the columns in the order of the sheet."""
    own = {
        "choice": ["situation", "choice_fair (anti-stereotyped)", "choice_biased (stereotyped)", "gold"],
        "sentence_pair": ["choice_more (stereotyped)", "choice_less (anti-stereotyped)"],
        "labels": ["topic", "focus_1", "focus_2"],
    }[task]
    claimed = [] if task == "labels" else ["target", "stereotype", "harm"]
    return ["source_id", "language", "category", *own, *claimed, "attested", "contested", "# notes"]


def write_workbook(path: Path, new: NewBenchmark, items: Sequence[Mapping[str, Any]]) -> None:
    """Write the workbook with ``items`` on its first sheet.

    Raises:
        ComponentError: the library that writes workbooks is not installed.
    """
    library = openpyxl()
    texts = load_yaml(Path(__file__).parent / "scaffolds" / "benchmark" / "sheet.yaml").value
    book = library.Workbook()
    columns = columns_of(new.task)
    page = book.active
    page.title = SHEET
    _table(library, page, [columns, *([_cell(item, name) for name in columns] for item in items)])
    page.freeze_panes = "B2"
    explained = [[name, *_explanation(texts, name)] for name in columns]
    _page(library, book, EXPLANATIONS, texts["general"], [texts["explanation_header"], *explained])
    shown = [[row[name] for name in texts["example_columns"][new.task]] for row in texts["examples"][new.task]]
    _page(library, book, EXAMPLES, texts["about_examples"], [texts["example_columns"][new.task], *shown])
    _drop_downs(library, book, columns, new)
    book.properties.creator = "biasfw"
    book.save(path)


def _cell(item: Mapping[str, Any], column: str) -> str:
    name = column.partition(" ")[0]
    if name.startswith("choice_"):
        key = name.removeprefix("choice_")
        return next(str(choice["text"]) for choice in item["choices"] if choice["key"] == key)
    if name.startswith("focus_"):
        return str(item["focus"][int(name.removeprefix("focus_")) - 1])
    return str(item.get(name, ""))


def _explanation(texts: Mapping[str, Any], column: str) -> list[str]:
    name = column.partition(" ")[0]
    needed, text = texts["columns"][name if name in texts["columns"] else name.rpartition("_")[0]]
    return [needed, text]


def _table(library: Any, page: Any, rows: Sequence[Sequence[str]]) -> None:
    """Cells as text, so that the program makes neither numbers nor dates of them; the first row is the header."""
    header, *_ = rows
    wrapped = library.styles.Alignment(wrap_text=True, vertical="top")
    for number, row in enumerate(rows, start=1):
        for place, text in enumerate(row, start=1):
            cell = page.cell(number, place)
            if text:
                cell.value = text
                cell.data_type = "s"  # also what begins with "="
            cell.alignment = wrapped
            cell.number_format = _AS_TEXT
    for place, name in enumerate(header, start=1):
        page.cell(1, place).font = library.styles.Font(bold=True)
        letter = library.utils.get_column_letter(place)
        page.column_dimensions[letter].width = _WIDTHS.get(name, 36)
        page.column_dimensions[letter].number_format = _AS_TEXT


def _page(library: Any, book: Any, title: str, before: Iterable[str], rows: Sequence[Sequence[str]]) -> None:
    """A sheet to be read: a table, and lines of text under it."""
    page = book.create_sheet(title)
    _table(library, page, rows)
    wrapped = library.styles.Alignment(wrap_text=True, vertical="top")
    for number, line in enumerate(before, start=len(rows) + 2):
        page.cell(number, 1, line).alignment = wrapped
        page.merge_cells(start_row=number, start_column=1, end_row=number, end_column=3)
        page.row_dimensions[number].height = 15 * (1 + len(line) // 85)
    page.freeze_panes = "A2"


def _drop_downs(library: Any, book: Any, columns: Sequence[str], new: NewBenchmark) -> None:
    """Lists of what may stand in a cell; they lie on a sheet of their own, where more can be added."""
    from openpyxl.worksheet.datavalidation import DataValidation  # noqa: PLC0415 - an extra

    keys = [name.partition(" ")[0].removeprefix("choice_") for name in columns if name.startswith("choice_")]
    allowed = {"language": new.languages, "category": new.categories, "gold": keys, "contested": ("yes", "no")}
    lists = {name: values for name, values in allowed.items() if name in columns}
    page = book.create_sheet(LISTS)
    longest = max(map(len, lists.values()))
    rows = [[values[row] if row < len(values) else "" for values in lists.values()] for row in range(longest)]
    _table(library, page, [list(lists), *rows])
    for place, name in enumerate(lists, start=1):
        letter = library.utils.get_column_letter(place)
        wanted = DataValidation(
            type="list",
            formula1=f"={LISTS}!${letter}$2:${letter}${_LISTED}",
            allow_blank=name not in ("language", "category"),
            showErrorMessage=True,
            errorTitle=name,
            error=f"Please choose from the list; new words are added on the sheet {LISTS}, column {letter}.",
        )
        column = library.utils.get_column_letter(columns.index(name) + 1)
        wanted.add(f"{column}2:{column}{_ROWS}")
        book[SHEET].add_data_validation(wanted)
