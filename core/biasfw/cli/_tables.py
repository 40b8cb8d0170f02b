"""Tables of figures that fit into 80 columns, on a terminal and in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from biasfw.cli._text import safe

WIDTH = 80  # of tables in a pipe
_GAP = 2  # between columns
_EDGES = 3


def make_console() -> Console:
    """A console whose sentences are not broken in a pipe."""
    piped = not sys.stdout.isatty()
    return Console(highlight=False, soft_wrap=piped, width=WIDTH if piped else None)


def make_table(*columns: str, words: int = 1) -> Table:
    """A plain table; the first ``words`` columns are texts, the others figures."""
    table = Table(box=box.HORIZONTALS, pad_edge=False, padding=(0, _GAP - 1, 0, 0))
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < words else "right", overflow="fold")
    return table


def crossed(corner: str, counts: Mapping[str, Mapping[str, int]], across: Sequence[str], width: int = WIDTH) -> Table:
    """Counts by two names. Where the names across are too long for ``width`` they are numbered.

    A name that also stands in a row is explained there; others get a line of their own without counts.
    """
    first = max(map(cell_len, (corner, *counts)), default=0)
    if first + sum(max(cell_len(name), 2) + _GAP for name in across) <= width - _EDGES:
        table = make_table(corner, *map(safe, across))
        for row, found in counts.items():
            table.add_row(safe(row), *(str(found.get(name, 0)) for name in across))
        return table
    numbers = {name: str(number) for number, name in enumerate(across, start=1)}
    table = make_table(corner, *numbers.values())
    for row in dict.fromkeys((*across, *counts)):
        mark = f"{numbers[row]:>2} " if row in numbers else "   "
        cells = [str(counts[row].get(name, 0)) for name in across] if row in counts else [""] * len(across)
        table.add_row(mark + safe(row), *cells)
    return table
