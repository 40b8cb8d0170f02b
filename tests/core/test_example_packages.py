"""The packages in examples/: somebody else's benchmark and metric, found by their entry points, checked and run."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from biasfw import RunConfig
from biasfw.conformance import check
from biasfw.engine import run
from biasfw.plugins import Plugins

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples are in the repository only")


def project(name: str) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((EXAMPLES / name / "pyproject.toml").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Plugins:
    """What is installed, and the examples as their pyproject.toml says."""
    found = Plugins.installed()
    offered = {plugin.distribution for plugin in found.all}
    for folder in sorted(EXAMPLES.iterdir()):
        told = project(folder.name)["project"]
        if told["name"] in offered:
            continue
        monkeypatch.syspath_prepend(folder / "src")
        for name, module in told["entry-points"]["biasfw"].items():
            plugin = found.add(import_module(module), name, told["name"], told["version"])
            assert plugin.error is None
    return found


def test_the_benchmark_passes_its_check(plugins: Plugins) -> None:
    bundle, *packs = check("libera-tempo", plugins)
    assert bundle.errors == 0
    assert bundle.warnings == 1, "native speakers have not reviewed it, and that is said"
    assert [(pack.name, pack.errors, pack.warnings) for pack in packs] == [("eo", 0, 0)]


@pytest.mark.parametrize(("model", "accuracy", "steady"), [("first", 0.5, 0.0), ("stereotyped", 0.0, 1.0)])
def test_benchmark_and_metric_work_together(
    plugins: Plugins, tmp_path: Path, model: str, accuracy: float, steady: float
) -> None:
    metrics = ("accuracy", "steady_choice")
    config = RunConfig("libera-tempo", "reference", model, metrics=metrics, runs=str(tmp_path))
    found = {
        score.metric: score.value for score in run(config, plugins).scores if set(score.slice) <= {"condition", "slot"}
    }
    assert found == {"accuracy": accuracy, "steady_choice": steady}


def test_the_language_of_the_example_is_not_shipped(installed: Plugins) -> None:
    folders = [folder for folder, plugin in installed.folders("language") if plugin.distribution == "biasfw"]
    assert folders
    assert not [folder for folder in folders if (folder / "eo.yaml").exists()]


def test_neither_goes_into_the_wheel() -> None:
    told = tomllib.loads((EXAMPLES.parent / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = told["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert not [each for each in wheel["only-include"] if "examples" in each]
