"""A stored run for those who only read it: reporters, exports. Nothing is asked, judged or scored here.

What a number means stands in the benchmark's manifest, which is looked up among the installed benchmarks. Rows are read
one at a time, so that a run of any size can be walked through in little memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from biasfw import cautions, languages
from biasfw.answerform import make_form
from biasfw.bundles import Bundle
from biasfw.cautions import Caution
from biasfw.codec import decode
from biasfw.errors import StoreError
from biasfw.form import Form
from biasfw.jsonlines import JsonLines
from biasfw.keys import sha256_json
from biasfw.languages import LanguagePack
from biasfw.plugins import Plugins
from biasfw.records import Item, Judgement, Request, Response, Score
from biasfw.runfiles import RunFiles, benchmark_of, open_files
from biasfw.scorefiles import in_words

_CHUNK = 1 << 24  # bytes


@dataclass(frozen=True, slots=True)
class RunScores:
    """One file of ``scores/``: ``name`` as ``scores/rules-1a2b3c4d.json``, ``judge`` as it is named in judgements/.

    ``whole``: it covers what was asked for with all metrics of the benchmark; ``said`` is its selection in words.
    """

    name: str
    judge: str
    scores: tuple[Score, ...]
    document: Mapping[str, Any]
    responses: int
    whole: bool
    said: str

    def cautions(self) -> tuple[Caution, ...]:
        """What the terminal warns of under the tables of these scores, in the same words."""
        return tuple(cautions.of_document(self.document, self.scores))

    def against(self) -> tuple[Caution, ...]:
        """What stands against their headline because of the positions in the lists, once for each position."""
        return tuple(cautions.overall(self.scores))


@dataclass(frozen=True, slots=True)
class RunRow:
    """One request with what came of it. ``file`` and ``line`` (from 1) say where its response stands, if anywhere.

    ``judgements`` are the latest, by the name of the judge (as of the files in judgements/).
    """

    item: Item
    request: Request
    response: Response | None
    file: str
    line: int
    judgements: Mapping[str, Judgement]


@dataclass(frozen=True, slots=True)
class RunView:
    """A run directory, read. ``info`` is run.json; ``scores`` begins with the file that a headline is taken from."""

    path: Path
    info: Mapping[str, Any]
    bundle: Bundle
    form: Form
    packs: Mapping[str, LanguagePack]
    scores: tuple[RunScores, ...]
    notes: tuple[str, ...] = ()
    manifest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def judges(self) -> tuple[str, ...]:
        """The names of the judges that have judged, in the order of ``scores``, then others by name."""
        found = RunFiles(self.path, self.info).judge_names()
        first = dict.fromkeys(file.judge for file in self.scores if file.judge in found)
        return (*first, *(name for name in found if name not in first))

    def agreement(self) -> Mapping[str, Any]:
        """How far its judges agree, as ``biasfw agreement --json`` says it."""
        from biasfw import audit, verdicts  # noqa: PLC0415 - start-up time

        return audit.audit(verdicts.open_run(self.path))

    def rows(self) -> RunRows:
        """Its requests with what came of them; use it as a context manager.

        Raises:
            StoreError: a file cannot be read.
        """
        return RunRows(RunFiles(self.path, self.info), self.judges)


class RunRows:
    """Every stored request in the order in which they were rendered: a sequence that reads each row on access.

    ``flaws`` says what could not be read in its files, and is to be shown with them.
    """

    def __init__(self, files: RunFiles, judges: tuple[str, ...]) -> None:
        self._keys = files.keys()
        self._items, self._requests = _Reader(files.items), _Reader(files.requests)
        self._answers = [
            (file.path.name, _Reader(file), _line_ends(file.path)) for file in (files.responses, files.failures)
        ]
        self._judgements = {name: _Reader(files.judgements(name)) for name in judges}
        self._files = files
        self.flaws = files.flaws

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[RunRow]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, place: int) -> RunRow:
        key = self._keys[place]
        request = decode(Request, self._requests.read(key))
        response, name, line = None, "", 0
        for file, reader, ends in self._answers:
            if key in reader.index:
                response, name = decode(Response, reader.read(key)), file
                line = int(np.searchsorted(ends, reader.index[key][0])) + 1
                break
        item = decode(Item, self._items.read(request.item_id))
        return RunRow(item, request, response, name, line, self._verdicts(key) if response is not None else {})

    def _verdicts(self, key: str) -> dict[str, Judgement]:
        stored = {name: reader.read(key) for name, reader in self._judgements.items() if key in reader.index}
        return {name: decode(Judgement, row) for name, row in stored.items() if not self._files.outdated(row)}

    def languages(self) -> list[str]:
        """The language of every row, without reading the rest of it."""
        of_item: dict[str, str] = {}
        found = []
        for key in self._keys:
            name = self._requests.read(key)["item_id"]
            if name not in of_item:
                of_item[name] = self._items.read(name)["language"]
            found.append(of_item[name])
        return found

    def __enter__(self) -> RunRows:
        return self

    def __exit__(self, *_: object) -> None:
        for reader in (self._items, self._requests, *(r for _, r, _ in self._answers), *self._judgements.values()):
            reader.close()


class _Reader:
    """Reads records of one file through one open handle."""

    def __init__(self, lines: JsonLines) -> None:
        self.index = lines.index
        self._file = lines.path.open("rb") if lines.index else None

    def read(self, name: str) -> dict[str, Any]:
        assert self._file is not None  # noqa: S101 - what is not in the index is not asked for
        offset, length = self.index[name]
        self._file.seek(offset)
        row: dict[str, Any] = json.loads(self._file.read(length))
        return row

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _line_ends(path: Path) -> npt.NDArray[np.int64]:
    """The offset of every line end: line numbers hold although damaged lines are passed over."""
    found: list[npt.NDArray[np.int64]] = []
    start = 0
    if path.is_file():
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                found.append(np.flatnonzero(np.frombuffer(chunk, dtype=np.uint8) == ord("\n")) + start)
                start += len(chunk)
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def view_run(path: Path, plugins: Plugins | None = None) -> RunView:
    """Read what is known of the run in ``path``; its rows are read later.

    Raises:
        StoreError: there is no run in it, or it was not scored.
        UsageError: its benchmark is not installed.
    """
    plugins = plugins or Plugins.installed()
    files = open_files(path)
    info = files.info
    scores = _score_files(files)
    files.judges()  # says which judgements are missing
    if not scores:
        raise StoreError("; ".join(files.flaws) or f"{path} was not scored; run: biasfw score {path}")
    bundle = benchmark_of(path, info, plugins)
    protocol = info["protocol"]
    form = make_form(bundle.manifest, protocol["conditions"], protocol.get("without", ()))
    notes = [*files.flaws, *info["benchmark"].get("notes", ())]
    if sha256_json(bundle.written) != info["benchmark"]["manifest_sha256"]:
        notes.append("the benchmark's description has changed since the run was made: it is told as it is now")
    return RunView(path, info, bundle, form, _packs(bundle, form, plugins), scores, tuple(notes), bundle.manifest)


def _packs(bundle: Bundle, form: Form, plugins: Plugins) -> dict[str, LanguagePack]:
    own = bundle.folder / "languages"
    folders = [folder for folder, _ in plugins.folders("language")]
    return languages.load_packs(folders, form.languages, overrides=own if own.is_dir() else None)


def _score_files(files: RunFiles) -> tuple[RunScores, ...]:
    """Every file of scores/: all metrics before some, more responses before fewer, the run's judge before others."""
    entries: Mapping[str, Any] = files.info.get("scored", {})
    ranks = {name: place for place, name in enumerate(entries)}
    found = []
    for name, document in files.score_files().items():
        filters = document.get("filters", {})
        responses = entries.get(name, {}).get("responses", max((s["n"] for s in document["scores"]), default=0))
        said = in_words({"selection": document.get("selection", ""), "filters": filters})
        scores = tuple(decode(Score, score) for score in document["scores"])
        judge = document["judge"]
        rank = ("metrics" in filters, -responses, judge != files.info.get("judge", judge), -ranks.get(name, -1), name)
        found.append((rank, RunScores(name, judge, scores, document, responses, not filters, said)))
    return tuple(stored for _, stored in sorted(found, key=lambda pair: pair[0]))
