"""``biasfw run``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from biasfw.cli import plugins_of
from biasfw.cli._common import json_option, pairs
from biasfw.cli._dryrun import print_plan
from biasfw.cli._result import Bar, finish
from biasfw.config import RunConfig
from biasfw.engine import run


@click.command(
    "run",
    help="Run a benchmark against a model. What is answered already is not asked again: the same command goes on, "
    "a larger one adds.",
    epilog="Example:  biasfw run --benchmark debatebias --backend llamacpp --preset quick",
)
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="A YAML file with the options below.")
@click.option("--benchmark", metavar="NAME[:SPLIT]|PATH", help="What to ask (biasfw list benchmarks).")
@click.option("--backend", metavar="NAME", help="What to ask it of (biasfw list backends).")
@click.option("--model", metavar="NAME", help="The model, as the backend names models (biasfw show BACKEND).")
@click.option("-B", "backend_options", metavar="KEY=VALUE", multiple=True, help="An option of the backend; repeatable.")
@click.option("--preset", metavar="NAME", help="A named set of options of the benchmark, such as quick or paper.")
@click.option("--mode", metavar="MODE", help="generate (free text) or choices (score every answer).")
@click.option("--prompt-style", type=click.Choice(["chat", "raw"]), help="Use the chat template (default), or not.")
@click.option("--condition", "conditions", metavar="NAME", multiple=True, help="How the question is put; repeatable.")
@click.option("--without", metavar="LABEL", multiple=True, help="Leave a label out, such as indians; repeatable.")
@click.option(
    "--names-in", metavar="TAG", help="Name the groups in this language in every prompt, not in the prompt's."
)
@click.option("--parser", metavar="NAME", help="Another parser than the benchmark's.")
@click.option("--judge", metavar="NAME|FILE", help="Another judge than the benchmark's, by name or in a YAML file.")
@click.option("--metric", "metrics", metavar="NAME", multiple=True, help="Only these metrics; repeatable.")
@click.option("--data", metavar="DIR", help="The folder of official data that is not shipped.")
@click.option("--encoding", metavar="NAME", help="The text encoding of that data, if it is not UTF-8, such as cp932.")
@click.option("--language", "languages", metavar="TAG", multiple=True, help="Only these languages; repeatable.")
@click.option("--category", "categories", metavar="NAME", multiple=True, help="Only these categories; repeatable.")
@click.option("--limit", type=int, metavar="N", help="About N items, spread over categories; clusters stay whole.")
@click.option("--repeats", type=int, metavar="N", help="Ask every prompt N times.")
@click.option("--shots", type=int, metavar="N", help="Put N solved examples before each question.")
@click.option("--seed", type=int, metavar="N", help="Seed of the sampling (default 0).")
@click.option("--temperature", type=float, metavar="T", help="Sampling temperature under --mode generate.")
@click.option("--top-p", type=float, metavar="P", help="Nucleus sampling under --mode generate.")
@click.option("--max-tokens", type=int, metavar="N", help="New tokens per answer under --mode generate.")
@click.option("--runs", metavar="DIR", help="Where run directories are made (default: runs).")
@click.option("--fresh", is_flag=True, help="Start a new run directory beside the old one; nothing is deleted.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Show what would be asked: tokens, cost (at prices given with -B), three prompts; ask nothing.",
)
@click.option("--quiet", is_flag=True, help="No progress bar.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, /, config_file: Path | None, dry_run: bool, quiet: bool, as_json: bool, **given: Any
) -> None:
    """Read the options into a RunConfig, run it, print the result."""
    plugins = plugins_of(ctx)
    # Identity, not equality: a temperature or a seed of 0 is a value.
    values = {name: value for name, value in given.items() if not any(value is x for x in (None, False, ()))}
    if "backend_options" in values:
        values["backend_options"] = pairs(values["backend_options"], "-B")
    config = RunConfig.from_file(config_file, values) if config_file else RunConfig.from_mapping(values)
    if dry_run:
        print_plan(config, plugins, as_json=as_json)
        return
    finish(run(config, plugins, Bar(quiet=quiet)), as_json=as_json)
