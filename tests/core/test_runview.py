"""Reading a stored run: the file a headline is taken from, rows with their line, judgements that are up to date."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from biasfw import score, view_run
from biasfw.config import RunConfig
from biasfw.engine import run
from biasfw.errors import StoreError
from biasfw.plugins import Plugins


def made(folder: Path, plugins: Plugins, **more: object) -> Path:
    given = {"benchmark": "debatebias", "backend": "reference", "model": "random", "mode": "generate", **more}
    return run(RunConfig.from_mapping({**given, "runs": str(folder)}), plugins).directory


def test_rows_carry_what_came_of_each_request(tmp_path: Path, installed: Plugins) -> None:
    path = made(tmp_path, installed, limit=14)
    view = view_run(path, installed)
    lines = (path / "responses.jsonl").read_text(encoding="utf-8").split("\n")
    with view.rows() as rows:
        assert len(rows) == len(lines) - 1
        assert rows.languages() == [row.item.language for row in rows]
        for row in rows:
            assert row.file == "responses.jsonl"
            assert json.loads(lines[row.line - 1])["key"] == row.request.key
            assert list(row.judgements) == list(view.judges)
            assert all(judgement.response_key == row.request.key for judgement in row.judgements.values())


def test_line_numbers_hold_where_a_line_is_damaged(tmp_path: Path, installed: Plugins) -> None:
    path = made(tmp_path, installed, limit=14)
    file = path / "responses.jsonl"
    lines = file.read_text(encoding="utf-8").split("\n")
    file.write_text("\n".join([lines[0], "{damaged", *lines[1:]]), encoding="utf-8")
    with view_run(path, installed).rows() as rows:
        assert [row.line for row in rows][:3] == [1, 3, 4]


def test_a_judgement_of_a_failure_that_was_mended_is_out_of_date(tmp_path: Path, installed: Plugins) -> None:
    path = made(tmp_path, installed, limit=14)
    name = next((path / "judgements").glob("*.jsonl"))
    judged = [json.loads(line) for line in name.read_text(encoding="utf-8").split("\n") if line]
    judged[0]["slots"]["modern"] = {"outcome": "error"}
    name.write_text("".join(json.dumps(row) + "\n" for row in judged), encoding="utf-8")
    with view_run(path, installed).rows() as rows:
        assert [bool(row.judgements) for row in rows][:2] == [False, True]


def test_a_request_without_a_response_is_still_a_row(tmp_path: Path, installed: Plugins) -> None:
    path = made(tmp_path, installed, limit=14)
    file = path / "responses.jsonl"
    lines = file.read_text(encoding="utf-8").split("\n")
    failed = json.loads(lines[0])
    (path / "failures.jsonl").write_text(
        json.dumps({"key": failed["key"], "error": {"kind": "timeout", "message": "late"}}) + "\n", encoding="utf-8"
    )
    file.write_text("\n".join(lines[2:]), encoding="utf-8")
    with view_run(path, installed).rows() as rows:
        first, second, third = rows[0], rows[1], rows[2]
    assert first.file == "failures.jsonl"
    assert first.response is not None
    assert first.response.error is not None
    assert (second.response, second.file, second.line) == (None, "", 0)
    assert (third.file, third.line) == ("responses.jsonl", 1)


def test_the_headline_comes_from_the_whole_run(tmp_path: Path, installed: Plugins) -> None:
    path = made(tmp_path, installed, limit=14)
    made(tmp_path, installed)
    score(path, ("label_share",), installed)
    made(tmp_path, installed, limit=14)
    files = view_run(path, installed).scores
    assert len(files) == 3
    assert [file.whole for file in files] == [True, False, False]
    assert files[0].said == "280 of 280 items"
    assert "only label_share" in files[-1].said


def test_what_is_no_run_or_not_scored_is_said(tmp_path: Path, installed: Plugins) -> None:
    with pytest.raises(StoreError, match=r"no run\.json"):
        view_run(tmp_path, installed)
    path = made(tmp_path, installed, limit=14)
    damaged = next((path / "scores").glob("*.json"))
    damaged.write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match="damaged; run: biasfw score"):
        view_run(path, installed)
    shutil.rmtree(path / "scores")
    with pytest.raises(StoreError, match="was not scored"):
        view_run(path, installed)
