"""``biasfw annotate``: people answer a benchmark blindly, and what they say stands beside models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from biasfw.cli import plugins_of
from biasfw.cli._common import json_option, print_json, say
from biasfw.errors import UsageError


class _Drawing(click.Group):
    """``biasfw annotate BUNDLE -k 5`` is short for ``biasfw annotate draw BUNDLE -k 5``."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand; what is none is the name of a bundle to draw."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["draw", *args]
        return super().resolve_command(ctx, args)


@click.group(
    "annotate",
    cls=_Drawing,
    help="Let people answer the items of a benchmark blindly: tasks, import, results. "
    "`biasfw annotate BUNDLE -k 5` is short for `biasfw annotate draw BUNDLE -k 5`.",
    epilog="Example:  biasfw annotate my-bench/final -k 5 -o answers",
)
def command() -> None:
    """Draw, import, report."""


_FOLDER = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


@command.command("draw", epilog="Example:  biasfw annotate my-bench/final -k 5 -o answers")
@click.argument("benchmark", metavar="NAME[:SPLIT]|PATH")
@click.option("-k", "per_item", metavar="K", type=click.IntRange(min=1), default=5, show_default=True,
              help="How many people answer each item.")  # fmt: skip
@click.option(
    "--annotators", "count", metavar="N", type=click.IntRange(min=1), default=1, help="People in all; at least K."
)
@click.option("--annotator", "people", metavar="PSEUDONYM", multiple=True,
              help="Somebody with a pseudonym, who never gets what they wrote or reviewed; repeatable.")  # fmt: skip
@click.option("--consent", metavar="FILE", type=click.Path(path_type=Path),
              help="What people agree to first: risk, pay, ethics, contact. Default: a general text")  # fmt: skip
@click.option("--data", metavar="DIR", type=click.Path(path_type=Path), help="The folder of official files.")
@click.option("--seed", metavar="N", type=int, help="What orders are drawn with. Default: a random one.")
@click.option("-o", "--output", metavar="DIR", type=click.Path(path_type=Path), required=True, help="A new folder.")
@json_option
@click.pass_context
def draw(ctx: click.Context, /, benchmark: str, output: Path, *, as_json: bool, **given: Any) -> None:
    """Make blind tasks: for every annotator an HTML file that works offline, and the same as a sheet."""
    from biasfw.annotating import drawing, pages  # noqa: PLC0415
    from biasfw.authoring.annotations import note_annotation  # noqa: PLC0415
    from biasfw.scaffolding import write_new  # noqa: PLC0415

    plugins = plugins_of(ctx)
    bundle = drawing.open_bundle(benchmark, plugins, given["data"])
    if len(set(given["people"])) < len(given["people"]):
        raise UsageError("--annotator names somebody twice; name each once")
    drawn = drawing.draw(
        bundle, plugins, given["per_item"], given["people"], count=given["count"], seed=given["seed"]
    )  # fmt: skip
    asked = {name: (shown, shown[0].language) for name, shown in drawn.shown.items() if shown}
    consents = {language: pages.consent_in(language, given["consent"]) for _, language in asked.values()}
    drawing.write(drawn, output, list(consents.values()))
    files = []
    for annotator, (shown, language) in asked.items():
        files.append(output / f"{annotator}.html")
        write_new(files[-1], pages.page(annotator, shown, language, consents[language]))
        (output / f"{annotator}.csv").write_bytes(pages.sheet(shown, consents[language]))
    note_annotation(bundle.folder, output)
    if as_json:
        print_json({"annotation": str(output), "tasks": len(drawn.key["tasks"]), "files": [str(f) for f in files]})
        return
    say(f"{len(drawn.key['tasks'])} tasks for {len(files)} annotators in {output}")
    for file in files:
        say(f"give: {file} (or {file.with_suffix('.csv').name})")
    if given["consent"] is None:
        say(
            "warning: no --consent FILE: people agree to a general text without pay, contact and ethics approval",
            err=True,
        )
    if bundle.manifest["redistribution"] == "forbidden":
        say("warning: these texts may not be passed on; have the files deleted when they come back", err=True)
    say(f"keep {output / drawing.KEY} to yourself: it holds the right answers")
    say(f"when a file comes back: biasfw annotate import {output} FILE")
    say(f"or let people answer on this machine: biasfw annotate serve {output}")


@command.command("serve", epilog="Example:  biasfw annotate serve answers")
@_FOLDER
@click.option("--port", metavar="N", type=click.IntRange(1, 65535), help="Default: a free one, the same every time.")
def serve_(folder: Path, port: int | None) -> None:
    """Serve the tasks on this machine only: people enter their pseudonym, and every answer is stored at once."""
    from biasfw.annotating.answering import serve  # noqa: PLC0415
    from biasfw.annotating.drawing import load_key  # noqa: PLC0415

    names = load_key(folder)["annotators"]

    def ready(url: str) -> None:
        say(f"open: {url}")
        say(f"each of these pseudonyms is for one person: {', '.join(names)}", err=True)

    serve(folder, port, lambda address: ready(address.url))


@command.command("import", epilog="Example:  biasfw annotate import answers answers-a-....json")
@_FOLDER
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Take answers that differ from those imported before.")
@json_option
def import_(folder: Path, files: tuple[Path, ...], replace: bool, as_json: bool) -> None:
    """Check what annotators sent back and merge it."""
    from biasfw.annotating.importing import import_answers  # noqa: PLC0415

    found = []
    for file in files:
        done = import_answers(folder, file, replace=replace)
        found.append({"file": str(file), **{name: getattr(done, name) for name in done.__slots__}})
        if not as_json:
            say(f"{file}: {done.new} new, {done.same} the same, {done.replaced} replaced, {done.empty} empty")
    if as_json:
        print_json({"imported": found})
    else:
        say(f"see: biasfw annotate report {folder}")


@command.command("report", epilog="Example:  biasfw annotate report answers --run runs/...")
@_FOLDER
@click.option("--threshold", metavar="SHARE", type=click.FloatRange(0, 1), default=0.8, show_default=True,
              help="Items that fewer people than this got right, under either question, are listed.")  # fmt: skip
@click.option("--run", "runs", metavar="RUN", multiple=True, type=click.Path(path_type=Path),
              help="A model's run: its accuracy where people agree, by its question; repeatable.")  # fmt: skip
@json_option
@click.pass_context
def report(
    ctx: click.Context, /, folder: Path, threshold: float, runs: tuple[Path, ...], *, as_json: bool
) -> None:  # fmt: skip
    """What people said: accuracy, agreement, doubtful items, comments, and a line for the manifest."""
    from biasfw.annotating.results import results  # noqa: PLC0415
    from biasfw.cli._people import print_people  # noqa: PLC0415

    document = results(folder, threshold=threshold, runs=runs, plugins=plugins_of(ctx))
    if as_json:
        print_json(document)
    else:
        print_people(document)


@command.command("withdraw", epilog="Example:  biasfw annotate withdraw answers a-... --erase")
@_FOLDER
@click.argument("pseudonym")
@click.option("--erase", is_flag=True, help="Remove the answers too, and every trace of the pseudonym.")
def withdraw_(folder: Path, pseudonym: str, erase: bool) -> None:
    """Take out the comments of an annotator; with --erase also answers, tasks, files and the pseudonym itself."""
    from biasfw.annotating.leaving import withdraw  # noqa: PLC0415

    count = withdraw(folder, pseudonym, erase=erase)
    say(f"{pseudonym}: {'answers' if erase else 'comments'} removed from {count} answers")
    say("copies outside of the folder have to be deleted by hand, and runs with --backend human made anew", err=True)
