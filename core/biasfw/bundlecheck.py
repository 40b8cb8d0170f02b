"""Checks of a benchmark bundle: the manifest fits together, every prompt renders, every answer asked for is read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from biasfw import bundles, crosscheck, languages, splits
from biasfw.answercheck import check_answers
from biasfw.bundles import Bundle
from biasfw.document import Document, child
from biasfw.errors import BiasfwError, DataError
from biasfw.expansion import Trial, expand
from biasfw.findings import Finding, Report
from biasfw.languages import LanguagePack
from biasfw.packcheck import Kit, check_pack
from biasfw.plan import make_design
from biasfw.records import Sampling, Seed
from biasfw.rendering import Renderer
from biasfw.schemas import check_options

MOST_MISTAKES = 100  # of the items of a split
Manifest = Mapping[str, Any]


def check_bundle(folder: Path, kit: Kit) -> list[Report]:
    """Check the bundle in ``folder``; after its own report come those of the language packs it uses or brings."""
    report = Report("benchmark", folder.name, str(folder / bundles.MANIFEST))
    document = report.read(folder / bundles.MANIFEST, "benchmark")
    if document is None:
        return [report]
    bundles.complete(document.value)
    manifest: Manifest = document.value
    report.name = manifest["name"]
    report.facts.append(_authorship(manifest))
    report.findings += [Finding("error", problem) for problem in crosscheck.problems(document)]
    _components(report, document, kit)
    files, packs = _packs(report, document, folder, kit)
    if not report.errors:
        for split in manifest["splits"]:
            _split(report, document, _Split(folder, split, packs, kit))
        check_answers(report, document, packs, kit)
    return [report, *(check_pack(path, kit) for path in files)]


def _authorship(manifest: Manifest) -> str:
    said_to_be = manifest["authorship"]
    natives = ", ".join(f"{tag} {count}" for tag, count in said_to_be["reviewed_by_natives"].items())
    return f"{said_to_be['kind']}-written; native speakers who reviewed it: {natives or 'none'}"


def _components(report: Report, document: Document, kit: Kit) -> None:
    """Everything the manifest names is offered by a plugin, with the options it is given."""
    manifest: Manifest = document.value
    named = [("judge", "/judge", manifest["judge"], None)]
    for mode, protocol in manifest["protocols"].items():
        if "parser" in protocol:
            named.append(("parser", f"/protocols/{mode}/parser", protocol["parser"], None))
    for index, metric in enumerate(manifest["metrics"]):
        named.append(("metric", f"/metrics/{index}/use", metric["use"], metric.get("options", {})))
    for split, entry in manifest["splits"].items():
        if "reader" in entry:
            named.append(("reader", f"{child('/splits', split)}/reader", entry["reader"], entry.get("options", {})))
    for kind, pointer, name, options in named:
        try:
            component = kit.plugins.find(kind, name)
            if options is not None:
                check_options(f"{kind} {name}", component.spec.options, options)
        except BiasfwError as failure:
            report.add("error", document, pointer, str(failure))


def _packs(report: Report, document: Document, folder: Path, kit: Kit) -> tuple[list[Path], dict[str, LanguagePack]]:
    """The files of the bundle's own packs and of those of its languages, and the packs that can be read."""
    own = folder / "languages"
    try:
        files = languages.pack_files(kit.folders, own if own.is_dir() else None)
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


@dataclass(frozen=True)
class _Split:
    """A split to be rendered."""

    folder: Path
    name: str
    packs: Mapping[str, LanguagePack]
    kit: Kit


def _split(report: Report, document: Document, split: _Split) -> None:
    """Every item of a split is what it should be, and every template renders for it."""
    try:
        bundle = bundles.load(split.folder, split.name)
    except BiasfwError as failure:
        report.take(failure)
        return
    if not splits.is_there(bundle):
        report.facts.append(f"split {split.name} is not here: its items are not checked")
        return
    try:
        seeds, _ = bundle.read(split.kit.plugins)
    except BiasfwError as failure:
        for mistake in _mistakes(bundle) or [failure]:
            report.take(mistake)
        return
    manifest = bundle.manifest
    form = bundles.make_form(manifest, tuple(manifest["conditions"]), ())
    renderer = Renderer(bundle, form, "generate", "chat", Sampling(), split.packs)
    wrong = _Wrong(report, document, split.name)
    prompts = 0
    scored: set[tuple[str, str]] = set()
    for trial in expand(seeds, make_design(manifest, tuple(manifest["conditions"]), form), 1):
        kind = trial.item.condition, trial.item.language
        try:
            renderer.request(trial)
            prompts += 1
            if kind not in scored and kind[0] in manifest["protocols"].get("choices", {}).get("conditions", ()):
                scored.add(kind)
                replace(renderer, mode="choices").request(trial)
        except DataError as failure:
            wrong.take(trial, failure)
    wrong.tell()
    report.facts.append(f"split {split.name}: {_counted(seeds)}; {prompts} prompts render")


def _mistakes(bundle: Bundle) -> list[BiasfwError]:
    """What is wrong with the items of a split, as far as its files are there; not more than anybody reads."""
    try:
        return list(islice(bundle.mistakes(), MOST_MISTAKES))
    except DataError:
        return []


def _counted(seeds: list[Seed]) -> str:
    by_language = Counter(seed.language for seed in seeds)
    return f"{len(seeds)} items ({', '.join(f'{tag} {count}' for tag, count in by_language.items())})"


class _Wrong:
    """Prompts that do not render: told once for a condition and language, with the first item."""

    def __init__(self, report: Report, document: Document, split: str) -> None:
        self._report, self._document, self._split = report, document, split
        self._first: dict[tuple[str, str], tuple[Trial, DataError]] = {}
        self._count: Counter[tuple[str, str]] = Counter()

    def take(self, trial: Trial, failure: DataError) -> None:
        """Note what was raised for a trial."""
        kind = trial.item.condition, trial.item.language
        self._first.setdefault(kind, (trial, failure))
        self._count[kind] += 1

    def tell(self) -> None:
        """Add what was noted to the report."""
        for (condition, language), (trial, failure) in self._first.items():
            pointer = self._place(condition, language, str(failure))
            more = self._count[condition, language] - 1
            others = f", and for {more} more" if more else ""
            message = f"{failure} (for item {trial.item.source_id!r} under {condition!r}{others})"
            self._report.add("error", self._document, pointer, message)

    def _place(self, condition: str, language: str, message: str) -> str:
        """The text that the message is about."""
        manifest = self._document.value
        own = manifest["splits"][self._split].get("conditions", {})
        if "answer_template" in message or ": the choice " in message:
            return child("/answer_template", language)
        if f"condition {condition}/user" in message:
            return f"{child(f'/splits/{self._split}/conditions', condition)}/user"
        template = own.get(condition, manifest["conditions"].get(condition, {})).get("template", "")
        part = re.search(r": template \S*/(system|user)\b", message)
        return child(child("/templates", template), language) + (f"/{part[1]}" if part else "")
