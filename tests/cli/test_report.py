"""``biasfw report``: where it writes, and what it says when it cannot."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasfw.cli import app
from biasfw.config import RunConfig
from biasfw.engine import run
from biasfw.plugins import Plugins


@pytest.fixture(scope="module")
def replies(tmp_path_factory: pytest.TempPathFactory, installed: Plugins) -> Path:
    folder = str(tmp_path_factory.mktemp("runs"))
    config = RunConfig(benchmark="jubaku:demo", backend="reference", model="first", limit=16, runs=folder)
    return run(config, installed).directory


@pytest.fixture(scope="module")
def guesses(tmp_path_factory: pytest.TempPathFactory, installed: Plugins) -> Path:
    folder = str(tmp_path_factory.mktemp("runs"))
    config = RunConfig(benchmark="jubaku:demo", backend="reference", model="random", limit=16, runs=folder)
    return run(config, installed).directory


def told(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["report", *arguments])
    return result.exit_code, result.output if result.exception is None else f"{result.output}{result.exception}"


def test_the_report_of_a_run_lies_in_its_folder(replies: Path) -> None:
    pytest.importorskip("altair", reason="the extra report is not installed")
    assert told(str(replies)) == (0, f"{replies / 'report.html'}\n")
    assert "<!doctype html>" in (replies / "report.html").read_text(encoding="utf-8")


def test_of_several_runs_it_lies_here_or_where_it_is_told(
    replies: Path, guesses: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("altair", reason="the extra report is not installed")
    monkeypatch.chdir(tmp_path)
    assert told(str(replies), str(guesses)) == (0, "report.html\n")
    assert (tmp_path / "report.html").is_file()
    assert told(str(replies), "-o", "other.html", "--text-limit", "30") == (0, "other.html\n")
    assert "cut at 30 characters" in (tmp_path / "other.html").read_text(encoding="utf-8")


def test_what_is_wrong_is_said_in_one_line(replies: Path, tmp_path: Path) -> None:
    pytest.importorskip("altair", reason="the extra report is not installed")
    assert told(str(tmp_path))[1] == f"{tmp_path} holds no run (no run.json); give a folder that biasfw run made"
    assert "unknown reporter 'htm'; did you mean html?" in told(str(replies), "--reporter", "htm")[1]
    assert "no option" in told(str(replies), "-R", "text_limits=3")[1]
    assert told()[0] == 2


def test_without_the_extra_the_command_that_mends_it_is_named(replies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("biasfw_plugins.report.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "altair", None)
    assert "pip install 'biasfw[report]'" in told(str(replies))[1]
