"""``biasfw labels draw|import|report``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from biasfw.cli import plugins_of
from biasfw.cli._common import json_option, print_json, say
from biasfw.cli._summary import DEMO
from biasfw.cli._tables import crossed, make_console, make_table
from biasfw.cli._text import safe
from biasfw.codec import encode

_FEW = "the correction cannot be estimated; with 10 labelled prompts or more in disagreement it can"


@click.group(
    "labels",
    help="Let people label a random part of a run; then see how far a judge is from them, and shares corrected by it.",
    epilog="Example:  biasfw labels draw runs/debatebias-llamacpp-1a2b3c4d -n 100",
)
def command() -> None:
    """Draw, import, report."""


_RUN = click.argument("run", type=click.Path(path_type=Path))


@command.command(
    "draw",
    short_help="Draw prompts at random and write a sheet.",
    epilog="Example:  biasfw labels draw runs/... -n 100 --seed 7 -o sheet.xlsx",
)
@_RUN
@click.option("-n", "prompts", metavar="N", type=click.IntRange(min=1), required=True, help="How many source prompts.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Another seed draws others.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The sheet, .csv, .xlsx or .jsonl. Default: in the run directory, labels/<draw>.csv.",
)
@json_option
@click.pass_context
def draw(ctx: click.Context, run: Path, prompts: int, seed: int, output: Path | None, as_json: bool) -> None:
    """Draw source prompts at random and write a sheet of their responses for people.

    Within each language and category prompts are drawn in proportion to their number, at least one of each; all
    responses to a prompt come with it. No judge's verdict is on the sheet.
    """
    from biasfw.labelling.work import draw_labels  # noqa: PLC0415 - numpy loads late

    done = draw_labels(run, prompts, seed, output, plugins_of(ctx))
    if as_json:
        strata = [encode(stratum) for stratum in done.draw.strata]
        print_json(
            {
                "draw": done.draw.name, "kept": str(done.kept), "files": [str(path) for path in done.files],
                "prompts": done.draw.prompts, "rows": len(done.draw.rows), "strata": strata,
            }
        )  # fmt: skip
        return
    say(f"{done.draw.name}: {done.draw.prompts} source prompts, {len(done.draw.rows)} responses")
    say("in proportion to language x category, at least one of each:")
    table = Table(box=box.HORIZONTALS, pad_edge=False)
    for name in ("language", "category"):
        table.add_column(name)
    for name in ("drawn", "of", "probability"):
        table.add_column(name, justify="right")
    for stratum in done.draw.strata:
        names = safe(stratum.language), safe(stratum.category)
        table.add_row(*names, str(stratum.drawn), str(stratum.prompts), f"{stratum.inclusion:.3f}")
    make_console().print(table)
    for path in done.files:
        say(f"written: {path}")
    say(f"when it is filled in: biasfw labels import {run} {done.files[0]}")


@command.command(
    "import",
    short_help="Read a sheet that people filled in.",
    epilog="Example:  biasfw labels import runs/... sheet.csv",
)
@_RUN
@click.argument("sheet", type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Take labels that differ from those imported before.")
@json_option
def import_(run: Path, sheet: Path, replace: bool, as_json: bool) -> None:
    """Read a sheet that people filled in; empty cells are fine, and more can be imported later.

    Refused are rows that were not drawn, rows that stand there twice, responses that were edited, and labels that are
    none.
    """
    from biasfw.labelling.work import import_labels  # noqa: PLC0415

    done = import_labels(run, sheet, replace=replace)
    rows, slots = len(done.draw.rows), len(done.draw.slots)
    have = sum(len(labels) for labels in done.labels.labels.values())
    counts = {"new": done.new, "same": done.same, "replaced": done.replaced, "empty": done.empty}
    if as_json:
        print_json({"draw": done.draw.name, **counts, "labels": have, "of": rows * slots})
        return
    said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    say(f"{done.draw.name}: {said or 'nothing new'}; {have} of {rows * slots} labels are there")
    say(f"see: biasfw labels report {run}")


@command.command(
    "report", short_help="Compare judges with people.", epilog="Example:  biasfw labels report runs/... --judge rules"
)
@_RUN
@click.option("--draw", "draw_name", metavar="NAME", help="Which draw, where there are several.")
@click.option("--judge", "judges", metavar="NAME", multiple=True, help="Only these judges; repeatable. Default: all.")
@json_option
def report(run: Path, draw_name: str | None, judges: tuple[str, ...], as_json: bool) -> None:
    """Compare judges with people: confusion, and every share corrected by what people said.

    The corrected share is prediction-powered (Angelopoulos et al. 2023), stratified as drawn and clustered by prompt.
    """
    from biasfw.labelling.reporting import label_report  # noqa: PLC0415

    document = label_report(run, draw_name, judges)
    for warning in document["warnings"]:
        say(f"warning: {warning}", err=True)
    if as_json:
        print_json(document)
    else:
        _print(document)


def _print(document: Mapping[str, Any]) -> None:
    console, draw, labels = make_console(), document["draw"], document["labels"]
    console.print(f"\n[bold]{safe(document['benchmark'])}[/bold]  {safe(document['run'])}")
    if document["demo"]:
        console.print(f"[yellow]{DEMO}[/yellow]")
    console.print(
        f"{draw['name']}: {draw['prompts']} source prompts, {labels['complete']} of {labels['rows']} responses labelled"
    )
    if labels["complete"] < labels["rows"]:
        console.print(
            "what is missing must be missing at random: work from the top of the sheet, not by language or topic"
        )
    for judge in document["judges"]:
        console.print(f"\n[bold]judge {safe(judge['name'])}[/bold]")
        for part in judge["slices"]:
            _slice(console, part)
    console.print(f"\n{document['note']}")


def _slice(console: Console, part: Mapping[str, Any]) -> None:
    where = ", ".join(safe(part[name]) for name in ("slot", "language", "condition"))
    agrees = part["judge_agrees"]
    console.print(
        f"\n{where}: {part['labelled']} of {part['rows']} responses labelled, "
        f"{agrees['clusters']} prompts; judge and people agree in {_share(agrees)} %"
    )
    if not part["labelled"]:
        return
    said = list(dict.fromkeys(label for counts in part["confusion"].values() for label in counts))
    console.print(crossed("people \\ judge", part["confusion"], said, console.width))
    table = make_table(
        "share of all\nresponses, %", "judge\nalone", "with people's\nlabels", "prompts in\ndisagreement"
    )
    table.add_column("made of", overflow="fold")
    reasons = []
    for row in part["shares"]:
        reason = row.get("note") or row["share"].get("reason") or row["share"]["interval"].get("reason")
        made_of = "judge and labels" if not reason else "labels only" if row["share"]["value"] is not None else "-"
        judge = f"{100 * row['judge']:.1f}" if row["judge"] is not None else "-"
        table.add_row(safe(row["label"]), judge, _share(row["share"]), str(row["disagreeing_prompts"]), made_of)
        reasons += [f"{made_of}: {_FEW if 'in disagreement' in reason else reason}"] if reason else []
    console.print(table)
    for text in dict.fromkeys(reasons):
        console.print(safe(text))


def _share(found: Mapping[str, Any]) -> str:
    if found["value"] is None:
        return "-"
    interval = found["interval"]
    if interval.get("low") is None:
        return f"{100 * found['value']:.1f}"
    return f"{100 * found['value']:.1f} [{100 * interval['low']:.1f}, {100 * interval['high']:.1f}]"
