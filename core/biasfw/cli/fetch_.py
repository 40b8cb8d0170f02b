"""``biasfw fetch NAME``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from biasfw import fetching
from biasfw.cli import plugins_of
from biasfw.cli._common import json_option, print_json, say
from biasfw.fetching import Fetched
from biasfw.sources import Source


@click.command(
    "fetch",
    help="Get the official files of a benchmark that are not shipped: from their pinned addresses, or with --from DIR "
    "from disk. They are checked by sha256 and kept in the user's cache; BIASFW_CACHE names another folder for it.",
    epilog="Example:  biasfw fetch jubaku",
)
@click.argument("name", metavar="NAME[:SPLIT]|PATH")
@click.option(
    "--from", "folder", metavar="DIR", type=click.Path(path_type=Path), help="Copy the files from here; no network."
)
@click.option("--force", is_flag=True, help="Get them again, even if they are there and right.")
@json_option
@click.pass_context
def command(ctx: click.Context, name: str, folder: Path | None, force: bool, as_json: bool) -> None:
    """Say where from, get the files, say where they are."""
    sources = fetching.wanted(name, plugins_of(ctx))
    if folder is not None:
        fetching.check_folder(sources, folder)
    for source in sources:
        say(f"{source.full_name} ({source.revision})", err=as_json)
        for file in source.files:
            where = f"{folder}" if folder is not None else file.url
            say(f"  {file.path} from {where} ({file.size:,} bytes)", err=as_json)
    try:
        rows = [_row(source, fetching.fetch(source, Bar(), folder=folder, force=force)) for source in sources]
    except KeyboardInterrupt:
        say("stopped; nothing half is kept; the same command gets what is missing", err=True)
        raise click.exceptions.Exit(130) from None
    if as_json:
        print_json({"splits": rows})
        return
    for row in rows:
        for each in row["files"]:
            say(f"{each['result']}: {each['file']}")


def _row(source: Source, files: list[Fetched]) -> dict[str, Any]:
    return {
        "split": source.full_name,
        "revision": source.revision,
        "folder": str(source.folder),
        "files": [
            {
                "path": each.file.path,
                "file": str(each.path),
                "result": each.how,
                "from": each.origin,
                "sha256": each.file.sha256,
                "size": each.file.size,
            }
            for each in files
        ],
    }


class Bar:
    """Bytes on standard error."""

    def __init__(self) -> None:
        self._bar: Any = None

    def start(self, name: str, size: int) -> None:
        """Begin a bar."""
        self._bar = tqdm(total=size, desc=name, unit="B", unit_scale=True, leave=False, mininterval=0.5, delay=0.5)

    def step(self, count: int) -> None:
        """Move it on."""
        self._bar.update(count)

    def finish(self) -> None:
        """End it."""
        self._bar.close()

    def note(self, text: str) -> None:
        """A line on standard error that does not disturb the bar."""
        with tqdm.external_write_mode():
            say(text, err=True)
