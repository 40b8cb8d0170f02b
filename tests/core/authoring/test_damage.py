"""A log with damaged lines: nothing is lost, no number is given twice, and everything that is wrong is told."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasfw.authoring.analysis import report
from biasfw.authoring.asker import Asker, Target
from biasfw.authoring.bench import Workbench
from biasfw.authoring.trying import try_version
from biasfw.cli import app
from biasfw.plugins import Plugins

from .conftest import DRAFTS, texts_of

Damage = Callable[[str], str]


def spoil(bench: Workbench, version: int, how: Damage) -> int:
    """Damage the line of a version of the first draft; return its number."""
    lines = bench.log.path.read_text("utf-8").splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if '"kind":"draft"' in line and f'"version":{version},' in line)
    lines[place] = how(lines[place])
    bench.log.path.write_text("".join(lines), "utf-8")
    return place + 1


@pytest.fixture
def edited(bench: Workbench, author: str) -> str:
    name, _ = bench.write(author, texts_of(DRAFTS[0]))
    for n in (1, 2, 3):
        bench.write(author, {"context": f"人間：{n}。"}, name)
    return name


HOWS: dict[str, Damage] = {
    "braces": lambda line: "{{" + line, "kind": lambda line: line.replace('"draft"', '"foo"', 1), "gone": lambda _: "",
}  # fmt: skip


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("command", ["status", "history", "report", "validate", "check"])
def test_every_command_tells_what_is_missing(
    bench: Workbench, plugins: Plugins, edited: str, how: str, command: str
) -> None:
    number = spoil(bench, 2, HOWS[how])
    place = str(bench.folder)
    arguments = {"history": ("author", "history", place, edited), "validate": ("validate", place),
                 "check": ("check", place, "--quick")}  # fmt: skip
    said = CliRunner().invoke(app, list(arguments.get(command, ("author", command, place))), obj=plugins).stderr
    assert f"{edited}: version 2 missing; there: 0, 1, 3" in said
    assert (f"attempts.jsonl:{number}: this line cannot be read" in said) is (how != "gone")


@pytest.mark.parametrize("how", ["braces", "kind"])
def test_a_number_is_never_given_twice(bench: Workbench, author: str, edited: str, how: str) -> None:
    spoil(bench, 3, HOWS[how])
    for n in (4, 5):  # the damaged line stands in the log, then aside
        _, version = bench.write(author, {"context": f"人間：新しい{n}。"}, edited)
        assert version.number == n
    assert "人間：3。" in (bench.folder / "attempts.jsonl.damaged").read_text("utf-8")
    assert any("attempts.jsonl.damaged:1: 1 line" in text for text in bench.problems())


def test_a_number_that_stands_twice_is_told(bench: Workbench, edited: str) -> None:
    spoil(bench, 3, lambda line: line.replace('"version":3', '"version":2'))
    assert [text for text in bench.problems() if f"{edited}: version 2 is there twice" in text]


def test_a_draft_without_a_line_that_can_be_read_blocks_nothing(bench: Workbench, author: str) -> None:
    name, _ = bench.write(author, texts_of(DRAFTS[0]))
    bench.write(author, {"context": "人間：別の話。"}, name, arm="placebo")
    bench.mark("flag", author, name, "?")
    spoil(bench, 0, HOWS["braces"])
    other, _ = bench.write(author, texts_of(DRAFTS[0]))
    assert (other, list(bench.state().drafts)) == ("ethnicity-02", ["ethnicity-02"])
    assert report(bench)["drafts"]["all"] == 1
    done = CliRunner().invoke(app, ["author", "status", str(bench.folder)])
    assert done.exit_code == 0
    assert f"{name} version 0" in done.stderr
    done = CliRunner().invoke(app, ["author", "history", str(bench.folder), name])
    assert f"no version of {name} can be read" in str(done.exception)


def test_a_torn_last_line_is_kept_and_told(bench: Workbench, author: str, edited: str) -> None:
    content = bench.log.path.read_bytes()
    bench.log.path.write_bytes(content[:-20])
    said = CliRunner().invoke(app, ["author", "write", str(bench.folder), edited, "--by", author, "--harm", "x"])
    assert "the last line was cut off while it was written" in said.stderr
    assert said.stdout.startswith(f"{edited}: version 4")
    assert "人間：3。" in (bench.folder / "attempts.jsonl.damaged").read_text("utf-8")


def test_no_later_version_stands_in_for_a_first_one_that_is_lost(bench: Workbench, edited: str) -> None:
    spoil(bench, 0, HOWS["braces"])
    assert bench.draft(edited).first is None
    assert report(bench)["unmeasured"] == [edited]
    bench.rebuild()
    assert not (bench.folder / "items/first.jsonl").read_text("utf-8")


def test_a_verdict_follows_from_its_picks(bench: Workbench, author: str, plugins: Plugins) -> None:
    name, _ = bench.write(author, texts_of(DRAFTS[0]))
    with Asker(bench, Target("scripted"), plugins) as asker:
        try_version(asker, bench.draft(name))
    assert bench.problems() == []
    text = bench.log.path.read_text("utf-8")
    bench.log.path.write_text(text.replace('"verdict":"not_fooled"', '"verdict":"fooled"'), "utf-8")
    assert bench.draft(name).tries[0]["verdict"] == "not_fooled"
    assert "the verdict fooled does not follow from its picks, which make it not fooled" in bench.problems()[0]
    document = CliRunner().invoke(app, ["author", "status", str(bench.folder), "--json"])
    assert json.loads(document.stdout)["drafts"][0]["verdict"] == "not_fooled"


def test_what_only_reads_needs_no_right_to_write(
    bench: Workbench, edited: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    monkeypatch.setattr(Path, "mkdir", refused)
    done = CliRunner().invoke(app, ["author", "status", str(bench.folder)])
    assert (done.exit_code, edited in done.stdout) == (0, True), done.exception
