"""``biasfw submit PATH``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from biasfw.citing import CITATION, Contributor
from biasfw.cli import plugins_of
from biasfw.cli._common import say
from biasfw.errors import UsageError
from biasfw.submitting import submit


@click.command(
    "submit",
    help="Pack the benchmark in the folder PATH into one .zip file to upload or send by e-mail: its files, what the "
    "check says, a checklist, and CITATION.cff, as the manifest has it. Errors of the check come first.",
    epilog="Example:  biasfw submit ./busan-work --pseudonym Haeundae",
)
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", multiple=True, help="Name the contributor so; several in the order given.")
@click.option(
    "--pseudonym",
    metavar="NAME",
    multiple=True,
    help="Name the contributor so, and say that it is a pseudonym; several in the order given.",
)
@click.option("--anonymous", is_flag=True, help="Name nobody.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="The .zip file.")
@click.pass_context
def command(
    ctx: click.Context,
    path: Path,
    name: tuple[str, ...],
    pseudonym: tuple[str, ...],
    anonymous: bool,
    output: Path | None,
) -> None:
    """Pack it, and say what is in it."""
    done = submit(path, _contributors(name, pseudonym, anonymous=anonymous), output, plugins_of(ctx))
    say(f"wrote {done.archive}, with {', '.join(done.packed)}")
    if done.left_out:
        say(f"not in it, as it is no part of a benchmark: {', '.join(done.left_out)}")
    say(f"to be cited as by: {done.cited_as}  (change it in {path / CITATION})")
    for note in done.notes:
        say(f"note: {note}")
    if done.warnings:
        say(f"the check has {done.warnings} warning{'' if done.warnings == 1 else 's'}: biasfw check {path}")
    say("Next: read CHECKLIST.md in it, then upload the file or send it; git is not needed.")


def _contributors(names: Sequence[str], pseudonyms: Sequence[str], *, anonymous: bool) -> list[Contributor]:
    if bool(names) + bool(pseudonyms) + anonymous > 1:
        raise UsageError("--name, --pseudonym and --anonymous exclude one another; give one")
    said = [*(Contributor("name", each) for each in names), *(Contributor("pseudonym", each) for each in pseudonyms)]
    return [*said, *([Contributor("none")] if anonymous else [])]
