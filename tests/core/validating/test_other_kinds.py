"""`validate` and `check` on what is no bundle: runs, configurations, judges, packs, plugin packages."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasfw import RunConfig, StoreError, UsageError, score
from biasfw.cli import app
from biasfw.conformance import check
from biasfw.engine import run
from biasfw.plugins import Plugins
from biasfw.validating import validate

Lines = Callable[[str], list[str]]


@pytest.fixture
def lines(tmp_path: Path, installed: Plugins) -> Lines:
    """Findings of a file or folder, without the folder."""

    def found(name: str) -> list[str]:
        reports = validate(tmp_path / name, installed)
        return [str(each).replace(f"{tmp_path}/", "") for report in reports for each in report.findings]

    return found


def test_a_run(tmp_path: Path, installed: Plugins, write: Callable[..., Path], lines: Lines) -> None:
    result = run(RunConfig(str(write()), "reference", "first", runs=str(tmp_path / "runs")), installed)
    folder = f"runs/{result.directory.name}"
    assert lines(folder) == []
    (report,) = validate(result.directory, installed)
    assert report.facts == ["every record fits its schema: 16 items, 32 requests, 32 responses, 0 failures"] or (
        report.facts[0].startswith("every record fits its schema: ") and "32 responses" in report.facts[0]
    )
    responses = result.directory / "responses.jsonl"
    rows = responses.read_text(encoding="utf-8").splitlines()
    changed = json.loads(rows[4])
    changed["txet"] = changed.pop("text")
    rows[4] = json.dumps(changed)
    rows[6] = rows[5]
    stranger = {**json.loads(rows[7]), "key": "f" * 64}
    responses.write_text("\n".join([*rows, json.dumps(stranger)]) + '\n{"key": "torn', encoding="utf-8")
    scores = next((result.directory / "scores").glob("*.json"))
    document = json.loads(scores.read_text(encoding="utf-8"))
    document["scores"][0]["clusters"] = "eight"
    scores.write_text(json.dumps(document, indent=1), encoding="utf-8")
    found = lines(folder)
    name = f"{folder}/responses.jsonl"
    assert any(line.startswith(f"{name}:5:") and 'unknown property "txet"' in line for line in found)
    assert any(line.startswith(f"{name}:7:") and "also stands in line 6" in line for line in found)
    assert any("1 response whose request is not in requests.jsonl, such as ffffffffffff" in line for line in found)
    assert any(line.startswith(f"{name}:34:") and ": warning: " in line and "torn" in line for line in found)
    assert any("/scores/0/clusters: expected a whole number" in line for line in found)
    assert any("1 judgement whose response is not in responses.jsonl" in line for line in found)
    assert len(found) == 6
    assert lines(f"{folder}/responses.jsonl") == [
        line for line in found if line.startswith(f"{name}:") and "of two runs" not in line
    ]


def test_a_configuration(tmp_path: Path, lines: Lines) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(
        "benchmark: debatebias\nbackend: llamacppp\nlimit: many\nmetrics: [accuracy, acuracy]\nlanguage: [en]\n"
    )
    assert [line.split(" error: ")[0] for line in lines("run.yaml")] == [
        "run.yaml:2:10:", "run.yaml:3:8:", "run.yaml:4:21:", "run.yaml:5:1:",
    ]  # fmt: skip
    path.write_text("benchmark: debatebias\nbackend: llamacpp\nbackend_options: {n_ctz: 4}\n")
    (line,) = lines("run.yaml")
    assert line.startswith("run.yaml:3:18: error: /backend_options: ")
    assert "n_ctx" in line
    path.write_text("benchmark: debatebias\nbackend: llamacpp\n")
    assert lines("run.yaml") == []


def test_a_judge(tmp_path: Path, lines: Lines) -> None:
    path = tmp_path / "panel.yaml"
    path.write_text(
        "judge: panel\nmembers:\n"
        "  - {name: one, judge: rules}\n  - {name: two, judge: lmm, backend: llamacpp, model: x}\n"
    )
    (line,) = lines("panel.yaml")
    assert line.startswith("panel.yaml:4:24: error: /members/1/judge: unknown judge 'lmm'")
    path.write_text(path.read_text().replace("lmm", "llm"))
    assert lines("panel.yaml") == []


def test_a_language_pack(tmp_path: Path, lines: Lines) -> None:
    done = CliRunner().invoke(app, ["new", "language", "eu", "--output", str(tmp_path)])
    assert done.exit_code == 0
    assert all(": warning: " in line for line in lines("eu.yaml"))
    path = tmp_path / "eu.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("script: Latn", "script: Latin"), encoding="utf-8")
    assert any(": error: /script: " in line for line in lines("eu.yaml"))


def test_items_beside_their_manifest(write: Callable[..., Path], installed: Plugins) -> None:
    folder = write()
    path = folder / "items" / "en.jsonl"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"category": "noise"', '"category": "nose"', 1), encoding="utf-8")
    (report,) = validate(path, installed)
    (finding,) = report.findings
    assert (finding.problem.line, finding.problem.pointer) == (1, "/category")
    assert finding.problem.message.startswith("category 'nose' is not in the manifest; it has: help, noise")
    assert f"items of {folder / 'benchmark.yaml'}, split own" in report.facts


def test_a_file_of_items_alone(tmp_path: Path, lines: Lines) -> None:
    (tmp_path / "alone.jsonl").write_text('{"source_id": "a/b", "language": "english", "category": ""}\n')
    assert [line.split(" error: ")[0] for line in lines("alone.jsonl")] == [
        "alone.jsonl:1:15:", "alone.jsonl:1:34:", "alone.jsonl:1:57:",
    ]  # fmt: skip


def test_a_sheet(tmp_path: Path, lines: Lines) -> None:
    (tmp_path / "s.csv").write_text("source_id,language,category\na,en,x\nb,,x\na,en,x\n", encoding="utf-8")
    first, second = lines("s.csv")
    assert first.startswith("s.csv:3:3: error: ")
    assert second.startswith("s.csv:4:1: error: /source_id: source_id 'a' (en) also stands in line 2")


PLUGIN = """\
from biasfw import MetricSpec, hookimpl

biasfw_api = 1


@hookimpl
def biasfw_metrics():
    tasks = frozenset({{"choice"}})
    yield MetricSpec("count_{n}", load="plugin_{n}_metric:Count", summary="rows", tasks=tasks, range=None)
"""
METRIC = """\
from biasfw import Score


class Count:
    def __init__(self, context):
        pass

    def compute(self, table):
        clusters = len(set(table.cluster.tolist()))
        yield Score("{name}", float(len(table)), "rows", len(table), clusters, "all")
"""


@pytest.mark.parametrize(
    ("n", "name", "wrong"), [("good", "count_good", ""), ("bad", "other", "it calls itself 'other'")]
)
def test_a_plugin_package_that_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: str, name: str, wrong: str
) -> None:
    (tmp_path / f"plugin_{n}.py").write_text(PLUGIN.format(n=n), encoding="utf-8")
    (tmp_path / f"plugin_{n}_metric.py").write_text(METRIC.format(name=name), encoding="utf-8")
    project = f'[project]\nname = "it"\ndependencies = ["biasfw"]\n[project.entry-points.biasfw]\nmine = "plugin_{n}"\n'
    (tmp_path / "pyproject.toml").write_text(project, encoding="utf-8")
    (report,) = check(f"{tmp_path}/", Plugins())
    assert report.findings == []
    assert "is not installed, so its components were read and not run" in report.facts[-1]
    assert f"plugin_{n}" not in sys.modules
    monkeypatch.syspath_prepend(tmp_path)
    plugins = Plugins.installed()
    plugins.add(__import__(f"plugin_{n}"), "mine", "it", "1")
    (report,) = check(f"{tmp_path}/", plugins)
    found = [str(finding) for finding in report.findings]
    if wrong:
        assert any(f"error: metric count_{n}: choice: tables: " in line and wrong in line for line in found), found
    else:
        assert found == []
        assert report.facts[-1] == "plugin mine: 4 checks of its components pass"


def test_what_is_nothing(tmp_path: Path, installed: Plugins) -> None:
    (tmp_path / "x.txt").write_text("x")
    (tmp_path / "empty").mkdir()
    for name, words in (
        ("x.txt", "not known here"),
        ("empty", "neither benchmark, run nor plugin"),
        ("no", "no such file"),
    ):
        with pytest.raises(UsageError, match=words):
            validate(tmp_path / name, installed)


def test_exit_codes(write: Callable[..., Path], tmp_path: Path) -> None:
    good = CliRunner().invoke(app, ["validate", str(write())])
    assert (good.exit_code, good.output.splitlines()[-1]) == (0, "no errors, no warnings")
    warned = CliRunner().invoke(app, ["validate", str(write(("languages: [en, sw]", "languages: [en, sw]")))])
    assert warned.exit_code == 0
    bad = CliRunner().invoke(app, ["validate", str(write(("task: choice", "task: chioce")))])
    assert bad.exit_code == 1
    assert (
        'expected one of labels, choice, sentence_pair, found the text "chioce"; did you mean "choice"?' in bad.output
    )


def test_a_split_of_a_folder_is_run_and_scored_again(
    tmp_path: Path, installed: Plugins, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(("  own: {files: [", "  pilot: {files: [items/en.jsonl]}\n  own: {files: ["))
    monkeypatch.chdir(folder.parent)
    result = run(RunConfig("./neighbours:pilot", "reference", "first", runs=str(tmp_path / "runs")), installed)
    assert (result.plan.bundle.full_name, result.total) == ("neighbours:pilot", 16)
    again = score(result.directory, plugins=installed)
    assert (again.plan.bundle.full_name, again.total) == ("neighbours:pilot", 16)
    folder.rename(tmp_path / "moved")
    with pytest.raises(StoreError, match=r"is not at \./neighbours any more; give its folder with --benchmark"):
        score(result.directory, plugins=installed)
    assert score(result.directory, plugins=installed, benchmark=str(tmp_path / "moved")).total == 16
