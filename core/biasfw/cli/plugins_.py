"""``biasfw plugins``."""

from __future__ import annotations

from typing import Any

import click

from biasfw.cli import plugins_of
from biasfw.cli._common import json_option, print_json, say


@click.command(
    "plugins",
    help="Show plugins: what each offers, and why one was set aside.",
    epilog="Example:  biasfw plugins --traceback",
)
@click.option("--traceback", is_flag=True, help="Show where a plugin failed.")
@json_option
@click.pass_context
def command(ctx: click.Context, traceback: bool, as_json: bool) -> None:
    """Print one block per plugin."""
    plugins = plugins_of(ctx)
    rows: list[dict[str, Any]] = [
        {
            "name": p.name,
            "distribution": p.distribution,
            "version": p.version,
            "module": p.module,
            "offers": {kind: [spec.name for spec in offered] for kind, offered in p.offers.items()}
            | {f"{kind} folders": [str(path) for path in paths] for kind, paths in p.folders.items()},
            "taken": [
                f"{kind} {c.spec.name} is also of {', '.join(rival.origin for rival in rivals)}: write "
                f"{c.spec.name}@{p.distribution}"
                for kind in p.offers
                for c in plugins.components(kind)
                if c.plugin is p and (rivals := plugins.rivals(kind, c))
            ],
            "error": p.error,
            "traceback": p.details,
        }
        for p in plugins.all
    ]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        say(f"{row['name']}  ({row['distribution']} {row['version']}, module {row['module']})")
        for kind, names in row["offers"].items():
            say(f"  {kind}: {', '.join(names)}")
        for told in row["taken"]:
            say(f"  OFFERED TWICE: {told}")
        if row["error"]:
            say(f"  SET ASIDE: {row['error']}")
        if traceback and row["traceback"]:
            say("\n".join(f"    {line}" for line in str(row["traceback"]).splitlines()))
