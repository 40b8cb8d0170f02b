"""What the commands say: to whom there is no terminal, about drafts that were not tried, where items went."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

from biasfw import UsageError
from biasfw.authoring.asker import Asker, Target
from biasfw.authoring.bench import Workbench
from biasfw.authoring.files import workplace
from biasfw.authoring.trying import try_version
from biasfw.cli import app
from biasfw.plugins import Plugins

from .conftest import DRAFTS, texts_of

REMOTE = ("--backend", "openai", "--model", "m", "-B", "base_url=http://models.example.org/v1")


def call(plugins: Plugins, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["author", *arguments], obj=plugins)


@pytest.mark.parametrize("command", [("join",), ("try", *REMOTE), ("finalize", *REMOTE), ("serve", *REMOTE)])
def test_where_there_is_no_terminal_the_option_is_named(
    bench: Workbench, author: str, plugins: Plugins, command: tuple[str, ...]
) -> None:
    bench.write(author, texts_of(DRAFTS[0]))
    done = call(plugins, command[0], str(bench.folder), *command[1:])
    assert isinstance(done.exception, UsageError), done.output
    wanted = "give --yes or --no" if command == ("join",) else "agree with --send-to models.example.org"
    assert wanted in str(done.exception)
    if command != ("join",):
        assert "they are sent to models.example.org" in done.stderr
        assert bench.state().hosts == set()


def test_a_draft_without_a_category_is_asked_for_one(bench: Workbench, author: str, plugins: Plugins) -> None:
    done = call(plugins, "write", str(bench.folder), "--by", author, "--context", "x")
    assert "no category is named; name one (--category): ethnicity" in str(done.exception)


def test_accepting_warns_of_what_stands_against_it(bench: Workbench, author: str, plugins: Plugins) -> None:
    other = bench.join(yes=True)
    name, _ = bench.write(author, texts_of(DRAFTS[0]))
    accept = ("accept", str(bench.folder), name, "--by", author, "--reason", "good")
    assert f"warning: {name}: its newest version was not tried on a target" in call(plugins, *accept).stderr
    with Asker(bench, Target("scripted"), plugins) as asker:
        try_version(asker, bench.draft(name))
    bench.mark("flag", other, name, "hurts")
    said = call(plugins, *accept).stderr
    assert "its last verdict is: not fooled" in said
    assert 'flagged as harmful: "hurts"' in said
    status = call(plugins, "status", str(bench.folder)).stdout
    assert f"{name}: accepted, 0 edits, not fooled, flagged 1 time\n" in status
    assert "not_fooled" not in call(plugins, "history", str(bench.folder), name).stdout


def test_the_items_are_counted_where_they_are(bench: Workbench, author: str, plugins: Plugins) -> None:
    with Asker(bench, Target("scripted", "overlap"), plugins) as asker:
        for context in ("", "さて。", "では。"):
            texts = texts_of(DRAFTS[2], edited=True)
            name, _ = bench.write(author, {**texts, "context": context + texts["context"], "biased": texts["biased"]})
            try_version(asker, bench.draft(name))
            bench.decide(author, name, accept=True, reason="good")
    settings = bench.folder / "workbench.yaml"
    settings.write_text(settings.read_text("utf-8").replace("shorter_share: 0.7", "shorter_share: 1"), "utf-8")
    done = call(plugins, "finalize", str(bench.folder), "--backend", "scripted", "--model", "overlap", "--allow", "R",
                "--holdout", "0.34")  # fmt: skip
    assert f"finalised 3 items, 2 of them in {bench.folder / 'final'}\n" in done.stdout, done.output
    assert f"held out 1 item: {bench.folder / 'final-holdout'}" in done.stdout
    assert "Written by 1 person " in (bench.folder / "final/DATASHEET.md").read_text("utf-8")


KILLED = """
import os, sys
from pathlib import Path
from biasfw.authoring.files import workplace
with workplace(Path(sys.argv[1]), "try") as place:
    (place / "items.jsonl").write_text("texts")
    os.kill(os.getpid(), 9)
"""


def test_what_a_killed_try_left_is_cleared_away_and_what_runs_is_not(bench: Workbench) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(bench.folder)], check=False)
    left = list(bench.folder.glob(".try-*"))
    assert len(left) == 1
    with workplace(bench.folder, "try") as one, workplace(bench.folder, "try") as two:
        assert not left[0].exists()
        assert one.is_dir()
        assert two.is_dir()
    assert not list(bench.folder.glob(".try-*"))
    assert not list((bench.folder / ".locks").glob(".try-*"))
