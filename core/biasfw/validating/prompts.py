"""The templates of a manifest: each compiles, and each field that it names is there in some item of its language."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasfw.document import Document, child
from biasfw.errors import DataError
from biasfw.findings import Finding, Report
from biasfw.phrases import did_you_mean
from biasfw.schemas import Problem
from biasfw.templates import compile_template

if TYPE_CHECKING:
    from biasfw.validating.inspection import Split

Manifest = Mapping[str, Any]
_MADE = {
    "labels": frozenset({"label_list", "labels", "header", "instruction"}),
    "choice": frozenset({"options", "letters", "instruction"}),
    "sentence_pair": frozenset(),
}
_JUDGE = frozenset({"text", "begin", "end", "form", "label_list", "labels", "slots", "language"})
_PREFIX = re.compile(r"^template: (line (?P<line>\d+): )?")


def check_templates(report: Report, document: Document, splits: Sequence[Split]) -> None:
    """Add what is wrong with any template. Without items it is not known which fields there are."""
    offered: dict[str, set[str]] = defaultdict(set)
    for split in splits:
        for seed in split.seeds:
            offered[seed.language].update(seed.fields)
    made = _MADE[document.value["task"]]
    for pointer, text, language, known in _templates(document.value):
        try:
            variables = compile_template(text, "template").variables
        except DataError as failure:
            _add(report, document, pointer, _PREFIX.sub("", str(failure)), _PREFIX.match(str(failure)))
            continue
        if known is None and language not in offered:
            continue
        there = (made | offered[language]) if known is None else known
        for name in sorted(variables - there):
            near = did_you_mean(name, there)
            what = f"{name!r} is undefined: no item in {language} has such a field; {near}"
            if known is not None:
                what = f"{name!r} is undefined here; {near}"
            line, column = _place(document, pointer, name)
            found = Problem(document.name, line, column, document.original(pointer), what)
            report.findings.append(Finding("error", found))


def _templates(manifest: Manifest) -> Iterator[tuple[str, str, str, frozenset[str] | None]]:
    """Pointer, text, language, and the names it may use; None: what the task makes and the fields of items."""
    for name, languages in manifest.get("templates", {}).items():
        for language, parts in languages.items():
            pointer = child(child("/templates", name), language)
            for part, text in parts.items():
                yield f"{pointer}/{part}", text, language, None
    for language, parts in manifest.get("judge_templates", {}).items():
        for part, text in parts.items():
            yield f"{child('/judge_templates', language)}/{part}", text, language, _JUDGE
    slots = frozenset(slot["key"] for slot in manifest.get("slots", ()))
    answer = {"labels": slots | {"header"}, "choice": frozenset({"letter", "text"})}.get(manifest["task"], frozenset())
    for language, text in manifest.get("answer_template", {}).items():
        yield child("/answer_template", language), text, language, frozenset(answer)


def _add(report: Report, document: Document, pointer: str, message: str, said: re.Match[str] | None) -> None:
    line, column = document.position(pointer)
    inside = f"line {said['line']} of the template: " if said and said["line"] and int(said["line"]) > 1 else ""
    found = Problem(document.name, line, column, document.original(pointer), f"{inside}{message}")
    report.findings.append(Finding("error", found))


def _place(document: Document, pointer: str, name: str) -> tuple[int, int]:
    """Where ``name`` stands for the first time in the text at ``pointer``, as the file has it."""
    line, column = document.position(pointer)
    try:
        lines = Path(document.name).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError):
        return line, column
    word = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
    tag = re.compile(r"\{[{%].*?[}%]\}")
    for number in range(line, len(lines) + 1):
        text = lines[number - 1]
        for found in tag.finditer(text, column - 1 if number == line else 0):
            if named := word.search(text, found.start(), found.end()):
                return number, named.start() + 1
    return line, column
