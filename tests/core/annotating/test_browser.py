"""The page for annotators in headless Chromium: opened from a file, kept over a reload, saved as JSON."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from biasfw.annotating.drawing import Shown
from biasfw.annotating.pages import page
from biasfw.annotating.stored import load_answers
from biasfw.keys import sha256_text

from .conftest import ONE

pytestmark = [pytest.mark.browser, pytest.mark.loopback]
HOSTILE = "</script><script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"


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


def test_it_works_offline_and_runs_nothing_of_the_data(chromium: Any, tmp_path: Path) -> None:
    shown = [Shown(str(n) * 16, "ja", f"人間：{HOSTILE}", "はい。", f"いいえ{n}。") for n in range(2)]
    file = tmp_path / "tasks.html"
    file.write_text(page("a-12345678", shown, "ja", f"# 同意\n\n**危険性** {HOSTILE}"), encoding="utf-8")
    context = chromium.new_context(offline=True)
    context.set_default_timeout(60_000)
    tab = context.new_page()
    tab.goto(file.as_uri())
    assert tab.query_selector("section") is None  # nothing before a yes
    assert tab.text_content(".consent strong") == "危険性"
    tab.click("#yes")
    tab.check("input[name='suitable-0000000000000000'][value='a']")
    tab.check("input[name='unbiased-0000000000000000'][value='skip']")
    tab.fill("[data-task='0000000000000000'] textarea", "よく分かりません")
    tab.check("[data-task='1111111111111111'] input[type='checkbox']")
    tab.click("#pause")
    assert tab.query_selector("section") is None
    tab.click("#resume")
    tab.reload()
    assert tab.title() == "どちらの返答ですか"
    assert tab.query_selector("img") is None
    assert tab.text_content("#count") == "1 ／ 2 回答済み"
    with tab.expect_download() as saved:
        tab.click("#save")
    document = json.loads(Path(saved.value.path()).read_text(encoding="utf-8"))
    assert document == {
        "annotator": "a-12345678",
        "consent": {"yes": True, "sha256": sha256_text(f"# 同意\n\n**危険性** {HOSTILE}")},
        "answers": [
            {"task": "0" * 16, "suitable": "a", "unbiased": "skip", "comment": "よく分かりません"},
            {"task": "1" * 16, "harmful": True},
        ],
    }
    context.close()


def served(folder: Path) -> tuple[subprocess.Popen[str], str]:
    script = Path(__file__).with_name("serve_folder.py")
    process = subprocess.Popen([sys.executable, script, folder], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def stop(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait(60)
    if process.stdout is not None:
        process.stdout.close()


def test_answers_to_the_served_page_survive_a_killed_server(chromium: Any, small: Path) -> None:
    pytest.importorskip("uvicorn", reason="the extra author is not installed")
    process, url = served(small)
    context = chromium.new_context()
    context.set_default_timeout(60_000)
    tab = context.new_page()
    try:
        tab.goto(url)
        tab.fill("#by", "a-99999999")
        tab.click("#enter")
        tab.locator("#notice", has_text="check it").wait_for()
        tab.fill("#by", ONE)
        tab.click("#enter")
        tab.click("#yes")
        tab.check(f"input[name='suitable-{'1' * 16}'][value='a']")
        tab.locator("#count", has_text="0 ／ 2").wait_for()
        stop(process)
        tab.check(f"input[name='unbiased-{'1' * 16}'][value='b']")
        tab.locator("#notice", has_text="サーバーが応答しません").wait_for()
        process, again = served(small)
        assert again == url
        tab.locator("#notice", has_text="サーバー").wait_for(state="detached")
        tab.reload()
        tab.locator("#count", has_text="1 ／ 2").wait_for()
        assert tab.is_checked(f"input[name='unbiased-{'1' * 16}'][value='b']")
        assert tab.query_selector(f"input[name='unbiased-{'3' * 16}']") is not None  # a control is like all others
        place = f"[data-task='{'1' * 16}'] textarea"
        assert tab.get_attribute(place, "maxlength") == "20000"
        tab.click(place)
        tab.keyboard.insert_text(f"どちらも\n{HOSTILE}")  # as an input method does, and never left
        for _ in range(600):
            if "comment" in load_answers(small)["1" * 16]:
                break
            tab.wait_for_timeout(100)
        stop(process)
        process, _ = served(small)
        tab.reload()
        assert tab.input_value(place) == f"どちらも\n{HOSTILE}"
        assert (tab.title(), tab.query_selector("img")) == ("どちらの返答ですか", None)
    finally:
        context.close()
        stop(process)
    row = load_answers(small)["1" * 16]
    assert (row["suitable"], row["unbiased"], row["comment"]) == ("a", "b", f"どちらも\n{HOSTILE}")
