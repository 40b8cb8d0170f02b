"""``biasfw agreement RUN``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from biasfw.cli._common import json_option, pairs, print_json, say
from biasfw.cli._summary import DEMO
from biasfw.cli._tables import crossed, make_console
from biasfw.cli._tables import make_table as _table
from biasfw.cli._text import safe

_ALL = "all"
_BY_LANGUAGE = " (by language: --json)"


@click.command(
    "agreement",
    help="Compare the judges of a run: what each could read, how far they agree, and on what a panel hangs. "
    "Works on stored judgements; no model is loaded.",
    epilog="Example:  biasfw agreement runs/debatebias-llamacpp-1a2b3c4d",
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--judge",
    "judges",
    metavar="NAME",
    multiple=True,
    help="Only these judges, by name (rules) or name and hash (rules-1a2b3c4d); repeatable. Default: all.",
)
@click.option(
    "--swapped",
    metavar="A=B",
    multiple=True,
    help="Two judgements (name and hash) by one judge, with its labels in two orders; repeatable. "
    "Found by itself where the run tells.",
)
@json_option
def command(run: Path, judges: tuple[str, ...], swapped: tuple[str, ...], as_json: bool) -> None:
    """Read, compute, print."""
    from biasfw.audit import audit  # noqa: PLC0415 - numpy loads late
    from biasfw.verdicts import open_run  # noqa: PLC0415

    document = audit(open_run(run, judges), list(pairs(swapped, "--swapped").items()))
    for warning in document["warnings"]:
        say(f"warning: {warning}", err=True)
    if as_json:
        print_json(document)
    else:
        _print(document)


def _print(document: Mapping[str, Any]) -> None:
    console = make_console()
    console.print(
        f"\n[bold]{safe(document['benchmark'])}[/bold]  {document['rows']} responses  {safe(document['run'])}"
    )
    if document["demo"]:
        console.print(f"[yellow]{DEMO}[/yellow]")
    _judges(console, document["judges"])
    _agreement(console, document["agreement"])
    _pairs(console, document["pairs"])
    _left_out(console, document["left_out"])
    _label_order(console, document["label_order"])
    if not document["agreement"] and not document["pairs"]:
        console.print("\none judge: nothing to compare; judge again with another (biasfw judge RUN --judge NAME)")
    else:
        console.print(f"\n[bold]{document['note']}[/bold]")


def _judges(console: Console, judges: Sequence[Mapping[str, Any]]) -> None:
    table = _table("judge", "slot", "read %", words=2)
    table.add_column("outcomes", overflow="fold")
    for judge in judges:
        for slot, found in judge["slots"].items():
            counts = ", ".join(f"{name} {count}" for name, count in sorted(found["outcomes"].items()))
            table.add_row(safe(judge["name"]), safe(slot), _percent(found["parse_rate"]), counts)
    console.print("\nwhat became of the responses, by judge; read: of those that were there, a refusal counts as read")
    console.print(table)


def _agreement(console: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    for among in dict.fromkeys(row["among"] for row in rows):
        mine = [row for row in rows if row["among"] == among]
        names = ", ".join(name.rpartition("/")[2] for name in mine[0]["raters"])
        console.print(f"\nagreement among {safe(among)} (Gwet's AC1, Krippendorff's alpha): {safe(names)}")
        table = _table("slot", "language", "n", "clusters", "same label %", "AC1", "alpha", words=2)
        for row in mine:
            first = row["percent_agreement"]
            same = _percent(first["value"]) + _interval(first, 100)
            values = [same, *(_value(row[name]) for name in ("ac1", "alpha"))]
            table.add_row(
                safe(row["slot"]), safe(row["language"] or _ALL), str(first["n"]), str(first["clusters"]), *values
            )
        console.print(table)
        _reasons(console, [row[name] for row in mine for name in ("percent_agreement", "ac1", "alpha")])
        _distribution(console, mine)


def _distribution(console: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    """How often each rater gave each label, over all languages: without it no coefficient can be read."""
    for row in _over_languages(rows):
        counts = {name.rpartition("/")[2]: found for name, found in row["labels"].items()}
        labels = dict.fromkeys(label for found in counts.values() for label in found)
        by_label = {label: {name: found.get(label, 0) for name, found in counts.items()} for label in labels}
        console.print(crossed(f"labels of {safe(row['slot'])}", by_label, list(counts), console.width))


def _pairs(console: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        return
    table = _table("pair", "slot", "language", "n", "same label %", "Cohen's kappa", words=3)
    for row in _over_languages(rows):
        first, kappa = row["percent_agreement"], row["kappa"]
        names = " - ".join(safe(name.rpartition("/")[2]) for name in row["raters"])
        marked = f"{names} *" if row["one_is_member_of_the_other"] else names
        same = _percent(first["value"]) + _interval(first, 100)
        table.add_row(marked, safe(row["slot"]), safe(row["language"] or _ALL), str(first["n"]), same, _value(kappa))
    console.print(f"\npairs{_BY_LANGUAGE if len(_over_languages(rows)) < len(rows) else ''}")
    console.print(table)
    if any(row["one_is_member_of_the_other"] for row in rows):
        console.print("* one of the two is a member of the other")
    _reasons(console, [row["kappa"] for row in rows])


def _left_out(console: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    for panel in dict.fromkeys(row["panel"] for row in rows):
        mine = [row for row in rows if row["panel"] == panel]
        shown = _over_languages(mine)
        counted = ("verdicts", "changed", "%", "other label", "lost", "gained")
        table = _table("without", "slot", "language", *counted, words=3)
        for row in shown:
            where = [safe(row["without"]), safe(row["slot"]), safe(row["language"] or _ALL)]
            if row["flips"] is None:
                table.add_row(*where, *["-"] * 6)
                continue
            counts = [str(row[name]) for name in ("to_another_label", "to_no_majority", "from_no_majority")]
            share = _percent(row["share"]["value"]) + _interval(row["share"], 100)
            table.add_row(*where, str(row["n"]), str(row["flips"]), share, *counts)
        console.print(
            f"\n{safe(panel)} without one of its members, by the same rule; lost: no majority any more, gained: one now"
            + (_BY_LANGUAGE if len(shown) < len(mine) else "")
        )
        console.print(table)
        _reasons(console, mine)


def _label_order(console: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        return
    table = _table("judge", "slot", "language", "verdicts", "changed", "%", words=3)
    for row in rows:
        share = _percent(row["share"]["value"]) + _interval(row["share"], 100)
        names = " - ".join(safe(name) for name in row["judges"])
        table.add_row(
            names, safe(row["slot"]), safe(row["language"] or _ALL), str(row["n"]), str(row["changed"]), share
        )
    console.print("\nlabels in another order in the judge's prompt")
    console.print(table)


def _over_languages(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows over all languages, or all rows where there is one language."""
    return [row for row in rows if row["language"] is None] or list(rows)


def _reasons(console: Console, values: Sequence[Mapping[str, Any]]) -> None:
    for reason in dict.fromkeys(value["reason"] for value in values if value.get("reason")):
        console.print(f"-: {safe(reason)}")


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _value(found: Mapping[str, Any]) -> str:
    return "-" if found["value"] is None else f"{found['value']:.2f}{_interval(found, 1)}"


def _interval(found: Mapping[str, Any], factor: float) -> str:
    interval = found.get("interval") or {}
    if interval.get("low") is None:
        return ""
    low, high = (factor * interval[name] for name in ("low", "high"))
    return f"\n[{low:.1f}, {high:.1f}]" if factor > 1 else f"\n[{low:.2f}, {high:.2f}]"
