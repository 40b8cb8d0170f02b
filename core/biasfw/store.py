"""The run directory: the growing set of answers of one subject to one benchmark under one protocol."""

from __future__ import annotations

import glob
import json
import os
import platform
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout

from biasfw import __version__, schemas
from biasfw.codec import decode, encode
from biasfw.errors import StoreError
from biasfw.jsonlines import JsonLines, write_atomically
from biasfw.keys import canonical
from biasfw.records import Identity, Item, Request, Response

SCHEMA_VERSION = 1  # of run.json
FIXED_IDENTITY = ("fingerprint", "architecture", "quantisation", "dtype", "template_sha256")


def slug(text: str, limit: int = 40) -> str:
    """A short name that is a file name on every system (never empty)."""
    short = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._").lower()
    return short[:limit].rstrip("-._") or "model"


@dataclass(slots=True)
class RunDirectory:
    """One run on disk. Use as a context manager; with ``write`` it holds the lock of its directory."""

    path: Path
    write: bool = True
    info: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    items: JsonLines = field(init=False)
    requests: JsonLines = field(init=False)
    responses: JsonLines = field(init=False)
    failures: JsonLines = field(init=False)
    _lock: FileLock | None = None

    def __post_init__(self) -> None:
        self.items = JsonLines(self.path / "items.jsonl", "stored-item", id_field="id")
        self.requests = JsonLines(self.path / "requests.jsonl", "request")
        self.responses = JsonLines(self.path / "responses.jsonl", "response")
        self.failures = JsonLines(self.path / "failures.jsonl", "response", last_wins=True)

    def __enter__(self) -> RunDirectory:
        if self.write:
            self._take()
        try:
            for file in (self.items, self.requests, self.responses, self.failures):
                file.open(write=self.write)
                self.warnings += file.repairs
            self.info = self._read_info()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _take(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.path / ".lock", timeout=0)
            lock.acquire()
        except Timeout as failure:
            raise StoreError(
                f"{self.path} is in use by another biasfw process; wait for it, or give another --runs folder"
            ) from failure
        except OSError as failure:
            raise StoreError(
                f"cannot write in {self.path}: {failure.strerror or failure}; give a writable folder with --runs DIR"
            ) from failure
        self._lock = lock

    def close(self) -> None:
        """Close every file and give the lock back."""
        try:
            for file in (self.items, self.requests, self.responses, self.failures):
                file.close()
        except OSError as failure:
            self.warnings.append(f"closing {self.path}: {failure.strerror}")
        finally:
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def _read_info(self) -> dict[str, Any]:
        path = self.path / "run.json"
        if not path.is_file():
            return {}
        info = read_run(path)
        if info is not None:
            return info
        if not self.write:
            raise StoreError(f"{path} is damaged; run the command that made it once more")
        path.replace(path.with_name("run.json.damaged"))
        self.warnings.append("run.json was damaged; it is kept aside as run.json.damaged and written anew")
        return {}

    def save(self, **changes: Any) -> None:
        """Merge ``changes`` into run.json and write it whole."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.info = {"schema_version": SCHEMA_VERSION, "created": now, **self.info, **changes, "updated": now}
        self.info.setdefault("environment", environment())
        text = json.dumps(self.info, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        self.write_file("run.json", text)

    def write_file(self, name: str, text: str) -> Path:
        """Write a derived file of the run (scores, run.json) atomically.

        Raises:
            StoreError: the disk is full or the directory is gone.
        """
        path = self.path / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text.encode("utf-8", "backslashreplace"))
        except OSError as failure:
            raise StoreError(
                f"cannot write {path}: {failure.strerror or failure}; the answers stored before are kept; "
                "make room, then run the same command"
            ) from failure
        return path

    def check_identity(self, identity: Identity) -> None:
        """Compare what was loaded now with what answered before; record both.

        Raises:
            StoreError: another dtype, template, architecture or quantisation: their answers must not be mixed.
        """
        before = self.info.get("identity")
        now = encode(identity)
        if not before:
            self.save(identity=now, identities=[now])
            return
        for name in FIXED_IDENTITY:
            if before.get(name) != now.get(name):
                raise StoreError(
                    f"{self.path} was answered with {name} {before.get(name)}, now it is {now.get(name)}; "
                    "answers of both are never mixed: start anew with --fresh"
                )
        for name in ("device", "libraries"):
            if before.get(name) != now.get(name):
                self.warnings.append(f"{name} changed since this run began: {before.get(name)} -> {now.get(name)}")
        sittings = self.info.get("identities", [])
        if now not in sittings:
            self.save(identities=[*sittings, now])

    def learn(self, identity: Identity) -> None:
        """Add what became known of the model while it was asked: notes and details."""
        now = encode(identity)
        before = self.info.get("identity", {})
        notes = list(dict.fromkeys((*before.get("notes", ()), *now.get("notes", ()))))
        details = {**before.get("details", {}), **now.get("details", {})}
        self.save(
            identity={**before, **({"notes": notes} if notes else {}), **({"details": details} if details else {})}
        )

    def add(self, item: Item, request: Request) -> None:
        """Store an item and its request unless they are there."""
        if item.id not in self.items.index:
            self.items.append(item.id, encode(item))
        if request.key not in self.requests.index:
            self.requests.append(request.key, encode(request))

    def store(self, response: Response) -> None:
        """Append a response: final ones and failed attempts lie apart."""
        target = self.responses if response.error is None else self.failures
        target.append(response.key, encode(response))

    def is_permanent_failure(self, key: str) -> bool:
        """Whether asking again cannot help."""
        if key not in self.failures.index or key in self.responses.index:
            return False
        return bool(self.failures.read(key)["error"].get("permanent", False))

    def answered(self, key: str) -> Response | None:
        """The stored response, else the last failed attempt, else None."""
        for file in (self.responses, self.failures):
            if key in file.index:
                return decode(Response, file.read(key))
        return None

    def judgements(self, name: str) -> JsonLines:
        """The judgements file of one judge (name and hash), opened for writing."""
        (self.path / "judgements").mkdir(exist_ok=True)
        return JsonLines(self.path / "judgements" / f"{name}.jsonl", "judgement").open(write=True)


def read_run(path: Path) -> dict[str, Any] | None:
    """What a run.json holds; None if it is damaged or was changed into something that no run has.

    Raises:
        StoreError: a newer biasfw wrote it.
    """
    try:
        info: dict[str, Any] = json.loads(path.read_bytes(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    version = info.get("schema_version") if isinstance(info, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} was written by a newer biasfw (schema {version}, this one reads {SCHEMA_VERSION}); "
            "upgrade: pip install -U biasfw"
        )
    sound = schemas.valid("run")(info) and schemas.valid("config")(info["config"])
    return info if sound else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def relative(path: Path, directory: Path) -> str:
    """``path`` as seen from ``directory``, so that both can be moved together; as it is on another drive."""
    try:
        return Path(os.path.relpath(path.resolve(), directory.resolve())).as_posix()
    except ValueError:
        return str(path.resolve())


def choose_directory(base: Path, *, fresh: bool) -> Path:
    """``base``, or the newest of ``base.2``, ``base.3``, ...; with ``fresh`` the next one. Nothing is ever deleted."""
    pattern = re.compile(re.escape(base.name) + r"\.(\d+)")
    numbers = [
        int(m[1]) for p in (base.parent.iterdir() if base.parent.is_dir() else ()) if (m := pattern.fullmatch(p.name))
    ]
    latest = max(numbers, default=1 if base.is_dir() else 0)
    wanted = latest + 1 if fresh and latest else max(latest, 1)
    return base if wanted == 1 else base.with_name(f"{base.name}.{wanted}")


def unlike(directory: Path, inputs: Mapping[str, Any]) -> str | None:
    """Why ``directory`` is none of the runs beside it: what differs from the one most alike, None if there is none.

    It answers the question "why is everything asked again?": another model file, sampling or set of options.
    """
    stem, inputs = directory.name.rpartition("-")[0], json.loads(canonical(inputs))  # as they are stored
    found: list[tuple[int, str]] = []
    for path in sorted(directory.parent.glob(f"{glob.escape(stem)}-*/run.json")):
        try:
            before = json.loads(path.read_bytes())["protocol"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        differing = [name for name in inputs if isinstance(before, dict) and before.get(name) != inputs[name]]
        if differing and path.parent != directory:
            found.append((len(differing), f"a new run: it differs from {path.parent} in {', '.join(differing)}"))
    return min(found)[1] if found else None


def environment() -> dict[str, str]:
    """What ran the run: versions and platform, nothing personal."""
    return {
        "biasfw": __version__,
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "cpus": str(os.cpu_count()),
    }
