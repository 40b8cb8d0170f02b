"""Waits between tries, how many tries are under way, and what happens on the wire."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from biasfw import Response

pytest.importorskip("openai", reason="needs the extra openai")

from biasfw_plugins.openai.backend import OpenAI
from biasfw_plugins.openai.waits import Throttle, growing, stated_wait, wait_after

from .conftest import Reply, Requests, Seen, Server, answers, ask, failure

Backend = Callable[..., OpenAI]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Fri, 99 Foo 2026 00:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_stated_waits(headers: dict[str, str], seconds: float | None) -> None:
    assert stated_wait(headers) == seconds


def test_a_date_is_a_wait() -> None:
    seconds = stated_wait({"retry-after": formatdate(time.time() + 30, usegmt=True)})
    assert seconds is not None
    assert 28 < seconds < 31
    assert stated_wait({"retry-after": formatdate(time.time() - 30, usegmt=True)}) == 0


def after(tries: int) -> Any:
    """The state of a request that has failed ``tries`` times, as far as waits look at it."""
    return SimpleNamespace(attempt_number=tries)


def test_waits_grow_and_a_stated_wait_is_kept() -> None:
    for _ in range(50):
        waits = [growing(after(number)) for number in range(1, 8)]
        assert all(left < right for left, right in pairwise(waits))
    assert growing(after(60)) < 61
    assert all(2 <= wait_after(2.0, after(1)) < 2.5 for _ in range(50))


def test_the_limit_halves_once_per_overload_and_grows_again() -> None:
    throttle = Throttle(16)
    for _ in range(16):
        throttle.overloaded(None)
    assert throttle.limit == 8
    for _ in range(8):
        throttle.succeeded()
    assert throttle.limit == 9
    for _ in range(1000):
        throttle.succeeded()
    assert throttle.limit == 16


def test_no_more_are_under_way_than_the_limit() -> None:
    async def main() -> int:
        throttle, active, most = Throttle(5), 0, 0

        async def one() -> None:
            nonlocal active, most
            async with throttle:
                active += 1
                most = max(most, active)
                try:
                    await asyncio.sleep(0.001)
                finally:
                    active -= 1

        tasks = [asyncio.ensure_future(one()) for _ in range(40)]
        await asyncio.sleep(0)
        for task in tasks[::7]:
            task.cancel()  # one that waits, or holds a place, must not keep it
        results = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
        assert sum(result is None for result in results) == 34
        return most

    assert asyncio.run(main()) == 5


@pytest.mark.loopback
def test_requests_per_minute_are_spaced(server: Server, backend: Backend) -> None:
    answers(backend(requests_per_minute=1200), *(ask(str(number)) for number in range(6)))
    times = [post.at for post in server.posts]
    assert times[-1] - times[0] > 5 * 0.05 * 0.8


def test_a_stated_wait_holds_for_all() -> None:
    async def main() -> float:
        throttle = Throttle(4)
        throttle.overloaded(0.2)
        begin = time.monotonic()
        async with throttle:
            return time.monotonic() - begin

    assert asyncio.run(main()) >= 0.19


@pytest.mark.loopback
def test_a_stated_wait_is_kept_and_said(server: Server, backend: Backend) -> None:
    server.script = lambda seen, number: failure(429, "slow", {"Retry-After": "0.6"}) if number == 0 else Reply()
    got = answers(backend(concurrency=4), *(ask(str(number)) for number in range(4)))
    assert [response.text for response in got] == ["B"] * 4
    assert [response.flags for response in got] == [("asked_again",), (), (), ()]
    assert len(server.posts) == 5
    assert server.posts[1].at - server.posts[0].at >= 0.59


@pytest.mark.loopback
def test_every_try_ends_at_the_limit(server: Server, backend: Backend) -> None:
    server.script = lambda seen, number: Reply(delay=60)
    begin = time.monotonic()
    got = answers(backend(timeout=0.3, retries=1), *(ask(str(number)) for number in range(3)))
    assert [response.error.kind for response in got if response.error] == ["timeout"] * 3
    assert len(server.posts) == 6
    assert time.monotonic() - begin < 20


@pytest.mark.loopback
def test_no_redirect_is_followed_and_no_proxy_used(
    server: Server, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    (got,) = answers(backend(retries=0), ask())
    assert got.text == "B"


@pytest.mark.loopback
def test_many_requests_are_asked_in_parallel_and_read_late(server: Server, backend: Backend) -> None:
    server.script = lambda seen, number: Reply(delay=0.02)
    requests = Requests(ask(str(number)) for number in range(100))
    seen: list[Any] = []
    for response in backend(concurrency=8).run(requests):
        seen.append(response.key)
        assert requests.reads - len(seen) <= 9 + 1  # what is open: eight, an eighth of it, and this one
    assert sorted(seen) == sorted(request.key for request in requests)
    assert 4 <= server.most_active <= 8


@pytest.mark.loopback
def test_the_first_request_goes_alone(server: Server, backend: Backend) -> None:
    server.script = lambda seen, number: Reply(delay=0.1 if number == 0 else 0.0)
    answers(backend(), *(ask(str(number)) for number in range(5)))
    assert server.posts[1].at - server.posts[0].at > 0.08


@pytest.mark.loopback
def test_closing_breaks_off_what_is_under_way(server: Server, backend: Backend) -> None:
    server.script = lambda seen, number: Reply(delay=60 if number else 0.0)
    asked = backend()
    responses = asked.run(Requests(ask(str(number)) for number in range(50)))
    assert next(responses).text == "B"
    begin = time.monotonic()
    responses.close()  # type: ignore[attr-defined]
    asked.close()
    asked.close()
    assert time.monotonic() - begin < 10
    (again,) = answers(backend(timeout=0.2, retries=0), ask("x"))
    assert again.error is not None


@pytest.mark.loopback
def test_memory_does_not_grow_with_the_number_of_requests(server: Server, backend: Backend) -> None:
    """What is kept after 600 requests is what was kept after 200."""
    request = ask()

    class Many(Requests):
        def __len__(self) -> int:
            return 600

        def __getitem__(self, index: Any) -> Any:
            return replace(request, key=str(index))

    tracemalloc.start()
    try:
        kept = []
        for number, _ in enumerate(backend(concurrency=32).run(Many()), start=1):
            if number in (200, 600):
                server.posts.clear()
                gc.collect()
                kept.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert kept[1] - kept[0] < 150_000


@pytest.mark.loopback
def test_an_interrupt_loses_only_what_is_under_way(server: Server, backend: Backend) -> None:
    def script(seen: Seen, number: int) -> Reply:
        if number == 23:  # every place holds a request that never ends
            threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        return Reply(delay=0.01 if number < 20 else 60)

    server.script = script
    got: list[Response] = []
    with pytest.raises(KeyboardInterrupt):
        got.extend(backend(concurrency=4).run(Requests(ask(str(number)) for number in range(100))))
    assert len(server.posts) - len(got) <= 4
