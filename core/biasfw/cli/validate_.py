"""``biasfw validate PATH``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from biasfw.authoring.damage import problems_in
from biasfw.cli import plugins_of
from biasfw.cli._author import tell_problems
from biasfw.cli._common import json_option, pairs
from biasfw.cli._reports import show
from biasfw.validating import validate
from biasfw.validating.tables import Wishes


@click.command(
    "validate",
    help="Look for mistakes in a benchmark (its folder), a plugin package, a run directory, a configuration, a judge, "
    "a language pack, or a file of data (.jsonl, .csv, .xlsx), and tell every one with file, line and column. Nothing "
    "is asked, and no code of a plugin package is run. Exit code 0 if there are no errors (warnings do not count), 1 "
    "if there are, 2 if there is nothing that could be looked at.",
    epilog="Example:  biasfw validate items.csv --column category --values gold=a,b",
)
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--column", "columns", multiple=True, metavar="NAME", help="A file of data: every row has this column.")
@click.option(
    "--values",
    multiple=True,
    metavar="COLUMN=A,B",
    help="A file of data: what may stand in a column (@NAME: the text of that column). "
    "Case, width, outer spaces and a full stop do not count.",
)
@click.option("--placeholder", default="", metavar="TEXT", help="A file of data: warn of what is nearly this text.")
@click.option("--encoding", metavar="NAME", help="A .csv file: its encoding, such as cp932, where it is not UTF-8.")
@json_option
@click.pass_context
def command(ctx: click.Context, /, path: Path, as_json: bool, **wishes: Any) -> None:
    """Print every problem as ``file:line:column: error: ...``."""
    tell_problems(problems_in(path))
    show(validate(path, plugins_of(ctx), _wishes(**wishes)), as_json=as_json)


def _wishes(
    *, columns: tuple[str, ...], values: tuple[str, ...], placeholder: str, encoding: str | None
) -> Wishes | None:
    if not (columns or values or placeholder or encoding):
        return None
    allowed = {name: [each.strip() for each in text.split(",")] for name, text in pairs(values, "--values").items()}
    return Wishes(columns, allowed, placeholder, encoding)
