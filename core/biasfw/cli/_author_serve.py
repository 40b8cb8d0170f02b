"""``biasfw author serve``: the page of a workbench."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from biasfw.cli import plugins_of
from biasfw.cli._author import bench_in, command, folder_argument
from biasfw.cli._author_models import agree, model_options, target_of
from biasfw.cli._common import say

if TYPE_CHECKING:
    from biasfw.authoring.web.serving import Address


@command.command("serve", epilog="Example:  biasfw author serve my-bench --backend llamacpp --model x.gguf")
@folder_argument
@model_options
@click.option("--port", metavar="N", type=click.IntRange(1, 65535), help="Default: a free one, the same every time.")
@click.pass_context
def serve_(ctx: click.Context, /, folder: Path, port: int | None, **given: Any) -> None:
    """Serve the page for people who do not use terminals, on this machine only. Ctrl-C ends it; nothing is lost."""
    from biasfw.authoring.asker import Asker, need_logprobs  # noqa: PLC0415
    from biasfw.authoring.starting import incomplete  # noqa: PLC0415
    from biasfw.authoring.web.serving import serve  # noqa: PLC0415
    from biasfw.authoring.web.session import Session  # noqa: PLC0415

    bench, plugins = bench_in(folder), plugins_of(ctx)
    if incomplete(folder):
        say(f"warning: {folder / 'CONSENT.md'} is not complete: pay, ethics approval or contact is missing", err=True)
    target = target_of("target", given) if given["backend"] else None
    if target is not None:  # before anybody writes: the page is for people who cannot know what a host is
        agree(bench, target, plugins, given["send_to"])
        need_logprobs(Asker(bench, target, plugins))

    def ready(address: Address) -> None:
        say(f"open: {address.url}")
        say("whoever has this address can write in the workbench; it works on this machine only", err=True)

    serve(Session(bench, plugins, target), port, ready)
