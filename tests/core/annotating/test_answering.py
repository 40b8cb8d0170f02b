"""Tasks as a page on the loopback interface: blind, after a yes only, and nobody sees or answers somebody else's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from biasfw.annotating.answering import Answering, site_of
from biasfw.annotating.drawing import load_key
from biasfw.annotating.stored import load_answers, load_consents
from biasfw.authoring.web.http import make_app
from biasfw.keys import sha256_text

from .conftest import CONSENT, ONE, SECRET, TWO

TOKEN, PORT = "abc-token", 4567


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


def test_nothing_is_shown_before_a_yes_and_a_no_is_kept(small: Path) -> None:
    tab = Tab(small, ONE)
    for path in ("", "file/page.js", "api/opening", "api/tasks"):
        assert "秘密" not in tab.get(path).text
    tab.post("answer", {"task": "1" * 16, "suitable": "a"}, 400)
    tab.post("agree", {"yes": True, "sha256": "0" * 64}, 400)
    tab.post("agree", {"yes": False, "sha256": sha256_text(CONSENT)})
    assert (load_consents(small)[ONE]["yes"], tab.get("api/tasks").json()["tasks"]) == (False, [])
    tab.post("agree", {"yes": True, "sha256": sha256_text(CONSENT)})
    found = tab.get("api/tasks").json()
    assert [task["context"] for task in found["tasks"]] == [SECRET] * 2
    assert "gold" not in json.dumps(found)
    assert "region" not in json.dumps(found)


def test_answers_are_on_the_disk_at_once_and_ones_own(small: Path) -> None:
    tab = Tab(small, ONE)
    tab.post("agree", {"yes": True, "sha256": sha256_text(CONSENT)})
    tab.post("answer", {"task": "1" * 16, "suitable": "a", "comment": "よい", "gold": "unbiased"})
    tab.post("answer", {"task": "1" * 16, "suitable": "b"})
    tab.post("answer", {"task": "3" * 16, "suitable": "a", "unbiased": "a"})
    stored = load_answers(small)
    day = stored["1" * 16]["day"]
    assert stored == {
        "1" * 16: {"task": "1" * 16, "suitable": "b", "day": day},
        "3" * 16: {"task": "3" * 16, "suitable": "a", "unbiased": "a", "day": day},
    }
    assert Tab(small, ONE).get("api/tasks").json()["answers"]["1" * 16] == {"suitable": "b"}  # after a restart
    tab.post("answer", {"task": "2" * 16, "suitable": "a"}, 400)  # somebody else's
    tab.post("answer", {"task": "1" * 16, "suitable": "c"}, 400)
    tab.post("answer", {"task": "1" * 16, "comment": "x" * 20_001}, 400)
    tab.post("answer", {}, 400)
    assert load_answers(small) == stored
    for name in ("", "a-99999999", "../annotation"):
        Tab(small, name).get("api/tasks", 400)
    assert load_key(small)["annotators"] == [ONE, TWO]
