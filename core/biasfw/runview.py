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

from biasfw import bundles, languages
from biasfw.bundles import Bundle
from biasfw.codec import decode
from biasfw.errors import BiasfwError, StoreError
from biasfw.form import Form
from biasfw.jsonlines import JsonLines
from biasfw.keys import sha256_json
from biasfw.languages import LanguagePack
from biasfw.plugins import Plugins
from biasfw.records import Item, Judgement, Outcome, Request, Response, Score
from biasfw.scorefiles import FOLDER, in_words
from biasfw.store import RunDirectory, read_run

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
        found = sorted(path.stem for path in (self.path / "judgements").glob("*.jsonl"))
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
        return RunRows(self.path, self.judges)


class RunRows:
    """Every stored request in the order in which they were rendered: a sequence that reads each row on access."""

    def __init__(self, path: Path, judges: tuple[str, ...]) -> None:
        with RunDirectory(path, write=False) as directory:
            self._keys = list(directory.requests.index)
            self._items, self._requests = _Reader(directory.items), _Reader(directory.requests)
            self._answers = [
                (file.path.name, _Reader(file), _line_ends(file.path))
                for file in (directory.responses, directory.failures)
            ]
        self._judgements = {}
        for name in judges:
            file = path / "judgements" / f"{name}.jsonl"
            lines = JsonLines(file, "judgement", "response_key", last_wins=True)
            self._judgements[name] = _Reader(lines.open(write=False))

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
        return RunRow(item, request, response, name, line, _verdicts(self._judgements, response))

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


def _verdicts(judgements: Mapping[str, _Reader], response: Response | None) -> dict[str, Judgement]:
    """The judgements of a response; one on a failure that was mended since is out of date."""
    found = {}
    for name, reader in judgements.items():
        if response is not None and response.key in reader.index:
            judgement = decode(Judgement, reader.read(response.key))
            failed = any(reading.outcome is Outcome.ERROR for reading in judgement.slots.values())
            if not failed or response.error is not None:
                found[name] = judgement
    return found


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
    if not (path / "run.json").is_file():
        raise StoreError(f"{path} holds no run (no run.json); give a folder that biasfw run made")
    info = read_run(path / "run.json")
    if info is None:
        raise StoreError(f"{path / 'run.json'} is damaged; run the command that made it once more")
    scores = _score_files(path, info)
    if not scores:
        raise StoreError(f"{path} was not scored; run: biasfw score {path}")
    bundle = _bundle(info, plugins)
    protocol = info["protocol"]
    form = bundles.make_form(bundle.manifest, protocol["conditions"], protocol.get("without", ()))
    notes = list(info["benchmark"].get("notes", ()))
    if sha256_json(bundle.written) != info["benchmark"]["manifest_sha256"]:
        notes.append("the benchmark's description has changed since the run was made: it is told as it is now")
    return RunView(path, info, bundle, form, _packs(bundle, form, plugins), scores, tuple(notes), bundle.manifest)


def _bundle(info: Mapping[str, Any], plugins: Plugins) -> Bundle:
    """The benchmark of a run at the split that was run: by the folder that was named, else by its name."""
    config, benchmark = info["config"], info["benchmark"]
    data = Path(config["data"]) if config.get("data") else None
    named = str(config["benchmark"])
    if "/" not in named and "\\" not in named and named != ".":
        named = f"{named.partition(':')[0]}:{benchmark['split']}"
    try:
        return bundles.find(named, plugins, data)
    except BiasfwError:
        if named == benchmark["name"]:
            raise
    return bundles.find(f"{benchmark['name']}:{benchmark['split']}", plugins, data)


def _packs(bundle: Bundle, form: Form, plugins: Plugins) -> dict[str, LanguagePack]:
    own = bundle.folder / "languages"
    folders = [folder for folder, _ in plugins.folders("language")]
    return languages.load_packs(folders, form.languages, overrides=own if own.is_dir() else None)


def _score_files(path: Path, info: Mapping[str, Any]) -> tuple[RunScores, ...]:
    """Every file of scores/: all metrics before some, more responses before fewer, the run's judge before others."""
    entries: Mapping[str, Any] = info.get("scored", {})
    ranks = {name: place for place, name in enumerate(entries)}
    found = []
    for file in sorted((path / FOLDER).glob("*.json")):
        name = f"{FOLDER}/{file.name}"
        document = _document(file)
        filters = document.get("filters", {})
        responses = entries.get(name, {}).get("responses", max((s["n"] for s in document["scores"]), default=0))
        said = in_words({"selection": document.get("selection", ""), "filters": filters})
        scores = tuple(decode(Score, score) for score in document["scores"])
        judge = document["judge"]
        rank = ("metrics" in filters, -responses, judge != info.get("judge", judge), -ranks.get(name, -1), name)
        found.append((rank, RunScores(name, judge, scores, document, responses, not filters, said)))
    return tuple(stored for _, stored in sorted(found, key=lambda pair: pair[0]))


def _document(file: Path) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(file.read_bytes())
        if isinstance(document["scores"], list) and isinstance(document["judge"], str):
            return document
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise StoreError(f"{file} is damaged; run: biasfw score {file.parents[1]}")
