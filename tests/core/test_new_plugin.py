"""`biasfw new plugin`: packages of every kind that are found, work, and pass their own checks at once."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from biasfw import BiasfwError, RunConfig, UsageError
from biasfw.cli import app
from biasfw.engine import run
from biasfw.newplugin import KINDS, LONGEST, module_of, write_plugin
from biasfw.plugins import HOOKS, Plugins, load_class

CONTRACTS = {kind: kind.capitalize() for kind in KINDS}


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The modules of one package of each kind, imported from where they were written."""
    made = {}
    for kind in KINDS:
        write_plugin(f"tried-{kind}", kind, tmp_path)
        monkeypatch.syspath_prepend(tmp_path / f"tried-{kind}" / "src")
        made[kind] = import_module(f"tried_{kind}")
    return made


def test_every_kind_is_offered_and_meets_its_contract(packages: dict[str, Any]) -> None:
    contracts = import_module("biasfw")
    for kind, module in packages.items():
        plugins = Plugins()
        plugin = plugins.add(module, f"tried_{kind}")
        assert plugin.error is None
        assert set(plugin.offers) == {kind}
        assert isinstance(plugin.offers[kind][0], HOOKS[kind][1])
        made = load_class(plugins.find(kind, f"tried_{kind}"))
        for method in vars(getattr(contracts, CONTRACTS[kind])):
            if not method.startswith("_"):
                assert callable(getattr(made, method, None)), f"{kind} has no {method}"


def test_components_work_in_a_run(packages: dict[str, Any], tmp_path: Path) -> None:
    plugins = Plugins.installed()
    for kind, module in packages.items():
        plugins.add(module, f"tried_{kind}")
    config = RunConfig(
        "debatebias", "tried_backend", backend_options={"text": "Nobody."}, judge="tried_judge",
        metrics=("tried_metric",), limit=1, languages=("en",), runs=str(tmp_path / "runs"),
    )  # fmt: skip
    result = run(config, plugins)
    assert result.status == "complete"
    assert {score.metric for score in result.scores} == {"tried_metric"}
    assert {score.value for score in result.scores} == {0.0}, "a text that names no group answers nothing"


def test_the_tests_of_a_backend_try_its_answers(tmp_path: Path) -> None:
    write_plugin("tried-answers", "backend", tmp_path)
    path = os.pathsep.join([str(tmp_path / "tried-answers" / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"], cwd=tmp_path / "tried-answers",
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "test_conformance[backend tried_answers: answers] PASSED" in done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_the_files(tmp_path: Path, kind: str) -> None:
    written = write_plugin("two-words", kind, tmp_path)
    names = {f"{path.relative_to(tmp_path / 'two-words')}" for path in written}
    assert names == {
        ".github/workflows/test.yml", ".gitignore", "LICENSE", "README.md", "pyproject.toml",
        "src/two_words/__init__.py", f"src/two_words/{kind}.py", "src/two_words/py.typed", "tests/test_two_words.py",
        *(["tests/conftest.py"] if kind == "backend" else []),
    }  # fmt: skip
    for path in written:
        text = path.read_text(encoding="utf-8")
        assert "{{" not in text
        assert not [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("kind", KINDS)
def test_validate_finds_nothing(tmp_path: Path, kind: str) -> None:
    write_plugin("valid-one", kind, tmp_path)
    result = CliRunner().invoke(app, ["validate", str(tmp_path / "valid-one")])
    assert result.exit_code == 0
    assert "entry points: valid_one" in result.output
    assert result.output.endswith("no errors, no warnings\n")


@pytest.mark.parametrize("name", ["Upper", "1st", "a b", "../up", "a--b", "end-", "json", "class", "biasfw", "x" * 33])
def test_names_that_cannot_be_used(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="the name"):
        write_plugin(name, "metric", tmp_path)
    assert not list(tmp_path.iterdir())
    assert module_of("x" * LONGEST)


def test_nothing_is_written_over_and_no_name_is_taken_twice(tmp_path: Path) -> None:
    write_plugin("mine", "metric", tmp_path)
    with pytest.raises(BiasfwError, match="exists already"):
        write_plugin("mine", "parser", tmp_path)
    with pytest.raises(UsageError, match="no kind"):
        write_plugin("other", "theory", tmp_path)
    taken = CliRunner().invoke(app, ["new", "plugin", "accuracy", "--kind", "metric", "--output", str(tmp_path)])
    assert "there is a metric accuracy already, of biasfw" in str(taken.exception)


def test_the_command_says_what_comes_next(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["new", "plugin", "mine", "--kind", "reader", "--output", str(tmp_path)])
    assert result.exit_code == 0
    assert f'cd {tmp_path / "mine"} && pip install -e ".[test]"' in result.output
    assert "src/mine/reader.py" in result.output


@pytest.mark.slow
def test_every_kind_is_installed_and_passes_its_own_checks_in_a_fresh_environment(tmp_path: Path) -> None:
    packages = []
    for kind in KINDS:
        name = f"tried-{kind}" if kind != "metric" else f"tried-a-longer-name-{kind}"
        write_plugin(name, kind, tmp_path)
        packages.append(tmp_path / name)
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    # biasfw and what it needs come from the environment of this test; what is tried is installed into the fresh one.
    site = next((tmp_path / "venv" / "lib").glob("python*")) / "site-packages"
    (site / "outer.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BIASFW"))}

    def call(*command: str, cwd: Path = tmp_path) -> str:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    call(
        sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index", "--no-deps",
        "--no-build-isolation", *map(str, packages),
    )  # fmt: skip
    listed = call(str(python), "-m", "biasfw", "plugins")
    assert "SET ASIDE" not in listed
    for package in packages:
        assert f"({package.name} 0.1.0, module {module_of(package.name)})" in listed
        assert "passed" in call(str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=package)
        call(sys.executable, "-m", "ruff", "check", "--no-cache", ".", cwd=package)
        call(sys.executable, "-m", "ruff", "format", "--no-cache", "--check", ".", cwd=package)
        # With a cache in common, biasfw is read once.
        call(str(python), "-m", "mypy", "--cache-dir", str(tmp_path / "types"), cwd=package)
