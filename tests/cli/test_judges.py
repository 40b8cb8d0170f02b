"""Judges on the command line: what is shown of them, planned, run, judged again and scored."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from biasfw import schemas
from biasfw.cli import app
from biasfw.yamlfile import load_yaml

RUN = ["run", "--benchmark", "debatebias", "--backend", "reference", "--model", "random", "--language", "en"]
RUN += ["--limit", "8", "--mode", "generate"]
PANEL = """\
judge: panel
members:
  - {name: rules, judge: rules}
  - {name: one, judge: llm, backend: reference, model: first}
  - {name: two, judge: llm, backend: reference, model: first, mode: choices}
"""


def inside(folder: Path, *arguments: str) -> Result:
    with contextlib.chdir(folder):
        return CliRunner().invoke(app, list(arguments), standalone_mode=False)


def told(folder: Path, *arguments: str) -> dict[str, Any]:
    done = inside(folder, *arguments, "--json")
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("name", ["llm", "panel"])
def test_show_gives_options_and_a_file_to_begin_with(name: str, tmp_path: Path) -> None:
    shown = inside(tmp_path, "show", name).output
    assert "-B " not in shown, "options of a judge stand in its file"
    assert re.search({"llm": r"view=\.\.\.  \(full\|body", "panel": r"rule=\.\.\.  \(majority\|unanimous"}[name], shown)
    sample = shown[shown.index("FILE.yaml holds\n") :].partition("\n")[2]
    file = tmp_path / "judge.yaml"
    file.write_text("\n".join(line[4:] for line in sample.splitlines()), encoding="utf-8")
    assert schemas.problems("judge", load_yaml(file).value) == []


def test_a_dry_run_tells_which_models_judge_and_how_much_is_asked(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(PANEL, encoding="utf-8")
    document = told(tmp_path, *RUN, "--dry-run", "--judge", "mine.yaml")
    assert document["judge"] == "mine"
    assert document["judge_models"] == [
        {"judge": "one", "backend": "reference", "model": "first", "questions_at_most": 8},
        {"judge": "two", "backend": "reference", "model": "first", "questions_at_most": 16},
    ]
    shown = inside(tmp_path, *RUN, "--dry-run", "--judge", "mine.yaml").output
    assert "judge one asks reference first: 8 questions at most\n" in shown
    assert not (tmp_path / "runs").exists()
    assert told(tmp_path, *RUN, "--dry-run")["judge_models"] == []


def test_run_judge_and_score(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(PANEL, encoding="utf-8")
    by_rules = told(tmp_path, *RUN)
    by_panel = told(tmp_path, "judge", by_rules["run"], "--judge", "mine.yaml")
    assert by_panel["run"] == by_rules["run"]
    assert sum(by_panel["outcomes"]["modern"].values()) == 8
    assert "no_majority" not in by_panel["outcomes"]["modern"], "two of three are the same model"
    (tmp_path / "mine.yaml").unlink()
    assert told(tmp_path, "score", by_rules["run"], "--judge", "mine")["outcomes"] == by_panel["outcomes"]
    assert told(tmp_path, "score", by_rules["run"])["outcomes"] == by_rules["outcomes"]


def test_a_judge_without_a_model_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    for name, words in (("llm", "write a file with judge: llm"), ("published", "bind judge_1, judge_2, judge_3")):
        refused = inside(tmp_path, *RUN, "--judge", name)
        assert words in str(refused.exception)
        assert not (tmp_path / "runs").exists()
