"""The scores that the manifest declares for the reference models are what they score."""

from __future__ import annotations

from pathlib import Path

import pytest

from biasfw import RunConfig
from biasfw.bundles import find
from biasfw.engine import run
from biasfw.plugins import Plugins

DECLARED = {
    "v1": ["first", "random", "shorter", "longer", "stereotyped", "anti-stereotyped"],
    "v2": ["first", "shorter", "anti-stereotyped"],
    "demo": ["first", "shorter", "longer", "stereotyped", "anti-stereotyped", "random"],
}


@pytest.mark.parametrize(("split", "model"), [(split, model) for split, models in DECLARED.items() for model in models])
def test_a_reference_model_scores_what_is_declared(
    tmp_path: Path, installed: Plugins, request: pytest.FixtureRequest, split: str, model: str
) -> None:
    data = None if split == "demo" else str(request.getfixturevalue("jubaku"))
    name = f"jubaku:{split}"
    expected = [each for each in find(name, installed).manifest["expected"] if each["model"] == model]
    assert expected
    for each in expected:
        config = RunConfig(name, "reference", model, mode=each["mode"], data=data, runs=str(tmp_path))
        scores = run(config, installed).scores
        found = [
            score.value
            for score in scores
            if (score.metric, score.denominator, dict(score.slice)) == (each["metric"], "all", each["slice"])
        ]
        assert found == [pytest.approx(each["value"], abs=each.get("tolerance", 0))]


@pytest.mark.parametrize("split", sorted(DECLARED))
def test_every_declared_model_is_tested(installed: Plugins, split: str) -> None:
    declared = {each["model"] for each in find(f"jubaku:{split}", installed).manifest["expected"]}
    assert declared == set(DECLARED[split])
