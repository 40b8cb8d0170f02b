"""Small runs to report on, the page taken apart, and a browser where there is one."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from biasfw import shipped
from biasfw.config import RunConfig
from biasfw.engine import run
from biasfw.plugins import Plugins

pytest.importorskip("altair", reason="the extra report is not installed")
pytest.importorskip("vl_convert", reason="the extra report is not installed")


@pytest.fixture(scope="session")
def casting(tmp_path_factory: pytest.TempPathFactory, installed: Plugins) -> Path:
    """A generate run of debatebias in seven languages."""
    config = RunConfig(
        benchmark="debatebias",
        backend="reference",
        model="random",
        mode="generate",
        runs=str(tmp_path_factory.mktemp("casting")),
    )
    return run(config, installed).directory


@pytest.fixture(scope="session")
def replies(tmp_path_factory: pytest.TempPathFactory, installed: Plugins) -> Path:
    """A choices run of jubaku:demo, with controls and all orders."""
    config = RunConfig(
        benchmark="jubaku:demo",
        backend="reference",
        model="stereotyped",
        mode="choices",
        runs=str(tmp_path_factory.mktemp("replies")),
    )
    return run(config, installed).directory


@pytest.fixture(scope="session")
def three_topics(tmp_path_factory: pytest.TempPathFactory, installed: Plugins) -> Path:
    """A generate run of three topics in seven languages: too few for an interval."""
    runs = str(tmp_path_factory.mktemp("three"))
    config = RunConfig("debatebias", "reference", model="random", mode="generate", limit=20, runs=runs)
    return run(config, installed).directory


@pytest.fixture
def changed_benchmark(tmp_path: Path, installed: Plugins) -> Callable[..., Path]:
    """A run of a copy of jubaku:demo in a folder, whose manifest was changed."""

    def make(*changes: tuple[str, str]) -> Path:
        folder = tmp_path / "jubaku"
        shutil.copytree(shipped("benchmarks") / "jubaku", folder)
        path = folder / "benchmark.yaml"
        text = path.read_text(encoding="utf-8").replace("default_split: v1", "default_split: demo")
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        path.write_text(text, encoding="utf-8")
        config = RunConfig(
            benchmark=str(folder), backend="reference", model="shorter", mode="choices", runs=str(tmp_path / "runs")
        )
        return run(config, installed).directory

    return make


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Path, dict[str, Callable[[int, dict[str, Any]], dict[str, Any]]]], Path]:
    """A copy of a run in which the rows of some files were changed."""

    def make(source: Path, changes: dict[str, Callable[[int, dict[str, Any]], dict[str, Any]]]) -> Path:
        target = tmp_path / "copied" / source.name
        shutil.copytree(source, target)
        for name, change in changes.items():
            rows = [json.loads(line) for line in (target / name).read_text(encoding="utf-8").split("\n") if line]
            changed = [json.dumps(change(place, row), ensure_ascii=True) for place, row in enumerate(rows)]
            (target / name).write_text("\n".join(changed) + "\n", encoding="utf-8")
        return target

    return make


@dataclass
class Page(HTMLParser):
    """A report taken apart: ``tags`` with attributes in their order, ``numbers`` by (score, field), ``text``."""

    source: str
    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    numbers: list[tuple[str, str, str]] = field(default_factory=list)  # data-s, value, what is shown
    files: dict[str, str] = field(default_factory=dict)
    text: str = ""
    _in: list[str] = field(default_factory=list)
    _open: tuple[str, str] | None = None
    _file: str | None = None

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append((tag, given))
        self._in.append(tag)
        if "data-s" in given:
            self._open = (given["data-s"], given["value"])
        if "data-file" in given:
            self._file = given["data-file"]

    def handle_endtag(self, tag: str) -> None:
        while self._in and self._in.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._in and self._in[-1] in ("script", "style"):
            return
        self.text += data
        if self._open:
            self.numbers.append((*self._open, data))
            self._open = None
        if self._file is not None:
            self.files[self._file], self._file = data, None

    def blocks(self) -> list[dict[str, Any]]:
        """Every block of responses, unpacked."""
        return [
            unpacked(text) for text in re.findall(r'<script type="text/plain" id="b\d+">([^<]*)</script>', self.source)
        ]

    def catalogue(self) -> dict[str, Any]:
        """What the page filters by."""
        found = re.search(r'<script type="text/plain" id="catalogue">([^<]*)</script>', self.source)
        assert found
        return unpacked(found[1])


def unpacked(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(text)))
    return value


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a report; options of the reporter as keywords."""
    from biasfw_plugins.report.html import Html  # noqa: PLC0415 - needs the extra

    def make(*runs: Path, **options: Any) -> Path:
        output = tmp_path / "report.html"
        Html(options).write(runs, output)
        return output

    return make


@pytest.fixture
def page(write: Callable[..., Path]) -> Callable[..., Page]:
    """Write a report and take it apart; the same one is written once."""

    def make(*runs: Path, **options: Any) -> Page:
        key = (runs, tuple(options.items()))
        if key not in _PAGES:
            _PAGES[key] = Page(write(*runs, **options).read_text(encoding="utf-8"))
        return _PAGES[key]

    return make


_PAGES: dict[Any, Page] = {}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A headless Chromium; one for each module, since its event loop would be in the way of other tests."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("there is no Chromium (Debian: apt-get install chromium fonts-noto-core fonts-noto-cjk)")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
