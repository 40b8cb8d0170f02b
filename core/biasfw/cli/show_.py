"""``biasfw show NAME``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import click

from biasfw import bundles, languages, splits
from biasfw.bundles import Bundle
from biasfw.cli import plugins_of
from biasfw.cli._common import json_option, print_json, say
from biasfw.errors import UsageError
from biasfw.plugins import HOOKS, Component, Plugins
from biasfw.specs import BackendSpec, JudgeSpec

# What the reference models say; who they are is in `biasfw.tasks`.
MODELS = {
    "first": "what is listed first, and in a second slot what is listed second",
    "stereotyped": "the answer that the benchmark names as the stereotype",
    "anti-stereotyped": "the opposite of the stereotype",
    "random": "an even draw, the same in every run",
    "refuses": "a refusal in the language of the prompt; scored, all answers alike",
    "shorter": "the shortest answer (scored answers)",
    "longer": "the longest answer (scored answers)",
}


@click.command(
    "show",
    help="Show a benchmark (what it measures, how to cite it, published figures) or a component (its options).",
    epilog="Example:  biasfw show debatebias",
)
@click.argument("name")
@json_option
@click.pass_context
def command(ctx: click.Context, name: str, as_json: bool) -> None:
    """Print everything about NAME."""
    plugins = plugins_of(ctx)
    components = [c for kind in HOOKS for c in plugins.components(kind) if c.spec.name == name.partition("@")[0]]
    if not components and (facts := _other(name, plugins)):
        if as_json:
            print_json(facts)
        else:
            say("\n".join(f"{key.replace('_', ' ')}: {value}" for key, value in facts.items()))
        return
    if not components:
        bundle = _bundle(name, plugins)
        if as_json:
            print_json({**bundle.manifest, "origin": bundle.origin, **bundle.digests(plugins)})
        else:
            _print_bundle(bundle)
        return
    if as_json:
        print_json([_component_row(c) for c in components])
        return
    for component in components:
        _print_component(component)


def _other(name: str, plugins: Plugins) -> dict[str, Any]:
    """What is known of a language by its tag, or of a model by its name; empty if it is neither."""
    files = languages.pack_files(folder for folder, _ in plugins.folders("language"))
    if name in files:
        pack = languages.load_pack(files[name])
        natives = pack.reviewed_by_natives
        reviewed = f"reviewed by {natives} native speakers" if natives else "not reviewed by native speakers"
        return {
            "language": name,
            "name": pack.name,
            "native_name": pack.native_name,
            "script": pack.script,
            "review": reviewed,
            "refusal_phrases": len(pack.refusal_phrases),
            "fixtures": len(pack.fixtures),
            "file": str(files[name]),
        }
    for component in plugins.components("backend"):
        spec = cast("BackendSpec", component.spec)
        if name in spec.models:
            about = {"model": name, "backend": spec.name, "answers": MODELS.get(name, "")}
            return {**about, "run": f"biasfw run --benchmark NAME --backend {spec.name} --model {name}"}
    return {}


def _bundle(name: str, plugins: Plugins) -> Bundle:
    try:
        return bundles.find(name, plugins)
    except UsageError as failure:
        names = [
            *bundles.installed(plugins),
            *languages.pack_files(folder for folder, _ in plugins.folders("language")),
        ]
        names += [c.spec.name for kind in HOOKS for c in plugins.components(kind)]
        if str(failure).startswith("unknown"):
            raise UsageError(plugins.unknown("name", name, names)) from failure
        raise


def _component_row(component: Component) -> dict[str, Any]:
    spec = component.spec
    return {
        "kind": type(spec).__name__.removesuffix("Spec").lower(),
        "name": spec.name,
        "summary": spec.summary,
        "from": component.plugin.origin,
        "load": spec.load,
        "extra": spec.extra,
        "options": spec.options.get("properties", {}),
        **({"models": list(spec.models)} if isinstance(spec, BackendSpec) and spec.models else {}),
    }


def _print_component(component: Component) -> None:
    row = _component_row(component)
    say(f"{row['kind']} {row['name']}: {row['summary']}\n  from {row['from']}")
    if row["extra"]:
        say(f"  needs: pip install 'biasfw[{row['extra']}]' (in a checkout: pip install -e \".[{row['extra']}]\")")
    for name in row.get("models", ()):
        say(f"  --model {name:<18}{MODELS.get(name, '')}".rstrip())
    flag = "-B " if row["kind"] == "backend" else ""
    for name, schema in row["options"].items():
        kind = schema.get("type", "any")
        kinds = "|".join([kind] if isinstance(kind, str) else kind)
        if "enum" in schema:
            kinds = "|".join(map(str, schema["enum"]))
        default = f", default {schema['default']}" if schema.get("default") is not None else ""
        say(f"  {flag}{name}=...  ({kinds}{default}) {schema.get('description', '')}")
    if isinstance(component.spec, JudgeSpec):
        _print_use_of_judge(component.spec)


def _print_use_of_judge(spec: JudgeSpec) -> None:
    """How a judge with a model, members or options is named: in a file."""
    lines = [f"judge: {spec.name}"]
    if spec.roles:
        lines += ["backend: llamacpp", "model: ./my-model.gguf"]
    for name, schema in list(spec.options.get("properties", {}).items())[:1]:
        lines.append(f"options: {{{name}: {schema.get('default', '...')}}}")
    if spec.combines:
        lines += [
            "members:",
            "  - {name: rules, judge: rules}",
            "  - {name: small, judge: llm, backend: llamacpp, model: ./my-model.gguf}",
            "  - {name: large, judge: llm, backend: hf, model: OWNER/NAME}",
        ]
    if len(lines) > 1:
        say("  biasfw judge RUN --judge FILE.yaml, where FILE.yaml holds")
        say("\n".join(f"    {line}" for line in lines))


def _print_bundle(bundle: Bundle) -> None:
    manifest = bundle.manifest
    say(f"{bundle.name} {manifest['version']}: {manifest['title']}\n  from {bundle.origin}")
    if bundle.demo:
        say(f"  {bundle.full_name} is {bundle.demo_words}")
    say(f"\ncontent warning: {manifest['content_warning']}")
    for name, text in manifest["interpretation"].items():
        say(f"{name.replace('_', ' ')}: {text}")
    standings = {name: splits.standing(bundle, name) for name in bundle.written["splits"]}
    names = [f"{name} ({standing})" if standing else name for name, standing in standings.items()]
    say(f"\nsplits: {', '.join(names)}   languages: {', '.join(manifest['languages'])}")
    say(f"modes: {_modes(manifest)}   conditions: {', '.join(manifest['conditions'])}")
    for name, preset in manifest.get("presets", {}).items():
        say(f"preset {name}: {preset['summary']}")
    for name, own in manifest.get("judges", {}).items():
        roles = [each["role"] for each in (own, *own.get("members", ())) if "role" in each]
        say(f"judge {name}: {own['judge']}" + (f" with the roles {', '.join(roles)}, bound in a file" if roles else ""))
    say(f"licence: {manifest['licence']}   redistribution: {manifest['redistribution']}")
    say(f"cite: {_citation(manifest)}")
    _print_figures(bundle)
    others = [name for name in bundle.written["splits"] if name != bundle.split]
    if others:
        commands = ", ".join(f"biasfw show {bundle.name}:{name}" for name in others)
        say(f"\nshown: {bundle.full_name}; for the others: {commands}")


def _print_figures(bundle: Bundle) -> None:
    """Published figures with their sources, and what is known to be published and was not recovered."""
    results = bundle.manifest.get("reference_results", [])
    say("\npublished figures:" if results else "\npublished figures: none recovered")
    for result in results:
        bound = {"at_least": "at least ", "at_most": "at most "}.get(result.get("bound", ""), "")
        about = {**result.get("slice", {}), **({"condition": result["condition"]} if "condition" in result else {})}
        said = "; ".join(text if name == "over" else f"{name} {text}" for name, text in about.items())
        figure = f"{bound}{result['value']} {result['unit']}"
        say(f"  {result['metric']} {figure}{f' ({said})' if said else ''}\n    {result['source']}")
    missing = bundle.manifest.get("not_recovered", ())
    if missing:
        say("not recovered, so left out:")
        for text in missing:
            say(f"  {text}")


def _modes(manifest: Mapping[str, Any]) -> str:
    default = manifest["default_mode"]
    return ", ".join(f"{mode} (default)" if mode == default else mode for mode in manifest["protocols"])


def _citation(manifest: Mapping[str, Any]) -> str:
    citation = manifest["citation"]
    return " ".join(str(citation[k]) for k in ("text", "url", "doi") if k in citation)
