"""``biasfw judge RUN``."""

from __future__ import annotations

from pathlib import Path

import click

from biasfw.cli import plugins_of
from biasfw.cli._common import json_option
from biasfw.cli._result import Bar, finish
from biasfw.rescoring import judge


@click.command(
    "judge",
    help="Judge the stored responses of a run again and score them. The model under test is never loaded.",
    epilog="Example:  biasfw judge runs/debatebias-llamacpp-1a2b3c4d --judge my-panel.yaml",
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--judge", "judge_name", metavar="NAME|FILE", help="A judge by name, or in a YAML file.")
@click.option("--benchmark", metavar="PATH", help="Where the benchmark lies now, if it is a folder that was moved.")
@click.option("--data", metavar="DIR", help="Where the official data lie now.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, run: Path, judge_name: str | None, benchmark: str | None, data: str | None, as_json: bool
) -> None:
    """Judge and print the scores."""
    finish(judge(run, judge_name, plugins_of(ctx), Bar(), benchmark=benchmark, data=data), as_json=as_json)
