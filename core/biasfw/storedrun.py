"""A run as it lies on disk, read without its data, its model or its plugins' code: for comparing and exporting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from biasfw import cautions
from biasfw.bundles import Bundle
from biasfw.codec import decode
from biasfw.errors import DataError, UsageError
from biasfw.keys import sha256_json
from biasfw.plugins import Plugins
from biasfw.records import Score
from biasfw.runfiles import Record, RunFiles, benchmark_of, open_files

__all__ = ["Asked", "Record", "StoredRun", "common_judge", "open_run"]

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

    files: RunFiles
    bundle: Bundle

    @property
    def path(self) -> Path:
        """The run directory."""
        return self.files.path

    @property
    def info(self) -> Record:
        """Its run.json."""
        return self.files.info

    @property
    def flaws(self) -> tuple[str, ...]:
        """What could not be read of the files that were asked for until now; to be shown with every result."""
        return self.files.flaws

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
        return {str(row["id"]): row for row in self.files.items.rows()}

    @cached_property
    def asked(self) -> list[Asked]:
        """Every stored request whose item can be read, in the order of the file; prompts only as hashes."""
        return [
            Asked(
                str(row["key"]),
                str(row["item_id"]),
                int(row.get("repeat", 0)),
                sha256_json([row.get("messages"), row.get("prompt"), row.get("choices")]),
            )
            for row in self.files.asked()
        ]

    def judges(self) -> list[str]:
        """Names of the judgement files: that of the last scores first, then in the order of their names."""
        found = self.files.judges()
        last = [self.info["judge"]] if "judge" in self.info else [doc["judge"] for doc in self.scores()[::-1]]
        first = [name for name in last if name in found]
        return list(dict.fromkeys([*first, *found]))

    @cached_property
    def item_hashes(self) -> dict[str, str]:
        """The hash of every stored item by id."""
        return {name: sha256_json(row) for name, row in self.items.items()}

    def judgements(self, judge: str) -> dict[str, Record]:
        """Response key -> the last judgement of ``judge``."""
        return {str(row["response_key"]): row for row in self.files.judgements(judge).rows()}

    def slots(self, judge: str) -> dict[str, Record]:
        """Response key -> what ``judge`` read in each slot; kept, since a run is compared with many."""
        if judge not in self._slots:
            self._slots[judge] = {key: row["slots"] for key, row in self.judgements(judge).items()}
        return self._slots[judge]

    @cached_property
    def _slots(self) -> dict[str, dict[str, Record]]:
        return {}

    def scores(self) -> list[Record]:
        """The documents in scores/ that run.json knows, oldest first."""
        there = self.files.score_files()
        return [{**there[name], "file": name} for name in self.info.get("scored", {}) if name in there]

    def whole(self, judge: str) -> Record | None:
        """The last scores of the whole benchmark by its own metrics, as ``judge`` read it."""
        found = [doc for doc in self.scores() if doc["judge"] == judge and not doc.get("filters")]
        return found[-1] if found else None

    def remarks(self, judge: str) -> list[str]:
        """What stands against reading the scores: locked on a position, picked by position, unable to do the task."""
        documents = [doc for doc in self.scores() if doc["judge"] == judge]
        reasons = [
            str(score["reason"]).partition(";")[0]
            for score in (documents[-1]["scores"] if documents else ())
            if score.get("reason") and score["denominator"] == "all" and score.get("slice", {}).keys() <= {"condition"}
        ]
        against = [each for each in dict.fromkeys(reasons) if each.startswith(_AGAINST)]
        rates = [
            score for score in (documents[-1]["scores"] if documents else ()) if score["metric"] == "position_rate"
        ]
        try:
            found = cautions.overall([decode(Score, rate) for rate in rates])
        except DataError:  # a damaged file must not take a table of many runs down
            found = []
        return [*against, *(caution.text for caution in found)]


def open_run(path: Path, plugins: Plugins) -> StoredRun:
    """Read run.json in ``path`` and the manifest of its benchmark.

    Raises:
        StoreError: there is no run, it is damaged, or a newer biasfw wrote it.
        UsageError: nobody offers the benchmark any more.
    """
    files = open_files(path)
    return StoredRun(files, benchmark_of(path, files.info, plugins))


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
