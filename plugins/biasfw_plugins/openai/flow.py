"""Many requests at once, on an event loop in a thread of its own; answers come back through a queue."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue

from biasfw import BiasfwError, Request, RequestSequence, Response
from biasfw_plugins.openai.asker import Answered, Asker
from biasfw_plugins.openai.client import Client

# The first request goes alone for this long: a refusal (key, model, parameter) comes at once and then costs one
# request instead of one for every slot, while an answer takes its time.
_HEAD_START = 0.25
# Answers are handed over in batches of what arrives within this time: threads that take turns for every single answer
# cost more than the HTTP exchange.
_GATHER = 0.002
_LAST_WORDS = 10.0  # seconds that requests under way get when the run ends early: what they bring is paid for
_CLOSING = 5.0  # seconds for connections to close
_GIVE_UP = 20  # failures in a row after which the rest is left for another sitting


class Flow:
    """The thread. ``submit`` never blocks; up to ``most`` requests are under way, others wait their turn."""

    def __init__(self, asker: Asker, client: Client, most: int) -> None:
        self._most = most
        self._ahead: deque[Request] = deque()
        self._asker = asker
        self._client = client
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[Answered]] = set()
        self._closing = asyncio.Event()
        self._batch: list[Answered | BaseException | None] = []
        self.results: SimpleQueue[list[Answered | BaseException | None]] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="biasfw-openai", daemon=True)
        self._thread.start()

    def submit(self, requests: Sequence[Request]) -> None:
        """Begin to ask."""
        self._loop.call_soon_threadsafe(self._begin, requests)

    def wind_down(self) -> None:
        """Let what is under way end, but begin nothing and try nothing again."""
        self._asker.stopping = True
        self._loop.call_soon_threadsafe(self._give_back)

    def close(self) -> None:
        """Break off what is under way and end the thread; may be called more than once."""
        if self._thread.is_alive():
            with contextlib.suppress(RuntimeError):  # the loop has just ended
                self._loop.call_soon_threadsafe(self._closing.set)
            self._thread.join(_CLOSING)

    def _begin(self, requests: Sequence[Request]) -> None:
        self._ahead.extend(requests)
        while self._ahead and len(self._tasks) < self._most and not self._asker.stopping:
            task = self._loop.create_task(self._asker.ask(self._ahead.popleft()))
            self._tasks.add(task)
            task.add_done_callback(self._done)

    def _give_back(self) -> None:
        """Hand over an empty result for what was not begun."""
        self._batch += [None] * len(self._ahead)
        self._ahead.clear()
        self._hand_over()

    def _done(self, task: asyncio.Task[Answered]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        if not self._batch and self._tasks:
            self._loop.call_later(_GATHER, self._hand_over)
        self._batch.append(task.exception() or task.result())
        self._begin(())
        if not self._tasks:
            self._hand_over()

    def _hand_over(self) -> None:
        if self._batch:
            self.results.put(self._batch)
            self._batch = []

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._until_closed())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
        finally:
            self._loop.close()

    async def _until_closed(self) -> None:
        await self._closing.wait()
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING / 2):
                await self._client.close()


def schedule(flow: Flow, requests: RequestSequence, concurrency: int) -> Iterator[Response]:
    """Keep up to ``concurrency`` requests under way and yield each response as it arrives.

    No more than that and an eighth are read and not yet yielded: a place that becomes free is filled at once, memory
    does not grow with the number of requests, and whoever stops the run loses little more than what is under way.

    Raises:
        BiasfwError: the server refuses this run as a whole, or answers nothing any more; what was answered before,
            and what was under way, has been yielded.
    """
    total, sent, opened = len(requests), 0, 0
    window, verdict = 1, _Verdict(concurrency)
    while opened or (sent < total and verdict.stop is None):
        if verdict.stop is None and sent < total and opened < window:
            more = min(window - opened, total - sent)
            flow.submit([requests[index] for index in range(sent, sent + more)])
            sent, opened = sent + more, opened + more
        try:
            batch = flow.results.get(timeout=verdict.patience() if verdict.stop else _HEAD_START)
        except Empty:
            if verdict.stop and not verdict.patience():
                break
            batch = []
        window, opened = concurrency + concurrency // 8, opened - len(batch)
        for result in batch:
            if result is None:
                continue
            if isinstance(result, BaseException):
                raise result
            if verdict.take(result):
                flow.wind_down()
            if result.stop is None:  # a refusal of the whole run is nobody's response
                yield result.response
    if verdict.stop:
        raise BiasfwError(verdict.stop)


class _Verdict:
    """Whether the run goes on."""

    def __init__(self, concurrency: int) -> None:
        self.stop: str | None = None
        self._until = 0.0
        self._failed = 0
        self._limit = _GIVE_UP
        self._margin = concurrency

    def take(self, result: Answered) -> bool:
        """Whether ``result`` ends the run."""
        error = result.response.error
        if result.stop is None and (error is None or error.permanent):
            self._failed = 0
            self._limit = _GIVE_UP + self._margin  # a server that has answered may stumble with all that is under way
            return False
        self._failed += 1
        if self.stop is not None:
            return False
        if result.stop is not None:
            self.stop = result.stop
        elif error is not None and self._failed >= self._limit:
            self.stop = (
                f"{self._failed} requests in a row failed, the last with: {error.message}; "
                "run the same command to go on, nothing is asked twice"
            )
        self._until = time.monotonic() + _LAST_WORDS
        return self.stop is not None

    def patience(self) -> float:
        """Seconds left to wait for what is under way."""
        return max(0.0, self._until - time.monotonic())
