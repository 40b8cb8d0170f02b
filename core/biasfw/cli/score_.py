"""``biasfw score RUN``."""

from __future__ import annotations

from pathlib import Path

import click

from biasfw.cli import plugins_of
from biasfw.cli._common import json_option
from biasfw.cli._result import Bar, finish
from biasfw.rescoring import score


@click.command(
    "score",
    help="Compute the scores of a run again, or only some metrics. Nothing is asked.",
    epilog="Example:  biasfw score runs/debatebias-llamacpp-1a2b3c4d --metric label_share",
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--metric", "metrics", metavar="NAME", multiple=True, help="Only these metrics; repeatable.")
@click.option("--judge", "judge_name", metavar="NAME", help="The verdicts of this judge, which has judged the run.")
@click.option("--benchmark", metavar="PATH", help="Where the benchmark lies now, if it is a folder that was moved.")
@click.option("--data", metavar="DIR", help="Where the official data lie now.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    run: Path,
    metrics: tuple[str, ...],
    judge_name: str | None,
    as_json: bool,
    **places: str | None,
) -> None:
    """Score and print."""
    result = score(run, metrics or None, plugins_of(ctx), Bar(), judge=judge_name, **places)
    finish(result, as_json=as_json)
