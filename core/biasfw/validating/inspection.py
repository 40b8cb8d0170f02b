"""A benchmark bundle, looked at part by part: what is wrong in one part does not hide what is wrong in the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasfw import bundles, crosscheck, languages
from biasfw.bundles import Bundle
from biasfw.document import Document, child
from biasfw.errors import BiasfwError, DataError
from biasfw.findings import Report
from biasfw.languages import LanguagePack
from biasfw.oddtext import acting
from biasfw.opening import leaving, left
from biasfw.packcheck import Kit
from biasfw.phrases import many
from biasfw.records import Seed
from biasfw.schemas import Problem, check_options
from biasfw.validating.data import read_shots, read_split, tell
from biasfw.validating.fields import offered
from biasfw.validating.golds import check_golds
from biasfw.validating.items import Told, texts
from biasfw.validating.judges import check_named
from biasfw.validating.prompts import check_templates
from biasfw.validating.pruning import Pruned, as_errors, problems, prune
from biasfw.yamlfile import load_yaml

Manifest = Mapping[str, Any]
_NEEDED = ("name", "task", "languages", "categories", "conditions", "templates", "protocols", "orders", "splits")
_BY_TASK = {"labels": ("labels", "slots", "answer_template"), "choice": ("letters",), "sentence_pair": ()}


@dataclass(frozen=True)
class Split:
    """The items of a split without the wrong ones; ``told`` says where each stands, where that is known."""

    bundle: Bundle
    told: list[Told]
    read: bool = True  # whether its files are here

    @property
    def name(self) -> str:
        """The name of the split."""
        return self.bundle.split

    @property
    def seeds(self) -> list[Seed]:
        """The items."""
        return [each.seed for each in self.told]


@dataclass
class Inspected:
    """What was seen of a bundle: the report so far, and the parts of it that are sound enough to go on with."""

    folder: Path
    report: Report
    document: Document  # what is left of the manifest
    kit: Kit
    files: list[Path] = field(default_factory=list)  # of the language packs it uses or brings
    packs: dict[str, LanguagePack] = field(default_factory=dict)
    splits: list[Split] = field(default_factory=list)
    whole: bool = False  # whether the manifest has all that prompts are made of


def inspect(folder: Path, kit: Kit) -> Inspected:
    """Look at every part of the bundle in ``folder``; nothing is asked and no prompt rendered."""
    path = folder / bundles.MANIFEST
    report = Report("benchmark", folder.name, str(path))
    if gone := leaving(folder):
        report.findings += as_errors(
            [Problem(str(each), 1, 1, "", left(each).removeprefix(f"{each}: ")) for each in gone]
        )
        return Inspected(folder, report, Document(str(path), {}), kit)
    try:
        document = load_yaml(path)
    except DataError as failure:
        report.take(failure)
        return Inspected(folder, report, Document(str(path), {}), kit)
    report.findings += as_errors(problems("benchmark", document))
    pruned = prune("benchmark", document)
    seen = Inspected(folder, report, pruned.document, kit)
    if pruned.has("name"):
        report.name = pruned.document.value["name"]
    _manifest(seen, pruned)
    if pruned.has("languages"):
        seen.files, seen.packs = _packs(seen, folder)
    for name in ("conditions", "protocols", "templates"):  # what is wrong in them hides no mistake of an item
        pruned.document.value.setdefault(name, {})
    if pruned.has("splits"):
        found = [read_split(seen, pruned, name) for name in pruned.document.value["splits"]]
        read = [(bundle, items) for bundle, items in found if items is not None]
        of_splits = {bundle.split: [*items.good, *items.flawed] for bundle, items in read}
        known = pruned.has("task", "languages")
        if known:
            unsure = [bundle.split for bundle, items in read if "fields" in items.unsure]
            check_templates(report, pruned.document, of_splits, unsure)
        there = offered(told for items in of_splits.values() for told in items)
        for bundle, items in read:
            if known:
                items.compare(bundle.manifest, there)
                if "reader" not in bundle.entry:
                    check_golds(report, pruned.document, bundle.manifest, items, kit)
            tell(report, items)
            seen.splits.append(Split(bundle, items.good, items.there))
        if pruned.has("shots", "task", "languages", "categories"):
            read_shots(seen, pruned, there)
    return seen


def _manifest(seen: Inspected, pruned: Pruned) -> None:
    document, report = pruned.document, seen.report
    manifest: Any = document.value
    if pruned.has("task", "languages"):
        bundles.complete(manifest)
    for pointer, text in texts(manifest):
        if what := acting(text):
            report.add("warning", document, pointer, what)
    seen.whole = pruned.has(*_NEEDED, *_BY_TASK.get(manifest.get("task", ""), ()))
    if pruned.has("authorship"):
        report.facts.append(_authorship(manifest))
    strange: list[str] = []
    if pruned.has("task"):
        for pointer, message in check_named(document, seen.kit):
            report.add("error", document, pointer, message)
    for kind, pointer, name, options in _named(manifest):
        try:
            component = seen.kit.plugins.find(kind, name)
            if options is not None:
                check_options(f"{kind} {name}", component.spec.options, options)
        except BiasfwError as failure:
            report.add("error", document, pointer, str(failure))
            strange += [name] if kind == "metric" else []
    found = [each for each in crosscheck.problems(document) if not pruned.consequence(each.message, strange)]
    report.findings += as_errors(found)


def _authorship(manifest: Manifest) -> str:
    said_to_be = manifest["authorship"]
    natives = ", ".join(f"{tag} {count}" for tag, count in said_to_be["reviewed_by_natives"].items())
    return f"{said_to_be['kind']}-written; native speakers who reviewed it: {natives or 'none'}"


def _named(manifest: Manifest) -> Iterator[tuple[str, str, str, Mapping[str, Any] | None]]:
    """Every component that the manifest names: kind, pointer, name, options if it may have any."""
    if "judge" in manifest:
        yield "judge", "/judge", manifest["judge"], None
    for mode, protocol in manifest.get("protocols", {}).items():
        if "parser" in protocol:
            yield "parser", f"/protocols/{mode}/parser", protocol["parser"], None
    for index, metric in enumerate(manifest.get("metrics", ())):
        yield "metric", f"/metrics/{index}/use", metric["use"], metric.get("options", {})
    for split, entry in manifest.get("splits", {}).items():
        if "reader" in entry:
            yield "reader", f"{child('/splits', split)}/reader", entry["reader"], entry.get("options", {})


def _packs(seen: Inspected, folder: Path) -> tuple[list[Path], dict[str, LanguagePack]]:
    """The files of the bundle's own packs and of those of its languages, and the packs that can be read."""
    own = folder / "languages"
    report, document = seen.report, seen.document
    try:
        files = languages.pack_files(seen.kit.folders, own if own.is_dir() else None)
    except DataError as failure:
        report.take(failure)
        return [], {}
    wanted = [tag if tag in files else tag.partition("-")[0] for tag in document.value["languages"]]
    for index, tag in enumerate(document.value["languages"]):
        if wanted[index] not in files:
            what = f"there is no language pack for {tag!r}: its refusals and ways of writing are not recognised"
            report.add("warning", document, f"/languages/{index}", f"{what}; biasfw new language {tag} --output {own}")
    brought = [tag for tag, path in files.items() if path.parent == own]
    found = {}
    for tag in dict.fromkeys((*wanted, *brought, "en")):
        if tag in files:
            try:
                found[tag] = languages.load_pack(files[tag])
            except DataError:
                continue  # its own report says why
    return [files[tag] for tag in dict.fromkeys((*wanted, *brought)) if tag in files], found


def counted(seeds: list[Seed]) -> str:
    """``12 items (ja 8, en 4)``."""
    by_language = Counter(seed.language for seed in seeds)
    return f"{many(len(seeds), 'item')} ({', '.join(f'{tag} {count}' for tag, count in by_language.items())})"
