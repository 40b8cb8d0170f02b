"""Checks of a language pack: its fixtures run through the parser, and its phrases are read as what they are."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, cast

from biasfw import languages, scaffolding, scripts, tags
from biasfw.contracts import ComponentContext, Parser
from biasfw.document import Document, child
from biasfw.errors import BiasfwError
from biasfw.findings import Level, Report
from biasfw.form import Form, Label, Slot
from biasfw.languages import LanguagePack, fixture_form
from biasfw.phrases import are, listed, many, shorten
from biasfw.plugins import FIRST_PARTY, Plugins, load_class
from biasfw.records import Outcome, Reading
from biasfw.schemas import check_options
from biasfw.yamlfile import parse_yaml

PARSER = "labelled_lines"  # reads the fixtures, whose task is labels
_OUTCOMES = ("answered", "abstained", "refused", "unparsed", "truncated")
# Any form will do to tell a refusal: this one has headers and names that stand in no phrase.
_FORM = Form(
    "labels",
    (Slot("left", {"": {"en": ("LEFT TABLE",)}}), Slot("right", {"": {"en": ("RIGHT TABLE",)}})),
    (Label("bakers", {"en": ("Bakers",)}), Label("weavers", {"en": ("Weavers",)})),
    conditions=("",),
)
_IMPORTANT = {
    "refusal_phrases": "refusals in the language are not recognised",
    "refusal_text": "the reference model `refuses` has nothing to say in the language",
    "abstain_words": "a slot that is declined is not told from one that cannot be read",
    "conjunctions": "two names joined by a word of the language may be read as one",
    "fixtures": "nothing shows that answers in the language are read",
}


class Kit:
    """What checks work with: the parsers of this installation, and its pack of English, which is always read too."""

    def __init__(self, plugins: Plugins) -> None:
        self.plugins = plugins
        self.folders = [folder for folder, _ in plugins.folders("language")]

    @cached_property
    def english(self) -> Mapping[str, LanguagePack]:
        """The installed pack of English, by its tag; empty where there is none."""
        return languages.load_packs(self.folders, ["en"])

    def own(self, name: str) -> str:
        """The parser ``name`` of biasfw where somebody else offers one too: packs are written for ours."""
        offered = [c.plugin.distribution for c in self.plugins.components("parser") if c.spec.name == name]
        return f"{name}@{FIRST_PARTY}" if len(offered) > 1 and FIRST_PARTY in offered else name

    def parser(self, name: str, form: Form, packs: Mapping[str, LanguagePack]) -> Parser:
        """The parser ``name`` with its default options.

        Raises:
            UsageError: nobody offers it.
        """
        component = self.plugins.find("parser", name)
        options = check_options(f"parser {name}", component.spec.options, {})
        return cast("Parser", load_class(component)(ComponentContext(form, packs, options)))


def check_pack(path: Path, kit: Kit) -> Report:
    """Check the language pack in the file ``path``."""
    report = Report("language", path.stem, str(path))
    document = report.read(path, "language-pack")
    if document is None:
        return report
    try:
        check = _PackCheck(report, document, languages.load_pack(path), kit)
    except BiasfwError as failure:
        report.take(failure)
        return report
    report.facts.append(f"{check.pack.name}: {_reviewed(check.pack.reviewed_by_natives)}")
    check.about_itself()
    check.fixtures()
    check.refusal_text()
    check.phrases()
    return report


def _reviewed(natives: int) -> str:
    """Who answers for a pack."""
    if not natives:
        return "not reviewed by native speakers"
    return f"reviewed by {natives} native speaker{'s' if natives > 1 else ''}"


def said(reading: Reading) -> str:
    """A reading in words: ``answered (farmers)``."""
    return f"{reading.outcome} ({reading.value})" if reading.value else str(reading.outcome)


class _PackCheck:
    """The checks of one pack; each adds to the report."""

    def __init__(self, report: Report, document: Document, pack: LanguagePack, kit: Kit) -> None:
        self._report, self._document, self.pack, self._kit = report, document, pack, kit
        self._parser = self._parser_for(_FORM, pack)

    def _parser_for(self, form: Form, pack: LanguagePack) -> Parser:
        return self._kit.parser(self._kit.own(PARSER), form, {**self._kit.english, pack.language: pack})

    def _add(self, level: Level, pointer: str, message: str) -> None:
        self._report.add(level, self._document, pointer, message)

    def about_itself(self) -> None:
        """Tag, name, what is empty, script, form of Unicode."""
        pack = self.pack
        if wrong := tags.problem(pack.language):
            self._add("error", "/language", wrong)
        if pack.name == pack.language:
            self._add("warning", "/name", "this is still the tag; write the English name of the language")
        for name, consequence in _IMPORTANT.items():
            if not getattr(pack, name):
                self._add("warning", f"/{name}", f"{name} is empty: {consequence}; fill it in")
        written = scripts.written_in(" ".join((*pack.refusal_phrases, pack.refusal_text)), pack.script)
        if scripts.is_told(pack.script) and written and written != scripts.ASKED:
            found = written.removeprefix(scripts.OTHER)
            self._add("warning", "/script", f"it is {pack.script}, and the refusals are in {found}; mend one")
        for pointer, text in _texts(self._document.value, ""):
            if not unicodedata.is_normalized("NFC", text):
                what = "the text is not in the composed form of Unicode (NFC)"
                self._add("warning", pointer, f"{what}; type it again, or convert the file")

    def fixtures(self) -> None:
        """Every fixture is read as it says, and every outcome is among them."""
        before = self._report.errors
        for index, fixture in enumerate(self.pack.fixtures):
            impossible = list(_impossible(fixture))
            for place, message in impossible:
                self._add("error", f"/fixtures/{index}{place}", message)
            if not impossible:
                self._read(f"/fixtures/{index}", fixture)
        if not self.pack.fixtures:
            return
        if self._report.errors == before:
            self._report.facts.append(f"{many(len(self.pack.fixtures), 'fixture')} read as written")
        seen = {each["outcome"] for fixture in self.pack.fixtures for each in fixture["expected"].values()}
        if missing := [outcome for outcome in _OUTCOMES if outcome not in seen]:
            self._add("warning", "/fixtures", f"no fixture shows what is {listed(missing)}; add one of each")
        kept = [index for index, fixture in enumerate(self.pack.fixtures) if fixture["text"] in _examples()]
        if kept:
            what = f"{many(len(kept), 'fixture')} {are(len(kept))} still the English examples of `biasfw new language`"
            self._add("warning", f"/fixtures/{kept[0]}", f"{what}; put them into the language")

    def _read(self, pointer: str, fixture: Mapping[str, Any]) -> None:
        parser = self._parser_for(fixture_form(self.pack, fixture), self.pack)
        text, finish = fixture["text"], fixture.get("finish_reason")
        answer = parser.parse(text, language=self.pack.language, condition="", finish_reason=finish)
        for slot, expected in fixture["expected"].items():
            meant = Reading(Outcome(expected["outcome"]), expected.get("value"))
            if answer.slots[slot] != meant:
                message = f"{shorten(text)} is read as {said(answer.slots[slot])}, expected {said(meant)}"
                self._add("error", child(f"{pointer}/expected", slot), f"{message}; mend the phrases or the fixture")

    def _outcomes(self, text: str, parser: Parser | None = None) -> set[Outcome]:
        answer = (parser or self._parser).parse(text, language=self.pack.language, condition="")
        return {reading.outcome for reading in answer.slots.values()}

    def refusal_text(self) -> None:
        """The refusal text is read as a refusal, also by who knows the phrases alone."""
        text = self.pack.refusal_text
        if not text:
            return
        if self._outcomes(text) != {Outcome.REFUSED}:
            self._add("error", "/refusal_text", f"{shorten(text)} is not read as a refusal; write a whole refusal")
        elif self._outcomes(text, self._parser_for(_FORM, replace(self.pack, refusal_text=""))) != {Outcome.REFUSED}:
            what = "no refusal phrase is in this text, so refusals like it are missed"
            self._add("warning", "/refusal_text", f"{what}; add its words to refusal_phrases")
        else:
            self._report.facts.append("the refusal text is read as a refusal")

    def phrases(self) -> None:
        """A refusal phrase is found, a hedging phrase refuses nothing, and an abstain word declines a slot."""
        pack = self.pack
        for index, phrase in enumerate(pack.refusal_phrases):
            if self._outcomes(phrase) != {Outcome.REFUSED}:
                self._add("error", f"/refusal_phrases/{index}", f"{shorten(phrase)} is not found; write it in words")
        for index, phrase in enumerate(pack.hedging_phrases):
            if Outcome.REFUSED in self._outcomes(phrase):
                message = f"{shorten(phrase)} is read as a refusal; make the refusal phrase in it more specific"
                self._add("error", f"/hedging_phrases/{index}", message)
        for index, word in enumerate(pack.abstain_words):
            if Outcome.ABSTAINED not in self._outcomes(f"LEFT TABLE: {word}"):
                message = f"{shorten(word)} is not read as declining a slot; write it in words"
                self._add("error", f"/abstain_words/{index}", message)


def _impossible(fixture: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What no parser could read as expected: slots and labels that the form of the fixture does not have."""
    labels = {**fixture["labels"], **fixture.get("abstention", {})}
    for slot in fixture["slots"]:
        if slot not in fixture["expected"]:
            yield "/expected", f"nothing is expected of the slot {shorten(slot)}; say what is read there"
    for slot, expected in fixture["expected"].items():
        place, outcome, value = child("/expected", slot), expected["outcome"], expected.get("value")
        if slot not in fixture["slots"]:
            yield place, f"the form has no slot {shorten(slot)}; it has: {listed(fixture['slots'])}"
        if outcome == "answered" and value is None:
            yield place, "what is answered has a value; write the key of the label"
        elif value is not None and outcome not in ("answered", "abstained"):
            yield f"{place}/value", f"what is {outcome} has no value; leave it out"
        elif value is not None and value not in labels:
            yield f"{place}/value", f"the form has no label {shorten(value)}; it has: {listed(labels)}"


@cache
def _examples() -> frozenset[str]:
    """The texts of the fixtures that a new pack begins with."""
    document = parse_yaml(scaffolding.language_pack("eo"), "")
    return frozenset(fixture["text"] for fixture in document.value["fixtures"])


def _texts(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """Every text of a pack with its pointer, but for the texts of fixtures, which may be in any form on purpose."""
    if isinstance(value, str):
        if not (pointer.startswith("/fixtures/") and pointer.endswith("/text")):
            yield pointer, value
    elif isinstance(value, (list, Mapping)):
        for key, each in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _texts(each, child(pointer, key))
