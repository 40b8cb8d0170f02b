"""``biasfw report RUN...``."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from biasfw.cli import plugins_of
from biasfw.cli._common import pairs, say
from biasfw.contracts import Reporter
from biasfw.options import check_options
from biasfw.plugins import load_class
from biasfw.specs import ReporterSpec


@click.command(
    "report",
    help="Write a report on one run or several: one HTML file that opens without a network.",
    epilog="Example:  biasfw report runs/debatebias-llamacpp-1a2b3c4d -o report.html",
)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write; default: report.html in the folder of the run, of several runs in this folder.",
)
@click.option(
    "--text-limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show at most N characters of a prompt or response (default 1,000).",
)
@click.option("--reporter", "name", metavar="NAME", default="html", show_default=True, help="Another reporter.")
@click.option("-R", "given", metavar="KEY=VALUE", multiple=True, help="An option of the reporter; repeatable.")
@click.pass_context
def command(
    ctx: click.Context, runs: tuple[Path, ...], output: Path | None, text_limit: int | None, name: str,
    given: tuple[str, ...],
) -> None:  # fmt: skip
    """Write the report and print where it is."""
    component = plugins_of(ctx).find("reporter", name)
    limit = {} if text_limit is None else {"text_limit": text_limit}
    options = check_options(f"reporter {name}", component.spec.options, {**pairs(given, "-R"), **limit})
    suffix = cast("ReporterSpec", component.spec).suffix
    target = output or (runs[0] if len(runs) == 1 else Path()) / f"report{suffix}"
    for note in cast("Reporter", load_class(component)(options)).write(runs, target) or ():
        say(f"warning: {note}", err=True)
    say(str(target))
