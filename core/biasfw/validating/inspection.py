"""A benchmark bundle, looked at part by part: what is wrong in one part does not hide what is wrong in the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasfw import bundles, crosscheck, languages, splits
from biasfw.bundles import Bundle
from biasfw.document import Document, child
from biasfw.errors import BiasfwError, DataError
from biasfw.findings import Finding, Report
from biasfw.languages import LanguagePack
from biasfw.packcheck import Kit
from biasfw.plugins import load_class
from biasfw.records import Seed
from biasfw.schemas import Problem, check_options
from biasfw.sources import source_of
from biasfw.validating.items import Items, Told
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
    if pruned.has("splits", "languages", "categories", "task", "conditions", "protocols", "default_split"):
        found = [_split(seen, pruned, folder, name) for name in pruned.document.value["splits"]]
        seen.splits = [split for split in found if split is not None]
        check_templates(report, pruned.document, seen.splits)
    return seen


def _manifest(seen: Inspected, pruned: Pruned) -> None:
    document, report = pruned.document, seen.report
    manifest: Any = document.value
    if pruned.has("task", "languages"):
        bundles.complete(manifest)
    seen.whole = pruned.has(*_NEEDED, *_BY_TASK.get(manifest.get("task", ""), ()))
    if pruned.has("authorship"):
        report.facts.append(_authorship(manifest))
    found = crosscheck.problems(document)
    report.findings += as_errors([each for each in found if not pruned.consequence(each.message)])
    for kind, pointer, name, options in _named(manifest):
        try:
            component = seen.kit.plugins.find(kind, name)
            if options is not None:
                check_options(f"{kind} {name}", component.spec.options, options)
        except BiasfwError as failure:
            report.add("error", document, pointer, str(failure))


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


def _split(seen: Inspected, pruned: Pruned, folder: Path, name: str) -> Split | None:
    manifest: Manifest = pruned.document.value
    bundle = Bundle(folder, splits.of_split(manifest, name), name, "folder", manifest)
    if "reader" in bundle.entry:
        return _official(seen, bundle)
    said = {category["key"] for category in manifest["categories"]} | pruned.gone
    paths = list(_files(seen, bundle))
    items = Items(bundle.manifest, manifest["languages"], said, len(paths))
    try:
        for path in paths:
            items.read(path)
    except BiasfwError as failure:
        seen.report.take(failure)
    seen.report.findings += as_errors(items.errors)
    seen.report.findings += [Finding("warning", problem) for problem in items.warnings]
    if paths and not items.rows:
        pointer = f"{child('/splits', name)}/files"
        seen.report.add("error", seen.document, pointer, f"split {name!r} holds no items; write one row an item")
    return Split(bundle, items.good)


def _files(seen: Inspected, bundle: Bundle) -> Iterator[Path]:
    """The data files that are there. A symbolic link may not lead out of the folder either."""
    for index, name in enumerate(bundle.entry["files"]):
        pointer = f"{child('/splits', bundle.split)}/files/{index}"
        path = bundle.folder / name
        try:
            inside = path.resolve().is_relative_to(bundle.folder.resolve())
            there = path.is_file()
        except (OSError, RuntimeError, ValueError):  # too long, a loop of links
            inside, there = True, False
        if not inside:
            what = f"data file {name!r} leaves the bundle's folder; keep it inside"
            seen.report.add("error", seen.document, pointer, what)
        elif not there:
            what = f"data file {name!r} of split {bundle.split!r} does not exist; write it, or mend the path"
            seen.report.add("error", seen.document, pointer, what)
        else:
            yield path


def _official(seen: Inspected, bundle: Bundle) -> Split | None:
    """The items of files that were fetched, where they are the ones that the manifest pins."""
    pointer = child("/splits", bundle.split)
    source = source_of(bundle.written, bundle.split) if "name" in bundle.written else None
    wrong = 0
    for index, file in enumerate(source.files if source else ()):
        if source and (source.folder / file.path).is_file() and not file.is_right(source.folder):
            what = f"the sha256 of {source.folder / file.path} is another than this"
            what += f"; fetch it again ({splits.fetch_command(bundle)}), or mend the pin"
            seen.report.add("error", seen.document, f"{pointer}/source/files/{index}/sha256", what)
            wrong += 1
    if wrong:
        return None
    if source is None or source.missing():
        seen.report.facts.append(f"split {bundle.split} is not here: its items are not checked")
        return Split(bundle, [], read=False)
    try:
        component = splits.reader_of(bundle, seen.kit.plugins)
        if component is None:
            return None
        load_class(component)
        seeds, _ = splits.read(bundle, component)
    except BiasfwError as failure:
        if not seen.report.errors or "unknown reader" not in str(failure):
            seen.report.take(failure)
        return None
    return Split(bundle, [Told(seed, _nowhere(bundle, seed)) for seed in seeds])


def _nowhere(bundle: Bundle, seed: Seed) -> Any:
    """Of official files it is known which item is meant, not where it stands."""

    def place(pointer: str, message: str) -> Problem:
        file = f"{bundle.full_name} item {seed.source_id} ({seed.language})"
        return Problem(file, 0, 0, pointer, message)

    return place


def counted(seeds: list[Seed]) -> str:
    """``12 items (ja 8, en 4)``."""
    by_language = Counter(seed.language for seed in seeds)
    return f"{len(seeds)} items ({', '.join(f'{tag} {count}' for tag, count in by_language.items())})"
