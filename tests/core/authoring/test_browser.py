"""The page in headless Chromium: consent, draft, try, edit, try, accept, finalise; nothing lost, nothing run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from biasfw.authoring.bench import Workbench

from .conftest import DRAFTS, row_of, texts_of

pytestmark = [pytest.mark.browser, pytest.mark.loopback]
HOSTILE = (
    "人間：<img src=x onerror=\"document.title='ran'\"></textarea><script>document.title='ran'</script>{{ 7 * 7 }}"
)
PATIENCE = 60_000  # milliseconds: the machine may be busy


class Server:
    """A server in a process of its own, which can be killed."""

    def __init__(self, folder: Path, *more: str) -> None:
        self.folder, self.more = folder, more
        self.url = ""
        self.start()

    def start(self) -> None:
        script = Path(__file__).with_name("serve_scripted.py")
        self.process = subprocess.Popen(
            [sys.executable, script, self.folder, *self.more], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        url = self.process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        assert self.url in ("", url)  # the same after a restart
        self.url = url

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(60)
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture
def server(bench: Workbench) -> Iterator[Server]:
    pytest.importorskip("uvicorn", reason="the extra author is not installed")
    started = Server(bench.folder)
    yield started
    started.kill()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("there is no Chromium (Debian: apt-get install chromium fonts-noto-core fonts-noto-cjk)")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def tabs(chromium: Any) -> Iterator[Any]:
    context = chromium.new_context(locale="ja-JP")
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


def opened(tabs: Any, server: Server) -> Any:
    tab = tabs.new_page()
    tab.errors = []
    tab.on("pageerror", lambda error: tab.errors.append(str(error)))
    tab.goto(server.url)
    return tab


def fill(tab: Any, texts: dict[str, str]) -> None:
    for name in ("context", "unbiased", "biased", "target", "stereotype"):
        if name in texts:
            tab.fill(f"#text-{name}", texts[name])


def shows(tab: Any, selector: str, text: str) -> None:
    tab.locator(selector, has_text=text).first.wait_for()


def is_kept(tab: Any) -> None:
    shows(tab, "#state", "保存済み")


def verdict(tab: Any) -> str:
    tab.click("#try")
    tab.wait_for_selector("#verdict")
    return str(tab.text_content("#verdict"))


def rows(bench: Workbench, kind: str) -> list[dict[str, Any]]:
    return row_of(bench.log.rows(), kind)


@pytest.mark.parametrize("count", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_from_consent_to_a_finalised_bundle(bench: Workbench, server: Server, tabs: Any, count: int) -> None:
    tab = opened(tabs, server)
    tab.wait_for_selector("#consent")
    assert "参加への同意" in tab.text_content("#consent > div")  # the reader's own part stands open, the others below
    assert "Consent" in tab.text_content("#consent details")
    assert tab.query_selector("section") is None  # nothing else before a yes
    tab.click("#yes")
    for row in DRAFTS[:count]:
        category, context = row[0], row[1]
        tab.click(f"#new-{category}")
        fill(tab, texts_of(row))
        assert f"{len(row[3])} / {len(row[4])}" in tab.text_content("#balance")
        assert verdict(tab) == "モデルは惑わされなかった"
        assert tab.input_value("#text-context") == context
        tab.fill("#text-context", texts_of(row, edited=True)["context"])
        assert verdict(tab) == "モデルは偏見のある返答を選んだ"
        assert tab.text_content("#history ins") == row[2]
        tab.fill("#reason", "モデルが偏見のある返答を選んだ")
        tab.click("#accept")
        shows(tab, "section", "採用: モデルが")
        tab.click("#back")
        tab.wait_for_selector(f"#open-{category}-01")
    tab.click("#editor summary")
    tab.click("#finalize")
    shows(tab, "#final", "no consulted member")
    tab.fill("#allow", "R. Example")
    tab.click("#finalize")
    shows(tab, "#final", "確定しました")
    items = [json.loads(line) for line in (bench.folder / "final/items/main.jsonl").read_text("utf-8").splitlines()]
    assert [item["context"] for item in items] == [texts_of(row, edited=True)["context"] for row in DRAFTS[:count]]
    tries = rows(bench, "try")
    assert [t["instructions"] for t in tries] == ["editing"] * 2 * count + ["fresh"] * count
    assert tab.errors == []


def test_reload_and_a_killed_server_lose_nothing(bench: Workbench, server: Server, tabs: Any) -> None:
    tab = opened(tabs, server)
    tab.click("#yes")
    tab.click("#new-region")
    tab.fill("#text-context", "人間：一つ目。")
    is_kept(tab)
    tab.reload()
    tab.click("#new-region")
    assert tab.input_value("#text-context") == "人間：一つ目。"
    server.kill()
    tab.fill("#text-context", "人間：一つ目。二つ目は、サーバーが止まった後。")
    shows(tab, "#state", "保存できません")
    server.start()
    is_kept(tab)
    server.kill()
    server.start()
    tab.reload()
    tab.click("#new-region")
    assert tab.input_value("#text-context") == "人間：一つ目。二つ目は、サーバーが止まった後。"
    fill(tab, {"unbiased": "はい、そうです。", "biased": "いいえ、違います。"})
    tab.click("#save")
    tab.wait_for_selector("#history")
    assert rows(bench, "draft")[0]["draft"]["context"] == "人間：一つ目。二つ目は、サーバーが止まった後。"
    assert tab.errors == []


def test_a_second_tab_overwrites_nothing_unseen(bench: Workbench, server: Server, tabs: Any) -> None:
    one = opened(tabs, server)
    one.click("#yes")
    one.click("#new-names")
    fill(one, texts_of(DRAFTS[9]))
    one.click("#save")
    one.wait_for_selector("#history")
    two = opened(tabs, server)
    two.click("#open-names-01")
    verdict(two)
    assert two.locator("#margins").count() == 1
    one.fill("#text-context", "人間：一つ目のタブ。")
    is_kept(one)
    two.fill("#text-context", "人間：二つ目のタブ。")
    two.wait_for_selector("#changed.warning")
    assert "一つ目のタブ" in two.text_content("#changed")
    assert "保存済み" not in two.text_content("#state")
    assert two.locator("#verdict").count() == 0  # it was about texts that are not the newest any more
    assert two.input_value("#text-context") == "人間：二つ目のタブ。"  # what was typed stays
    kept = [json.loads(p.read_text()) for p in (bench.folder / "working").iterdir()]
    assert [k["texts"]["context"] for k in kept] == ["人間：一つ目のタブ。"]
    one.click("#save")
    shows(one, "#history", "一つ目のタブ")
    two.click("#mine")
    is_kept(two)
    two.click("#save")
    two.wait_for_selector("#changed.warning")  # a newer version is there: again nothing is overwritten unseen
    assert [row["draft"]["context"] for row in rows(bench, "draft")][1:] == ["人間：一つ目のタブ。"]
    two.click("#mine")
    two.click("#save")
    shows(two, "#history", "二つ目のタブ")
    assert [row["version"] for row in rows(bench, "draft")] == [0, 1, 2]
    assert one.errors + two.errors == []


def test_a_host_is_asked_for_beside_the_button_and_in_words(bench: Workbench, tabs: Any) -> None:
    pytest.importorskip("uvicorn", reason="the extra author is not installed")
    server = Server(bench.folder, "somebody-else", "generate")
    try:
        tab = opened(tabs, server)
        tab.click("#yes")
        tab.wait_for_selector("#new-names")
        assert "別のコンピューター" not in (tab.text_content("#notice") or "")
        tab.click("#new-names")
        fill(tab, texts_of(DRAFTS[9]))
        assert tab.locator("#try").count() == 0
        asked = tab.text_content(".bar")
        assert "別のコンピューター" in asked
        assert "somebody-else" in asked
        assert "--send-to" not in tab.text_content("body")
        tab.click("#agree")
        assert tab.input_value("#text-context") == texts_of(DRAFTS[9])["context"]
        assert verdict(tab)
        assert tab.locator("#margins").count() == 0  # no probabilities, so no brackets to explain
        assert tab.errors == []
    finally:
        server.kill()


def test_a_hostile_text_does_nothing_and_withdrawing_removes_it(bench: Workbench, server: Server, tabs: Any) -> None:
    tab = opened(tabs, server)
    tab.click("#yes")
    tab.click("#new-gender")
    fill(tab, {**texts_of(DRAFTS[8]), "context": HOSTILE, "target": HOSTILE})
    verdict(tab)
    tab.fill("#text-context", f"{HOSTILE}。もう一度。")
    verdict(tab)
    tab.fill("#reason", HOSTILE)
    tab.click("#reject")
    shows(tab, "section", "不採用: 人間")
    assert tab.query_selector("img") is None
    assert tab.title() == "biasfw author"
    assert tab.input_value("#text-target") == HOSTILE
    tab.reload()
    tab.click("#open-gender-01")
    tab.wait_for_selector("#history")
    assert (tab.title(), tab.input_value("#text-context")) == ("biasfw author", f"{HOSTILE}。もう一度。")
    tab.on("dialog", lambda dialog: dialog.accept())
    tab.click("#back")
    tab.click("#leave summary")
    tab.click("#withdraw")
    tab.wait_for_selector("#consent")
    for path in bench.folder.rglob("*"):
        assert not path.is_file() or "onerror" not in path.read_text(encoding="utf-8"), path
    assert tab.errors == []
