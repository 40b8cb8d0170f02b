"""``biasfw check PATH|NAME``."""

from __future__ import annotations

import click

from biasfw.cli import plugins_of
from biasfw.cli._common import json_option
from biasfw.cli._reports import show
from biasfw.conformance import check


@click.command(
    "check",
    help="Check a benchmark (its folder or name), a plugin package (its folder; its components are run if it is "
    "installed) or a language pack (a file TAG.yaml, a folder of them, or the tag of an installed one): all that "
    "`validate` checks; that every prompt renders and every answer is read as it is meant; what the reference models "
    "score; balance, leaks, confounds of length and hedging, duplicates, coverage, licence and datasheet. Exit code 0 "
    "if there are no errors (warnings do not count), 1 if there are, 2 if there is nothing that could be checked.",
    epilog="Example:  biasfw check ./my-benchmark",
)
@click.argument("target", metavar="PATH|NAME")
@click.option("--quick", is_flag=True, help="Leave out the reference models, which take longest.")
@json_option
@click.pass_context
def command(ctx: click.Context, target: str, quick: bool, as_json: bool) -> None:
    """Print what was found, as ``file:line:column: error: ...``."""
    without = ("references",) if quick else ()
    show(check(target, plugins_of(ctx), without=without), as_json=as_json, tables=True)
