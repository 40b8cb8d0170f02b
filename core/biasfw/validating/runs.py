"""A run directory: every record fits its schema, every key is there once, and every response has its request."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from biasfw import schemas
from biasfw.document import Document
from biasfw.errors import BiasfwError, DataError
from biasfw.findings import Finding, Report
from biasfw.jsontext import locate
from biasfw.phrases import many
from biasfw.schemas import Problem
from biasfw.textfile import read_text
from biasfw.validating.items import texts
from biasfw.validating.lines import Line, read_lines
from biasfw.validating.pruning import as_errors

_FILES = {
    "items.jsonl": ("stored-item", "id"),
    "requests.jsonl": ("request", "key"),
    "responses.jsonl": ("response", "key"),
    "failures.jsonl": ("response", ""),  # one request may fail more than once
}
_SURROGATES = range(0xD800, 0xE000)


def schema_of(path: Path) -> tuple[str, str] | None:
    """Schema and id of the records of a file, by its place in a run directory; None if it is none."""
    if path.name in _FILES and (path.parent / "run.json").is_file():
        return _FILES[path.name]
    if path.parent.name == "judgements":
        return "judgement", "key"
    return ("response", "key") if path.parent.name == "judge-responses" else None


def validate_run(folder: Path) -> Report:
    """Check every file of a run directory."""
    report = Report("run", folder.name, str(folder))
    keys: dict[str, set[str]] = {}
    _json(report, folder / "run.json", "run")
    for name, (schema, identity) in _FILES.items():
        if (folder / name).is_file():
            keys[name] = records(report, folder / name, schema, identity)
        elif name in ("items.jsonl", "requests.jsonl"):
            what = "is missing: the run cannot be continued or scored; restore it, or run again with --fresh"
            report.findings.append(Finding("error", Problem(str(folder / name), 0, 0, "", what)))
    for place, schema in (("judgements", "judgement"), ("judge-responses", "response")):
        for path in sorted((folder / place).glob("*.jsonl")):
            records(report, path, schema, "key")
    for path in sorted((folder / "scores").glob("*.json")):
        _scores(report, path)
    lost = keys.get("responses.jsonl", set()) - keys.get("requests.jsonl", set())
    if lost:
        what = f"{many(len(lost), 'response')} without a request of requests.jsonl, such as {min(lost)[:12]}…"
        path = folder / "responses.jsonl"
        report.findings.append(Finding("error", Problem(str(path), 0, 0, "", f"{what}; the files are of two runs")))
    if not report.errors:
        counts = ", ".join(f"{len(found)} {name.removesuffix('.jsonl')}" for name, found in keys.items())
        report.facts.append(f"every record fits its schema: {counts}")
    return report


def validate_json(path: Path) -> Report:
    """Check run.json, or a file of scores."""
    report = Report("run", path.name, str(path))
    if path.parent.name == "scores":
        _scores(report, path)
    else:
        _json(report, path, "run")
    return report


def records(report: Report, path: Path, schema: str, identity: str) -> set[str]:
    """Check every record of a file; the ids that it holds. A torn last line is what a killed run leaves: a warning."""
    fits = schemas.valid(schema)
    seen: dict[str, int] = {}
    try:
        for line in read_lines(path):
            if line.flaw is not None:
                report.findings.append(_broken(line))
            elif not fits(line.value):
                found = schemas.problems(schema, line.value)
                report.findings += as_errors([line.problem(each.pointer, each.message) for each in found])
            else:
                _known(report, line, identity, seen)
    except BiasfwError as failure:
        report.take(failure)
    return set(seen)


def _broken(line: Line) -> Finding:
    assert line.flaw is not None  # noqa: S101 - the caller has asked
    if line.raw and not line.raw.endswith(b"\n"):
        what = "the last line is torn, as a killed run leaves it; the same command cuts it off and asks again"
        return Finding("warning", Problem(line.flaw.file, line.number, line.flaw.column, "", what))
    return Finding("error", line.flaw)


def _known(report: Report, line: Line, identity: str, seen: dict[str, int]) -> None:
    if identity:
        key = str(line.value[identity])
        if key in seen:
            what = f"the {identity} {key[:40]!r} also stands in line {seen[key]}; the first one counts, remove this"
            report.findings.append(Finding("error", line.problem(f"/{identity}", what)))
        seen.setdefault(key, line.number)
    if b"\\ud" in line.raw or b"\\uD" in line.raw:
        for pointer, text in texts(line.value):
            if any(ord(character) in _SURROGATES for character in text):
                what = "half a surrogate pair: kept as the model wrote it, and shown escaped"
                report.findings.append(Finding("warning", line.problem(pointer, what)))


def _json(report: Report, path: Path, schema: str) -> Document | None:
    document = _load(report, path)
    if document is not None:
        report.findings += as_errors(schemas.problems(schema, document.value, document))
    return document


def _scores(report: Report, path: Path) -> None:
    document = _load(report, path)
    if document is None:
        return
    rows: Any = document.value.get("scores") if isinstance(document.value, dict) else None
    if not isinstance(rows, list):
        report.add("error", document, "", 'the property "scores" is missing; run: biasfw score RUN')
        return
    fits = schemas.valid("score")
    for index, row in enumerate(rows):
        if not fits(row):
            _rows(report, document, index, schemas.problems("score", row))


def _rows(report: Report, document: Document, index: int, found: Iterable[Problem]) -> None:
    for each in found:
        report.add("error", document, f"/scores/{index}{each.pointer}", each.message)


def _load(report: Report, path: Path) -> Document | None:
    """A JSON file with the place of every value."""
    try:
        text = read_text(path)
        value = json.loads(text)
        places = locate(text)  # refuses NaN, keys that stand twice, deep nesting
    except DataError as failure:
        report.take(failure)
        return None
    except ValueError as failure:
        line, column = getattr(failure, "lineno", 1), getattr(failure, "colno", 1)
        what = f"not JSON ({getattr(failure, 'msg', failure)}); restore the file"
        report.findings.append(Finding("error", Problem(str(path), line, column, "", what)))
        return None
    starts = [0]
    for at, character in enumerate(text):
        if character == "\n":
            starts.append(at + 1)
    return Document(str(path), value, _positions(places.values, starts), _positions(places.keys, starts))


def _positions(offsets: dict[str, int], starts: list[int]) -> dict[str, tuple[int, int]]:
    found = {}
    for pointer, offset in offsets.items():
        line = bisect_right(starts, offset)
        found[pointer] = line, offset - starts[line - 1] + 1
    return found
