"""What the page says, and what it leaves out."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from biasfw.config import RunConfig
from biasfw.engine import run
from biasfw.errors import StoreError
from biasfw.plugins import Plugins

DEMO = "machine-written, not reviewed by native speakers; not comparable with the paper"


def test_nothing_is_loaded_and_nothing_runs_but_the_hashed_script(page: Callable[..., Any], casting: Path) -> None:
    found = page(casting)
    policy = next(t["content"] for tag, t in found.tags if t.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag, kind in (("style", "style-src"), ("script", "script-src")):
        contents = re.findall(rf"<{tag}>(.*?)</{tag}>", found.source, re.DOTALL)
        assert len(contents) == 1
        digest = base64.b64encode(hashlib.sha256(contents[0].encode("utf-8")).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    for tag, attributes in found.tags:
        assert not {"src", "srcset", "style", "background", "action", "data"} & set(attributes), tag
        assert not [name for name in attributes if name.startswith("on")], tag
        assert attributes.get("href", "#").startswith("#"), tag
        assert tag not in ("link", "iframe", "object", "embed", "base", "img")


def test_the_content_warning_comes_before_everything_else_in_the_page(page: Callable[..., Any], replies: Path) -> None:
    found = page(replies)
    main = found.source.index("<main")
    assert found.source.index("Content warning", main) < found.source.index("<h1", main)
    assert "The replies voice stereotypes" in found.text


def test_a_demo_set_is_marked_and_the_canary_is_there(page: Callable[..., Any], replies: Path) -> None:
    found = page(replies)
    assert found.text.count(DEMO) >= 3  # at the top of every screen and printed page, at the result, in how to cite it
    document = json.loads(next((replies / "scores").glob("*.json")).read_text(encoding="utf-8"))
    assert document["canary"] in found.text
    assert f'<meta name="canary" content="{document["canary"]}">' in found.source


def test_an_official_set_is_not_marked(page: Callable[..., Any], changed_benchmark: Callable[..., Path]) -> None:
    run = changed_benchmark(("    demo: true\n", ""))
    assert DEMO not in page(run).text


def test_how_to_read_and_how_to_cite_stand_there(page: Callable[..., Any], replies: Path) -> None:
    text = " ".join(page(replies).text.split())
    for part in ("That a model is free of bias", "no native speaker has reviewed", "arXiv 2603.20581", "data sha256"):
        assert part in text
    info = json.loads((replies / "run.json").read_text(encoding="utf-8"))
    assert info["benchmark"]["data_sha256"] in text
    assert "464 of 464 items" in text


def test_people_are_drawn_only_beside_the_same_question(
    page: Callable[..., Any], changed_benchmark: Callable[..., Path]
) -> None:
    found = page(changed_benchmark((
        "reference_results: []\ndefault_split",
        "reference_results:\n      - {metric: accuracy, value: 91, unit: percent, source: a survey, slice: "
        "{over: human annotators, question_id: jubaku-more-suitable-reply}}\ndefault_split",
    )))  # fmt: skip
    assert "people, asked the same question: 91 % (a survey)" in found.text
    assert 'stroke="var(--human)"' in found.source


def test_people_who_were_asked_something_else_are_not_drawn(
    page: Callable[..., Any], changed_benchmark: Callable[..., Path]
) -> None:
    found = page(changed_benchmark((
        "reference_results: []\ndefault_split",
        "reference_results:\n      - {metric: accuracy, value: 91, unit: percent, source: a survey, slice: "
        "{over: human annotators, question_id: another-question}}\n      - {metric: accuracy, value: 90, "
        "unit: percent, source: another survey, slice: {over: human annotators}}\ndefault_split",
    )))  # fmt: skip
    assert "survey" not in found.text
    assert 'stroke="var(--human)"' not in found.source


def test_texts_that_may_not_be_passed_on_are_left_out(
    page: Callable[..., Any], changed_benchmark: Callable[..., Path]
) -> None:
    run = changed_benchmark(("    redistribution: allowed\n", "    redistribution: forbidden\n"))
    found = page(run)
    assert "may not be passed on" in found.text
    blocks = found.blocks()
    everything = json.dumps(blocks, ensure_ascii=False)
    prompt = json.loads((run / "requests.jsonl").read_text(encoding="utf-8").split("\n")[0])
    assert prompt["messages"][0]["content"][:20] not in everything
    assert not re.search("[\u3040-\u30ff]", everything), "no Japanese text at all"
    assert prompt["key"] in everything, "ids and keys stay"


def test_every_response_is_there_with_key_and_line(page: Callable[..., Any], casting: Path) -> None:
    lines = [json.loads(line) for line in (casting / "responses.jsonl").read_text(encoding="utf-8").split("\n") if line]
    found = {}
    for block in page(casting).blocks():
        for row, text in zip(block["r"], block["t"], strict=True):
            assert row[2] == "responses.jsonl"
            found[row[3]] = (row[1], text[0])
    assert found == {place: (line["key"], line["text"]) for place, line in enumerate(lines, start=1)}


def test_long_texts_are_cut_and_it_is_said(
    page: Callable[..., Any], casting: Path, copied: Callable[..., Path]
) -> None:
    run = copied(casting, {"responses.jsonl": lambda place, row: {**row, "text": "x" * 5000} if place == 3 else row})
    found = page(run, text_limit=700)
    texts = [text for block in found.blocks() for text in block["t"]]
    assert ["x" * 700, 4300] in texts
    assert "cut at 700 characters" in found.text


def test_several_judges_are_compared(page: Callable[..., Any], casting: Path, copied: Callable[..., Path]) -> None:
    run = copied(casting, {})
    first = next((run / "judgements").glob("*.jsonl"))
    rows = [json.loads(line) for line in first.read_text(encoding="utf-8").split("\n") if line]
    for row in rows[: len(rows) // 4]:
        row["slots"]["modern"] = {"outcome": "refused"}
    text = "\n".join(json.dumps(row) for row in rows)
    (run / "judgements" / "second-12345678.jsonl").write_text(text + "\n", encoding="utf-8")
    found = page(run)
    share = f"{100 * (len(rows) - len(rows) // 4) / len(rows):.1f}"
    assert re.search(rf'<th scope="row">modern, all</th><td>{share} \(', found.source)
    assert "second-12345678" in found.text
    assert "Agreement is not accuracy" in found.text
    assert sum(found.catalogue()["rows"]["differ"]) == len(rows) // 4


def test_the_votes_of_a_panel_are_shown(page: Callable[..., Any], casting: Path, copied: Callable[..., Path]) -> None:
    name = next((casting / "judgements").glob("*.jsonl")).name

    def voted(place: int, row: dict[str, Any]) -> dict[str, Any]:
        other = {"modern": {"outcome": "refused"}, "stereotyped": row["slots"]["stereotyped"]}
        votes = {"one": row["slots"], "two": other if place < 5 else row["slots"]}
        return {**row, "votes": votes, "rationale": "because <b>"}

    found = page(copied(casting, {f"judgements/{name}": voted}))
    assert sum(found.catalogue()["rows"]["differ"]) == 5
    verdict = found.blocks()[0]["r"][0][8][0]
    assert set(verdict[1]) == {"one", "two"}
    assert verdict[2] == "because <b>"


def test_several_runs_make_a_table_of_models_and_benchmarks(
    page: Callable[..., Any], casting: Path, replies: Path
) -> None:
    found = page(casting, replies)
    text = " ".join(found.text.split())
    assert "2 runs" in text
    assert "jubaku:demo · choices · Accuracy" in text
    assert "Intervals of single runs do not tell whether two runs differ" in text
    assert found.catalogue()["runs"] == ["random · debatebias:demo", "stereotyped · jubaku:demo"]


def test_what_stands_against_a_number_stands_beside_it_in_the_overview(
    page: Callable[..., Any], casting: Path, replies: Path, tmp_path: Path, installed: Plugins
) -> None:
    config = RunConfig("jubaku:demo", "reference", model="first", mode="choices", limit=20, runs=str(tmp_path))
    locked = run(config, installed).directory
    table = page(casting, replies, locked).source.split('id="overview"')[1].split("</table>")[0]
    rows = {name: row for row in table.split("<tr>") if (name := row.partition(">")[2].partition("<")[0])}
    assert "position-locked" in rows["first"]
    assert "position-locked" not in rows["stereotyped"]
    assert ">demo<" not in table, "all are: the bar says it"


def test_texts_are_cut_shorter_where_the_file_would_be_too_large(
    write: Callable[..., Path], casting: Path, copied: Callable[..., Path]
) -> None:
    draw = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ+-"

    def long(place: int, row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "text": "".join(draw.choices(letters, k=60_000))}

    run = copied(casting, {"responses.jsonl": long})
    path = write(run, text_limit=60_000, size_limit=6_000_000)
    assert 2_000_000 < path.stat().st_size <= 6_000_000
    said = re.search(
        r"Texts are cut at ([\d,]+) characters instead of 60,000, so that this file is at most 6 MB",
        path.read_text(encoding="utf-8"),
    )
    assert said
    assert 5_000 < int(said[1].replace(",", "")) < 30_000


def test_the_same_runs_give_the_same_file(write: Callable[..., Path], replies: Path) -> None:
    first = write(replies).read_bytes()
    assert write(replies).read_bytes() == first


def test_a_run_that_is_still_asked_says_so(
    page: Callable[..., Any], casting: Path, copied: Callable[..., Path]
) -> None:
    run = copied(casting, {})
    info = json.loads((run / "run.json").read_text(encoding="utf-8"))
    (run / "run.json").write_text(json.dumps({**info, "status": "incomplete"}), encoding="utf-8")
    assert "The run is incomplete" in page(run).text


def test_a_file_that_cannot_be_written(write: Callable[..., Path], replies: Path, tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(StoreError, match="cannot write"):
        write(replies)
    assert not list(tmp_path.glob(".report*"))
