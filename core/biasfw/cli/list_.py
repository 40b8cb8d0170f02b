"""``biasfw list``."""

from __future__ import annotations

from typing import Any

import click

from biasfw import bundles, splits
from biasfw.cli import plugins_of
from biasfw.cli._common import json_option, print_json, say
from biasfw.errors import BiasfwError
from biasfw.plugins import HOOKS, Plugins

KINDS = ("benchmarks", "languages", *(f"{kind}s" for kind in HOOKS))


@click.command("list", help="List benchmarks and components.", epilog="Example:  biasfw list backends")
@click.argument("kind", required=False, type=click.Choice(KINDS))
@json_option
@click.pass_context
def command(ctx: click.Context, kind: str | None, as_json: bool) -> None:
    """Print a table, or JSON."""
    plugins = plugins_of(ctx)
    rows = [row for each in ([kind] if kind else KINDS) for row in _rows(each, plugins)]
    if as_json:
        print_json(rows)
        return
    width = max((len(row["name"]) for row in rows), default=0)
    for each in [kind] if kind else KINDS:
        chosen = [row for row in rows if row["kind"] == each]
        if chosen:
            say(f"{each}:")
        elif kind:
            say(f"no {kind} are installed")
        for row in chosen:
            say(f"  {row['name']:<{width}}  {row['summary']}")


def _rows(kind: str, plugins: Plugins) -> list[dict[str, Any]]:
    if kind == "benchmarks":
        return _benchmarks(plugins)
    if kind == "languages":
        return [
            {"kind": kind, "name": path.stem, "summary": f"language pack ({plugin.distribution})"}
            for folder, plugin in plugins.folders("language")
            for path in sorted(folder.glob("*.yaml"))
        ]
    found = plugins.components(kind.removesuffix("s"))
    names = [c.spec.name for c in found]
    return [
        {
            "kind": kind,
            "name": c.spec.name if names.count(c.spec.name) == 1 else f"{c.spec.name}@{c.plugin.distribution}",
            "summary": c.spec.summary,
            "from": c.plugin.origin,
        }
        for c in found
    ]


def _benchmarks(plugins: Plugins) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name, places in bundles.installed(plugins).items():
        for folder, origin in places:
            shown = name if len(places) == 1 else f"{name}@{origin.split()[0]}"
            try:
                bundle = bundles.load(folder, origin=origin)
            except BiasfwError as failure:
                rows.append(
                    {"kind": "benchmarks", "name": shown, "summary": f"cannot be used: {failure}", "from": origin}
                )
                continue
            manifest = bundle.written
            for split, entry in manifest["splits"].items():
                mark = " [demo: machine-written]" if entry.get("demo") else ""
                standing = splits.standing(bundle, split)
                mark += f" [{standing}]" if standing else ""
                default = " (default)" if split == manifest["default_split"] else ""
                summary = f"{splits.of_split(manifest, split)['summary']}{mark}{default}"
                languages = list(manifest["languages"])
                rows.append(
                    {
                        "kind": "benchmarks",
                        "name": f"{shown}:{split}",
                        "summary": summary,
                        "from": origin,
                        "languages": languages,
                    }
                )
    return rows
