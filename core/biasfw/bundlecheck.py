"""Checks of a benchmark bundle: the manifest fits together, every prompt renders, every answer asked for is read."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from biasfw.answercheck import check_answers
from biasfw.answerform import make_form
from biasfw.conforming import conform
from biasfw.document import Document, child
from biasfw.errors import DataError
from biasfw.expansion import Trial, expand
from biasfw.findings import Finding, Report
from biasfw.judgecheck import check_judges
from biasfw.packcheck import Kit, check_pack
from biasfw.phrases import many
from biasfw.plan import make_design
from biasfw.records import Item, Request, Sampling
from biasfw.rendering import Renderer
from biasfw.validating.inspection import Inspected, Split, counted, inspect

Manifest = Mapping[str, Any]


def check_bundle(folder: Path, kit: Kit, *, without: Collection[str] = ()) -> list[Report]:
    """Check the bundle in ``folder``; after its own report come those of the language packs it uses or brings.

    Prompts and answers are checked where the manifest has no errors, and what the conformance kit measures (``without``
    leaves some of it out) where the items have none either.
    """
    seen = inspect(folder, kit)
    report, document = seen.report, seen.document
    if seen.whole and not _about_manifest(report):
        for split in seen.splits:
            if split.read and split.told:
                _render(seen, split)
        check_answers(report, document, seen.packs, kit)
        check_judges(report, document, seen.packs, kit)
        if not report.errors:
            conform(seen, without=without)
    return [report, *(check_pack(path, kit) for path in seen.files)]


def _about_manifest(report: Report) -> bool:
    """Whether the manifest itself is wrong: nothing could be told of its prompts."""
    return any(found.level == "error" and found.problem.file == report.file for found in report.findings)


def _render(seen: Inspected, split: Split) -> None:
    """Every template of a split renders for its items."""
    manifest = split.bundle.manifest
    form = make_form(manifest, tuple(manifest["conditions"]), ())
    renderer = Renderer(split.bundle, form, "generate", "chat", Sampling(), seen.packs)
    wrong = _Wrong(seen.report, seen.document, split)
    prompts = 0
    scored: set[tuple[str, str]] = set()
    for trial in expand(split.seeds, make_design(manifest, tuple(manifest["conditions"]), form), 1):
        kind = trial.item.condition, trial.item.language
        try:
            _check_options(renderer, renderer.request(trial), trial.item)
            prompts += 1
            wrong.fine.add(kind)
            if kind not in scored and kind[0] in manifest["protocols"].get("choices", {}).get("conditions", ()):
                scored.add(kind)
                replace(renderer, mode="choices").request(trial)
        except DataError as failure:
            wrong.take(trial, failure)
    wrong.tell()
    seen.report.facts.append(f"split {split.name}: {counted(split.seeds)}; {many(prompts, 'prompt')} rendered")


def _check_options(renderer: Renderer, request: Request, item: Item) -> None:
    """A model cannot choose by letter among options that it was not shown."""
    manifest = renderer.bundle.manifest
    if manifest["task"] != "choice":
        return
    shown = "".join(message.content for message in request.messages)
    hidden = [choice.key for choice in item.choices if choice.text.strip() not in shown]
    if hidden:
        name = manifest["conditions"][item.condition]["template"]
        where = f"{renderer.bundle.name}: template {name}/{item.language}/user"
        raise DataError(f"{where}: the prompt does not show the option {hidden[0]!r}; write {{{{ options[0].text }}}}")


class _Wrong:
    """Prompts that do not render: an item's fault where others render, else told once with the first item.

    ``fine``: the conditions and languages in which some item renders.
    """

    def __init__(self, report: Report, document: Document, split: Split) -> None:
        self._report, self._document, self._split = report, document, split
        self._failed: dict[tuple[str, str], dict[str, tuple[Trial, DataError]]] = {}
        self.fine: set[tuple[str, str]] = set()

    def take(self, trial: Trial, failure: DataError) -> None:
        """Note what was raised for a trial."""
        of_kind = self._failed.setdefault((trial.item.condition, trial.item.language), {})
        of_kind.setdefault(trial.item.source_id, (trial, failure))

    def tell(self) -> None:
        """Add what was noted to the report."""
        places = {(each.seed.source_id, each.seed.language): each.place for each in self._split.told}
        told: set[tuple[str, str]] = set()
        for kind, failed in self._failed.items():
            for trial, failure in failed.values() if kind in self.fine else ():
                name = trial.item.source_id, trial.item.language
                if name not in told:  # under one condition is enough
                    told.add(name)
                    problem = places[name]("", f"{failure} (under {kind[0]!r})")
                    self._report.findings.append(Finding("error", problem))
            if kind not in self.fine:
                trial, failure = next(iter(failed.values()))
                others = f", and for {len(failed) - 1} more" if len(failed) > 1 else ""
                message = f"{failure} (for item {trial.item.source_id!r} under {kind[0]!r}{others})"
                self._report.add("error", self._document, self._place(*kind, str(failure)), message)

    def _place(self, condition: str, language: str, message: str) -> str:
        """The text that the message is about."""
        manifest = self._document.value
        own = manifest["splits"][self._split.name].get("conditions", {})
        if "answer_template" in message or ": the choice " in message:
            return child("/answer_template", language)
        if f"condition {condition}/user" in message:
            return f"{child(f'/splits/{self._split.name}/conditions', condition)}/user"
        template = own.get(condition, manifest["conditions"].get(condition, {})).get("template", "")
        part = re.search(r": template \S*/(system|user)\b", message)
        return child(child("/templates", template), language) + (f"/{part[1]}" if part else "")
