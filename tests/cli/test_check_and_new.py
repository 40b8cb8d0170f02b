"""`biasfw new language` and `biasfw check` as somebody uses them who adds a language."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import biasfw
from biasfw import answercheck
from biasfw.answercheck import in_cases
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
        (["new", "langauge", "eu"], 2, "no such command 'langauge'; did you mean 'language'?"),
        (["check", "debatebais"], 2, "did you mean debatebias"),
        (["check", "./nowhere"], 2, "no such file or folder"),
        (["check", "nowhere.yaml"], 2, "no such file or folder"),
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


def test_every_wrong_item_is_told(tmp_path: Path) -> None:
    bundle = tmp_path / "mine"
    shutil.copytree(biasfw.shipped("benchmarks") / "debatebias", bundle)
    items = bundle / "items" / "en.jsonl"
    rows = [json.loads(line) for line in items.read_text(encoding="utf-8").splitlines()]
    rows[1]["language"] = "xx"
    rows[4]["category"] = "nothing"
    rows[6]["source_id"] = rows[5]["source_id"]
    items.write_text("".join(f"{json.dumps(row)}\n" for row in rows) + "{\n", encoding="utf-8")
    done = inside("check", "./mine", "--json", folder=tmp_path)
    document = json.loads(done.stdout)
    assert (done.exit_code, document["errors"]) == (1, 4)
    problems = document["checked"][0]["problems"]
    assert [problem["line"] for problem in problems] == [2, 5, 7, len(rows) + 1]
    for problem, word in zip(problems, ("xx", "nothing", "give every item its own", ""), strict=True):
        assert word in problem["message"]


def test_names_are_tried_in_other_cases() -> None:
    assert in_cases("Western people", "en") == ["WESTERN PEOPLE", "western people", "Western People"]
    assert in_cases("ılık iş", "tr") == ["ILIK İŞ", "Ilık İş"]
    assert in_cases("DIŞ İŞ", "az") == ["dış iş", "Dış İş"]
    assert in_cases("العرب", "ar") == []


def test_a_name_that_is_not_read_in_another_case_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answercheck, "in_cases", lambda text, _: ["XYZ"] if text == "Waarabu" else [])
    done = inside("check", "debatebias", "--quick", "--json", folder=tmp_path)
    document = json.loads(done.stdout)
    assert (done.exit_code, document["errors"], document["warnings"]) == (0, 0, 2)
    reviewed, problem = document["checked"][0]["problems"]
    assert reviewed["pointer"] == "/authorship/reviewed_by_natives"
    assert (problem["level"], problem["pointer"]) == ("warning", "/labels/0/names/sw/0")
    assert "XYZ" in problem["message"]
