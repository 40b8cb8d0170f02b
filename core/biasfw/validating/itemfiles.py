"""A file of items: by the manifest that names it, or by the schema of items alone."""

from __future__ import annotations

import re
from pathlib import Path

from biasfw import bundles, splits
from biasfw.errors import BiasfwError, DataError
from biasfw.findings import Finding, Report
from biasfw.opening import open_file
from biasfw.packcheck import Kit
from biasfw.phrases import many
from biasfw.textfile import LINE_LIMIT
from biasfw.validating.golds import check_golds
from biasfw.validating.items import Items
from biasfw.validating.lines import read_lines
from biasfw.validating.pruning import as_errors, prune
from biasfw.yamlfile import load_yaml


def is_items(path: Path) -> bool:
    """Whether a file holds items: its manifest says so, or its columns do."""
    if path.suffix == ".xlsx" or _manifest_of(path) is not None:
        return True
    if path.suffix == ".csv":
        return _header(path) >= {"source_id", "language"}
    first = next((line.value for line in read_lines(path) if line.flaw is None), None)
    return isinstance(first, dict) and {"source_id", "language"} <= first.keys()


def _header(path: Path) -> set[str]:
    try:
        with open_file(path) as file:
            first = file.readline(LINE_LIMIT).decode("utf-8-sig")
            return {name.strip().strip('"') for name in re.split("[,;\t]", first)}
    except (OSError, UnicodeError, DataError):
        return set()


def _manifest_of(path: Path) -> tuple[Path, str] | None:
    """The manifest of the bundle that names the file as its data, and the split."""
    for folder in list(path.absolute().parents)[:3]:
        manifest = folder / bundles.MANIFEST
        if manifest.is_file():
            try:
                value = load_yaml(manifest).value
            except DataError:
                return None
            parts = value.get("splits", {}) if isinstance(value, dict) else {}
            for name, entry in parts.items() if isinstance(parts, dict) else ():
                files = entry.get("files", ()) if isinstance(entry, dict) else ()
                if any((folder / str(file)).resolve() == path.resolve() for file in files):
                    return manifest, str(name)
    return None


def validate_items(report: Report, path: Path, kit: Kit | None = None) -> None:
    """Rows of a benchmark, with the manifest beside them if there is one."""
    belongs = _manifest_of(path)
    items = Items(None)
    if belongs:
        pruned = prune("benchmark", load_yaml(belongs[0]))
        manifest = pruned.document.value
        if pruned.has("task", "languages"):
            bundles.complete(manifest)
        if pruned.has("languages", "categories", "task", "conditions", "protocols", "splits"):
            manifest = splits.of_split(manifest, belongs[1]) if belongs[1] in manifest["splits"] else manifest
            known = {category["key"] for category in manifest["categories"]} | pruned.gone
            items = Items(manifest, manifest["languages"], known)
            report.facts.append(f"items of {belongs[0]}, split {belongs[1]}")
    try:
        items.read(path)
    except BiasfwError as failure:  # what was found before it is told, too
        report.take(failure)
    if items.manifest is not None and "templates" in items.manifest:
        items.compare(items.manifest)
    if items.manifest is not None and kit is not None:
        check_golds(report, None, items.manifest, items, kit)
    report.findings += as_errors(items.errors)
    report.findings += [Finding("warning", problem) for problem in items.warnings]
    report.facts.append(f"{many(items.rows, 'row')}, {len(items.good)} without errors")
