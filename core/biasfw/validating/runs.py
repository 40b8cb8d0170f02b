"""A run directory: every file fits its schema, is there if another names it, and speaks of what is there."""

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
from biasfw.validating import runlinks
from biasfw.validating.pruning import as_errors
from biasfw.validating.records import FILES, files_of, read_records


def validate_run(folder: Path) -> Report:
    """Check every file of a run directory."""
    report = Report("run", folder.name, str(folder))
    info = _json(report, folder / "run.json", "run") if (folder / "run.json").is_file() else None
    sound = info if info is not None and not report.errors else None
    runlinks.check_there(report, folder, sound)
    if sound is not None:
        runlinks.check_named(report, folder, sound)
    found = {name: read_records(report, folder / name, kind) for name, kind in files_of(folder).items()}
    runlinks.check_records(report, folder, found)
    for path in sorted((folder / "scores").glob("*.json")):
        _scores(report, path)
    _labels(report, folder)
    if not report.errors:
        counts = ", ".join(
            f"{len(of.lines or of.means):,} {Path(name).stem}" for name, of in found.items() if name in FILES
        )
        others = len(found) - sum(name in FILES for name in found)
        judged = f"; {many(others, 'file')} of judges" if others else ""
        report.facts.append(f"every record fits its schema: {counts}{judged}")
    return report


def validate_json(path: Path) -> Report:
    """Check run.json, or a file of scores."""
    report = Report("run", path.name, str(path))
    if path.parent.name == "scores":
        _scores(report, path)
    else:
        _json(report, path, "run")
    return report


def _labels(report: Report, folder: Path) -> None:
    """What people labelled: each draw as it was drawn, and no labels without their draw."""
    from biasfw.labelling import keeping  # noqa: PLC0415 - only where there are some

    before = report.errors
    drawn = keeping.draws(folder)
    for path in sorted((folder / keeping.FOLDER).glob("draw-*.json")):
        document = _load(report, path)
        if document is not None and (newer := schemas.newer(document.value, 1)):
            report.add("error", document, "/schema_version", newer)
    if report.errors > before:
        return
    for name in drawn:
        try:
            keeping.load_labels(folder, keeping.load_draw(folder, name))
        except BiasfwError as failure:
            report.take(failure)
    for path in sorted((folder / keeping.FOLDER).glob("*.labels.json")):
        if path.name.removesuffix(".labels.json") not in drawn:
            what = "these labels belong to a draw that is missing; restore it beside them"
            report.findings.append(Finding("error", Problem(str(path), 0, 0, "", what)))


def _json(report: Report, path: Path, schema: str) -> Document | None:
    document = _load(report, path)
    if document is not None:
        report.findings += as_errors(schemas.problems(schema, document.value, document))
    return document


def _scores(report: Report, path: Path) -> None:
    document = _load(report, path)
    if document is None:
        return
    if newer := schemas.newer(document.value, 1):
        report.add("error", document, "/schema_version", newer)
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
    except (ValueError, RecursionError) as failure:
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
