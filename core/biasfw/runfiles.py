"""The files of a stored run, opened for reading: the one way in for exports, reports, comparisons and audits.

Nothing is repaired here. A damaged line is passed over, and ``RunFiles.flaws`` says so: file, line, count and the way
out; so it does of a file that is missing, and of responses that were changed after they had been judged. Whoever shows
anything of a run has to show these, too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasfw import bundles
from biasfw.bundles import Bundle
from biasfw.errors import BiasfwError, StoreError
from biasfw.filedigests import begins_with
from biasfw.jsonlines import JsonLines
from biasfw.plugins import Plugins
from biasfw.records import Outcome
from biasfw.scorefiles import FOLDER
from biasfw.store import read_run

Record = Mapping[str, Any]

_SCHEMAS = {"items": "stored-item", "requests": "request", "responses": "response", "failures": "response"}
_SHOWN = 5  # damaged lines of a file that are named
_NEEDED = ("items", "requests", "responses")  # files that every run has, be they empty


@dataclass
class RunFiles:
    """A run directory and its run.json. Every file is scanned once, when it is first asked for."""

    path: Path
    info: Record
    _open: dict[str, JsonLines] = field(default_factory=dict)
    _notes: dict[str, str] = field(default_factory=dict)
    _scores: dict[str, Record] | None = None

    @property
    def items(self) -> JsonLines:
        """Items by id."""
        return self._lines("items", id_field="id")

    @property
    def requests(self) -> JsonLines:
        """Requests by key, in the order in which they were rendered."""
        return self._lines("requests")

    @property
    def responses(self) -> JsonLines:
        """Final responses by key."""
        return self._lines("responses")

    @property
    def failures(self) -> JsonLines:
        """The last failed attempt by key."""
        return self._lines("failures", last_wins=True)

    def judge_names(self) -> list[str]:
        """The names of the files in judgements/, such as ``rules-1a2b3c4d``; reads none of them."""
        return sorted(path.stem for path in (self.path / "judgements").glob("*.jsonl"))

    def judges(self) -> list[str]:
        """The same, and a note of every judge that is gone but has scores."""
        found = self.judge_names()
        scored = [str(document["judge"]) for document in self.score_files().values()]
        for judge in dict.fromkeys(scored):
            if judge not in found:
                file = self.path / "judgements" / f"{judge}.jsonl"
                self._notes[str(file)] = f"{file} is missing; {self._judged_again(judge)} writes it anew"
        return found

    def judgements(self, judge: str) -> JsonLines:
        """The last judgement by the key of the response: it was made when the answer was there."""
        return self._lines(f"judgements/{judge}", id_field="response_key", last_wins=True)

    def keys(self) -> list[str]:
        """The keys of all requests whose item can be read."""
        if not self.items.flaws and self.items.path.is_file():
            return list(self.requests.index)
        return [row["key"] for row in self.asked()]

    def asked(self) -> Iterator[Record]:
        """Every request whose item can be read, in the order of the file."""
        lost = 0
        for row in self.requests.rows():
            if row["item_id"] in self.items.index:
                yield row
            else:
                lost += 1
        if lost:
            many = "1 request is" if lost == 1 else f"{lost} requests are"
            self._notes["lost"] = f"{self.path / 'requests.jsonl'}: {many} left out, for the items cannot be read"

    def outdated(self, judgement: Record) -> bool:
        """Whether it is about a failed attempt that was mended since."""
        failed = any(reading["outcome"] == Outcome.ERROR for reading in judgement["slots"].values())
        return failed and judgement["response_key"] in self.responses.index

    def score_files(self) -> Mapping[str, Record]:
        """Every readable document in scores/, by its name as in ``scores/rules-1a2b3c4d.json``."""
        if self._scores is None:
            self._scores = {}
            for file in sorted((self.path / FOLDER).glob("*.json")):
                document = read_scores(file)
                if document is not None:
                    self._scores[f"{FOLDER}/{file.name}"] = document
                else:
                    self._notes[file.name] = f"{file} is left out, it is damaged; run: biasfw score {self.path}"
            changed = changed_since(self.path, self._scores.values())
            for judge in changed if changed and not self.responses.flaws else ():  # damage is told as damage
                self._notes[f"changed {judge}"] = (
                    f"{self.path / 'responses.jsonl'} was changed after {judge} had judged it: verdicts and scores may "
                    f"be about other answers; remove {self.path / 'judgements' / judge}.jsonl and the scores by it, "
                    f"then run: {self._judged_again(judge)}"
                )
        return self._scores

    @property
    def flaws(self) -> tuple[str, ...]:
        """What could not be read in the files that were asked for until now, one line for each file."""
        damaged = [self._told(name, lines) for name, lines in self._open.items() if lines.flaws]
        return (*damaged, *self._notes.values())

    def _lines(self, name: str, *, id_field: str = "key", last_wins: bool = False) -> JsonLines:
        if name not in self._open:
            file = JsonLines(self.path / f"{name}.jsonl", _SCHEMAS.get(name, "judgement"), id_field, last_wins)
            self._open[name] = file.open(write=False)
            if name in _NEEDED and not file.path.is_file():
                again = " and asks for what it held again" if name == "responses" else ""
                self._notes[name] = f"{file.path} is missing; the command that made the run writes it anew{again}"
        return self._open[name]

    def _told(self, name: str, lines: JsonLines) -> str:
        numbers, torn = [number for number, _ in lines.flaws], lines.flaws[-1][1]
        if len(numbers) == 1:
            what = f":{numbers[0]}: 1 {'torn last' if torn else 'damaged'} line, passed over"
        else:
            shown = ", ".join(map(str, numbers[:_SHOWN])) + (", ..." if len(numbers) > _SHOWN else "")
            what = f":{numbers[0]}: {len(numbers)} damaged lines ({shown}), passed over"
        again = "the command that made the run"
        if name.startswith("judgements/"):
            again = self._judged_again(lines.path.stem)
        return f"{lines.path}{what}; {again} mends the file and asks for what it held again"

    def _judged_again(self, judge: str) -> str:
        return f"biasfw judge {self.path} --judge {judge.rpartition('-')[0] or judge}"


def open_files(path: Path) -> RunFiles:
    """The files of the run in ``path``.

    Raises:
        StoreError: there is no run in it, it is damaged, or a newer biasfw wrote it.
    """
    info = path / "run.json"
    if not info.is_file():
        raise StoreError(f"{path} holds no run (no run.json); give a folder that biasfw run made")
    stored = read_run(info)
    if stored is None:
        raise StoreError(f"{info} is damaged; run the command that made it once more")
    return RunFiles(path, stored)


def benchmark_of(path: Path, info: Record, plugins: Plugins) -> Bundle:
    """The benchmark of the run in ``path``, at the split that was run: its folder if it is there, else by its name.

    Raises:
        UsageError: nobody offers it any more.
        DataError: its manifest is wrong.
    """
    config, benchmark = info["config"], info["benchmark"]
    named, split = str(config["benchmark"]), str(benchmark["split"])
    noted = benchmark.get("folder")  # as seen from the run
    if noted and (path / noted / bundles.MANIFEST).is_file():
        return bundles.load((path / noted).resolve(), split)
    data = Path(config["data"]) if config.get("data") else None
    if (Path(named) / bundles.MANIFEST).is_file():  # its default split need not be the one that was run
        return bundles.load(Path(named), split, data=data)
    if "/" not in named and "\\" not in named and named != ".":
        named = f"{named.partition(':')[0]}:{split}"
    try:
        return bundles.find(named, plugins, data)
    except BiasfwError:
        if named == f"{benchmark['name']}:{split}":
            raise
    return bundles.find(f"{benchmark['name']}:{split}", plugins, data)


def read_scores(file: Path) -> Record | None:
    """A document of scores/; None if it is damaged. A number that is none (NaN, infinity) is damage."""
    try:
        document: dict[str, Any] = json.loads(file.read_bytes(), parse_constant=_finite, parse_float=_finite)
        sound = isinstance(document["scores"], list) and isinstance(document["judge"], str)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return document if sound else None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number")
    return number


def changed_since(path: Path, documents: Iterable[Record]) -> dict[str, Record]:
    """Judge -> ``answers`` of its scores, where responses.jsonl does not begin any more as when they were made.

    Later answers are appended, so that the beginning stays. Documents of older runs do not tell, and are passed over.
    """
    known: dict[tuple[int, str], bool] = {}
    found: dict[str, Record] = {}
    responses = path / "responses.jsonl"
    if not responses.is_file():
        return found
    for document in documents:
        told = document.get("answers")
        if isinstance(told, Mapping) and isinstance(told.get("bytes"), int):
            mark = (told["bytes"], str(told.get("sha256")))
            if mark not in known:
                known[mark] = begins_with(responses, *mark)
            if not known[mark]:
                found[str(document["judge"])] = told
    return found
