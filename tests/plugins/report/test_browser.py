"""The page in headless Chromium: nothing is asked of a network, nothing hostile runs, everything can be used."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser
WAIT = 60_000  # milliseconds; a busy machine may be slow


class Opened:
    """A report in a tab, with what the browser complained of and asked for."""

    def __init__(self, chromium: Any, path: Path, **context: Any) -> None:
        self.trouble: list[str] = []
        self.asked: list[str] = []
        self.context = chromium.new_context(**({"viewport": {"width": 1200, "height": 900}} | context))
        self.tab = self.context.new_page()
        self.tab.set_default_timeout(WAIT)
        self.tab.on("console", lambda message: self.trouble.append(message.text))
        self.tab.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.tab.on("dialog", self._dismiss)
        self.tab.on("request", lambda request: self.asked.append(request.url))
        self.tab.goto(path.as_uri())
        self.tab.wait_for_selector("html[data-ready=yes]")
        self.address = path.as_uri()

    def _dismiss(self, dialog: Any) -> None:
        self.trouble.append(dialog.message)
        dialog.dismiss()

    def state(self, text: str) -> None:
        """Wait until the line above the list begins with ``text``."""
        self.tab.wait_for_selector(f'#state:text-matches("^{text}")')

    def ids(self) -> list[str]:
        """The items that are listed."""
        return [str(text) for text in self.tab.locator(".item > summary > code").all_inner_texts()]

    def quiet(self) -> None:
        """Nothing was complained of, and only the file itself was opened."""
        assert self.trouble == []
        assert self.asked == [self.address]


@pytest.fixture
def opened(chromium: Any) -> Iterator[Callable[..., Opened]]:
    made: list[Opened] = []

    def make(path: Path, **context: Any) -> Opened:
        made.append(Opened(chromium, path, **context))
        return made[-1]

    yield make
    for each in made:
        each.context.close()


def test_search_filters_pages_and_unfolding(
    opened: Callable[..., Opened], write: Callable[..., Path], casting: Path
) -> None:
    page = opened(write(casting))
    tab = page.tab
    page.state("280 responses")
    assert len(page.ids()) == 20
    assert not tab.locator(".text:visible").count(), "texts are folded until they are asked for"

    tab.click("#next")
    tab.wait_for_selector("#previous:enabled")
    second = page.ids()
    assert len(second) == 20
    tab.click("#last")
    tab.wait_for_selector("#last:disabled")
    assert tab.input_value("#page") == "14"
    tab.fill("#page", "2")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#last:enabled")
    assert page.ids() == second

    tab.select_option("#f-language", label="Arabic (ar)")
    page.state("40 of 280")
    tab.select_option("#f-category", label="Religion")
    page.state("10 of 280")
    assert all(re.fullmatch(r"religion-\d+/ar/.*", name) for name in page.ids())
    assert tab.input_value("#page") == "1"

    first = tab.locator(".item").first
    first.locator("summary").click()
    first.locator(".text").first.wait_for()
    assert "said" in (first.locator(".text").first.get_attribute("class") or ""), "the response comes before the prompt"
    assert not first.locator(".prompt .text:visible").count(), "which is the same on every page, and folded"
    said = first.locator(".text.said").inner_text()
    stored = [
        json.loads(line) for line in (casting / "responses.jsonl").read_text(encoding="utf-8").split("\n") if line
    ]
    line = re.search(r"responses\.jsonl line (\d+)", first.inner_text())
    assert line
    assert said == stored[int(line[1]) - 1]["text"]
    box = first.locator(".text.said")
    assert box.get_attribute("lang") == "ar"
    assert box.evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert re.search("[\u0600-\u06ff]", said)

    tab.select_option("#f-language", label="all")
    tab.select_option("#f-category", label="all")
    tab.select_option("#f-value", label="stereotyped: Arabs")
    judged = next((casting / "judgements").glob("*.jsonl")).read_text(encoding="utf-8").split("\n")
    count = sum(json.loads(row)["slots"]["stereotyped"].get("value") == "arabs" for row in judged if row)
    page.state(f"{count} of 280")

    tab.select_option("#f-value", label="all")
    tab.locator("body").press("/")
    tab.keyboard.type("RELIGION-03/ko")
    page.state("1 of 280")
    tab.fill("#q", "서양인")  # in the prompts of all Korean items
    page.state("40 of 280")
    tab.fill("#q", "no such text anywhere")
    page.state("0 of 280")
    tab.fill("#q", "")
    page.state("280 responses")
    tab.check("#unfold")
    tab.wait_for_selector(".item[open] .text")
    page.quiet()


def test_disagreement_of_judges(
    opened: Callable[..., Opened], write: Callable[..., Path], casting: Path, copied: Callable[..., Path]
) -> None:
    run = copied(casting, {})
    first = next((run / "judgements").glob("*.jsonl"))
    rows = [json.loads(line) for line in first.read_text(encoding="utf-8").split("\n") if line]
    for row in rows[:7]:
        row["slots"]["modern"] = {"outcome": "refused"}
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (run / "judgements" / "second-12345678.jsonl").write_text(lines, encoding="utf-8")
    page = opened(write(run))
    page.tab.check("#f-differ")
    page.state("7 of 280")
    page.tab.locator(".item > summary").first.click()
    votes = page.tab.locator(".votes").first
    votes.wait_for()
    assert "second-12345678" in votes.inner_text()
    assert "refused" in votes.inner_text()
    page.quiet()


HOSTILE = [
    "<script>document.title='pwned'</script>",
    "<img src=x onerror=\"document.title='pwned'\">",
    "</td></tr></table></script></template><h1>fake total 100 %</h1>",
    "[click](javascript:document.title='pwned')",
    "{{ 7 * 7 }} {% raw %} ${7*7} <%= 7*7 %>",
    "-->]]><!--<svg onload=document.title='pwned'>",
    "\x00\x08\x1b[2J\x1b]0;pwned\x07\x85\x9b",
    "\u202edesrever\u202c \u2066isolated \ufeff\u2028line",
    "half \ud835 of a pair",
    "x" * 1_000_000,
    "<style>*{display:none}</style><meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<scratchpad>I should look fair</scratchpad> B",
]


def test_hostile_answers_neither_run_nor_break_the_page(
    opened: Callable[..., Opened], write: Callable[..., Path], casting: Path, copied: Callable[..., Path], cases: Path
) -> None:
    handed = [
        json.loads(line) for line in (cases / "report" / "xss_rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    texts = [*HOSTILE, *(row["text"] for row in handed), *(row["item_id"] for row in handed)]
    strange = '<svg onload=document.title="pwned">"\'\u202e'
    renamed: dict[str, str] = {}

    def answer(place: int, row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "text": texts[place], "reasoning": texts[place]} if place < len(texts) else row

    def item(place: int, row: dict[str, Any]) -> dict[str, Any]:
        renamed[row["id"]] = f"{row['id']}{strange}"
        return {**row, "id": renamed[row["id"]], "category": strange if place == 1 else row["category"]}

    def request(_: int, row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "item_id": renamed[row["item_id"]]}

    def verdict(_: int, row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "rationale": strange, "flags": [strange], "votes": {strange: row["slots"]}}

    name = next((casting / "judgements").glob("*.jsonl")).name
    run = copied(casting, {"responses.jsonl": answer, "items.jsonl": item, "requests.jsonl": request,
                           f"judgements/{name}": verdict})  # fmt: skip
    info = json.loads((run / "run.json").read_text(encoding="utf-8"))
    info["config"]["model"] = info["identity"]["model"] = strange
    (run / "run.json").write_text(json.dumps(info), encoding="utf-8")
    page = opened(write(run, text_limit=2_000_000))
    tab = page.tab
    title = tab.title()
    tab.check("#unfold")
    tab.wait_for_selector(".item[open] .text.said")
    seen: list[str] = []
    pages = int(tab.locator("#pages").inner_text())
    for number in range(1, pages + 1):
        tab.locator(f".pager:has(#page) #pages:text-is('{pages}')").wait_for()
        shown = tab.locator(".text.said").evaluate_all("all => all.map(e => e.textContent)")
        seen += shown
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), "no text widens the page"
        if number < pages:
            before = page.ids()
            tab.click("#next")
            until = time.monotonic() + 60
            while page.ids() == before and time.monotonic() < until:
                tab.wait_for_timeout(20)
    for text in [*HOSTILE[:6], *HOSTILE[9:], *(row["text"] for row in handed)]:
        assert text in seen, "shown as it is, tags and all"
    assert "⟨U+0000⟩⟨U+0008⟩⟨U+001B⟩[2J⟨U+001B⟩]0;pwned⟨U+0007⟩⟨U+0085⟩⟨U+009B⟩" in seen
    assert any("⟨U+202E⟩desrever" in text for text in seen)
    assert any("half ⟨U+D835⟩ of a pair" in text for text in seen)
    assert tab.title() == title
    assert "pwned" not in title.replace(strange.replace("\u202e", "⟨U+202E⟩"), "")
    assert tab.locator("h1").count() == 1
    assert tab.locator("main img, main svg svg, main script, .list svg").count() == 0
    page.quiet()


@pytest.mark.parametrize("run", ["casting", "replies"])
def test_both_themes_and_a_phone(
    opened: Callable[..., Opened], write: Callable[..., Path], run: str, request: pytest.FixtureRequest
) -> None:
    path = write(request.getfixturevalue(run))
    colours = set()
    for scheme in ("light", "dark"):
        page = opened(path, color_scheme=scheme, viewport={"width": 360, "height": 740}, has_touch=True)
        assert page.tab.evaluate("document.documentElement.scrollWidth") <= 360
        for name in ("--paper", "--ink"):
            colours.add(page.tab.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('{name}')"))
        drawn = page.tab.locator("svg circle, svg path").first
        assert drawn.evaluate("e => getComputedStyle(e).fill") != ""
        background = page.tab.evaluate("getComputedStyle(document.body).backgroundColor")
        page.tab.click("#theme")
        assert page.tab.evaluate("getComputedStyle(document.body).backgroundColor") != background
        page.quiet()
    assert len(colours) == 4


def test_it_prints_with_its_mark_and_all_numbers(
    opened: Callable[..., Opened], write: Callable[..., Path], casting: Path
) -> None:
    page = opened(write(casting), color_scheme="dark")
    page.tab.emulate_media(media="print")
    assert page.tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.tab.locator(".demo-mark").evaluate("e => getComputedStyle(e).position") == "fixed"
    page.tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.tab.locator("details.numbers:not([open])").count() == 0
    assert len(page.tab.pdf()) > 20_000


def test_it_can_be_used_with_the_keyboard(
    opened: Callable[..., Opened], write: Callable[..., Path], replies: Path
) -> None:
    page = opened(write(replies))
    tab = page.tab
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    tab.locator(".item > summary").first.focus()
    tab.keyboard.press("Enter")
    tab.locator(".item[open] .text").first.wait_for()
    outline = tab.locator(".item > summary").first.evaluate("e => getComputedStyle(e).outlineStyle")
    assert outline == "solid"
    page.quiet()


def test_without_a_script_everything_but_the_responses_is_there(
    opened: Callable[..., Opened], chromium: Any, write: Callable[..., Path], replies: Path
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(write(replies).as_uri())
    assert tab.locator(".big").first.is_visible()
    assert tab.locator("svg").count() > 5
    assert tab.locator("noscript").count() or "responses cannot be unpacked" in tab.content()
    context.close()


def test_a_text_that_is_cut_names_the_line_that_holds_all_of_it(
    opened: Callable[..., Opened], write: Callable[..., Path], casting: Path, copied: Callable[..., Path]
) -> None:
    run = copied(casting, {"responses.jsonl": lambda place, row: {**row, "text": "y" * 900} if place == 0 else row})
    page = opened(write(run, text_limit=100))
    page.state("280 responses")
    first = page.tab.locator(".item").first
    first.locator("summary").click()
    first.locator(".text").first.wait_for()
    key = json.loads((run / "responses.jsonl").read_text(encoding="utf-8").split("\n")[0])["key"]
    notes = first.locator(".left").all_text_contents()  # that of the prompt is folded
    assert f"800 more characters; all of it: responses.jsonl, line 1, key {key}" in notes
    assert any(re.fullmatch(rf"[\d,]+ more characters; all of it: requests.jsonl, key {key}", note) for note in notes)
    lead = page.tab.locator("#items .lead").inner_text()
    assert "Texts are cut at 100 characters." in lead
    page.quiet()
