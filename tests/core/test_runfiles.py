"""Whoever reads a stored run says what could not be read: one policy for exports, reports, comparisons, audits."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from biasfw import view_run
from biasfw.cli import app
from biasfw.comparing import Asking, compare
from biasfw.config import RunConfig
from biasfw.engine import run
from biasfw.errors import StoreError
from biasfw.exporting import export
from biasfw.leaderboard import leaderboard
from biasfw.plugins import Plugins
from biasfw.rescoring import score
from biasfw.runfiles import open_files
from biasfw.storedrun import open_run
from biasfw.verdicts import open_run as open_verdicts

Damage = Callable[[str, int], Path]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, installed: Plugins) -> Path:
    folder = tmp_path_factory.mktemp("sound")
    config = RunConfig("debatebias", "reference", model="random", mode="generate", limit=7, runs=str(folder))
    return run(config, installed).directory


@pytest.fixture
def damage(sound: Path, tmp_path: Path) -> Damage:
    """A copy of the run whose line ``number`` of ``name`` is no JSON any more."""

    def make(name: str, number: int) -> Path:
        target = tmp_path / "runs" / "run"
        if not target.exists():
            shutil.copytree(sound, target)
        path = next(target.glob(name))
        lines = path.read_bytes().split(b"\n")
        lines[number - 1] = lines[number - 1][:-20]
        path.write_bytes(b"\n".join(lines))
        return target

    return make


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments])


def test_a_sound_run_has_no_flaws(sound: Path, tmp_path: Path, installed: Plugins) -> None:
    assert export(sound, "jsonl", tmp_path / "x.jsonl", installed).notes == ()
    assert open_verdicts(sound).warnings == ()
    with view_run(sound, installed).rows() as rows:
        assert rows.flaws == ()


def test_a_damaged_response_is_told_with_file_line_count_and_the_way_out(
    damage: Damage, tmp_path: Path, installed: Plugins
) -> None:
    path = damage("responses.jsonl", 2)
    told = (
        f"{path}/responses.jsonl:2: 1 damaged line, passed over; the command that made the run mends the file and "
        "asks for what it held again"
    )
    done = export(path, "jsonl", tmp_path / "x.jsonl", installed)
    assert told in done.notes
    assert done.rows == len((path / "requests.jsonl").read_text("utf-8").splitlines())
    assert told in open_verdicts(path).warnings
    with view_run(path, installed).rows() as rows:
        assert told in rows.flaws
        assert rows[1].response is None


def test_the_commands_say_it(damage: Damage, tmp_path: Path) -> None:
    pytest.importorskip("altair", reason="the extra report is not installed")
    path = damage("responses.jsonl", 2)
    done = call("export", path, "--to", "csv", "-o", tmp_path / "x.csv")
    assert "responses.jsonl:2: 1 damaged line" in done.stderr
    page = tmp_path / "x.html"
    done = call("report", path, "-o", page)
    assert done.exit_code == 0
    assert "responses.jsonl:2: 1 damaged line" in done.stderr
    assert "responses.jsonl:2: 1 damaged line" in page.read_text("utf-8")


def test_several_damaged_lines_are_counted(damage: Damage, tmp_path: Path, installed: Plugins) -> None:
    for number in (1, 2, 3, 5, 6, 7):
        path = damage("responses.jsonl", number)
    notes = export(path, "jsonl", tmp_path / "x.jsonl", installed).notes
    assert [note.split(", passed")[0] for note in notes] == [
        f"{path}/responses.jsonl:1: 6 damaged lines (1, 2, 3, 5, 6, ...)"
    ]


def test_a_torn_last_line_is_called_so(damage: Damage, tmp_path: Path, installed: Plugins) -> None:
    path = damage("responses.jsonl", 2)
    file = path / "responses.jsonl"
    whole = [line for line in file.read_bytes().split(b"\n") if line.endswith(b"}")]
    file.write_bytes(b"\n".join(whole)[:-9])
    notes = export(path, "jsonl", tmp_path / "x.jsonl", installed).notes
    assert [note.split(",")[0] for note in notes] == [f"{file}:{len(whole)}: 1 torn last line"]


def test_a_damaged_judgement_is_told_by_all_who_read_verdicts(
    damage: Damage, sound: Path, tmp_path: Path, installed: Plugins
) -> None:
    path = damage("judgements/*.jsonl", 3)
    name = next((path / "judgements").glob("*.jsonl")).name
    told = f"{path}/judgements/{name}:3: 1 damaged line, passed over; biasfw judge {path} --judge rules mends"
    assert any(note.startswith(told) for note in export(path, "jsonl", tmp_path / "x.jsonl", installed).notes)
    assert any(note.startswith(told) for note in open_verdicts(path).warnings)
    found = compare([path, sound], installed, Asking(slices=False), allow_demo=True)
    assert any(note.startswith(told) for note in found.notes)
    shutil.copytree(sound, path.with_name("other"))
    board = leaderboard(path.parent, installed)
    assert call("leaderboard", path.parent, "-o", tmp_path / "x.html").stderr.count("damaged line") == len(board.flaws)


def test_the_way_out_mends_it(damage: Damage, sound: Path, tmp_path: Path, installed: Plugins) -> None:
    path = damage("judgements/*.jsonl", 3)
    assert call("judge", path, "--judge", "rules").exit_code == 0
    assert export(path, "jsonl", tmp_path / "x.jsonl", installed).notes == ()
    path = damage("responses.jsonl", 2)
    config = RunConfig("debatebias", "reference", model="random", mode="generate", limit=7, runs=str(path.parent))
    path.rename(path.with_name(sound.name))
    assert run(config, installed).asked == 1
    assert export(path.with_name(sound.name), "jsonl", tmp_path / "x.jsonl", installed).notes == ()


def test_a_damaged_item_takes_its_requests_with_it_and_says_how_many(
    damage: Damage, tmp_path: Path, installed: Plugins
) -> None:
    path = damage("items.jsonl", 1)
    done = export(path, "jsonl", tmp_path / "x.jsonl", installed)
    assert [note.split(": ", 1)[1].split(",")[0] for note in done.notes] == [
        "1 damaged line",
        "1 request is left out",
    ]
    asked = len((path / "requests.jsonl").read_text("utf-8").splitlines())
    assert done.rows == asked - 1
    with view_run(path, installed).rows() as rows:
        assert len(list(rows)) == asked - 1
        assert len(rows.flaws) == 2
    assert len(open_verdicts(path).rows) == asked - 1


def test_damaged_scores_are_told(damage: Damage, tmp_path: Path, installed: Plugins) -> None:
    path = damage("responses.jsonl", 2)
    score(path, ("label_share",), installed)
    file = sorted((path / "scores").glob("*.json"))[0]
    file.write_text("{", "utf-8")
    told = f"{file} is left out, it is damaged; run: biasfw score {path}"
    assert told in export(path, "every-eval-ever", tmp_path / "x.json", installed).notes
    assert told in view_run(path, installed).notes


def test_a_judgement_of_a_failure_that_was_mended_is_not_exported(
    sound: Path, tmp_path: Path, installed: Plugins
) -> None:
    path = tmp_path / "run"
    shutil.copytree(sound, path)
    file = next((path / "judgements").glob("*.jsonl"))
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    rows[0]["slots"]["modern"] = {"outcome": "error"}
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    key = rows[0]["response_key"]
    exported = export(path, "jsonl", tmp_path / "x.jsonl", installed).path.read_text("utf-8").splitlines()
    cells: list[dict[str, Any]] = [json.loads(line) for line in exported]
    cell = next(each for each in cells if each["key"] == key)
    assert cell[f"{file.stem}.modern.outcome"] is None


@pytest.mark.parametrize("read", [open_files, open_verdicts, view_run, score, open_run])
def test_a_run_of_a_newer_biasfw_is_not_called_damaged(
    read: Callable[..., Any], sound: Path, tmp_path: Path, installed: Plugins
) -> None:
    path = tmp_path / "run"
    shutil.copytree(sound, path)
    info = json.loads((path / "run.json").read_bytes())
    (path / "run.json").write_text(json.dumps({**info, "schema_version": 2, "novelty": 1}), "utf-8")
    more = (installed,) if read is open_run else ()
    with pytest.raises(StoreError, match=r"written by a newer biasfw \(schema 2, this one reads 1\); upgrade"):
        read(path, *more)


def test_the_run_of_a_newer_biasfw_is_not_moved_aside(sound: Path, tmp_path: Path, installed: Plugins) -> None:
    path = tmp_path / sound.name
    shutil.copytree(sound, path)
    text = json.dumps({**json.loads((path / "run.json").read_bytes()), "schema_version": 2})
    (path / "run.json").write_text(text, "utf-8")
    config = RunConfig("debatebias", "reference", model="random", mode="generate", limit=7, runs=str(tmp_path))
    with pytest.raises(StoreError, match="newer biasfw"):
        run(config, installed)
    assert (path / "run.json").read_text("utf-8") == text


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    target = tmp_path / "runs" / "run"
    shutil.copytree(sound, target)
    return target


def told_of(path: Path, installed: Plugins, output: Path) -> tuple[list[str], list[str]]:
    """What a report and an export say of a run."""
    view = view_run(path, installed)
    with view.rows() as rows:
        list(rows)
        report = [*view.notes, *rows.flaws]
    return report, list(export(path, "jsonl", output, installed).notes)


@pytest.mark.parametrize("name", ["items.jsonl", "requests.jsonl", "responses.jsonl", "judgements"])
def test_a_missing_file_is_told_and_no_traceback(copy: Path, name: str, tmp_path: Path, installed: Plugins) -> None:
    gone = copy / name
    if gone.is_dir():
        shutil.rmtree(gone)
    else:
        gone.unlink()
    for notes in told_of(copy, installed, tmp_path / "x.jsonl"):
        assert any(str(gone) in note and " is missing; " in note for note in notes), notes


def test_a_missing_file_is_told_on_the_page_and_by_the_command(copy: Path, tmp_path: Path) -> None:
    pytest.importorskip("altair", reason="the extra report is not installed")
    (copy / "items.jsonl").unlink()
    page = tmp_path / "x.html"
    done = call("report", copy, "-o", page)
    assert done.exit_code == 0, done.output
    assert "items.jsonl is missing" in done.stderr
    assert "items.jsonl is missing" in page.read_text("utf-8")


def test_responses_that_were_changed_after_judging_are_told(copy: Path, tmp_path: Path, installed: Plugins) -> None:
    assert told_of(copy, installed, tmp_path / "x.jsonl") == ([], [])
    file = copy / "responses.jsonl"
    whole = file.read_text("utf-8")
    file.write_text(whole + whole.split("\n")[0] + "\n", "utf-8")  # answers of later selections are appended
    assert told_of(copy, installed, tmp_path / "x.jsonl") == ([], [])
    first = json.loads(whole.split("\n")[0])
    changed = json.dumps({**first, "text": "another answer"})
    file.write_text("\n".join([changed, *whole.split("\n")[1:]]), "utf-8")
    for _ in range(2):
        for notes in told_of(copy, installed, tmp_path / "x.jsonl"):
            assert any("responses.jsonl was changed after rules-" in note for note in notes), notes
        score(copy, plugins=installed)  # keeps the verdicts, so that the second time it is told again


def test_scores_of_older_runs_say_nothing_of_the_responses(copy: Path, tmp_path: Path, installed: Plugins) -> None:
    for file in (copy / "scores").glob("*.json"):
        document = json.loads(file.read_bytes())
        del document["answers"], document["flags"], document["unbalanced"]
        file.write_text(json.dumps(document), "utf-8")
    (copy / "responses.jsonl").write_bytes((copy / "responses.jsonl").read_bytes() + b"\n")
    assert told_of(copy, installed, tmp_path / "x.jsonl") == ([], [])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_number_that_is_none_is_damage(copy: Path, number: str, installed: Plugins) -> None:
    file = next((copy / "scores").glob("*.json"))
    text = file.read_text("utf-8")
    document = json.loads(text)
    value = next(score["value"] for score in document["scores"] if isinstance(score["value"], float))
    file.write_text(text.replace(f'"value": {value!r}', f'"value": {number}', 1), "utf-8")
    with pytest.raises(StoreError, match="is damaged"):
        view_run(copy, installed)
