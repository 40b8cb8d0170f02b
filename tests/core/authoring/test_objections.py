"""Somebody objects: it is refused, allowed only by a name of its own, and printed with its reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from biasfw.authoring.asker import Asker, Target
from biasfw.authoring.bench import Workbench
from biasfw.authoring.trying import try_version
from biasfw.authoring.withdrawing import withdraw
from biasfw.cli import app
from biasfw.plugins import Plugins

from .conftest import DRAFTS, texts_of

REASON = 'it "hurts"\nus'
QUOTED = 'it "hurts" us'


@pytest.fixture
def accepted(bench: Workbench, author: str, plugins: Plugins) -> Workbench:
    """Four accepted drafts."""
    with Asker(bench, Target("scripted", "overlap"), plugins) as asker:
        for row in DRAFTS[:4]:
            name, _ = bench.write(author, texts_of(row, edited=True))
            try_version(asker, bench.draft(name))
            bench.decide(author, name, accept=True, reason="good")
    return bench


def finalize(bench: Workbench, plugins: Plugins, *more: str) -> Result:
    arguments = ("author", "finalize", str(bench.folder), "--backend", "scripted", "--model", "overlap", *more)
    return CliRunner().invoke(app, list(arguments), obj=plugins)


@pytest.mark.parametrize("kind", ["member", "reviewer", "flag"])
def test_an_objection_is_refused_and_named(accepted: Workbench, plugins: Plugins, tmp_path: Path, kind: str) -> None:
    names = list(accepted.state().drafts)
    other = accepted.join(yes=True)
    for name in names:
        accepted.review(other, name, member=True, ok=True)
    critic = accepted.join(yes=True)
    if kind == "flag":
        accepted.mark("flag", critic, names[1], REASON)
    else:
        accepted.review(critic, names[1], member=kind == "member", ok=False, reason=REASON)
    assert QUOTED in CliRunner().invoke(app, ["author", "status", str(accepted.folder)]).stdout
    assert QUOTED in CliRunner().invoke(app, ["author", "report", str(accepted.folder)]).stdout
    refused = finalize(accepted, plugins, "--allow", "R. Example")  # it answers for reviews that are missing alone
    assert refused.exit_code == 1
    assert f"objection: {names[1]}:" in refused.stderr
    assert QUOTED in refused.stderr
    assert "--allow-objections NAME" in refused.stderr
    done = finalize(accepted, plugins, "--allow-objections", "O. Verride")
    assert done.exit_code == 0, done.output
    assert "O. Verride allowed it" in done.stdout
    final = accepted.folder / "final"
    sheet = (final / "DATASHEET.md").read_text("utf-8")
    assert "Reviewers objected to 1 of 4 dialogues. That they were kept was allowed by O. Verride" in sheet
    assert QUOTED in sheet
    assert "No consulted member" not in sheet
    ran = CliRunner().invoke(app, ["run", "--benchmark", str(final), "--backend", "scripted", "--limit", "1", "--runs",
                                   str(tmp_path / "runs")], obj=plugins)  # fmt: skip
    said = " ".join(ran.stdout.split())
    assert "objected to 1 of 4 dialogues" in said
    assert "O. Verride allowed that" in said
    withdraw(accepted, critic)
    for path in (final / "DATASHEET.md", final / "benchmark.yaml", accepted.log.path):
        assert "hurts" not in path.read_text("utf-8"), path


def test_a_member_who_only_objects_did_review(accepted: Workbench, plugins: Plugins) -> None:
    names, critic = list(accepted.state().drafts), accepted.join(yes=True)
    accepted.review(critic, names[0], member=True, ok=False, reason="no")
    done = finalize(accepted, plugins, "--allow", "R. Example", "--allow-objections", "O. Verride")
    assert "3 items had no review by a member of the group" in done.stdout
    sheet = (accepted.folder / "final/DATASHEET.md").read_text("utf-8")
    assert f"reviewed 3 of 4 dialogues ({', '.join(names[1:])})" in sheet
    assert "objected to 1 of 4 dialogues" in sheet
    rows = [json.loads(line) for line in (accepted.folder / "final/items/main.jsonl").read_text("utf-8").splitlines()]
    assert [row["metadata"]["objections"] for row in rows] == [1, 0, 0, 0]


def test_an_edit_alone_does_not_settle_an_objection(accepted: Workbench, author: str) -> None:
    name, critic = next(iter(accepted.state().drafts)), accepted.join(yes=True)
    accepted.review(critic, name, member=True, ok=False, reason="no")
    accepted.write(author, {"harm": "other"}, name)
    assert len(accepted.draft(name).objections) == 1
    accepted.mark("flag", critic, name, "worse")
    assert [row["kind"] for row in accepted.draft(name).objections] == ["flag"]  # the last word of each
    accepted.review(critic, name, member=True, ok=True)
    assert accepted.draft(name).objections == []
    assert accepted.draft(name).reviewed_by_member()
