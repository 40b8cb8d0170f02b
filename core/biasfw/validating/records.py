"""The files of records in a run directory: every record fits its schema, and every key stands there once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from biasfw import schemas
from biasfw.errors import BiasfwError
from biasfw.findings import Finding, Report
from biasfw.schemas import Problem
from biasfw.validating.items import texts
from biasfw.validating.lines import Line, read_lines
from biasfw.validating.pruning import as_errors

_SURROGATES = range(0xD800, 0xE000)


class Kind(NamedTuple):
    """What a file holds: the schema of its records, what each is known by ("" if it may repeat), what it is about."""

    schema: str
    identity: str
    means: str = ""


FILES = {
    "items.jsonl": Kind("stored-item", "id"),
    "requests.jsonl": Kind("request", "key", "item_id"),
    "responses.jsonl": Kind("response", "key", "key"),
    "failures.jsonl": Kind("response", "", "key"),  # one request may fail more than once
}
OF_JUDGES = {**FILES, "requests.jsonl": Kind("request", "key")}
JUDGEMENT = Kind("judgement", "key", "response_key")


@dataclass
class Records:
    """The sound records of a file: what each is known by, and what each is about, with the first line of it."""

    lines: dict[str, int] = field(default_factory=dict)
    means: dict[str, int] = field(default_factory=dict)


def kind_of(path: Path) -> Kind | None:
    """What a file holds, by its place in a run directory; None if it is none."""
    if path.name in FILES and (path.parent / "run.json").is_file():
        return FILES[path.name]
    if path.parent.name == "judgements":
        return JUDGEMENT
    return OF_JUDGES.get(path.name) if path.parent.parent.name == "judge-responses" else None


def files_of(folder: Path) -> dict[str, Kind]:
    """Every file of records that is there, by its name in the run directory."""
    found = {name: kind for name, kind in FILES.items() if (folder / name).is_file()}
    found |= {f"judgements/{path.name}": JUDGEMENT for path in sorted((folder / "judgements").glob("*.jsonl"))}
    for path in sorted((folder / "judge-responses").glob("*/*.jsonl")):
        if path.name in OF_JUDGES:
            found[f"judge-responses/{path.parent.name}/{path.name}"] = OF_JUDGES[path.name]
    return found


def read_records(report: Report, path: Path, kind: Kind) -> Records:
    """Check every record of a file. A torn last line is what a killed run leaves: a warning."""
    fits = schemas.valid(kind.schema)
    found = Records()
    try:
        for line in read_lines(path):
            if line.flaw is not None:
                report.findings.append(_broken(line))
            elif not fits(line.value):
                wrong = schemas.problems(kind.schema, line.value)
                report.findings += as_errors([line.problem(each.pointer, each.message) for each in wrong])
                _remember(line, kind, found)  # it is wrong, and there
            else:
                _take(report, line, kind, found)
    except BiasfwError as failure:
        report.take(failure)
    return found


def _broken(line: Line) -> Finding:
    assert line.flaw is not None  # noqa: S101 - the caller has asked
    if line.raw and not line.raw.endswith(b"\n"):
        what = "the last line is torn, as a killed run leaves it; the same command cuts it off and asks again"
        return Finding("warning", Problem(line.flaw.file, line.number, line.flaw.column, "", what))
    return Finding("error", line.flaw)


def _remember(line: Line, kind: Kind, found: Records) -> None:
    value = line.value if isinstance(line.value, dict) else {}
    for name, noted in ((kind.identity, found.lines), (kind.means, found.means)):
        if name and isinstance(value.get(name), str):
            noted.setdefault(value[name], line.number)


def _take(report: Report, line: Line, kind: Kind, found: Records) -> None:
    if kind.identity:
        key = str(line.value[kind.identity])
        if key in found.lines:
            what = f"the {kind.identity} {key[:40]!r} also stands in line {found.lines[key]}; the first one counts"
            report.findings.append(Finding("error", line.problem(f"/{kind.identity}", f"{what}, remove this")))
    _remember(line, kind, found)
    if b"\\ud" in line.raw or b"\\uD" in line.raw:
        for pointer, text in texts(line.value):
            if any(ord(character) in _SURROGATES for character in text):
                what = "half a surrogate pair: kept as the model wrote it, and shown escaped"
                report.findings.append(Finding("warning", line.problem(pointer, what)))
