"""How long to wait: what the server says, else growing waits; and how many requests may be under way."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Self

import tenacity
from aiolimiter import AsyncLimiter

_FIRST, _MOST = 0.5, 60.0  # seconds
_CALM = 1.0  # seconds within which refusals belong to one overload


def stated_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that the headers ask to wait (``retry-after-ms``; ``Retry-After`` as seconds or as a date), if any."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) / unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, moment.timestamp() - time.time())


# The jitter is no larger than the first wait, so that each wait is longer than the one before.
growing = tenacity.wait_exponential(multiplier=_FIRST, max=_MOST) + tenacity.wait_random(0, _FIRST)


def wait_after(stated: float | None, state: tenacity.RetryCallState) -> float:
    """Seconds until the next try: what was stated, and a little more so that not all come back at once."""
    if stated is None:
        return float(growing(state))
    return stated + random.uniform(0, min(1.0, 0.1 + stated / 10))  # noqa: S311 - not for secrets


class Throttle:
    """Lets up to ``most`` tries be under way; use as an async context manager around each try.

    After a refusal for load the limit halves (once for all refusals of one overload) and rises by one for every
    ``limit`` successes: additive increase, multiplicative decrease (Chiu and Jain 1989), as TCP does. A wait that a
    server states holds for everybody.
    """

    def __init__(self, most: int, per_minute: float | None = None) -> None:
        self.limit = most
        self._most = most
        self._active = 0
        self._successes = 0
        self._open_at = 0.0
        self._cut_at = -math.inf
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._pace = AsyncLimiter(1, 60 / per_minute) if per_minute else None

    async def __aenter__(self) -> Self:
        while True:
            closed = self._open_at - time.monotonic()
            if closed > 0:
                await asyncio.sleep(closed)
            elif self._active < self.limit:
                break
            else:
                await self._turn()
        self._active += 1
        if self._pace is not None:
            try:
                await self._pace.acquire()
            except asyncio.CancelledError:
                self._leave()
                raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    def succeeded(self) -> None:
        """A try brought an answer."""
        self._successes += 1
        if self.limit < self._most and self._successes >= self.limit:
            self.limit, self._successes = self.limit + 1, 0

    def overloaded(self, wait: float | None) -> None:
        """A try was refused for load; the server may have said how long to ``wait``."""
        now = time.monotonic()
        if wait:
            self._open_at = max(self._open_at, now + wait)
        if now - self._cut_at > _CALM + (wait or 0):
            self.limit, self._successes, self._cut_at = max(1, self.limit // 2), 0, now

    async def _turn(self) -> None:
        ticket = asyncio.get_running_loop().create_future()
        self._waiting.append(ticket)
        try:
            await ticket
        except asyncio.CancelledError:
            if ticket.done() and not ticket.cancelled():
                self._wake()  # the turn was ours: pass it on
            raise

    def _leave(self) -> None:
        self._active -= 1
        self._wake()

    def _wake(self) -> None:
        free = self.limit - self._active
        while self._waiting and free > 0:
            ticket = self._waiting.popleft()
            if not ticket.done():
                ticket.set_result(None)
                free -= 1
