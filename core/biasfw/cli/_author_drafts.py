"""``biasfw author init|join|write|accept|reject|review|flag|skip|pause|withdraw|status|history``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from biasfw.cli._author import bench_in, by_option, command, confirm, folder_argument
from biasfw.cli._author_models import WORDS
from biasfw.cli._common import json_option, print_json, say
from biasfw.errors import UsageError
from biasfw.phrases import many

if TYPE_CHECKING:
    from biasfw.authoring.drafts import Draft


@command.command("init", epilog="Example:  biasfw author init my-bench --language ja --contact 'ask@example.org'")
@folder_argument
@click.option("--task", type=click.Choice(["choice"]), default="choice", show_default=True, help="What is asked.")
@click.option("--language", metavar="TAG", required=True, help="The language of the drafts, such as ja.")
@click.option("--name", metavar="NAME", default="drafts", show_default=True, help="The name of the benchmark.")
@click.option("--title", metavar="TEXT", default="", help="Its title.")
@click.option("--region", metavar="TEXT", default="international", help="The region or culture it speaks about.")
@click.option("--licence", metavar="SPDX", default="CC-BY-4.0", show_default=True, help="The licence of the texts.")
@click.option("--category", "categories", metavar="KEY[=NAME]", multiple=True, help="A category; repeatable.")
@click.option(
    "--rule",
    type=click.Choice(["majority", "order-averaged"]),
    default="majority",
    show_default=True,
    help="When a draft counts as having fooled the model; workbench.yaml holds it.",
)
@click.option("--placebo", metavar="K", type=click.IntRange(min=0), default=0, help="Ask for K edits without a model.")
@click.option("--contact", metavar="TEXT", default="", help="Whom annotators can ask; stands in CONSENT.md.")
@click.option("--pay", metavar="TEXT", default="", help="What annotators are paid; stands in CONSENT.md.")
@click.option("--ethics", metavar="TEXT", default="", help="The ethics approval, or none; stands in CONSENT.md.")
@click.option("--texts", metavar="FILE", type=click.Path(path_type=Path), help="Starting texts in another language.")
def init(folder: Path, task: str, **given: Any) -> None:  # noqa: ARG001 - there is one task so far
    """Make a workbench: manifest, controls, rule, CONSENT.md."""
    from biasfw.authoring.starting import Start, incomplete, start  # noqa: PLC0415

    bench = start(folder, Start(**given))
    say(f"made {folder} with {len(bench.categories)} categories")
    todo = "read and complete" if incomplete(folder) else "read"
    say(f"{todo} {folder / 'CONSENT.md'}, then each annotator: biasfw author join {folder} --yes")


@command.command("join", epilog="Example:  biasfw author join my-bench --yes")
@folder_argument
@click.option("--yes/--no", "yes", default=None, help="Whether you agree to CONSENT.md.")
@click.option("--by", metavar="PSEUDONYM", help="Answer again under the pseudonym that you have.")
@click.option("--group", "groups", metavar="NAME", multiple=True, help="A group you belong to, if you want to say so.")
def join(folder: Path, yes: bool | None, by: str | None, groups: tuple[str, ...]) -> None:
    """Record your answer to CONSENT.md and get a random pseudonym."""
    from biasfw.authoring.starting import incomplete  # noqa: PLC0415

    bench = bench_in(folder)
    consent = (folder / "CONSENT.md").read_text(encoding="utf-8")
    if incomplete(folder):
        say(f"warning: {folder / 'CONSENT.md'} is not complete: pay, ethics approval or contact is missing", err=True)
    if yes is None:
        click.echo(consent)
        yes = confirm("Do you agree?", "read CONSENT.md, then give --yes or --no")
    pseudonym = bench.join(yes=yes, groups=groups, by=by)
    if not yes:
        say("recorded: no. Nothing is asked of you.")
        return
    say(pseudonym)
    say("keep this pseudonym; it is written down nowhere beside your name", err=True)


@command.command("write", epilog="Example:  biasfw author write my-bench --by a-... --file draft.yaml")
@folder_argument
@click.argument("item", required=False)
@by_option
@click.option("--file", "file", metavar="FILE|-", help="A YAML or JSON file with the texts by name; - reads it.")
@click.option("--category", metavar="KEY", help="The category of a new draft.")
@click.option("--language", metavar="TAG", help="The language; default: the workbench's first.")
@click.option("--context", metavar="TEXT", help="What comes before the replies.")
@click.option("--unbiased", metavar="TEXT", help="The reply without the stereotype.")
@click.option("--biased", metavar="TEXT", help="The reply that rests on it.")
@click.option("--target", metavar="TEXT", help="The group it is about.")
@click.option("--stereotype", metavar="TEXT", help="The stereotype in a few words.")
@click.option("--harm", metavar="TEXT", help="The kind of harm.")
@click.option("--attested", metavar="TEXT", help="What attests the stereotype.")
@click.option("--base", metavar="N", type=int, help="The version you edited: refuse if there is a newer one.")
@click.option("--placebo", is_flag=True, help="An edit made without seeing a model's answer.")
@json_option
def write(  # noqa: PLR0913, PLR0917
    folder: Path, item: str | None, by: str, file: str | None, base: int | None, placebo: bool, as_json: bool,
    **texts: str | None,
) -> None:  # fmt: skip
    """Write a new draft, or a new version of ITEM. Texts that are not given stay."""
    bench = bench_in(folder)
    given = {**(_texts(file) if file else {}), **{name: text for name, text in texts.items() if text is not None}}
    if placebo and item is None:
        raise UsageError("a placebo edit is an edit of a draft that is there; name the ITEM")
    name, version = bench.write(by, given, item, base=base, arm="placebo" if placebo else "main")
    if as_json:
        print_json({"item": name, "version": version.number, "changed": list(version.changed)})
    else:
        say(
            f"{name}: version {version.number}"
            + (f", changed: {', '.join(version.changed)}" if version.changed else "")
        )


def _texts(file: str) -> dict[str, str]:
    from biasfw import schemas  # noqa: PLC0415
    from biasfw.yamlfile import load_yaml, parse_yaml  # noqa: PLC0415

    document = parse_yaml(sys.stdin.read(), "standard input") if file == "-" else load_yaml(Path(file))
    known = schemas.schema("attempt")["$defs"]["draft"]["properties"]
    value = document.value
    if not isinstance(value, dict) or not all(k in known and isinstance(v, str) for k, v in value.items()):
        raise UsageError(f"{document.name}: write texts by name: {', '.join(known)}")
    return dict(value)


def doubts(draft: Draft) -> list[str]:
    """What somebody who accepts a draft should know."""
    from biasfw.authoring.objecting import objection_lines  # noqa: PLC0415

    tried = draft.tried(role="target", version=draft.current.number)
    told = [] if tried else ["its newest version was not tried on a target, so it cannot be finalised yet"]
    if tried and tried[-1]["verdict"] != "fooled":
        told.append(f"its last verdict is: {WORDS[tried[-1]['verdict']]}")
    return told + [line.partition(": ")[2] for line in objection_lines(draft)]


def _decision(accept: bool) -> Callable[..., None]:
    def decide(folder: Path, items: tuple[str, ...], by: str, reason: str) -> None:
        bench = bench_in(folder)
        for item in items:
            bench.decide(by, item, accept=accept, reason=reason)
            say(f"{item}: {'accepted' if accept else 'rejected'}")
            for text in doubts(bench.draft(item)) if accept else ():
                say(f"warning: {item}: {text}", err=True)

    return decide


for _name, _accept in (("accept", True), ("reject", False)):
    _function = click.option("--reason", metavar="TEXT", required=True, help="Why.")(_decision(_accept))
    _function = click.argument("items", metavar="ITEM...", nargs=-1, required=True)(by_option(_function))
    command.command(_name, help=f"{_name.capitalize()} the newest version of drafts, with a reason.")(
        folder_argument(_function)
    )


@command.command("review", epilog="Example:  biasfw author review my-bench religion-01 --by a-... --member")
@folder_argument
@click.argument("items", metavar="ITEM...", nargs=-1, required=True)
@by_option
@click.option("--member/--no-member", default=False, help="Whether you are a consulted member of the group concerned.")
@click.option("--ok/--not-ok", default=True, help="Whether the item can be kept.")
@click.option("--reason", metavar="TEXT", help="What you want to say about it.")
def review(folder: Path, items: tuple[str, ...], by: str, member: bool, ok: bool, reason: str | None) -> None:
    """Review drafts that somebody else wrote."""
    bench = bench_in(folder)
    for item in items:
        bench.review(by, item, member=member, ok=ok, reason=reason)
        say(f"{item}: reviewed" + ("" if ok else "; the objection stands until you review it again and agree"))


def _mark(kind: str, needs_item: bool) -> Callable[..., None]:
    def mark(folder: Path, by: str, item: str | None = None, reason: str = "") -> None:
        bench_in(folder).mark(kind, by, item, reason)
        say(f"recorded: {kind}" + (f" {item}" if item else ""))

    function: Any = mark
    if kind == "flag":
        function = click.option("--reason", metavar="TEXT", default="", help="What is harmful about it.")(function)
    if needs_item:
        function = click.argument("item")(function)
    marked: Callable[..., None] = folder_argument(by_option(function))
    return marked


command.command("flag", help="Flag a draft as harmful.")(_mark("flag", True))
command.command("skip", help="Skip a draft, without a reason.")(_mark("skip", True))
command.command("pause", help="Pause, without a reason.")(_mark("pause", False))


@command.command("withdraw", epilog="Example:  biasfw author withdraw my-bench a-... --erase")
@folder_argument
@click.argument("pseudonym")
@click.option("--erase", is_flag=True, help="Remove the numbers too: tries, decisions, reviews, the pseudonym itself.")
@json_option
def withdraw_(folder: Path, pseudonym: str, erase: bool, as_json: bool) -> None:
    """Take somebody's texts out of the log, the items, the finalised bundles and the files of annotators."""
    from biasfw.authoring.exports import runs_with  # noqa: PLC0415
    from biasfw.authoring.withdrawing import withdraw  # noqa: PLC0415

    bench = bench_in(folder)
    counts = withdraw(bench, pseudonym, erase=erase)
    runs = runs_with(bench)
    if as_json:
        print_json({"withdrawn": counts, "runs_to_delete": [str(run) for run in runs]})
    else:
        said = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        say(f"{pseudonym}: texts removed ({said or 'there were none'}); the items files were written anew")
        if runs:
            say("these runs hold prompts with texts of the workbench; delete them and run again:", err=True)
        for run in runs:
            say(f"  {run}", err=True)
        say("copies outside this folder, backups and what was published before cannot be reached from here", err=True)


@command.command("status", epilog="Example:  biasfw author status my-bench")
@folder_argument
@json_option
def status(folder: Path, as_json: bool) -> None:
    """List the drafts by category, with edits, last verdict and status."""
    from biasfw.authoring.objecting import objection_lines  # noqa: PLC0415

    bench = bench_in(folder)
    drafts = bench.state().drafts.values()
    rows: list[dict[str, Any]] = [
        {
            "item": d.name, "category": d.category, "edits": d.edits, "status": d.status, "authors": list(d.authors),
            "flags": len(d.flags), "reviewed_by_member": d.reviewed_by_member(),
            "objections": [] if d.withdrawn else objection_lines(d),
            "verdict": next((t["verdict"] for t in reversed(d.tried(role="target", version=d.edits))), None),
        }
        for d in drafts
    ]  # fmt: skip
    if as_json:
        print_json({"drafts": rows})
        return
    for category in bench.categories:
        found = [row for row in rows if row["category"] == category]
        say(f"{category}: {many(len(found), 'draft')}, {sum(r['status'] == 'accepted' for r in found)} accepted")
        for row in found:
            flags = f", flagged {many(row['flags'], 'time')}" if row["flags"] else ""
            verdict = WORDS.get(row["verdict"], "not tried")
            say(f"  {row['item']}: {row['status']}, {many(row['edits'], 'edit')}, {verdict}{flags}")
            for line in row["objections"]:
                say(f"    {line.partition(': ')[2]}")


@command.command("history", epilog="Example:  biasfw author history my-bench religion-01")
@folder_argument
@click.argument("item")
def history(folder: Path, item: str) -> None:
    """Show every version of a draft with what changed and what models said."""
    import difflib  # noqa: PLC0415

    draft = bench_in(folder).draft(item)
    before: dict[str, str] = {}
    for version in draft.versions["main"]:
        say(f"version {version.number} by {version.by} on {version.day}")
        texts = dict(version.texts or {})
        if version.texts is None:
            say("  withdrawn")
        for name in version.changed if before else texts:
            old, new = before.get(name, "").splitlines(), texts.get(name, "").splitlines()
            lines = list(difflib.unified_diff(old, new, lineterm="", n=0))[2:] if before else new
            say(f"  {name}:")
            for line in lines:
                if not line.startswith("@@"):
                    say(f"    {line}")
        for tried in (t for t in draft.tries if t["version"] == version.number and t["arm"] == "main"):
            target = tried["target"]
            model = target["model"] or target["backend"]
            say(f"  {target['role']} {model} ({tried['instructions']}): {WORDS[tried['verdict']]}")
        before = texts or before
    for row in draft.reviews:
        who = "a member of the group" if row["member"] else "somebody"
        said = f": {row['reason']}" if row.get("reason") else ""
        say(f"review of version {row['version']} by {row['by']}, {who}: {'keep' if row['ok'] else 'do not keep'}{said}")
    for row in draft.flags:
        say(f"flagged as harmful by {row['by']}: {row['reason'] or '(no reason given)'}")
