"""A whole run directory: files of judges, files that are named and gone, records that mean nothing, newer formats."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from biasfw import RunConfig
from biasfw.engine import run
from biasfw.plugins import Plugins
from biasfw.rescoring import judge
from biasfw.validating import validate

PANEL = {
    "judge": "panel",
    "members": [
        {"name": "rules", "judge": "rules"},
        {"name": "asked", "judge": "llm", "backend": "reference", "model": "first"},
    ],
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory, installed: Plugins) -> Path:
    """A run that a panel of a rule and a model has judged."""
    folder = tmp_path_factory.mktemp("runs")
    config = RunConfig("debatebias", "reference", "random", limit=8, languages=("en",), runs=str(folder))
    made = run(config, installed).directory
    (folder / "panel.yaml").write_text(json.dumps(PANEL), encoding="utf-8")  # JSON is YAML
    judge(made, str(folder / "panel.yaml"), installed)
    return made


@pytest.fixture
def copy(judged: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(judged, tmp_path / "run"))


Lines = Callable[[], list[str]]


@pytest.fixture
def lines(copy: Path, installed: Plugins) -> Lines:
    def found() -> list[str]:
        (report,) = validate(copy, installed)
        return [str(each).replace(f"{copy}/", "") for each in report.findings]

    return found


def change(path: Path, at: int, **changes: Any) -> None:
    """Change the record in line ``at`` of a file."""
    rows = path.read_text(encoding="utf-8").splitlines()
    rows[at - 1] = json.dumps({**json.loads(rows[at - 1]), **changes})
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def only(copy: Path, pattern: str) -> Path:
    (found,) = copy.glob(pattern)
    return found


def test_a_sound_one(copy: Path, lines: Lines, installed: Plugins) -> None:
    assert lines() == []
    (report,) = validate(copy, installed)
    assert report.facts == [
        "every record fits its schema: 8 items, 8 requests, 8 responses, 0 failures; 6 files of judges"
    ]


def test_what_a_judge_was_asked_and_said_is_looked_at(copy: Path, lines: Lines, installed: Plugins) -> None:
    responses = only(copy, "judge-responses/asked-*/responses.jsonl")
    change(responses, 3, txet="what is this?")
    change(responses, 5, key="f" * 64)
    change(responses.with_name("requests.jsonl"), 2, repeat="often")
    name, asked = (path.relative_to(copy) for path in (responses, responses.with_name("requests.jsonl")))
    first, second, third = lines()
    assert first.startswith(f"{asked}:2:")
    assert "/repeat: expected a whole number" in first
    assert second.startswith(f"{name}:3:")
    assert 'unknown property "txet"' in second
    assert third.startswith(f"{name}:5:1: error: 1 response whose request is not in {asked}, such as ffffffffffff…")
    (report,) = validate(responses, installed)
    assert [each.problem.line for each in report.findings] == [3]


@pytest.mark.parametrize(
    ("gone", "pointer"),
    [
        ("judge-responses/asked-*/responses.jsonl", "/judges/asked-"),
        ("judge-responses/asked-*/requests.jsonl", "/judges/asked-"),
        ("judgements/panel-*.jsonl", "/judges/panel-"),
        ("scores/panel-*.json", "/scored/scores~1panel-"),
    ],
)
def test_what_run_json_names_is_there(copy: Path, lines: Lines, gone: str, pointer: str) -> None:
    path = only(copy, gone)
    path.unlink()
    (found,) = lines()
    assert found.startswith("run.json:")
    assert f"error: {pointer}" in found
    assert f"{path.relative_to(copy)} is missing" in found


def test_a_folder_of_judge_responses_that_was_removed(copy: Path, lines: Lines) -> None:
    shutil.rmtree(copy / "judge-responses")
    assert [each.partition(": error")[0].partition(":")[0] for each in lines()] == ["run.json", "run.json"]


@pytest.mark.parametrize("gone", ["items.jsonl", "requests.jsonl", "responses.jsonl", "run.json"])
def test_what_every_run_has_is_there(copy: Path, lines: Lines, gone: str) -> None:
    (copy / gone).unlink()
    assert any(line.startswith(f"{gone}: error: is missing: ") for line in lines())


def test_records_mean_what_is_there(copy: Path, lines: Lines) -> None:
    change(copy / "requests.jsonl", 2, item_id="nobody")
    change(only(copy, "judgements/rules-*.jsonl"), 4, response_key="e" * 64)
    shown = [line.replace("…; the files are of two runs", "") for line in lines()]
    assert [line.partition(": error: ")[2] for line in shown] == [
        "1 judgement whose response is not in responses.jsonl, such as eeeeeeeeeeee",
        "1 request whose item is not in items.jsonl, such as nobody",
    ]


def test_names_that_lead_out_are_refused(copy: Path, lines: Lines) -> None:
    info = json.loads((copy / "run.json").read_text(encoding="utf-8"))
    info["scored"]["../run.json"] = next(iter(info["scored"].values()))
    (copy / "run.json").write_text(json.dumps(info), encoding="utf-8")
    (found,) = lines()
    assert "'../run.json' is no file of scores/" in found


@pytest.mark.parametrize("name", ["run.json", "scores/panel-*.json"])
def test_a_newer_format_is_called_newer(copy: Path, lines: Lines, name: str) -> None:
    path = only(copy, name)
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**document, "schema_version": 2, "from_the_future": []}, indent=1), encoding="utf-8")
    (found,) = lines()
    assert found.startswith(f"{path.relative_to(copy)}:")
    assert "a newer biasfw made it; upgrade: pip install -U biasfw" in found


def test_a_benchmark_that_is_gone_is_a_warning(write: Callable[..., Path], installed: Plugins, tmp_path: Path) -> None:
    folder = write()
    made = run(RunConfig(str(folder), "reference", "first", runs=str(tmp_path / "runs")), installed).directory
    shutil.rmtree(folder)
    (report,) = validate(made, installed)
    (found,) = report.findings
    assert (found.level, found.problem.pointer) == ("warning", "/benchmark/folder")


def test_a_manifest_of_a_newer_format_says_one_thing(write: Callable[..., Path], installed: Plugins) -> None:
    folder = write(("schema_version: 1\n", "schema_version: 2\nfrom_the_future: yes\n"), ("task: choice", "task: chat"))
    (report, *_) = validate(folder, installed)
    (found,) = report.findings
    assert str(found).startswith(f"{folder}/benchmark.yaml:1:17: error: /schema_version: it is of version 2")


def test_a_run_json_that_is_nested_without_end_is_told(tmp_path: Path, installed: Plugins) -> None:
    (tmp_path / "run.json").write_text('{"a":' * 5000, encoding="utf-8")
    (report,) = validate(tmp_path, installed)
    (told,) = (each.problem.message for each in report.findings if each.problem.file == f"{tmp_path / 'run.json'}")
    assert "not JSON" in told or "nesting deeper" in told
