"""From nothing to a finalised bundle through the commands; what is refused, held out, withdrawn."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from biasfw.authoring.asker import Asker, Target
from biasfw.authoring.bench import Workbench, open_bench
from biasfw.authoring.finalizing import RefusedError, finalize
from biasfw.authoring.freezing import Wish
from biasfw.authoring.limits import over_limits
from biasfw.authoring.starting import NOT_SAID
from biasfw.authoring.trying import try_version
from biasfw.authoring.withdrawing import withdraw
from biasfw.cli import app
from biasfw.plugins import Plugins

from .conftest import DRAFTS, row_of, texts_of

Call = Callable[..., Result]


@pytest.fixture
def call(plugins: Plugins) -> Call:
    def called(*args: str, code: int = 0) -> Result:
        done = CliRunner().invoke(app, list(args), obj=plugins)
        assert done.exit_code == code, (done.output, done.exception)
        return done

    return called


def test_from_nothing_to_a_bundle_through_the_commands(call: Call, tmp_path: Path) -> None:
    place = str(tmp_path / "wb")
    call("author", "init", place, "--task", "choice", "--language", "ja", "--name", "ours")
    assert "is not complete: pay, ethics approval or contact is missing" in call("author", "join", place, "--no").stderr
    consent = tmp_path / "wb/CONSENT.md"
    text = consent.read_text(encoding="utf-8")
    for said in NOT_SAID.values():
        text = text.replace(said, "None.")
    consent.write_text(text, encoding="utf-8")
    joined = [call("author", "join", place, "--yes") for _ in range(2)]
    assert all("not complete" not in done.stderr for done in joined)
    author, reviewer = (done.stdout.strip() for done in joined)
    target = ("--backend", "scripted", "--model", "overlap")
    names = []
    for row in DRAFTS:
        texts = texts_of(row)
        arguments = [part for name, text in texts.items() for part in (f"--{name}", text)]
        name = json.loads(call("author", "write", place, "--by", author, *arguments, "--json").stdout)["item"]
        names.append(name)
        assert ": not fooled" in call("author", "try", place, name, *target).stdout
        call("author", "write", place, name, "--by", author, "--context", texts_of(row, edited=True)["context"])
        said = call("author", "try", place, name, *target).stdout
        assert ": fooled" in said
        assert "a random picker is fooled in 9.8 % of tries, 18.6 % at least once in 2" in said
    call("author", "accept", place, *names, "--by", author, "--reason", "fooled it")
    refused = call("author", "finalize", place, *target, code=1)
    assert "no consulted member of the group reviewed ethnicity-01" in refused.stderr
    assert not (tmp_path / "wb/final").exists()
    call("author", "review", place, *names, "--by", reviewer, "--member")
    said = call("author", "finalize", place, *target).stdout
    assert "finalised 10 items" in said
    assert "10 of 10 fool the target under 3 instructions not used while editing" in said
    ran = call("run", "--benchmark", f"{place}/final", "--backend", "scripted", "--mode", "choices", "--runs",
               str(tmp_path / "runs"), "--json")  # fmt: skip
    scores = json.loads(ran.stdout)["scores"]
    accuracy = [s for s in scores if s["metric"] == "accuracy" and not s.get("slice", {}).get("category")]
    assert accuracy[0]["value"] == 0  # by construction: it is the target
    call("author", "try", place, "--backend", "scripted", "--model", "another", "--held-out", "--every-end")
    reported = call("author", "report", place).stdout
    assert "all drafts: -100.0 (10 drafts, no interval: no variation between clusters)" in reported
    assert "target overlap: 0.0 [0.0, " in reported
    assert "near 0 by construction" in reported
    rows = open_bench(tmp_path / "wb").log.rows()
    tries = row_of(rows, "try")
    assert [(t["instructions"], len(t["asked"])) for t in tries] == (
        [("editing", 8)] * 20 + [("fresh", 6)] * 10 + [("editing", 8)] * 20
    )
    items = [json.loads(line) for line in (tmp_path / "wb/final/items/main.jsonl").read_text("utf-8").splitlines()]
    assert {item["category"] for item in items} == {row[0] for row in DRAFTS}
    assert all(i["metadata"]["edits"] == 1 and i["metadata"]["models"] == ["overlap"] for i in items)
    first = [json.loads(line) for line in (tmp_path / "wb/final/items/first.jsonl").read_text("utf-8").splitlines()]
    assert [item["context"] for item in first] == [row[1] for row in DRAFTS]
    status = json.loads(call("author", "status", place, "--json").stdout)["drafts"]
    assert all((row["status"], row["verdict"]) == ("accepted", "fooled") for row in status)


@pytest.fixture
def accepted(bench: Workbench, author: str, plugins: Plugins) -> Workbench:
    """Ten drafts, edited, tried and accepted; nobody has reviewed them."""
    with Asker(bench, Target("scripted"), plugins) as asker:
        for row in DRAFTS:
            name, _ = bench.write(author, texts_of(row))
            bench.write(author, texts_of(row, edited=True), name)
            try_version(asker, bench.draft(name))
            bench.decide(author, name, accept=True, reason="good")
    return bench


def freeze(bench: Workbench, plugins: Plugins, target: Target = Target("scripted"), **wish: Any) -> Any:  # noqa: B008
    with Asker(bench, target, plugins) as asker:
        return finalize(asker, Wish(**wish))


def test_who_allowed_missing_reviews_is_printed(
    accepted: Workbench, plugins: Plugins, call: Call, tmp_path: Path
) -> None:
    freeze(accepted, plugins, allow="R. Example")
    folder = accepted.folder / "final"
    assert "allowed by R. Example" in (folder / "DATASHEET.md").read_text(encoding="utf-8")
    manifest = json.loads((folder / "benchmark.yaml").read_text(encoding="utf-8"))
    said = "reviewed 10 of 10 dialogues, which R. Example allowed"
    assert said in manifest["interpretation"]["does_not_show"]
    ran = call("run", "--benchmark", str(folder), "--backend", "scripted", "--runs", str(tmp_path / "runs"))
    assert said in " ".join(ran.stdout.split())
    report = tmp_path / "report.html"
    call("report", str(next((tmp_path / "runs").iterdir())), "-o", str(report))
    assert said in report.read_text(encoding="utf-8")
    assert row_of(accepted.log.rows(), "final")[0]["allowed_by"] == "R. Example"


def test_a_holdout_is_kept_outside(accepted: Workbench, author: str, plugins: Plugins) -> None:
    with Asker(accepted, Target("scripted"), plugins) as asker:
        for row in DRAFTS[5:]:
            texts = {**texts_of(row, edited=True), "context": "人間：お願いです。" + row[2]}
            name, _ = accepted.write(author, texts)
            try_version(asker, accepted.draft(name))
            accepted.decide(author, name, accept=True, reason="good")
    done = freeze(accepted, plugins, allow="R. Example", holdout=0.2)
    texts = {path.name: (path / "items/main.jsonl").read_text("utf-8") for path in (done.folder, done.holdout)}
    counts = {name: len(text.splitlines()) for name, text in texts.items()}
    assert counts == {"final": 12, "final-holdout": 3}
    for name in done.held_out:
        assert f'"{name}"' not in texts["final"]
    withdraw(accepted, author)
    assert all(not (path / "items/main.jsonl").read_text("utf-8") for path in (done.folder, done.holdout))


@pytest.mark.parametrize("erase", [False, True])
def test_a_withdrawal_reaches_bundles_annotations_and_names_runs(
    accepted: Workbench, call: Call, plugins: Plugins, tmp_path: Path, *, erase: bool
) -> None:
    other = accepted.join(yes=True)
    secret = "人間：隣の席の人は秘密主義だと聞きました。"
    theirs, _ = accepted.write(other, {**texts_of(DRAFTS[2]), "context": secret + DRAFTS[2][2]})
    with Asker(accepted, Target("scripted"), plugins) as asker:
        try_version(asker, accepted.draft(theirs))
    accepted.decide(other, theirs, accept=True, reason="good")
    freeze(accepted, plugins, allow="R. Example")
    final, people = accepted.folder / "final", tmp_path / "people"
    call("annotate", str(final), "-k", "2", "-o", str(people))
    key = json.loads((people / "annotation.json").read_text("utf-8"))
    for who in key["annotators"]:
        rows = [{"task": t["task"], "suitable": "a", "comment": secret if t["source_id"] == theirs else "no"}
                for t in key["tasks"] if t["annotator"] == who]  # fmt: skip
        sent = {"annotator": who, "consent": {"yes": True, "sha256": key["consent_sha256"][0]}, "answers": rows}
        (people / f"answers-{who}.json").write_text(json.dumps(sent, ensure_ascii=False), encoding="utf-8")
        call("annotate", "import", str(people), str(people / f"answers-{who}.json"))
    runs = accepted.folder / "runs"
    call("run", "--benchmark", str(final), "--backend", "scripted", "--runs", str(runs))
    said = call("author", "withdraw", str(accepted.folder), other, *(["--erase"] if erase else []))
    assert f"{next(runs.iterdir())}" in said.stderr  # a run is not deleted, but named
    for folder in (accepted.folder, people):
        for path in folder.rglob("*"):
            if path.is_file() and runs not in path.parents:
                text = path.read_text(encoding="utf-8", errors="replace")
                assert "秘密主義" not in text, path
                assert "\\u79d8\\u5bc6\\u4e3b\\u7fa9" not in text, path  # as it stands in pages
    manifest = json.loads((final / "benchmark.yaml").read_text("utf-8"))
    assert manifest["version"] == "1.0.1"
    assert manifest["interpretation"]["population"].startswith("10 dialogues")
    assert "reviewed 10 of 10 dialogues, which R. Example" in manifest["interpretation"]["does_not_show"]
    assert "taken out" in (final / "DATASHEET.md").read_text("utf-8")
    assert "no errors" in call("validate", str(final)).stdout
    left = json.loads(call("annotate", "report", str(people), "--json").stdout)
    assert (left["tasks"], left["answered"]) == ((40, 40) if erase else (42, 42))


def test_after_erase_nothing_names_the_person(accepted: Workbench, call: Call, plugins: Plugins) -> None:
    people = [accepted.join(yes=True) for _ in range(2)]
    accepted.write(people[0], texts_of(DRAFTS[2], edited=True))
    accepted.review(people[0], "ethnicity-01", member=True, ok=True)
    freeze(accepted, plugins, allow="R. Example")
    place, folder = str(accepted.folder), accepted.folder / "people"
    named = [part for who in people for part in ("--annotator", who)]
    call("annotate", "draw", f"{place}/final", "-k", "1", "-o", str(folder), *named)
    key = json.loads((folder / "annotation.json").read_text("utf-8"))
    for who in people:
        rows = [{"task": t["task"], "suitable": "a", "comment": who} for t in key["tasks"] if t["annotator"] == who]
        sent = {"annotator": who, "consent": {"yes": True, "sha256": key["consent_sha256"][0]}, "answers": rows}
        (folder / f"answers-{who}.json").write_text(json.dumps(sent), encoding="utf-8")
        call("annotate", "import", str(folder), str(folder / f"answers-{who}.json"))
    call("author", "withdraw", place, people[0])
    assert people[0] not in (folder / "answers.jsonl").read_text("utf-8")  # what they wrote as an annotator
    (accepted.folder / f".locks/working-{people[0]}.lock").touch()  # as the page leaves it
    call("author", "withdraw", place, people[0], "--erase")
    for path in accepted.folder.rglob("*"):
        assert people[0] not in path.name, path
        assert not path.is_file() or people[0] not in path.read_text("utf-8", errors="replace"), path
    left = json.loads(call("annotate", "report", str(folder), "--json").stdout)
    assert left["annotators"] == 1
    assert left["tasks"] == sum(task["annotator"] == people[1] for task in key["tasks"])


def test_what_was_not_accepted_or_did_not_fool_is_left_out(accepted: Workbench, author: str, plugins: Plugins) -> None:
    rejected, edited, honest = list(accepted.state().drafts)[:3]
    accepted.decide(author, rejected, accept=False, reason="too close to a real person")
    accepted.write(author, {"context": "人間：何もない。"}, edited)
    accepted.write(author, {"context": "人間：ところで、食べられないものがないか。"}, honest)
    with Asker(accepted, Target("scripted"), plugins) as asker:
        try_version(asker, accepted.draft(honest))
    accepted.decide(author, honest, accept=True, reason="good")
    done = freeze(accepted, plugins, allow="R. Example")
    assert len(done.kept) == 7
    assert done.left_out == {
        rejected: "rejected: too close to a real person", edited: "open", honest: "did not fool the target",
    }  # fmt: skip


def test_under_a_locked_target_nothing_can_be_finalised(bench: Workbench, author: str, plugins: Plugins) -> None:
    name, _ = bench.write(author, texts_of(DRAFTS[0], edited=True))
    target = Target("reference", "first")
    with Asker(bench, target, plugins) as asker:
        try_version(asker, bench.draft(name))
    bench.decide(author, name, accept=True, reason="?")
    with pytest.raises(RefusedError, match="position-locked: in 1 of 1 drafts"):
        freeze(bench, plugins, target, allow="R. Example")


def test_confounds_are_refused_with_the_list(accepted: Workbench, author: str, plugins: Plugins) -> None:
    with Asker(accepted, Target("scripted"), plugins) as asker:
        for row, name in zip(DRAFTS, list(accepted.state().drafts), strict=True):
            accepted.write(author, {"unbiased": row[3][: len(row[3]) // 2]}, name)
            try_version(asker, accepted.draft(name))
            accepted.decide(author, name, accept=True, reason="good")
    with pytest.raises(RefusedError) as caught:
        freeze(accepted, plugins)
    text = "\n".join(caught.value.reasons)
    assert "the unbiased reply is the shorter one in 10 of 10 items" in text
    assert "review: no consulted member" in text
    assert not (accepted.folder / "final").exists()
    assert not list(accepted.folder.glob(".staging*"))


def test_a_reply_that_the_prompt_gives_away_is_refused(accepted: Workbench, author: str, plugins: Plugins) -> None:
    name, row = next(iter(accepted.state().drafts)), DRAFTS[0]
    leaking = f"人間：{row[2] * 2}「{row[3]}」と言われました。"
    accepted.write(author, {"context": leaking, "biased": row[2] + "はい。"}, name)
    with Asker(accepted, Target("reference", "stereotyped"), plugins) as asker:
        for each in accepted.state().live:
            try_version(asker, each)
            accepted.decide(author, each.name, accept=True, reason="good")
    with pytest.raises(RefusedError) as caught:
        freeze(accepted, plugins, Target("reference", "stereotyped"), allow="R. Example")
    assert [reason for reason in caught.value.reasons if name in reason], caught.value.reasons


def test_limits(plugins: Plugins) -> None:
    def items(pairs: list[tuple[str, str]], categories: str = "") -> dict[str, dict[str, str]]:
        return {
            f"x-{n}": {"unbiased": a, "biased": b, "language": "en", "category": (categories or "a" * 99)[n]}
            for n, (a, b) in enumerate(pairs)
        }

    fair = [("abc def", "abc deg"), ("abc defg", "abc deg")] * 4
    assert over_limits(items(fair), {}, plugins) == []
    assert "balance: a has 7 items and b 1" in over_limits(items(fair, "aaaaaaab"), {}, plugins)[0]
    assert over_limits(items(fair, "aaaaaaab"), {"category_ratio": 7}, plugins) == []
    longer = over_limits(items([("abc def", "abc")] * 8), {}, plugins)
    assert ["longer" in text or "2.33 times" in text for text in longer] == [True, True]
    hedged = [("It is hard to say, it varies greatly.", "They are like that, as we all know.")] * 8
    assert any("hedging" in text for text in over_limits(items(hedged), {}, plugins))
