"""YAML files other than manifests: a configuration, a judge, a language pack; told apart by what stands in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from biasfw.document import Document, child
from biasfw.errors import BiasfwError, DataError
from biasfw.findings import Kind, Report
from biasfw.packcheck import Kit, check_pack
from biasfw.schemas import check_options
from biasfw.validating.pruning import as_errors, problems, prune
from biasfw.yamlfile import load_yaml


def validate_yaml(path: Path, kit: Kit) -> Report:
    """Check a YAML file against the schema that it is meant for, and the components that it names."""
    try:
        document = load_yaml(path)
    except DataError as failure:
        report = Report("data", path.name, str(path))
        report.take(failure)
        return report
    kind = _kind(document.value)
    if kind == "language":
        return check_pack(path, kit)
    report = Report(kind, path.name, str(path))
    schema = "benchmark" if kind == "benchmark" else kind
    report.findings += as_errors(problems(schema, document))
    left = prune(schema, document).document
    for pointer, message in _components(left, kind, kit):
        report.add("error", left, pointer, message)
    if not report.errors:
        report.facts.append({"config": "a configuration of a run", "judge": "a judge"}.get(kind, f"a {kind}"))
    return report


def _kind(value: Any) -> Kind:
    """What a file is, by its keys; a configuration where nothing speaks for another."""
    keys = set(value) if isinstance(value, dict) else set()
    if keys & {"native_name", "refusal_phrases", "fixtures", "script"}:
        return "language"
    if keys & {"task", "canary", "splits"}:
        return "benchmark"
    if "judge" in keys and not keys & {"benchmark", "backend_options", "runs", "preset"}:
        return "judge"
    return "judge" if keys & {"members", "roles"} else "config"


def _components(document: Document, kind: Kind, kit: Kit) -> Iterator[tuple[str, str]]:
    """Names that nobody offers, and options that a component does not have."""
    if kind == "config":
        yield from _named(document.value, "", ("backend", "parser"), kit)
        for index, name in enumerate(document.value.get("metrics", ())):
            yield from _find("metric", name, f"/metrics/{index}", None, kit)
        judge = document.value.get("judge")
        if judge and not str(judge).endswith((".yaml", ".yml")):
            yield from _find("judge", judge, "/judge", None, kit)
    elif kind == "judge":
        yield from _judge(document.value, "", kit)


def _judge(value: Mapping[str, Any], pointer: str, kit: Kit) -> Iterator[tuple[str, str]]:
    yield from _named(value, pointer, ("backend", "parser"), kit)
    if "judge" in value and "roles" not in value:  # with roles it is a judge of a benchmark, which is not known here
        yield from _find("judge", value["judge"], f"{pointer}/judge", value.get("options"), kit)
    for index, member in enumerate(value.get("members", ())):
        if isinstance(member, dict):
            yield from _judge(member, f"{pointer}/members/{index}", kit)
    for role, bound in value.get("roles", {}).items():
        yield from _named(bound, child(f"{pointer}/roles", role), ("backend",), kit)


def _named(value: Mapping[str, Any], pointer: str, kinds: tuple[str, ...], kit: Kit) -> Iterator[tuple[str, str]]:
    for kind in kinds:
        if kind in value:
            options = value.get("backend_options") if kind == "backend" else None
            yield from _find(kind, value[kind], f"{pointer}/{kind}", options, kit)


def _find(kind: str, name: str, pointer: str, options: Mapping[str, Any] | None, kit: Kit) -> Iterator[tuple[str, str]]:
    try:
        component = kit.plugins.find(kind, name)
    except BiasfwError as failure:
        yield pointer, str(failure)
        return
    if options:
        try:
            check_options(f"{kind} {name}", component.spec.options, options)
        except BiasfwError as failure:
            place = pointer.rpartition("/")[0] + ("/backend_options" if kind == "backend" else "/options")
            yield place, str(failure)
