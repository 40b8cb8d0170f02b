"""What a check finds: errors and warnings with their places, and what it is able to say for certain."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from biasfw import schemas
from biasfw.document import Document
from biasfw.errors import BiasfwError, DataError
from biasfw.schemas import Problem
from biasfw.yamlfile import load_yaml

Level = Literal["error", "warning"]
Kind = Literal["language", "benchmark", "config", "judge", "run", "plugin", "data"]

_PLACED = re.compile(r"(?P<file>.*?\.\w+):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<rest>.*)", re.DOTALL)
_CELL = re.compile(
    r"(?P<file>.*?\.xlsx): (?P<cell>sheet .*?, cell (?P<column>[A-Z]+)(?P<row>\d+)): (?P<rest>.*)", re.DOTALL
)
OF_A_KIND = 50  # are told of one file; more of them say nothing new
_DIGITS = re.compile(r"\d+")
_PARTICULAR = re.compile(r"\"[^\"]*\"|'[^']*'|\d+")
_NAMED = re.compile(r"(?P<file>[^:\n]*\.\w+): (?P<rest>.*)", re.DOTALL)  # a file that cannot be read at all
_POINTED = re.compile(r"(?P<pointer>/\S*): (?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong (error) or doubtful (warning)."""

    level: Level
    problem: Problem
    count: int = 1  # for how many it stands

    def __str__(self) -> str:
        """``file:line:column: error: pointer: message``, as editors read it."""
        place = self.problem.place
        return f"{place}: {self.level}: {str(self.problem).removeprefix(f'{place}: ')}"


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that was counted or computed: a number, a mapping, or the rows of a table (``about: columns``)."""

    split: str
    name: str
    value: Any
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Report:
    """What was found out about one thing. ``facts`` are what was checked and holds, or cannot be said."""

    kind: Kind
    name: str
    file: str
    facts: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)

    @property
    def errors(self) -> int:
        """How many things are wrong."""
        return sum(finding.count for finding in self.findings if finding.level == "error")

    @property
    def warnings(self) -> int:
        """How many things are doubtful."""
        return sum(finding.count for finding in self.findings if finding.level == "warning")

    def settle(self) -> None:
        """Put the findings in the order of their files; of very many of a kind, one says how many more there are."""
        seen: Counter[tuple[str, ...]] = Counter()
        kept: list[Finding] = []
        rest: dict[tuple[str, ...], list[Finding]] = {}
        for finding in sorted(self.findings, key=lambda each: _order(each.problem)):
            kind = _kind(finding)
            seen[kind] += finding.count
            if seen[kind] <= OF_A_KIND:
                kept.append(finding)
            else:
                rest.setdefault(kind, []).append(finding)
        for alike in rest.values():
            first, count = alike[0], sum(each.count for each in alike)
            told = first
            if count > 1:
                more = f"(and {count - 1:,} more like this below, to line {alike[-1].problem.line})"
                told = replace(
                    first, problem=replace(first.problem, message=f"{first.problem.message} {more}"), count=count
                )
            kept.append(told)
        self.findings = sorted(kept, key=lambda each: _order(each.problem))

    def add(self, level: Level, document: Document, pointer: str, message: str) -> None:
        """Add what is found at ``pointer`` of a document."""
        line, column = document.position(pointer)
        self.findings.append(Finding(level, Problem(document.name, line, column, document.original(pointer), message)))

    def take(self, failure: BiasfwError) -> None:
        """Add an error that was raised; its place is taken from its message."""
        text, file, line, column, pointer = str(failure), self.file, 0, 0, ""
        cell = ""
        if placed := _CELL.fullmatch(text):
            file, cell, text = placed["file"], placed["cell"], placed["rest"]
            line, column = int(placed["row"]), _column(placed["column"])
        elif placed := _PLACED.fullmatch(text):
            file, text = placed["file"], placed["rest"]
            line, column = int(placed["line"]), int(placed["column"] or 1)
        elif (named := _NAMED.fullmatch(text)) and os.path.lexists(named["file"]):
            file, text = named["file"], named["rest"]
        if pointed := _POINTED.fullmatch(text):
            pointer, text = pointed["pointer"], pointed["rest"]
        self.findings.append(Finding("error", Problem(file, line, column, pointer, text, cell)))

    def read(self, path: Path, schema: str) -> Document | None:
        """The YAML file ``path``, if it is one and fits the schema; else all that is wrong is added."""
        try:
            document = load_yaml(path)
        except DataError as failure:
            self.take(failure)
            return None
        found = schemas.problems(schema, document.value, document)
        self.findings += [Finding("error", problem) for problem in found]
        return None if found else document

    def as_json(self) -> dict[str, Any]:
        """Plain data, for ``--json``."""
        problems = [
            {
                "level": finding.level,
                **{name: getattr(finding.problem, name) for name in Problem.__slots__ if name != "cell"},
                **({"cell": finding.problem.cell} if finding.problem.cell else {}),
                **({"count": finding.count} if finding.count > 1 else {}),
            }
            for finding in self.findings
        ]
        return {
            "kind": self.kind,
            "name": self.name,
            "file": self.file,
            "facts": self.facts,
            "problems": problems,
            **({"measures": [asdict(measure) for measure in self.measures]} if self.measures else {}),
        }


def _order(problem: Problem) -> tuple[str, int, int]:
    return problem.file, problem.line, problem.column


def _kind(finding: Finding) -> tuple[str, ...]:
    """What is alike in findings of one kind: all but the names, numbers and texts in them."""
    problem = finding.problem
    return finding.level, problem.file, _DIGITS.sub("#", problem.pointer), _PARTICULAR.sub("#", problem.message)


def _column(letters: str) -> int:
    """The number of a column from 1: A is 1, AA is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
