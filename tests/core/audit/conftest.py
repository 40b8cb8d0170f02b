"""A small run, judged by the rules, and judgements written by hand in the form of the schema."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from biasfw import RunConfig
from biasfw.engine import run
from biasfw.schemas import valid

Readings = Mapping[str, Mapping[str, Any]]


class Stored:
    """A run directory to which judgements can be added."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def rules(self) -> str:
        return next((self.path / "judgements").glob("rules-*.jsonl")).stem

    def read(self, name: str) -> list[dict[str, Any]]:
        text = (self.path / "judgements" / f"{name}.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def write(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """A file of judgements; ``key`` is made up, everything else is taken as it is."""
        lines: list[str] = []
        for row in rows:
            whole = {**row, "key": hashlib.sha256(f"{name} {len(lines)} {row['response_key']}".encode()).hexdigest()}
            assert valid("judgement")(whole), whole
            lines.append(json.dumps(whole))
        (self.path / "judgements" / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def judge(self, name: str, decide: Callable[[int, dict[str, Any]], Readings]) -> None:
        """Another judge: ``decide`` turns the number and slots of a judgement by the rules into its own."""
        rows = self.read(self.rules)
        self.write(name, [{**row, "slots": decide(at, row["slots"])} for at, row in enumerate(rows)])

    def info(self, **changes: Any) -> dict[str, Any]:
        """run.json, changed."""
        path = self.path / "run.json"
        found: dict[str, Any] = {**json.loads(path.read_text(encoding="utf-8")), **changes}
        path.write_text(json.dumps(found), encoding="utf-8")
        return found


@pytest.fixture(scope="session")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every second topic of debatebias in two languages, answered at random."""
    config = RunConfig(
        benchmark="debatebias", backend="reference", model="random", mode="generate", languages=("en", "ar"),
        limit=40, repeats=2,
        runs=str(tmp_path_factory.mktemp("runs")),
    )  # fmt: skip
    return run(config).directory


@pytest.fixture
def stored(answered: Path, tmp_path: Path) -> Stored:
    """A copy of that run."""
    return Stored(Path(shutil.copytree(answered, tmp_path / answered.name)))
