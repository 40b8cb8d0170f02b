"""``biasfw export RUN``."""

from __future__ import annotations

from pathlib import Path

import click

from biasfw.cli import plugins_of
from biasfw.cli._common import json_option, print_json, say
from biasfw.exporting import FORMATS, export
from biasfw.phrases import many


@click.command(
    "export",
    help="Write a run for other programs: one row per response with its judgements, or its scores in the format of "
    "Every Eval Ever. Texts of items and prompts are left out where they may not be passed on.",
    epilog="Example:  biasfw export runs/jubaku-llamacpp-1a2b3c4d --to parquet",
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--to", type=click.Choice(FORMATS), required=True, help="parquet and xlsx need biasfw[export].")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Default: named as the run.")
@json_option
@click.pass_context
def command(ctx: click.Context, run: Path, to: str, output: Path | None, as_json: bool) -> None:
    """Export and say where."""
    done = export(run, to, output, plugins_of(ctx))
    if as_json:
        print_json({"path": str(done.path), "rows": done.rows, "notes": list(done.notes)})
        return
    for note in done.notes:
        say(f"note: {note}", err=True)
    say(f"{many(done.rows, 'result' if to == 'every-eval-ever' else 'row')}: {done.path}")
