"""Tasks as a page on the loopback interface: blind, after a yes only, and nobody sees or answers somebody else's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from biasfw.annotating.answering import Answering, site_of
from biasfw.annotating.drawing import Shown, load_key
from biasfw.annotating.pages import page
from biasfw.annotating.stored import load_answers, load_consents
from biasfw.authoring.web.http import make_app
from biasfw.keys import sha256_text

TOKEN, PORT = "abc-token", 4567
CONSENT, SECRET = "Please agree.", "人間：秘密の文脈。"
ONE, TWO = "a-11111111", "a-22222222"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two people with an item each, the first with a control as well."""
    tasks = []
    for who, name in ((ONE, "1"), (TWO, "2"), (ONE, "3")):
        tasks.append(
            {
                "task": name * 16, "annotator": who, "source_id": f"region-{name}", "language": "ja",
                "category": "region", "order": ["unbiased", "biased"], "gold": "unbiased", "text_sha256": "0" * 64,
                **({"control": True} if name == "3" else {}),
            }
        )  # fmt: skip
    key = {
        "schema_version": 1, "benchmark": "x:main", "data_sha256": "0" * 64, "per_item": 1, "annotators": [ONE, TWO],
        "question_ids": {"suitable": "one", "unbiased": "two"}, "consent_sha256": [sha256_text(CONSENT)],
        "tasks": tasks,
    }  # fmt: skip
    (tmp_path / "annotation.json").write_text(json.dumps(key), encoding="utf-8")
    for who, names in ((ONE, "13"), (TWO, "2")):
        questions = {"3": ("suitable",)}
        shown = [
            Shown(n * 16, "ja", SECRET, "はい。", "いいえ。", questions.get(n, ("suitable", "unbiased"))) for n in names
        ]
        (tmp_path / f"{who}.html").write_text(page(who, shown, "ja", CONSENT), encoding="utf-8")
    return tmp_path


class Tab:
    """The page's own requests."""

    def __init__(self, folder: Path, by: str) -> None:
        app = make_app(site_of(Answering(folder)), TOKEN, PORT)
        self.client = TestClient(app, base_url=f"http://127.0.0.1:{PORT}")
        self.by = by

    def get(self, path: str, code: int = 200) -> Any:
        found = self.client.get(f"/{TOKEN}/{path}", headers={"x-biasfw-by": self.by})
        assert found.status_code == code, found.text
        return found

    def post(self, action: str, body: Mapping[str, Any], code: int = 200) -> Any:
        sent = {"x-biasfw-by": self.by, "x-biasfw-token": TOKEN, "content-type": "application/json"}
        found = self.client.post(f"/{TOKEN}/api/{action}", content=json.dumps(body), headers=sent)
        assert found.status_code == code, found.text
        return found.json()


def test_nothing_is_shown_before_a_yes_and_a_no_is_kept(folder: Path) -> None:
    tab = Tab(folder, ONE)
    for path in ("", "file/page.js", "api/opening", "api/tasks"):
        assert "秘密" not in tab.get(path).text
    tab.post("answer", {"task": "1" * 16, "suitable": "a"}, 400)
    tab.post("agree", {"yes": True, "sha256": "0" * 64}, 400)
    tab.post("agree", {"yes": False, "sha256": sha256_text(CONSENT)})
    assert (load_consents(folder)[ONE]["yes"], tab.get("api/tasks").json()["tasks"]) == (False, [])
    tab.post("agree", {"yes": True, "sha256": sha256_text(CONSENT)})
    found = tab.get("api/tasks").json()
    assert [task["context"] for task in found["tasks"]] == [SECRET] * 2
    assert "gold" not in json.dumps(found)
    assert "region" not in json.dumps(found)


def test_answers_are_on_the_disk_at_once_and_ones_own(folder: Path) -> None:
    tab = Tab(folder, ONE)
    tab.post("agree", {"yes": True, "sha256": sha256_text(CONSENT)})
    tab.post("answer", {"task": "1" * 16, "suitable": "a", "comment": "よい", "gold": "unbiased"})
    tab.post("answer", {"task": "1" * 16, "suitable": "b"})
    tab.post("answer", {"task": "3" * 16, "suitable": "a", "unbiased": "a"})
    stored = load_answers(folder)
    day = stored["1" * 16]["day"]
    assert stored == {
        "1" * 16: {"task": "1" * 16, "suitable": "b", "day": day},
        "3" * 16: {"task": "3" * 16, "suitable": "a", "day": day},  # a control is asked one question
    }
    assert Tab(folder, ONE).get("api/tasks").json()["answers"]["1" * 16] == {"suitable": "b"}  # after a restart
    tab.post("answer", {"task": "2" * 16, "suitable": "a"}, 400)  # somebody else's
    tab.post("answer", {"task": "1" * 16, "suitable": "c"}, 400)
    tab.post("answer", {"task": "1" * 16, "comment": "x" * 20_001}, 400)
    tab.post("answer", {}, 400)
    assert load_answers(folder) == stored
    for name in ("", "a-99999999", "../annotation"):
        Tab(folder, name).get("api/tasks", 400)
    assert load_key(folder)["annotators"] == [ONE, TWO]
