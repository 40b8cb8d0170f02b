"""Folders of benchmarks on the command line: given without their option, or with a slip in the name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasfw import BiasfwError
from biasfw.cli import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(
        app, ["new", "benchmark", "komsu", "--language", "ko", "--region", "Korea", "--category", "work"]
    )
    assert made.exit_code == 0, made.output
    return tmp_path / "komsu"


@pytest.mark.parametrize("given", ["./komsu", "komsu"])
def test_run_with_a_folder_and_no_option(folder: Path, given: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "biasfw", "run", given, "--backend", "reference"],
        cwd=folder.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert f"({given}); a benchmark is given as --benchmark {given} (see: biasfw run --help)" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "komsuu"], "unknown benchmark or language 'komsuu', and no such folder; did you mean ./komsu?"),
        (["check", "./komsuu"], "there is no such file or folder; did you mean ./komsu?"),
        (["check", "komsuu/benchmark.yaml"], "komsuu"),
        (["validate", "komsuu"], "there is no such file or folder; did you mean ./komsu?"),
        (["run", "--benchmark", "komsuu", "--backend", "reference"], "and no such folder; did you mean ./komsu?"),
        (["run", "--benchmark", "./komsuu", "--backend", "reference"], "no such folder; did you mean ./komsu?"),
        (["check", "debatebia"], "did you mean debatebias?"),
    ],
)
def test_a_slip_in_the_name_of_a_folder(folder: Path, arguments: list[str], words: str) -> None:
    assert folder.is_dir()
    result = CliRunner().invoke(app, arguments)
    told = f"{result.output}{result.exception}"
    assert words in told
    assert "did you mean ko?" not in told
    assert isinstance(result.exception, BiasfwError | SystemExit)
