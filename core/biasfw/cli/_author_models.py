"""``biasfw author try|finalize``: drafts are put to models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from biasfw.cli import plugins_of
from biasfw.cli._author import bench_in, command, confirm, folder_argument
from biasfw.cli._common import json_option, pairs, print_json, say
from biasfw.cli._result import Bar
from biasfw.errors import UsageError
from biasfw.phrases import many

if TYPE_CHECKING:
    from biasfw.authoring.asker import Target
    from biasfw.authoring.bench import Workbench
    from biasfw.authoring.trying import Tried
    from biasfw.plugins import Plugins

F = TypeVar("F", bound=Callable[..., Any])
WORDS = {
    "fooled": "fooled",
    "not_fooled": "not fooled",
    "locked": "locked on a position",
    "not_answered": "not answered",
}


def model_options(function: F, *, several: bool = False) -> F:
    """Which model (or models), and whether drafts may be sent to where it is."""
    more = "; repeatable" if several else ""
    for option in (
        click.option("--send-to", "send_to", metavar="HOST", help="Agree, once per workbench, to send drafts to HOST."),
        click.option("--mode", type=click.Choice(["choices", "generate"]), help="Default: choices where it can."),
        click.option("-B", "backend_options", metavar="KEY=VALUE", multiple=True, help="An option of the backend."),
        click.option(
            "--model", metavar="NAME", multiple=several, help=f"The model, as the backend names models{more}."
        ),
        click.option("--backend", metavar="NAME", help="What to ask it of (biasfw list backends)."),
    ):
        function = option(function)
    return function


def target_of(role: str, given: Mapping[str, Any]) -> Target:
    """The model that the options name."""
    from biasfw.authoring.asker import Target  # noqa: PLC0415

    if not given["backend"]:
        raise UsageError("no backend is named; give --backend NAME (biasfw list backends)")
    options = pairs(given["backend_options"], "-B")
    return Target(given["backend"], given["model"], given["mode"], options, role)


def agree(bench: Workbench, target: Target, plugins: Plugins, send_to: str | None) -> None:
    """Name the host that drafts go to, and ask once per workbench.

    Raises:
        UsageError: the answer is no, or ``--send-to`` names another host.
    """
    from biasfw.authoring.hosts import host_of  # noqa: PLC0415

    host = host_of(plugins, target.backend, target.options)
    if host is None or host in bench.state().hosts:
        return
    say(f"drafts leave this machine: they are sent to {host}", err=True)
    if send_to is not None and send_to != host:
        raise UsageError(f"--send-to names {send_to}, and drafts would go to {host}; nothing was sent")
    question, way = f"Send drafts of this workbench to {host}?", f"nothing was sent; agree with --send-to {host}"
    if send_to is None and not confirm(question, way):
        raise UsageError(f"nothing was sent to {host}; agree with --send-to {host}")
    bench.log.append("host", host=host)


@command.command("try", epilog="Example:  biasfw author try my-bench religion-01 --backend llamacpp --model x.gguf")
@folder_argument
@click.argument("items", metavar="[ITEM]...", nargs=-1)
@partial(model_options, several=True)
@click.option("--held-out", is_flag=True, help="A model that never guides an edit: for before and after.")
@click.option("--every-end", is_flag=True, help="First and newest version, and placebo edits, of every draft.")
@json_option
@click.pass_context
def try_(
    ctx: click.Context,
    /,
    folder: Path,
    items: tuple[str, ...],
    *,
    held_out: bool,
    every_end: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Ask models about drafts (default: all that are not withdrawn), under all instructions and in both orders."""
    from biasfw.authoring.asker import Asker  # noqa: PLC0415
    from biasfw.authoring.work import ends_of, try_all  # noqa: PLC0415

    bench, plugins = bench_in(folder), plugins_of(ctx)
    if every_end and not held_out:
        raise UsageError("--every-end is for models that never guide an edit; give --held-out")
    found = []
    for model in given.pop("model") or (None,):
        target = target_of("held-out" if held_out else "target", {**given, "model": model})
        agree(bench, target, plugins, given["send_to"])
        with Asker(bench, target, plugins, Bar(quiet=as_json)) as asker:
            for tried in try_all(asker, ends_of(bench, items, every_end=every_end)):
                found.append(tried)
                if not as_json:
                    print_try(tried, bench.settings["rule"])
    if as_json:
        print_json({"tries": [as_json_try(tried) for tried in found]})


def as_json_try(tried: Tried) -> dict[str, Any]:
    """A try as plain data."""
    from biasfw.authoring.rules import as_row  # noqa: PLC0415

    verdict = tried.verdict
    return {
        "item": tried.draft, "version": tried.version, "model": tried.model, "verdict": verdict.word,
        "margin": verdict.margin, "wins": dict(verdict.wins), "answered": verdict.answered, "asked": verdict.asked,
        "picks": [as_row(each) for each in tried.asked], "random_chance": tried.chance,
        "random_chance_over_tries": tried.chance_over_tries, "tries": tried.tries, "warnings": list(tried.warnings),
    }  # fmt: skip


def print_try(tried: Tried, rule: Mapping[str, Any]) -> None:
    """The verdict, and why."""
    from biasfw.authoring.trying import NO_LOGPROBS  # noqa: PLC0415

    verdict = tried.verdict
    word = "no verdict" if NO_LOGPROBS in tried.warnings else WORDS[verdict.word]
    say(f"{tried.draft} version {tried.version}, {tried.model}: {word}")
    for instruction in dict.fromkeys(each.instruction for each in tried.asked):
        cells = []
        for each in (a for a in tried.asked if a.instruction == instruction):
            margin = each.margin()
            shown = f" ({margin:+.2f})" if margin is not None else ""
            cells.append(f"{each.order[0]} first: {each.pick or each.outcome}{shown}")
        say(f"  instruction {instruction}: {'; '.join(cells)}")
    wins = ", ".join(f"{count} with {first} first" for first, count in verdict.wins.items())
    say(f"  the biased reply won {wins}; rule {rule['use']}; {verdict.answered} of {verdict.asked} answered")
    if verdict.margin is not None:
        say(f"  mean log P(biased) - log P(unbiased) over orders and instructions: {verdict.margin:+.3f}")
    say(
        f"  a random picker is fooled in {100 * tried.chance:.1f} % of tries, "
        f"{100 * tried.chance_over_tries:.1f} % at least once in {tried.tries}"
    )
    for warning in tried.warnings:
        say(f"  warning: {warning}")


@command.command("finalize", epilog="Example:  biasfw author finalize my-bench --backend llamacpp --holdout 0.2")
@folder_argument
@model_options
@click.option("-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="Default: DIR/final.")
@click.option("--name", metavar="NAME", help="The name of the benchmark.")
@click.option("--title", metavar="TEXT", help="Its title.")
@click.option("--version", metavar="N.N.N", default="1.0.0", show_default=True, help="Its version.")
@click.option("--holdout", metavar="SHARE", type=float, default=0.0, help="Keep a share apart, in <output>-holdout.")
@click.option("--seed", metavar="N", type=int, default=0, help="Another seed holds out others.")
@click.option("--allow", metavar="NAME", help="Who answers for items that no member of the group reviewed.")
@click.option("--allow-objections", metavar="NAME", help="Who answers for items that somebody objects to.")
@click.option("--native-reviewers", metavar="N", type=click.IntRange(min=0), default=0, help="How many reviewed it.")
@json_option
@click.pass_context
def finalize_(ctx: click.Context, /, folder: Path, *, as_json: bool, **given: Any) -> None:
    """Freeze what was accepted and fooled the target, asked again under instructions that were not used before."""
    from biasfw.authoring.asker import Asker  # noqa: PLC0415
    from biasfw.authoring.finalizing import RefusedError, finalize  # noqa: PLC0415
    from biasfw.authoring.freezing import Wish  # noqa: PLC0415

    bench, plugins = bench_in(folder), plugins_of(ctx)
    target = target_of("target", given)
    agree(bench, target, plugins, given["send_to"])
    names = ("output", "name", "title", "version", "holdout", "seed", "allow", "allow_objections", "native_reviewers")
    try:
        with Asker(bench, target, plugins, Bar(quiet=as_json)) as asker:
            done = finalize(asker, Wish(**{name: given[name] for name in names}))
    except RefusedError as refused:
        if as_json:
            print_json({"finalised": None, "refused": refused.reasons})
        else:
            say("nothing was finalised:", err=True)
            for reason in refused.reasons:
                say(f"  {reason}", err=True)
        raise click.exceptions.Exit(1) from None
    survived = sum(done.kept.values())
    if as_json:
        print_json(
            {
                "finalised": str(done.folder), "holdout": str(done.holdout) if done.holdout else None,
                "kept": done.kept, "held_out": list(done.held_out), "left_out": done.left_out,
                "survived": survived, "unreviewed": list(done.unreviewed), "objections": done.objections,
            }
        )  # fmt: skip
        return
    inside = len(done.kept) - len(done.held_out)
    say(f"finalised {many(len(done.kept), 'item')}" + (f", {inside} of them in" if done.holdout else ":")
        + f" {done.folder}")  # fmt: skip
    say(f"{survived} of {len(done.kept)} fool the target under {done.instructions} instructions not used while editing")
    for name, why in done.left_out.items():
        say(f"  left out {name}: {why}")
    if done.holdout:
        say(f"held out {many(len(done.held_out), 'item')}: {done.holdout}; not to be published")
    if done.unreviewed:
        say(
            f"warning: {many(len(done.unreviewed), 'item')} had no review by a member of the group; "
            f"{given['allow']} allowed it"
        )
    for line in done.objections:
        say(f"warning: {line}; {given['allow_objections']} allowed it")
    say(f"next: biasfw run --benchmark {done.folder} --backend NAME")
