"""The page over HTTP, without a browser: who is let in, what is kept, what cannot be overwritten."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import pytest
from starlette.testclient import TestClient

from biasfw.authoring.asker import Target
from biasfw.authoring.bench import Workbench, open_bench
from biasfw.authoring.drafts import TEXTS
from biasfw.authoring.rules import Word
from biasfw.authoring.web.app import make_app
from biasfw.authoring.web.session import STRINGS, Session
from biasfw.authoring.web.telling import diff
from biasfw.plugins import Plugins
from biasfw.yamlfile import load_yaml

from .conftest import DRAFTS, row_of, texts_of

TOKEN, PORT = "abc-token", 4567
SECRET = "秘密の言葉"


@pytest.fixture
def session(bench: Workbench, plugins: Plugins) -> Iterator[Session]:
    made = Session(bench, plugins, Target("scripted", "overlap"))
    yield made
    made.close()


class Page:
    """A tab: the page's own requests."""

    def __init__(self, session: Session) -> None:
        self.client = TestClient(make_app(session, TOKEN, PORT), base_url=f"http://127.0.0.1:{PORT}")
        self.by = ""

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(f"/{TOKEN}/{path}", headers={"x-biasfw-by": self.by, **headers})

    def post(self, action: str, body: Any, code: int = 200, headers: Mapping[str, str] | None = None) -> Any:
        sent = {"x-biasfw-by": self.by, "x-biasfw-token": TOKEN, "content-type": "application/json", **(headers or {})}
        found = self.client.post(f"/{TOKEN}/api/{action}", content=json.dumps(body), headers=sent)
        assert found.status_code == code, found.text
        return found.json() if "json" in found.headers["content-type"] else found.text

    def wait(self, begun: Mapping[str, Any]) -> Mapping[str, Any]:
        for _ in range(3000):
            found: Mapping[str, Any] = self.get(f"api/job/{begun['job']}").json()
            if not found.get("running"):
                return found
            time.sleep(0.02)
        raise AssertionError("the job does not end")


@pytest.fixture
def page(session: Session) -> Page:
    made = Page(session)
    made.by = made.post("join", {"yes": True})["by"]
    return made


def test_nothing_is_shown_before_a_yes(session: Session, author: str) -> None:
    session.bench.write(author, {**texts_of(DRAFTS[0]), "context": SECRET})
    page = Page(session)
    opening = page.get("api/opening")
    assert opening.status_code == 200
    assert SECRET not in opening.text
    page.by = page.post("join", {"yes": False})["by"]
    for path in ("api/drafts", "api/draft/ethnicity-01", "api/job/x"):
        found = page.get(path)
        assert found.status_code == 403
        assert SECRET not in found.text
    page.post("save", {"item": None, "texts": texts_of(DRAFTS[1])}, 403)
    page.post("try", {"item": "ethnicity-01"}, 403)
    page.by = page.post("join", {"yes": True})["by"]
    assert page.get("api/draft/ethnicity-01").json()["texts"]["context"] == SECRET


def test_only_this_page_on_this_machine_is_answered(page: Page) -> None:
    body = {"item": None, "texts": texts_of(DRAFTS[0])}
    for headers in (
        {"host": "evil.example"}, {"host": f"evil.example:{PORT}"}, {"host": "127.0.0.1:1"},
        {"origin": "http://evil.example"}, {"origin": "null"}, {"x-biasfw-token": "wrong"}, {"x-biasfw-token": ""},
        {"content-type": "text/plain"}, {"content-type": "application/x-www-form-urlencoded"},
        {"sec-fetch-site": "cross-site"},
    ):  # fmt: skip
        page.post("save", body, 403, headers)
    for path in ("/", "/wrong/", "/wrong/api/drafts", f"/x{TOKEN}/"):
        assert page.client.get(path).status_code == 403
    assert page.get("api/drafts", host="evil.example").status_code == 403
    assert page.get("file/../session.py").status_code in (403, 404)
    page.post("save", body, 200, {"origin": f"http://127.0.0.1:{PORT}", "sec-fetch-site": "same-origin"})
    assert len(row_of(page_rows(page), "draft")) == 1
    found = page.get("")
    policy = found.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http:" not in policy
    assert (found.headers["cache-control"], found.headers["referrer-policy"]) == ("no-store", "no-referrer")


def page_rows(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for draft in page.get("api/drafts").json()["drafts"]:
        history = page.get(f"api/draft/{draft['item']}").json()["history"]
        found += [{"kind": "draft", **version} for version in history]
    return found


@pytest.mark.parametrize(
    "body", [[], "x", {}, {"texts": 3}, {"item": 3, "texts": {}}, {"item": None, "texts": {"a": 1}}]
)
def test_what_the_page_does_not_send_is_refused(page: Page, body: Any) -> None:
    for action in ("keep", "save", "decide", "review", "mark", "agree"):
        if not (action == "keep" and body == {"item": None, "texts": {"a": 1}}):
            page.post(action, body, 400)
    page.post("nonsense", body, 404)
    assert page.client.post(
        f"/{TOKEN}/api/keep", content=b"x" * (2**20 + 2),
        headers={"x-biasfw-token": TOKEN, "content-type": "application/json"},
    ).status_code == 413  # fmt: skip


def test_draft_try_edit_try_accept_finalise(page: Page, session: Session) -> None:
    name = page.post("save", {"item": None, "texts": texts_of(DRAFTS[5])})["item"]
    first = page.wait(page.post("try", {"item": name}))["tried"]
    assert (first["verdict"], len(first["picks"])) == ("not_fooled", 8)
    edited = texts_of(DRAFTS[5], edited=True)
    assert page.post("save", {"item": name, "base": 0, "texts": edited})["version"] == 1
    assert page.wait(page.post("try", {"item": name}))["tried"]["verdict"] == "fooled"
    page.post("decide", {"item": name, "version": 0, "accept": True, "reason": "x"}, 400)  # not the newest
    page.post("decide", {"item": name, "version": 1, "accept": True, "reason": "good"})
    shown = page.get(f"api/draft/{name}").json()
    assert (shown["status"], shown["texts"]["context"]) == ("accepted", edited["context"])
    assert shown["history"][1]["diff"]["context"] == [["same", DRAFTS[5][1]], ["new", DRAFTS[5][2]]]
    refused = page.wait(page.post("finalize", {}))["refused"]
    assert any("no consulted member" in reason for reason in refused)
    done = page.wait(page.post("finalize", {"allow": "R. Example"}))
    assert done.get("kept") == {name: True}, done


def test_a_second_tab_overwrites_nothing_unseen(page: Page, session: Session) -> None:
    other = Page(session)
    other.by = page.by
    name = page.post("save", {"item": None, "texts": texts_of(DRAFTS[0])})["item"]
    mine, theirs = ({**texts_of(DRAFTS[0]), "context": text} for text in ("人間：一。", f"人間：{SECRET}。"))
    assert page.post("keep", {"item": name, "base": 0, "revision": 0, "texts": theirs})["revision"] == 1
    found = other.post("keep", {"item": name, "base": 0, "revision": 0, "texts": mine}, 409)
    assert found["kept"]["texts"]["context"] == theirs["context"]
    assert other.post("keep", {"item": name, "base": 0, "revision": 1, "texts": mine})["revision"] == 2
    assert page.post("save", {"item": name, "base": 0, "texts": theirs})["version"] == 1
    found = other.post("save", {"item": name, "base": 0, "texts": mine}, 409)
    assert (found["newest"]["number"], found["newest"]["texts"]["context"]) == (1, theirs["context"])
    assert row_of(session.bench.log.rows(), "aside")[0]["draft"]["context"] == mine["context"]


def test_what_was_typed_is_there_after_a_restart_and_gone_after_a_withdrawal(page: Page, session: Session) -> None:
    typed = {"category": "region", "context": SECRET, "unbiased": "未完"}
    page.post("keep", {"item": None, "base": None, "revision": 0, "texts": typed})
    again = Page(Session(session.bench, session.plugins))
    again.by = page.by
    assert again.get("api/drafts").json()["working"]["region"]["texts"] == typed
    name = page.post("save", {"item": None, "texts": {**texts_of(DRAFTS[4]), "context": SECRET}})["item"]
    assert page.get("api/drafts").json()["working"] == {}
    page.post("keep", {"item": name, "base": 0, "revision": 0, "texts": typed})
    assert page.post("withdraw", {})["counts"]["draft"] == 1
    for path in session.bench.folder.rglob("*"):
        if path.is_file():
            content = path.read_text(encoding="utf-8")
            assert SECRET not in content, path
            assert json.dumps(SECRET)[1:-1] not in content, path
    assert page.get("api/drafts").status_code == 403


def test_placebo_edits_are_an_arm_of_their_own(bench: Workbench, page: Page, session: Session) -> None:
    name = page.post("save", {"item": None, "texts": texts_of(DRAFTS[0])})["item"]
    assert page.get(f"api/draft/{name}").json()["placebo"] is None  # the workbench asks for none
    settings = bench.folder / "workbench.yaml"
    settings.write_text(settings.read_text("utf-8").replace("placebo: 0", "placebo: 2"), encoding="utf-8")
    again = Page(Session(open_bench(bench.folder), session.plugins))
    again.by = page.by
    page.post("save", {"item": name, "base": 0, "texts": texts_of(DRAFTS[0], edited=True)})
    found = again.get(f"api/draft/{name}").json()["placebo"]
    assert (found["asked"], found["done"], found["version"]) == (2, 0, 0)
    assert found["texts"]["context"] == DRAFTS[0][1]
    texts = {**texts_of(DRAFTS[0]), "context": "人間：モデルなし。"}
    again.post("keep", {"item": name, "arm": "placebo", "base": 0, "revision": 0, "texts": texts})
    assert again.get(f"api/draft/{name}").json()["working"] is None  # that of the other arm
    assert again.post("save", {"item": name, "arm": "placebo", "base": 0, "texts": texts})["version"] == 1
    shown = again.get(f"api/draft/{name}").json()
    assert (shown["edits"], shown["placebo"]["done"]) == (1, 1)
    assert shown["texts"]["context"] == texts_of(DRAFTS[0], edited=True)["context"]
    again.post("save", {"item": None, "arm": "placebo", "texts": texts}, 400)


def test_before_a_host_is_asked_it_is_named(bench: Workbench, plugins: Plugins) -> None:
    next(p for p in plugins.all if p.name == "scripted").distribution = "somebody-else"
    session = Session(bench, plugins, Target("scripted"))
    page = Page(session)
    page.by = page.post("join", {"yes": True})["by"]
    name = page.post("save", {"item": None, "texts": texts_of(DRAFTS[0])})["item"]
    host = page.get("api/drafts").json()["host"]
    assert "somebody-else" in host
    assert "not agreed" in page.wait(page.post("try", {"item": name}))["error"]
    page.post("agree", {"host": "elsewhere"}, 400)
    page.post("agree", {"host": host})
    assert page.get("api/drafts").json()["host"] is None
    assert page.wait(page.post("try", {"item": name}))["tried"]["verdict"] == "not_fooled"
    session.close()


def test_every_string_is_there_in_every_language() -> None:
    strings = load_yaml(STRINGS).value
    assert {"en", "ja"} <= set(strings)
    assert {tag: sorted(each) for tag, each in strings.items()} == dict.fromkeys(strings, sorted(strings["en"]))
    script = "".join((STRINGS.parent / name).read_text(encoding="utf-8") for name in ("page.js", "editor.js"))
    assert "innerHTML" not in script
    used = set(re.findall(r"words\.([a-z_]+)", script))
    assert used <= set(strings["en"])
    verdicts = get_args(Word)
    known = {f"next_{word}" for word in verdicts} | {
        *verdicts,
        *TEXTS,
        "below_chance",
        "no_controls",
        "no_logprobs",
        "host_first",
    }
    known |= {
        "accepted",
        "rejected",
        "open",
        "accept",
        "reject",
        "language",
        *(f"how_{name}" for name in TEXTS if name != "target"),
    }
    assert set(strings["en"]) == used | known  # nothing is said that nobody sees


def test_no_command_loads_a_web_library_before_it_serves() -> None:
    code = (
        "import sys, biasfw.cli.author_, biasfw.cli.annotate_, biasfw.authoring.web.serving as s; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert not {"starlette", "uvicorn", "numpy", "anyio"} & set(done.stdout.split())


def test_a_diff_holds_both_texts() -> None:
    parts = diff("人間：はい。", "人間：いいえ、はい！")
    assert "".join(text for kind, text in parts if kind != "new") == "人間：はい。"
    assert "".join(text for kind, text in parts if kind != "gone") == "人間：いいえ、はい！"
