"""The templates of a manifest: each compiles, and each field that it names is there in some item of its language."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasfw.document import Document, child
from biasfw.errors import DataError
from biasfw.findings import Finding, Report
from biasfw.manifestparts import all_conditions
from biasfw.phrases import did_you_mean
from biasfw.schemas import Problem
from biasfw.templates import compile_template
from biasfw.textfile import read_text
from biasfw.validating.fields import MADE, NEAR, has_cell, offered

if TYPE_CHECKING:
    from biasfw.validating.items import Told

Manifest = Mapping[str, Any]
_JUDGE = frozenset({"text", "begin", "end", "form", "label_list", "labels", "slots", "language"})
_PREFIX = re.compile(r"^template: (line (?P<line>\d+): )?")


@dataclass(frozen=True)
class _Asked:
    """A text of the manifest: where it stands, its language ("" for all), and the names that it may use.

    ``known``: None for what the task makes and the fields of items, of those in ``split`` only if that is named.
    """

    pointer: str
    text: str
    language: str
    known: frozenset[str] | None = None
    split: str | None = None

    def fields(self, there: Mapping[str, Mapping[str, set[str]]]) -> list[set[str]]:
        """The fields of the items that it is asked about, by split and language."""
        some = there.values() if self.split is None else [there.get(self.split, {})]
        return [names for tags in some for tag, names in tags.items() if self.language in ("", tag)]

    def first(self, of_splits: Mapping[str, Sequence[Told]]) -> Told:
        """The first item that it is asked about."""
        some = of_splits.values() if self.split is None else [of_splits[self.split]]
        return next(told for items in some for told in items if self.language in ("", told.seed.language))


def check_templates(
    report: Report, document: Document, of_splits: Mapping[str, Sequence[Told]], unsure: Collection[str] = ()
) -> None:
    """Add what is wrong with any template. Without the items of a split it is not known which fields there are.

    ``unsure``: splits of which some columns cannot be read, so that a field that is missing may be one of them.
    """
    made = MADE[document.value["task"]]
    there = {split: offered(items) for split, items in of_splits.items()}
    for asked in _templates(document.value):
        try:
            variables = compile_template(asked.text, "template").variables
        except DataError as failure:
            _add(report, document, asked.pointer, _PREFIX.sub("", str(failure)), _PREFIX.match(str(failure)))
            continue
        if not variables - (made if asked.known is None else asked.known):
            continue
        fields = asked.fields(there) if asked.known is None else []
        if asked.known is None and (not fields or asked.split in unsure or (asked.split is None and unsure)):
            continue
        names = made.union(*fields) if asked.known is None else asked.known
        for name in sorted(variables - names):
            meant = names if asked.known is not None else _meant(name, made, fields)
            near = did_you_mean(name, meant)
            what = f"{name!r} is undefined here; {near}"
            if fields:
                first = asked.first(of_splits)
                if has_cell(first, name):
                    continue  # a column that nobody has filled: told at its cells
                language = f" in {asked.language}" if asked.language else ""
                begins = first.place("", "").place
                what = f"{name!r} is undefined: no item{language} has such a field; {near} (first item: {begins})"
            line, column = _place(document, asked.pointer, name)
            found = Problem(document.name, line, column, document.original(asked.pointer), what)
            report.findings.append(Finding("error", found))


def _meant(name: str, made: Collection[str], fields: Sequence[Collection[str]]) -> set[str]:
    """The fields of the items; of what the task makes only what is nearly the same word."""
    return set[str]().union(*fields, difflib.get_close_matches(name, made, n=1, cutoff=NEAR))


def _templates(manifest: Manifest) -> Iterator[_Asked]:
    """Every text that is a template."""
    nothing = frozenset[str]() if manifest["task"] == "sentence_pair" else None
    for name, languages in manifest.get("templates", {}).items():
        for language, parts in languages.items():
            pointer = child(child("/templates", name), language)
            for part, text in parts.items():
                yield _Asked(f"{pointer}/{part}", text, language, nothing)
    for split, pointer, condition in all_conditions(manifest):
        if "user" in condition:
            yield _Asked(f"{pointer}/user", condition["user"], "", nothing, split)
    for language, parts in manifest.get("judge_templates", {}).items():
        for part, text in parts.items():
            yield _Asked(f"{child('/judge_templates', language)}/{part}", text, language, _JUDGE)
    slots = frozenset(slot["key"] for slot in manifest.get("slots", ()))
    answer = {"labels": slots | {"header"}, "choice": frozenset({"letter", "text"})}.get(manifest["task"], frozenset())
    for language, text in manifest.get("answer_template", {}).items():
        yield _Asked(child("/answer_template", language), text, language, frozenset(answer))


def _add(report: Report, document: Document, pointer: str, message: str, said: re.Match[str] | None) -> None:
    number = int(said["line"]) if said and said["line"] else 1
    line, column = _inside(document, pointer, number, message)
    inside = f"line {number} of the template: " if number > 1 else ""
    found = Problem(document.name, line, column, document.original(pointer), f"{inside}{message}")
    report.findings.append(Finding("error", found))


def _inside(document: Document, pointer: str, number: int, message: str) -> tuple[int, int]:
    """Where in the file stands what a message about line ``number`` of the template at ``pointer`` means."""
    line, column = document.position(pointer)
    value = document.value
    for part in pointer.split("/")[1:]:
        value = value[int(part) if isinstance(value, list) else part.replace("~1", "/").replace("~0", "~")]
    wanted = value.split("\n")[number - 1].strip() if number <= value.count("\n") + 1 else ""
    try:
        lines = read_text(Path(document.name)).splitlines()
    except DataError:
        return line, column
    for at in range(line - 1, len(lines)) if wanted else ():
        begins = lines[at].find(wanted, column - 1 if at == line - 1 else 0)
        if begins >= 0:
            return at + 1, begins + _meant_by(message, wanted) + 1
    return line, column  # it is written with escapes


def _meant_by(message: str, text: str) -> int:
    """Where in a line of a template stands what a message is about: the name in it, a call, or the first tag."""
    named = re.search(r'"([^"]+)"|loop\.(\w+)|the filter (\w+)|\{% (\w+)', message)
    word = next((each for each in named.groups() if each), "") if named else ""
    pattern = rf"(?<!\w){re.escape(word)}(?!\w)" if word else r"\w+(?=\s*\()" if "a call" in message else ""
    tags = list(re.finditer(r"\{[{%].*?(?:[}%]\}|$)", text))
    for tag in tags if pattern else ():
        if found := re.search(pattern, tag[0]):
            return tag.start() + found.start()
    return tags[0].start() if tags else 0


def _place(document: Document, pointer: str, name: str) -> tuple[int, int]:
    """Where ``name`` stands for the first time in the text at ``pointer``, as the file has it."""
    line, column = document.position(pointer)
    try:
        lines = read_text(Path(document.name)).splitlines()
    except DataError:
        return line, column
    word = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
    tag = re.compile(r"\{[{%].*?[}%]\}")
    for number in range(line, len(lines) + 1):
        text = lines[number - 1]
        for found in tag.finditer(text, column - 1 if number == line else 0):
            if named := word.search(text, found.start(), found.end()):
                return number, named.start() + 1
    return line, column
