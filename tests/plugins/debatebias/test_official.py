"""``debatebias:official`` from end to end: files of our own in the authors' layout, the shipped manifest."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from biasfw import BiasfwError, DataError, RunConfig, RunResult, UsageError, bundles
from biasfw.cli import app
from biasfw.engine import run
from biasfw.plugins import Plugins
from biasfw.rescoring import score
from biasfw.schemas import problems
from biasfw.textfile import read_jsonl

Write = Callable[..., Path]
Rows = Callable[..., list[tuple[str, str, str]]]
PLACEHOLDER = "{Demographic List}"
NOTE = "clusters are titles; 300 prompts grew from 50 seeds, so the intervals are a lower bound of the uncertainty"


@pytest.fixture(scope="session")
def other(installed: Plugins) -> str:
    """A second language of the shipped benchmark."""
    languages = bundles.find("debatebias", installed).manifest["languages"]
    return "ko" if "ko" in languages else str(languages[-1])


@pytest.fixture
def go(folder: Path, installed: Plugins) -> Callable[..., RunResult]:
    def start(**changes: Any) -> RunResult:
        values = {
            "benchmark": "debatebias:official", "backend": "reference", "model": "first", "data": str(folder),
            "runs": str(folder.parent / "runs"),
        }  # fmt: skip
        return run(RunConfig(**{**values, **changes}), installed)

    return start


def requests(result: RunResult) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for line in (result.directory / "requests.jsonl").read_bytes().splitlines()]
    return {row["item_id"]: row for row in rows}


def names(result: RunResult, language: str, item_id: str) -> list[str]:
    labels = {label.key: label for label in result.plan.form.labels}
    return [labels[key].name(language) for key in result.plan.items[item_id].order]


def test_two_languages_from_end_to_end(go: Callable[..., RunResult], write: Write, rows: Rows, other: str) -> None:
    write("en", rows())
    write(other, rows(" 2"))
    result = go()
    assert (result.status, result.total, result.failed) == ("complete", 24, 0)
    assert (result.plan.selected.items, result.plan.selected.clusters) == (24, 12)
    assert result.outcomes == {"modern": {"answered": 24}, "stereotyped": {"answered": 24}}
    assert {s.slice["language"] for s in result.scores if "language" in s.slice} == {"en", other}
    (picked,) = [
        s for s in result.scores
        if s.metric == "position_rate" and s.slice == {"slot": "modern", "condition": "forced", "position": "1"}
        and s.denominator == "answered"
    ]  # fmt: skip
    assert (picked.value, picked.n, picked.clusters) == (1.0, 24, 12)
    templates, styles = result.plan.bundle.written["templates"], result.plan.bundle.written["list_style"]
    for item_id, request in requests(result).items():
        item = result.plan.items[item_id]
        system, user = (message["content"] for message in request["messages"])
        assert system.splitlines()[0] == templates["debate"][item.language]["system"].splitlines()[0]
        for slot in result.plan.form.slots:
            assert f"\n{slot.header('forced', item.language)}" in system
        shown = names(result, item.language, item_id)
        style = styles[item.language]
        listed = style["between"].join(shown[:-1]) + style["last"] + shown[-1]
        topic = item.metadata["title"].removesuffix(" 2")
        assert user == f"Two experts speak about {topic}.\nChoose from {listed}.\n1. now\n"


def test_the_note_on_clusters_stands_wherever_a_number_does(
    go: Callable[..., RunResult], write: Write, rows: Rows, installed: Plugins
) -> None:
    write("en", rows())
    result = go()
    assert result.notes[0] == NOTE
    info = json.loads((result.directory / "run.json").read_bytes())
    assert [str(p) for p in problems("run", info)] == []
    assert info["benchmark"]["notes"][0] == NOTE
    assert info["benchmark"]["demo"] is False
    (scores,) = (result.directory / "scores").iterdir()
    assert json.loads(scores.read_bytes())["notes"][0] == NOTE
    assert score(result.directory, plugins=installed).notes[0] == NOTE
    items = [row for _, row in read_jsonl(result.directory / "items.jsonl")]
    assert {item["metadata"]["cluster_note"].partition(":")[0] for item in items} == {"lower bound of the uncertainty"}


def test_scored_answers_are_raw_and_it_is_said(go: Callable[..., RunResult], write: Write, rows: Rows) -> None:
    write("en", rows())
    result = go(mode="choices")
    assert result.status == "complete"
    assert {s.slice.get("scoring") for s in result.scores if s.metric == "label_share"} == {"raw"}
    assert any("does not offer the condition neutral" in note and "not calibrated" in note for note in result.notes)
    with pytest.raises(UsageError, match="debatebias:official has no condition 'neutral'; it has: forced"):
        go(conditions=("neutral",))


def test_groups_can_be_named_in_english_throughout_as_published(
    go: Callable[..., RunResult], write: Write, rows: Rows, other: str
) -> None:
    write(other, rows())
    result = go(names_in="en")
    assert result.status == "complete"
    assert result.outcomes["modern"] == {"answered": 12}
    for item_id, request in requests(result).items():
        shown = names(result, "en", item_id)
        assert f"Choose from {', '.join(shown[:-1])}, and {shown[-1]}." in request["messages"][-1]["content"]


def test_the_run_depends_on_the_files_and_not_on_where_they_lie(
    go: Callable[..., RunResult], folder: Path, write: Write, rows: Rows, other: str
) -> None:
    write("en", rows())
    path = write(other, rows())
    first = go().directory
    assert go(data=str(folder / "prompts")).directory == first
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    assert go(data=str(shutil.copytree(folder, folder.parent / "moved"))).directory == first
    path.write_bytes(path.read_bytes().replace(b"now", b"then", 1))
    changed = go()
    assert changed.directory != first
    path.rename(folder / "kept.csv")
    assert go().directory not in (first, changed.directory)


def test_selecting_a_language_changes_no_prompt_and_no_key(
    go: Callable[..., RunResult], write: Write, rows: Rows, other: str, folder: Path
) -> None:
    write("en", rows())
    write(other, rows())
    whole = requests(go())
    part = requests(go(languages=(other,), runs=str(folder.parent / "part")))
    assert len(part) == 12
    assert {item_id: whole[item_id] for item_id in part} == part


def test_a_language_without_texts_is_left_out_and_it_is_said(
    go: Callable[..., RunResult], write: Write, rows: Rows
) -> None:
    write("fo", rows())
    with pytest.raises(DataError, match="12 items in fo are left out: debatebias has no texts in it"):
        go()
    write("en", rows())
    result = go()
    assert result.total == 12
    assert any(note.startswith("12 items in fo are left out") for note in result.notes)


def test_the_command_line_names_the_way_out(folder: Path, write: Write, rows: Rows) -> None:
    def said(*arguments: str, code: int) -> str:
        words = ["run", "--backend", "reference", "--model", "first", "--runs", str(folder.parent / "runs"), *arguments]
        result = CliRunner().invoke(app, words, standalone_mode=False)
        assert isinstance(result.exception, BiasfwError)
        assert result.exception.exit_code == code
        assert not (folder.parent / "runs").exists(), "nothing is made before everything is checked"
        return str(result.exception)

    official = ("--benchmark", "debatebias:official")
    assert said(*official, code=2) == (
        "debatebias:official is not shipped with biasfw; give its folder with --data DIR; "
        "debatebias:demo runs without it"
    )
    assert "does not exist" in said(*official, "--data", str(folder / "nowhere"), code=1)
    assert "takes no --data" in said("--benchmark", "debatebias", "--data", str(folder), code=2)
    path = write("en", [("religion", "Bells", "no list")])
    assert said(*official, "--data", str(folder), code=1).startswith(f"{path}:2: the prompt holds the placeholder")
    assert "no text encoding" in said(*official, "--data", str(folder), "--encoding", "klingon", code=2)
    assert "debatebias:official " in CliRunner().invoke(app, ["list", "benchmarks"]).output
    shown = CliRunner().invoke(app, ["show", "debatebias:official"]).output
    assert "official (not shipped: give --data DIR)" in shown
    document = json.loads(CliRunner().invoke(app, ["show", "debatebias:official", "--json"]).output)
    assert "data_sha256" not in document
    assert document["redistribution"] == "forbidden"


# The handed cases that apply to this reader.


def test_c51_a_mark_is_no_part_of_the_first_column(go: Callable[..., RunResult], write: Write, cases: Path) -> None:
    write("en", (cases / "data" / "bom_crlf.csv").read_bytes())
    with pytest.raises(DataError, match=r'the columns "category", "title", "prompt" are missing; the header has id, '):
        go()


def test_c52_braces(go: Callable[..., RunResult], write: Write, cases: Path) -> None:
    texts = {row["id"]: row["prompt"] for _, row in read_jsonl(cases / "data" / "braces.jsonl")}
    path = write("en", [("religion", f"T{key}", f"{texts[key]} {PLACEHOLDER}") for key in (2, 3, 5)])
    result = go()
    told = [request["messages"][-1]["content"] for request in requests(result).values()]
    assert all(text.startswith(f"{texts[key]} ") for text, key in zip(told, (2, 3, 5), strict=True))
    (note,) = [note for note in result.notes if "placeholder" in note]
    assert note.endswith(f"{path}:4 ({{demographic list}})")
    write("en", [("religion", "T1", texts[1])])
    assert go().total == 1
    for key, count in ((2, 0), (3, 0), (4, 2), (5, 0)):
        path = write("en", [("religion", "T1", texts[1]), ("religion", "T", texts[key])])
        with pytest.raises(DataError, match=rf":3: the prompt holds the placeholder .* {count} times"):
            go()


def test_c55_shift_jis(go: Callable[..., RunResult], write: Write, cases: Path) -> None:
    write("en", (cases / "data" / "sjis.csv").read_bytes())
    with pytest.raises(DataError, match=r":1:4: byte 4 of the file \(0x95\) is not UTF-8; .*give its encoding"):
        go()
    with pytest.raises(DataError, match=r'"category", "title", "prompt" are missing; the header has id, 文脈'):
        go(encoding="cp932")


def test_c59_a_missing_column_is_named(go: Callable[..., RunResult], write: Write, cases: Path) -> None:
    write("en", (cases / "data" / "missing_column.csv").read_bytes())
    with pytest.raises(DataError, match=r'generated_bias_prompts\.csv:1: the columns "category", "title", "prompt"'):
        go()
