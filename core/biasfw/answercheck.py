"""Checks that a benchmark's own answers are read: every name and header, as the answer template writes them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from biasfw.answerform import make_form
from biasfw.contracts import Parser
from biasfw.document import Document, child
from biasfw.errors import DataError
from biasfw.findings import Level, Report
from biasfw.form import Form, Label
from biasfw.languages import LanguagePack
from biasfw.lettercheck import check_letters
from biasfw.packcheck import PARSER, Kit, said
from biasfw.phrases import many, shorten
from biasfw.records import Outcome, Reading
from biasfw.templates import compiled

Manifest = Mapping[str, Any]
Spelling = tuple[str, str]  # JSON pointer, text


@dataclass(frozen=True, slots=True)
class _Try:
    """An answer that the benchmark asks for: slot -> header, written name, and label.

    It is about one ``spelling`` of the name or header in ``slot``.
    """

    spelling: Spelling
    slot: str
    language: str
    condition: str
    headers: Mapping[str, str]
    names: Mapping[str, str]
    meant: Mapping[str, Label]
    level: Level = "error"


def check_answers(report: Report, document: Document, packs: Mapping[str, LanguagePack], kit: Kit) -> None:
    """Every name and header is read as it is meant, in every language, and every refusal text as a refusal.

    Each displayed name stands in each slot under each condition. Aliases, which depend on neither, stand in the first
    slot under the first condition that offers the label. English names and headers are tried in every language.
    What is not read in upper, lower or title case is a warning: nobody asked for it so, but models write it.
    """
    manifest: Manifest = document.value
    form = make_form(manifest, tuple(manifest["conditions"]), ())
    parser = kit.parser(manifest["protocols"].get("generate", {}).get("parser", PARSER), form, packs)
    if form.task == "sentence_pair":
        return
    if form.task == "choice":
        check_letters(report, document, form, parser)
        _refusals(report, document, packs, parser)
        return
    told: set[str] = set()
    count = 0
    for count, each in enumerate(_tries(manifest, form), start=1):  # noqa: B007 - told at the end
        pointer, message = _read(each, manifest, parser)
        if message and pointer not in told:
            told.add(pointer)
            report.add(each.level, document, pointer, message)
    if not told:
        report.facts.append(f"{many(count, 'answer')}, with every name and header in every language, read as meant")
    _refusals(report, document, packs, parser)


def _read(each: _Try, manifest: Manifest, parser: Parser) -> tuple[str, str]:
    """What is wrong with an answer, and where; an empty message if it is read as it is meant."""
    where = f"answer_template/{each.language}"
    try:
        template = compiled(manifest["answer_template"][each.language], where)
        text = template.render({"header": each.headers, **each.names})
    except DataError as failure:
        return child("/answer_template", each.language), str(failure)
    answer = parser.parse(text, language=each.language, condition=each.condition, finish_reason="stop")
    pointer, written = each.spelling
    read, label = answer.slots[each.slot], each.meant[each.slot]
    meant = Reading(Outcome.ABSTAINED if label.abstains else Outcome.ANSWERED, label.key)
    if read == meant:
        return pointer, ""
    return pointer, (
        f"with {shorten(written)} in an answer in {each.language} under {each.condition!r}, {each.slot} is read as "
        f"{said(read)}, expected {said(meant)}; change the spelling, or what it is taken for"
    )


def _tries(manifest: Manifest, form: Form) -> Iterator[_Try]:
    for language in manifest["languages"]:
        tried: set[str] = set()
        for condition, asked in manifest["conditions"].items():
            labels = [label for label in form.labels if asked.get("abstention") or not label.abstains]
            tries = _Tries(manifest, form, labels, language, condition)
            yield from tries.names(tried)
            yield from tries.headers()
            tried |= {label.key for label in labels}


class _Tries:
    """The answers in one language under one condition."""

    def __init__(self, manifest: Manifest, form: Form, labels: list[Label], language: str, condition: str) -> None:
        self._form, self._labels, self._language, self._condition = form, labels, language, condition
        self._tongues = tuple(dict.fromkeys((language, "en")))
        self._places = {label["key"]: f"/labels/{index}/names" for index, label in enumerate(manifest["labels"])}
        if "abstention" in manifest:
            self._places[manifest["abstention"]["key"]] = "/abstention/names"

    def names(self, tried: Collection[str]) -> Iterator[_Try]:
        """Each label in each slot; in the first slot also its aliases, unless it was ``tried`` before."""
        for label in self._labels:
            spellings = list(_spellings(label.names, self._tongues, self._places[label.key]))
            for slot in self._form.slots:
                aliases = slot is self._form.slots[0] and label.key not in tried
                for spelling in spellings if aliases else spellings[:1]:
                    yield self._answer(slot.key, label, spelling, header=False)
                    for cased in in_cases(spelling[1], self._language) if aliases else ():
                        yield self._answer(slot.key, label, (spelling[0], cased), header=False, level="warning")

    def headers(self) -> Iterator[_Try]:
        """Each header of each slot, with the first label in it."""
        for index, slot in enumerate(self._form.slots):
            place = child(f"/slots/{index}/headers", self._condition)
            for spelling in _spellings(slot.headers.get(self._condition, {}), self._tongues, place):
                yield self._answer(slot.key, self._labels[0], spelling, header=True)
                for cased in in_cases(spelling[1], self._language):
                    yield self._answer(slot.key, self._labels[0], (spelling[0], cased), header=True, level="warning")

    def _answer(self, slot: str, label: Label, spelling: Spelling, *, header: bool, level: Level = "error") -> _Try:
        """``label`` in ``slot``, the labels after it in the others; ``spelling`` replaces what is displayed."""
        others = self._labels.index(label) + 1
        following = (self._labels[(others + turn) % len(self._labels)] for turn in range(len(self._labels)))
        meant = {each.key: label if each.key == slot else next(following) for each in self._form.slots}
        headers = {each.key: each.header(self._condition, self._language) for each in self._form.slots}
        names = {key: filled.name(self._language) for key, filled in meant.items()}
        (headers if header else names)[slot] = spelling[1]
        return _Try(spelling, slot, self._language, self._condition, headers, names, meant, level)


def in_cases(text: str, language: str) -> list[str]:
    """``text`` in upper, lower and title case as the language has it, where that is another text.

    In Turkish and Azerbaijani i goes with the dotted capital and the dotless one with I (Unicode, SpecialCasing.txt).
    """
    dotted = language.partition("-")[0] in ("tr", "az")

    def upper(part: str) -> str:
        return (part.replace("i", "\u0130") if dotted else part).upper()

    def lower(part: str) -> str:
        return (part.replace("\u0130", "i").replace("I", "\u0131") if dotted else part).lower()

    title = " ".join(upper(word[:1]) + lower(word[1:]) for word in text.split(" "))
    return [each for each in dict.fromkeys((upper(text), lower(text), title)) if each != text]


def _spellings(names: Mapping[str, tuple[str, ...]], languages: tuple[str, ...], pointer: str) -> Iterator[Spelling]:
    for language in languages:
        for index, text in enumerate(names.get(language, ())):
            yield f"{child(pointer, language)}/{index}", text


def _refusals(report: Report, document: Document, packs: Mapping[str, LanguagePack], parser: Parser) -> None:
    for index, language in enumerate(document.value["languages"]):
        pack = packs.get(language) or packs.get(language.partition("-")[0])
        for condition in document.value["conditions"]:
            if pack is None or not pack.refusal_text:
                continue
            slots = parser.parse(pack.refusal_text, language=language, condition=condition).slots
            if {reading.outcome for reading in slots.values()} != {Outcome.REFUSED}:
                what = f"the refusal text of the pack {pack.language!r} is not read as a refusal under {condition!r}"
                report.add("error", document, f"/languages/{index}", f"{what}; a name or header stands in it")
