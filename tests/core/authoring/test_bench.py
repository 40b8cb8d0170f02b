"""The workbench: consent, versions, two people at once, nothing lost, withdrawal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from biasfw import UsageError
from biasfw.authoring.bench import NewerVersionError, Workbench, open_bench
from biasfw.authoring.starting import Start, start
from biasfw.authoring.withdrawing import withdraw

from .conftest import DRAFTS, row_of, texts_of

SECRET = "秘密の言葉"


def test_nobody_writes_without_a_yes(bench: Workbench) -> None:
    for by in ("a-12345678", bench.join(yes=False)):
        with pytest.raises(UsageError, match="has not agreed"):
            bench.write(by, texts_of(DRAFTS[0]))
    by = bench.join(yes=True)
    assert bench.write(by, texts_of(DRAFTS[0]))[0] == "ethnicity-01"
    consent = bench.folder / "CONSENT.md"
    text = consent.read_text(encoding="utf-8")
    assert "Withdrawal" in text
    assert "撤回" in text
    consent.write_text(text + "\nMore.", encoding="utf-8")
    with pytest.raises(UsageError, match="has not agreed"):  # to this text
        bench.write(by, texts_of(DRAFTS[1]))


def test_every_version_is_in_the_log_and_texts_round_trip(bench: Workbench, author: str) -> None:
    name, first = bench.write(author, texts_of(DRAFTS[2]))
    _, second = bench.write(author, {"context": DRAFTS[2][1] + SECRET}, name, base=0)
    _, same = bench.write(author, {"context": DRAFTS[2][1] + SECRET}, name, base=1)
    assert (first.number, second.number, same.number, second.changed) == (0, 1, 1, ("context",))
    rows = row_of(bench.log.rows(), "draft")
    assert [row["draft"]["context"] for row in rows] == [DRAFTS[2][1], DRAFTS[2][1] + SECRET]
    assert {tuple(sorted(row)) for row in rows} == {
        ("arm", "by", "day", "draft", "id", "item", "kind", "version"),
        ("arm", "by", "changed", "day", "draft", "id", "item", "kind", "version"),
    }
    items = [
        json.loads(line) for line in (bench.folder / "items/drafts.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [item["context"] for item in items] == [DRAFTS[2][1] + SECRET]
    assert open_bench(bench.folder).draft(name).current.texts == {**texts_of(DRAFTS[2]), "language": "ja",
                                                                  "context": DRAFTS[2][1] + SECRET}  # fmt: skip


def test_a_version_that_was_not_seen_is_never_overwritten(bench: Workbench, author: str) -> None:
    name, _ = bench.write(author, texts_of(DRAFTS[0]))
    other = bench.join(yes=True)
    bench.write(other, {"context": "人間：新しい。"}, name, base=0)
    with pytest.raises(NewerVersionError, match="put aside") as caught:
        bench.write(author, {"context": f"人間：{SECRET}"}, name, base=0)
    assert caught.value.newest.number == 1
    assert bench.draft(name).current.texts["context"] == "人間：新しい。"  # type: ignore[index]
    assert [row["draft"]["context"] for row in row_of(bench.log.rows(), "aside")] == [f"人間：{SECRET}"]


@pytest.mark.parametrize(
    ("change", "message"),
    [({"category": "control"}, "no category 'control'"), ({"biased": "  "}, "'biased' is empty"),
     ({"biased": DRAFTS[0][3]}, "both replies are the same"), ({"context": "a\x07b"}, "control characters"),
     ({"context": "\ud800"}, "control characters"), ({"language": "ko"}, "language 'ko'"),
     ({"context": "a" * 30_000}, "at most 20000")],
)  # fmt: skip
def test_what_is_no_draft_is_refused(bench: Workbench, author: str, change: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        bench.write(author, {**texts_of(DRAFTS[0]), **change})
    assert bench.state().drafts == {}


MANY = """
import json, sys
from pathlib import Path
from biasfw.authoring.bench import open_bench
folder, by, item, drafts = json.loads(sys.argv[1])
bench = open_bench(Path(folder))
for n, texts in enumerate(drafts):
    bench.write(by, {"context": f"人間：{by} {n}"} if item else texts, item)
"""


def test_two_annotators_at_once_lose_nothing(bench: Workbench, author: str) -> None:
    other = bench.join(yes=True)
    item, _ = bench.write(author, texts_of(DRAFTS[9]))
    drafts = [texts_of(row) for row in DRAFTS[:4]]
    jobs = [
        subprocess.Popen([sys.executable, "-c", MANY, json.dumps([str(bench.folder), by, where, drafts])])
        for by, where in ((author, None), (other, None), (other, item))
    ]
    assert [job.wait(300) for job in jobs] == [0, 0, 0]
    found = bench.state().drafts
    assert len(found) == 1 + 8
    assert [v.number for v in found[item].versions["main"]] == [0, 1, 2, 3, 4]
    assert not (bench.folder / "attempts.jsonl.damaged").exists()


def test_a_torn_line_costs_nothing_but_itself(bench: Workbench, author: str) -> None:
    bench.write(author, texts_of(DRAFTS[0]))
    with bench.log.path.open("ab") as file:
        file.write(b'{"id":"')  # killed in the middle of a write
    bench.write(author, texts_of(DRAFTS[1]))
    assert list(bench.state().drafts) == ["ethnicity-01", "emotions_and_values-01"]


@pytest.mark.parametrize("erase", [False, True])
def test_withdrawing_removes_the_texts_everywhere(bench: Workbench, author: str, erase: bool) -> None:
    other = bench.join(yes=True)
    mine, _ = bench.write(author, {**texts_of(DRAFTS[0]), "context": SECRET})
    shared, _ = bench.write(other, texts_of(DRAFTS[1]))
    bench.write(author, {"context": f"人間：{SECRET}"}, shared)
    bench.write(other, {"context": f"人間：{SECRET}。そして。"}, shared)
    bench.write(other, {"context": f"{SECRET}。"}, mine)
    bench.decide(author, shared, accept=True, reason=f"{SECRET}があるから")
    theirs, _ = bench.write(other, texts_of(DRAFTS[2]))
    left = bench.folder / ".try-left"  # by a process that was killed
    left.mkdir()
    (left / "items.jsonl").write_text(SECRET, encoding="utf-8")
    counts = withdraw(bench, author, erase=erase)
    assert counts["draft"] == 4  # two of each draft
    for path in bench.folder.rglob("*"):
        if path.is_file():
            assert SECRET not in path.read_text(encoding="utf-8"), path
            assert not erase or author not in path.read_text(encoding="utf-8"), path
    state = bench.state()
    assert (state.drafts[mine].status, state.drafts[shared].status) == ("withdrawn", "open")
    assert state.drafts[shared].current.texts == {**texts_of(DRAFTS[1]), "language": "ja"}
    _, version = bench.write(other, {"context": "人間：もう一度。"}, shared)
    assert (version.number, theirs in state.drafts) == (3, True)  # numbers are never given twice
    with pytest.raises(UsageError):
        bench.write(author, texts_of(DRAFTS[3]))


def test_a_member_who_objects_undoes_a_review(bench: Workbench, author: str) -> None:
    one, two = bench.join(yes=True), bench.join(yes=True)
    name, _ = bench.write(author, texts_of(DRAFTS[0]))
    with pytest.raises(UsageError, match="a review is somebody else's"):
        bench.review(author, name, member=True, ok=True)
    bench.review(one, name, member=False, ok=True)
    assert not bench.draft(name).reviewed_by_member()
    bench.review(one, name, member=True, ok=True)
    assert bench.draft(name).reviewed_by_member()
    bench.review(two, name, member=True, ok=False, reason="too close to somebody")
    assert not bench.draft(name).reviewed_by_member()
    bench.review(two, name, member=True, ok=True)
    assert bench.draft(name).reviewed_by_member()
    bench.write(author, {"context": "人間：別の話。"}, name)
    assert not bench.draft(name).reviewed_by_member()  # it was another version


def test_a_workbench_begins_in_an_empty_folder_and_a_language_with_texts(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(UsageError, match="not empty"):
        start(tmp_path, Start("ja"))
    with pytest.raises(UsageError, match="no starting texts in 'ko'"):
        start(tmp_path / "ko", Start("ko"))
    with pytest.raises(UsageError, match="no workbench"):
        open_bench(tmp_path)
