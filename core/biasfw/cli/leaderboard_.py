"""``biasfw leaderboard DIR``."""

from __future__ import annotations

from pathlib import Path

import click

from biasfw.cli import plugins_of
from biasfw.cli._common import json_option, print_json, say
from biasfw.errors import UsageError
from biasfw.phrases import many


@click.command(
    "leaderboard",
    help="Write a static page over the runs in DIR: one table for what was measured alike, with intervals, ties as "
    "ties, and models that were used while building a benchmark apart.",
    epilog="Example:  biasfw leaderboard runs -o leaderboard.html",
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=Path("leaderboard.html"), show_default=True,
    metavar="FILE", help="The page.",
)  # fmt: skip
@json_option
@click.pass_context
def command(ctx: click.Context, folder: Path, output: Path, as_json: bool) -> None:
    """Write the page, or print what would stand on it."""
    from biasfw.codec import encode  # noqa: PLC0415 - what follows loads numpy and jinja2
    from biasfw.leaderboard import leaderboard  # noqa: PLC0415
    from biasfw.leaderboard.page import page  # noqa: PLC0415

    found = leaderboard(folder, plugins_of(ctx))
    for flaw in found.flaws:
        say(f"warning: {flaw}", err=True)
    for path, why in found.left_out:
        say(f"left out: {path}: {why}", err=True)
    if as_json:
        print_json(encode(found))
        return
    try:
        output.write_text(page(found), encoding="utf-8", errors="backslashreplace")
    except OSError as failure:
        raise UsageError(f"cannot write {output}: {failure.strerror or failure}; give another with -o") from failure
    runs = sum(len(board.ranked) + sum(len(rows) for _, rows in board.apart) for board in found.boards)
    say(
        f"{many(len(found.boards), 'table')}, {many(runs, 'entry', 'entries')}, "
        f"{many(len(found.left_out), 'run')} left out: {output}"
    )
