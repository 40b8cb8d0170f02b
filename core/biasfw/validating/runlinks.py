"""What the files of a run say of one another: every file that is named is there, and every record that is meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from biasfw.document import Document, child
from biasfw.findings import Finding, Level, Report
from biasfw.phrases import many
from biasfw.schemas import Problem
from biasfw.validating.records import Records

JUDGEMENTS, ASKED, SCORES = "judgements", "judge-responses", "scores"
_AGAIN = "restore it, or run again with --fresh"


def check_named(report: Report, folder: Path, info: Document) -> None:
    """Every file that run.json names, or that follows from what it says, is there."""
    run: Mapping[str, Any] = info.value
    for name in run.get("scored", {}):
        parts = PurePosixPath(name).parts
        if len(parts) != 2 or parts[0] != SCORES or parts[1] == "..":
            report.add("error", info, child("/scored", name), f"{name!r} is no file of {SCORES}/; remove the entry")
        elif not (folder / name).is_file():
            what = f"{name} is missing; compute it again: biasfw score {folder}"
            report.add("error", info, child("/scored", name), what)
    for name, entry in run.get("judges", {}).items():
        _judge(report, folder, info, name, entry)
    if "judge" in run and "judges" in run and run["judge"] not in run["judges"]:
        report.add("error", info, "/judge", f"the judge {run['judge']!r} is none of `judges`; judge the run again")
    for name in ("folder", "data"):
        if (where := run["benchmark"].get(name)) and not (folder / where).exists():
            what = f"{where} is not there, as seen from the run: it cannot be scored or continued; put it back"
            report.add("warning", info, f"/benchmark/{name}", what)


def _judge(report: Report, folder: Path, info: Document, name: str, entry: Mapping[str, Any]) -> None:
    pointer = child("/judges", name)
    again = f"judge again: biasfw judge {folder}"
    wanted = [f"{JUDGEMENTS}/{name}.jsonl"]
    if entry.get("identity") is not None:  # its model was asked
        wanted += [f"{ASKED}/{name}/{part}.jsonl" for part in ("requests", "responses")]
    for file in wanted:
        if not (folder / file).is_file():
            report.add("error", info, pointer, f"{file} is missing; restore it, or {again}")
    for member, other in entry.get("members", {}).items():
        if other not in info.value["judges"]:
            what = f"the member {other!r} is none of `judges`; {again}"
            report.add("error", info, f"{pointer}/members{child('', member)}", what)


def check_there(report: Report, folder: Path, info: Document | None) -> None:
    """The files that every run has."""
    begun = info is not None and (info.value["status"] != "running" or "outcomes" in info.value)
    needed = ["items.jsonl", "requests.jsonl", *(["responses.jsonl"] if begun else [])]
    if info is not None and any(counts.get("error") for counts in info.value.get("outcomes", {}).values()):
        needed.append("failures.jsonl")
    for name in needed:
        if not (folder / name).is_file():
            _file(report, "error", folder / name, f"is missing: the run cannot be continued or scored; {_AGAIN}")
    if info is None and not (folder / "run.json").is_file():
        _file(report, "error", folder / "run.json", f"is missing: nothing says what was asked; {_AGAIN}")


def check_records(report: Report, folder: Path, found: Mapping[str, Records]) -> None:
    """Every record means one that is there. ``found``: the files by their names, as they were read."""
    links = _Links(report, folder, found)
    answers = links.ids("responses.jsonl") | (
        set(found["failures.jsonl"].means) if "failures.jsonl" in found else set()
    )
    links.check("requests.jsonl", "item", "items.jsonl")
    links.check("responses.jsonl", "request", "requests.jsonl")
    links.check("failures.jsonl", "request", "requests.jsonl")
    for name in found:
        place, _, rest = name.partition("/")
        if place == JUDGEMENTS:
            links.check(name, "response", "responses.jsonl", answers)
        elif place == ASKED and not name.endswith("/requests.jsonl"):
            links.check(name, "request", f"{ASKED}/{rest.partition('/')[0]}/requests.jsonl")


@dataclass(frozen=True)
class _Links:
    report: Report
    folder: Path
    found: Mapping[str, Records]

    def ids(self, name: str) -> set[str]:
        """What the records of a file are known by."""
        return set(self.found[name].lines) if name in self.found else set()

    def check(self, name: str, kind: str, other: str, there: set[str] | None = None) -> None:
        """Tell once of the records of ``name`` that mean a ``kind`` which ``other`` does not hold."""
        if name not in self.found or other not in self.found:
            return  # that the file is missing is told
        known = self.ids(other) if there is None else there
        lost = [(line, key) for key, line in self.found[name].means.items() if key not in known]
        if lost:
            line, key = min(lost)
            noun = "judgement" if name.startswith(JUDGEMENTS) else PurePosixPath(name).stem.removesuffix("s")
            what = f"{many(len(lost), noun)} whose {kind} is not in {other}, such as {key[:12]}…"
            problem = Problem(str(self.folder / name), line, 1, "", f"{what}; the files are of two runs")
            self.report.findings.append(Finding("error", problem))


def _file(report: Report, level: Level, path: Path, what: str) -> None:
    report.findings.append(Finding(level, Problem(str(path), 0, 0, "", what)))
