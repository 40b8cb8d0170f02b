"""A run as it lies on disk, read without its data, its model or its plugins' code: for comparing and exporting."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from biasfw import bundles
from biasfw.bundles import Bundle
from biasfw.errors import StoreError, UsageError
from biasfw.jsonlines import JsonLines
from biasfw.keys import sha256_json
from biasfw.plugins import Plugins
from biasfw.scorefiles import FOLDER
from biasfw.store import RunDirectory, read_run

Record = Mapping[str, Any]
_AGAINST = ("position-locked", "not interpretable")  # how metrics say that a score is not to be read


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of a run: ``prompt`` is the hash of what was asked, whatever the sampling."""

    key: str
    item: str
    repeat: int
    prompt: str


@dataclass(frozen=True)
class StoredRun:
    """A run directory: run.json, the manifest of its benchmark, and readers of its records."""

    path: Path
    info: Record
    bundle: Bundle

    @property
    def name(self) -> str:
        """``name:split`` of the benchmark, as it was when the run was made."""
        benchmark = self.info["benchmark"]
        return f"{benchmark['name']}:{benchmark['split']}"

    @property
    def demo(self) -> bool:
        """Whether the split is machine-written and comparable with nothing published."""
        return bool(self.info["benchmark"]["demo"])

    @property
    def protocol(self) -> Record:
        """What the run's hash covers."""
        protocol: Record = self.info.get("protocol", {})
        return protocol

    @property
    def model(self) -> str:
        """The model as it was named, else as it called itself."""
        named = self.info["config"].get("model") or self.info.get("identity", {}).get("model")
        return str(named or self.info["config"]["backend"])

    @property
    def mode(self) -> str:
        """``generate`` or ``choices``."""
        return str(self.protocol.get("mode", self.info["config"].get("mode", "generate")))

    @property
    def manifest_changed(self) -> bool:
        """Whether the installed manifest is another than the one that the run was made with."""
        return sha256_json(self.bundle.written) != str(self.info["benchmark"]["manifest_sha256"])

    @cached_property
    def items(self) -> dict[str, Record]:
        """Every stored item by id, in the order of the file."""
        return {str(row["id"]): row for row in self._lines("items", "stored-item", "id").rows()}

    @cached_property
    def asked(self) -> list[Asked]:
        """Every stored request, in the order of the file; prompts only as hashes."""
        return [
            Asked(
                str(row["key"]),
                str(row["item_id"]),
                int(row.get("repeat", 0)),
                sha256_json([row.get("messages"), row.get("prompt"), row.get("choices")]),
            )
            for row in self._lines("requests", "request", "key").rows()
        ]

    def judges(self) -> list[str]:
        """Names of the judgement files: that of the last scores first, then in the order of their names."""
        folder = self.path / "judgements"
        found = sorted(path.stem for path in folder.glob("*.jsonl")) if folder.is_dir() else []
        last = [self.info["judge"]] if "judge" in self.info else [doc["judge"] for doc in self.scores()[::-1]]
        first = [name for name in last if name in found]
        return list(dict.fromkeys([*first, *found]))

    @cached_property
    def item_hashes(self) -> dict[str, str]:
        """The hash of every stored item by id."""
        return {name: sha256_json(row) for name, row in self.items.items()}

    def judgements(self, judge: str) -> dict[str, Record]:
        """Response key -> the last judgement of ``judge``."""
        lines = self._lines(f"judgements/{judge}", "judgement", "key")
        return {str(row["response_key"]): row for row in lines.rows()}

    def slots(self, judge: str) -> dict[str, Record]:
        """Response key -> what ``judge`` read in each slot; kept, since a run is compared with many."""
        if judge not in self._slots:
            self._slots[judge] = {key: row["slots"] for key, row in self.judgements(judge).items()}
        return self._slots[judge]

    @cached_property
    def _slots(self) -> dict[str, dict[str, Record]]:
        return {}

    def scores(self) -> list[Record]:
        """The documents in scores/ that run.json knows, oldest first; damaged ones are left out."""
        found: list[Record] = []
        for name in self.info.get("scored", {}):
            if Path(name).parent != Path(FOLDER):  # a run from elsewhere points nowhere else
                continue
            try:
                document = json.loads((self.path / name).read_bytes())
            except (OSError, ValueError):
                continue
            if isinstance(document, dict) and isinstance(document.get("scores"), list) and "judge" in document:
                found.append({**document, "file": name})
        return found

    def whole(self, judge: str) -> Record | None:
        """The last scores of the whole benchmark by its own metrics, as ``judge`` read it."""
        found = [doc for doc in self.scores() if doc["judge"] == judge and not doc.get("filters")]
        return found[-1] if found else None

    def remarks(self, judge: str) -> list[str]:
        """What stands against reading the scores at all: locked on a position, or unable to do the task."""
        documents = [doc for doc in self.scores() if doc["judge"] == judge]
        reasons = [
            str(score["reason"]).partition(";")[0]
            for score in (documents[-1]["scores"] if documents else ())
            if score.get("reason") and score["denominator"] == "all" and score.get("slice", {}).keys() <= {"condition"}
        ]
        return [each for each in dict.fromkeys(reasons) if each.startswith(_AGAINST)]

    def directory(self) -> RunDirectory:
        """The run directory, to be opened for reading."""
        return RunDirectory(self.path, write=False)

    def _lines(self, name: str, schema: str, id_field: str) -> JsonLines:
        return JsonLines(self.path / f"{name}.jsonl", schema, id_field=id_field).open(write=False)


def open_run(path: Path, plugins: Plugins) -> StoredRun:
    """Read run.json in ``path`` and the manifest of its benchmark.

    Raises:
        StoreError: there is no run, or it is damaged.
        UsageError: nobody offers the benchmark any more.
    """
    info = path / "run.json"
    if not info.is_file():
        raise StoreError(f"{path} holds no run (no run.json); give a folder that biasfw run made")
    stored = read_run(info)
    if stored is None:
        raise StoreError(f"{info} is damaged; run the command that made it once more")
    return StoredRun(path, stored, _bundle(path, stored, plugins))


def _bundle(path: Path, stored: Record, plugins: Plugins) -> Bundle:
    named, split = str(stored["config"]["benchmark"]), str(stored["benchmark"]["split"])
    noted = stored["benchmark"].get("folder")  # as seen from the run
    if noted and (path / noted / bundles.MANIFEST).is_file():
        return bundles.load((path / noted).resolve(), split)
    if (Path(named) / bundles.MANIFEST).is_file() or "/" in named or "\\" in named:
        return bundles.load(Path(named), split)
    return bundles.find(f"{named.partition(':')[0]}:{split}", plugins)


def common_judge(runs: list[StoredRun], wanted: str | None = None) -> str | None:
    """The judge whose verdicts all ``runs`` hold: the most recent of the first run, or the ``wanted`` one.

    Raises:
        UsageError: no run has judgements of that name.
    """
    known = [run.judges() for run in runs]
    if wanted is not None and not any(_called(name, wanted) for names in known for name in names):
        there = ", ".join(dict.fromkeys(name for names in known for name in names)) or "none"
        raise UsageError(f"no judgements by {wanted!r}; the runs hold: {there}")
    shared = [name for name in known[0] if all(name in names for names in known[1:])]
    if wanted is not None:
        shared = [name for name in shared if _called(name, wanted)]
    return shared[0] if shared else None


def _called(name: str, wanted: str) -> bool:
    return wanted in (name, name.rpartition("-")[0])
