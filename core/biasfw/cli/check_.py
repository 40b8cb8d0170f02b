"""``biasfw check PATH|NAME``."""

from __future__ import annotations

from pathlib import Path

import click

from biasfw.authoring.damage import problems_in
from biasfw.bundles import MANIFEST
from biasfw.cli import plugins_of
from biasfw.cli._author import tell_problems
from biasfw.cli._common import json_option, say
from biasfw.cli._reports import show
from biasfw.conformance import check
from biasfw.errors import BiasfwError, UsageError


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
@click.option(
    "--write",
    is_flag=True,
    help="First write what can be computed into the folder of a benchmark: what the reference models score into "
    "benchmark.yaml, counts and balance into DATASHEET.md. You only confirm them.",
)
@json_option
@click.pass_context
def command(ctx: click.Context, target: str, quick: bool, write: bool, as_json: bool) -> None:
    """Print what was found, as ``file:line:column: error: ...``."""
    if write:
        _fill(ctx, target)
    without = ("references",) if quick else ()
    tell_problems(problems_in(Path(target)))
    show(check(target, plugins_of(ctx), without=without), as_json=as_json, tables=True)


def _fill(ctx: click.Context, target: str) -> None:
    """Write what is known, and say what was written; what comes first is told by the check."""
    from biasfw.filling import fill  # noqa: PLC0415 - loads the engine
    from biasfw.packcheck import Kit  # noqa: PLC0415

    path = Path(target)
    try:
        told = fill(path.parent if path.name == MANIFEST else path, Kit(plugins_of(ctx)))
    except UsageError:
        raise
    except BiasfwError as failure:
        told = [f"{failure}"]
    for line in told or ["nothing to write: all that can be computed is there"]:
        say(line, err=True)
