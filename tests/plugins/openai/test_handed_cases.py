"""The handed scenarios, replayed by the handed server: each must end as its case says."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from biasfw import BackendSettings, Response

pytest.importorskip("openai", reason="needs the extra openai")

from biasfw_plugins.openai.backend import OpenAI

from .conftest import answers, ask

pytestmark = pytest.mark.loopback
Replay = Callable[[str], "Replayed"]


class Replayed:
    """A scenario being replayed, and the requests that it logged."""

    def __init__(self, tool: Path, scenario: Path, log: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._log = log
        self.url = f"http://127.0.0.1:{port}/v1"
        self.expect: dict[str, Any] = json.loads(scenario.read_text(encoding="utf-8"))["expect"]
        self.process = subprocess.Popen([sys.executable, str(tool), str(scenario), str(port), str(log)])
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        pytest.fail("the handed server did not start")

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.read_text(encoding="utf-8").splitlines()]

    def backend(self, mode: Any = "generate", **options: Any) -> OpenAI:
        return OpenAI(BackendSettings("mock", mode, options={"base_url": self.url, **options}))


@pytest.fixture
def replay(cases: Path, tmp_path: Path) -> Iterator[Replay]:
    tool = cases.parent / "tools" / "mock_openai.py"
    if not tool.is_file():
        pytest.skip("the handed server (shared/tools/mock_openai.py beside the checkout) is not here")
    started: list[Replayed] = []

    def start(name: str) -> Replayed:
        started.append(Replayed(tool, cases / "api" / f"{name}.json", tmp_path / "log.jsonl"))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait()


def test_every_scenario_is_replayed_here(cases: Path) -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    assert [path.stem for path in (cases / "api").glob("*.json") if f'"{path.stem}"' not in source] == []


@pytest.mark.parametrize("name", ["429_retry_after", "429_no_header", "503_then_ok"])
def test_refusals_for_load(replay: Replay, name: str) -> None:
    server = replay(name)
    (got,) = answers(server.backend(), ask())
    assert (got.text or "").casefold() == server.expect["result"]
    assert len(server.requests) == server.expect["requests"]
    times = [request["t"] for request in server.requests]
    waits = [right - left for left, right in pairwise(times)]
    assert waits[0] >= server.expect.get("min_wait_s", 0)
    assert not server.expect.get("waits_grow") or waits[0] < waits[1]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("content_filter_400", "content_filter"),
        ("content_filter_finish", "content_filter"),
        ("null_content_length", "length"),
    ],
)
def test_answers_without_content(replay: Replay, name: str, reason: str) -> None:
    server = replay(name)
    got: list[Response] = answers(server.backend(concurrency=1), ask("one"), ask("two"))
    assert [(response.text, response.finish_reason, response.error) for response in got] == [("", reason, None)] * 2
    assert len(server.requests) == 2 * server.expect["requests"]


def test_parameters_are_adapted_once(replay: Replay) -> None:
    server = replay("param_rejections")
    asked = server.backend()
    first, second = answers(asked, ask("one"), ask("two"))
    assert (first.text, second.text) == ("B", "B")
    assert len(server.requests) == 3 + server.expect["later_items_requests"]
    assert any("temperature=0" in note for note in asked.learned().notes)
    assert "dropped_temperature" in first.flags


def test_a_page_instead_of_an_answer(replay: Replay) -> None:
    (got,) = answers(replay("html_200").backend(), ask())
    assert got.error is not None
    assert all(word in got.error.message for word in ("200", "text/html", "<html><body>Welcome", "base_url"))


def test_a_request_that_never_ends(replay: Replay) -> None:
    server = replay("hang")
    begin = time.monotonic()
    got = answers(server.backend(timeout=2, retries=1), *(ask(str(number)) for number in range(3)))
    assert [response.error.kind for response in got if response.error] == ["timeout"] * 3
    assert len(server.requests) == 6
    assert time.monotonic() - begin < 60


def test_a_letter_missing_from_the_list(replay: Replay) -> None:
    (got,) = answers(replay("top_logprobs_missing_b").backend("choices"), ask(letters="AB"))
    a, b = got.choice_logprobs
    assert a.sum == pytest.approx(-0.0033, abs=1e-4)  # "A" and " A"
    assert b.sum is None
    assert got.flags == ("unlisted_b_at_most_-9.000",)
