"""``biasfw new KIND NAME``: files to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from biasfw.cli import plugins_of
from biasfw.languages import pack_files
from biasfw.scaffolding import language_pack, write_new


@click.group(
    "new",
    help="Write the beginning of something new: files that are valid at once and say in comments what goes where.",
    epilog="Example:  biasfw new language eu --name Basque --native-name euskara",
)
def command() -> None:
    """What can be begun."""


@command.command(
    "language",
    help="Write TAG.yaml, a language pack to fill in. TAG is a language tag (BCP 47), such as eu or pt-BR.",
    epilog="Example:  biasfw new language eu --name Basque --native-name euskara --output my-benchmark/languages",
)
@click.argument("tag")
@click.option("--output", metavar="DIR", type=click.Path(path_type=Path), default=".", help="Where (default: here).")
@click.option("--name", metavar="NAME", help="The name of the language in English.")
@click.option("--native-name", metavar="NAME", help="The name of the language in the language itself.")
@click.option("--script", metavar="CODE", help="Its script (ISO 15924), if it is not the usual one: Latn, Arab, Deva.")
@click.pass_context
def language(
    ctx: click.Context, tag: str, output: Path, name: str | None, native_name: str | None, script: str | None
) -> None:
    """Write the file, and say what to do with it."""
    text = language_pack(tag, name=name, native_name=native_name, script=script)
    path = output / f"{tag}.yaml"
    write_new(path, text)
    click.echo(f"wrote {path}")
    if tag in pack_files(folder for folder, _ in plugins_of(ctx).folders("language")):
        click.echo(
            f"There is a pack for {tag} already (biasfw list languages); in a benchmark's folder, yours is used."
        )
    click.echo(
        "Next:\n"
        f"  1. fill it in: phrases and fixtures in {name or 'the language'}, as its comments say\n"
        f"  2. biasfw check {path}\n"
        "  3. put it into the folder languages/ of a benchmark, beside its benchmark.yaml\n"
        "  4. once native speakers have read it, write how many they are in reviewed_by_natives"
    )
