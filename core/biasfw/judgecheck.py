"""Checks of what a benchmark has its judges asked: the prompts render."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast, get_args

from biasfw.answerform import make_form
from biasfw.contracts import Case, Judge
from biasfw.document import Document, child
from biasfw.errors import DataError
from biasfw.findings import Report
from biasfw.languages import LanguagePack
from biasfw.packcheck import Kit
from biasfw.plugins import Component, load_class
from biasfw.records import Answer, Choice, Item, Mode, Outcome, Reading, Request, Response, Sampling
from biasfw.schemas import check_options
from biasfw.sitting import judge_context
from biasfw.specs import JudgeSpec
from biasfw.templates import compile_template

Manifest = Mapping[str, Any]
_PLACE = re.compile(r": (?P<language>[A-Za-z0-9-]+)/(?P<part>system|user)\b")


def check_judges(report: Report, document: Document, packs: Mapping[str, LanguagePack], kit: Kit) -> None:
    """The manifest's ``judge_templates``, and how many ``judges`` it has; these were checked before."""
    manifest: Manifest = document.value
    askers = [c for c in kit.plugins.components("judge") if _spec(c).roles and manifest["task"] in _spec(c).tasks]
    before = report.errors
    _compile(report, document)
    if "judge_templates" in manifest and report.errors == before:
        for component in askers:
            _render(report, document, packs, kit, component)
    if count := len(manifest.get("judges", {})):
        report.facts.append(f"{count} judge{'s' if count > 1 else ''} of its own")


def _spec(component: Component) -> JudgeSpec:
    return cast("JudgeSpec", component.spec)


def _compile(report: Report, document: Document) -> None:
    manifest: Manifest = document.value
    for language, texts in manifest.get("judge_templates", {}).items():
        pointer = child("/judge_templates", language)
        if language not in manifest["languages"] and language != "en":
            report.add(
                "error", document, pointer, f"the benchmark has no language {language!r}; add it or leave it out"
            )
        for part, text in texts.items():
            try:
                compile_template(text, part)
            except DataError as failure:
                report.add("error", document, f"{pointer}/{part}", str(failure))


def _render(
    report: Report, document: Document, packs: Mapping[str, LanguagePack], kit: Kit, component: Component
) -> None:
    """The judge's prompts for a response in every language of the benchmark, in both modes."""
    manifest: Manifest = document.value
    form = make_form(manifest, tuple(manifest["conditions"]), ())
    options = check_options(f"judge {component.spec.name}", component.spec.options, {})
    told: set[str] = set()
    for mode in get_args(Mode):
        context = judge_context(kit.plugins, form, packs, options, manifest["judge_templates"], mode)
        judge = cast("Judge", load_class(component)(context))
        for language in manifest["languages"]:
            try:
                judge.requests(_case(manifest, language, tuple(slot.key for slot in form.slots)))
            except DataError as failure:
                if str(failure) not in told:
                    told.add(str(failure))
                    report.add("error", document, _pointer(str(failure)), str(failure))


def _pointer(message: str) -> str:
    found = _PLACE.search(message)
    return f"{child('/judge_templates', found['language'])}/{found['part']}" if found else "/judge_templates"


def _case(manifest: Manifest, language: str, slots: tuple[str, ...]) -> Case:
    """A response in ``language`` that says nothing."""
    condition = next(iter(manifest["conditions"]))
    choices = (Choice("a", "A"), Choice("b", "B")) if manifest["task"] == "choice" else ()
    item = Item(
        "check", "check", language, manifest["categories"][0]["key"], "check", condition,
        order=tuple(choice.key for choice in choices), choices=choices,
    )  # fmt: skip
    answer = Answer(dict.fromkeys(slots, Reading(Outcome.UNPARSED)))
    return Case(
        item, Request("0" * 64, item.id, Sampling()), Response("0" * 64, text="-", finish_reason="stop"), answer
    )
