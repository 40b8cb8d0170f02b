"""`biasfw new language` and `biasfw check` as somebody uses them who adds a language."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from biasfw.cli import app, main


def inside(*arguments: str, folder: Path) -> Result:
    """Run a command in this process, in ``folder``."""
    with contextlib.chdir(folder):
        return CliRunner().invoke(app, list(arguments))


def test_a_new_language_is_written_and_checked(tmp_path: Path) -> None:
    options = ["--name", "Basque", "--native-name", "euskara", "--output", "mine/languages"]
    written = inside("new", "language", "eu", *options, folder=tmp_path)
    assert written.exit_code == 0, written.output
    path = Path("mine/languages/eu.yaml")
    assert written.output.startswith(f"wrote {path}\n")
    assert f"biasfw check {path}" in written.output
    assert "languages/ of a benchmark" in written.output
    checked = inside("check", str(path), folder=tmp_path)
    assert checked.exit_code == 0, checked.output
    shown = checked.output.splitlines()
    assert shown[:2] == ["language eu", "  Basque: not reviewed by native speakers"]
    assert shown[-1] == "no errors, 5 warnings"
    assert all(line.startswith(f"{path}:") and ": warning: /" in line for line in shown[3:-1])


def test_nothing_is_overwritten_and_a_shipped_pack_is_named(tmp_path: Path) -> None:
    first = inside("new", "language", "ja", folder=tmp_path)
    assert "There is a pack for ja already" in first.output
    before = (tmp_path / "ja.yaml").read_bytes()
    again = inside("new", "language", "ja", "--name", "Other", folder=tmp_path)
    assert again.exit_code == 1
    assert "exists already" in str(again.exception)
    assert (tmp_path / "ja.yaml").read_bytes() == before


def test_errors_are_told_with_their_place_and_give_exit_code_1(tmp_path: Path) -> None:
    inside("new", "language", "eu", folder=tmp_path)
    path = tmp_path / "eu.yaml"
    text = path.read_text(encoding="utf-8").replace("value: bakers", "value: weavers", 1)
    path.write_text(text, encoding="utf-8")
    line = text.count("\n", 0, text.index("value: weavers")) + 1
    column = len("    expected: {left: ") + 1
    checked = inside("check", "eu.yaml", folder=tmp_path)
    assert checked.exit_code == 1
    assert checked.output.splitlines()[-1] == "1 error, 6 warnings"
    assert f"eu.yaml:{line}:{column}: error: /fixtures/0/expected/left: " in checked.output
    document = json.loads(inside("check", "eu.yaml", "--json", folder=tmp_path).stdout)
    assert (document["ok"], document["errors"], document["warnings"]) == (False, 1, 6)
    (report,) = document["checked"]
    assert (report["kind"], report["name"], report["file"]) == ("language", "eu", "eu.yaml")
    (problem,) = [each for each in report["problems"] if each["level"] == "error"]
    assert problem["message"].startswith('"LEFT TABLE: Bakers')
    del problem["message"]
    assert problem == {
        "level": "error", "file": "eu.yaml", "line": line, "column": column, "pointer": "/fixtures/0/expected/left"
    }  # fmt: skip


def test_a_shipped_benchmark_as_json(tmp_path: Path) -> None:
    done = inside("check", "debatebias", "--json", folder=tmp_path)
    document = json.loads(done.stdout)
    assert (done.exit_code, document["ok"], document["errors"]) == (0, True, 0)
    assert {report["kind"] for report in document["checked"]} == {"benchmark", "language"}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["new", "language", "pt-br"], 2, "did you mean pt-BR?"),
        (["new", "language", "eu", "--script", "latin"], 2, "ISO 15924"),
        (["new", "langauge", "eu"], 2, "No such command 'langauge'"),
        (["check", "debatebais"], 2, "did you mean debatebias"),
        (["check", "./nowhere"], 1, "no such file or folder"),
        (["check", "nowhere.yaml"], 1, "no such file or folder"),
    ],
)
def test_mistakes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["biasfw", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_new_names_its_kinds(tmp_path: Path) -> None:
    assert "language" in inside("new", "--help", folder=tmp_path).output
    assert "Example:" in inside("new", "language", "--help", folder=tmp_path).output
