"""What the scripts here share: requests of a benchmark, versions and machine, measured times and their ratios."""

from __future__ import annotations

import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

from biasfw import Request, RunConfig, run
from biasfw.codec import decode

MARK = 256  # characters by which requests that begin alike are known


class Requests(list[Request]):
    """A request sequence in memory, as backends take it."""

    @property
    def lengths(self) -> Sequence[int]:
        """Characters of each request."""
        return [len(_text(request)) for request in list.__iter__(self)]

    @property
    def prefixes(self) -> Sequence[int]:
        """Equal where requests begin alike."""
        return [crc32(_text(request)[:MARK].encode("utf-8", "surrogatepass")) for request in list.__iter__(self)]


def _text(request: Request) -> str:
    return (request.prompt or "") + "".join(turn.content for turn in request.messages)


def requests_of(benchmark: str, count: int, **settings: Any) -> Requests:
    """The first ``count`` requests of ``benchmark``, rendered by a run of the backend ``reference``."""
    with tempfile.TemporaryDirectory() as folder:
        config = RunConfig(benchmark, "reference", model="first", runs=folder, **settings)
        path = Path(run(config).directory) / "requests.jsonl"
        with path.open(encoding="utf-8") as lines:
            return Requests(decode(Request, json.loads(line)) for line in islice(lines, count))


def say_where() -> None:
    """Print versions and machine."""
    names = ("biasfw", "llama-cpp-python", "numpy")
    print(
        "versions:",
        ", ".join(f"{name} {metadata.version(name)}" for name in names),
        f"Python {platform.python_version()}",
    )
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"machine: {platform.system()} {platform.machine()}, {_processor()}, {os.cpu_count()} CPUs{load}")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "processor unknown"
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "processor unknown"
    )


@dataclass(slots=True)
class Clock:
    """Seconds by the wall and of all processors; adds up."""

    wall: float = 0.0
    processor: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count what happens inside."""
        wall, processor = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.wall += time.perf_counter() - wall
            self.processor += time.process_time() - processor

    def without(self, part: Clock) -> Clock:
        """This clock less ``part``."""
        return Clock(self.wall - part.wall, self.processor - part.processor)


@dataclass(slots=True)
class Ratios:
    """How many times slower ``theirs`` was than ``ours``, round by round."""

    name: str
    processor: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def add(self, theirs: Clock, ours: Clock) -> None:
        """One round."""
        self.processor.append(theirs.processor / ours.processor)
        self.wall.append(theirs.wall / ours.wall)

    def show(self, target: float) -> None:
        """Print median, smallest and greatest."""
        for kind, values in (("processor seconds", self.processor), ("wall", self.wall)):
            spread = f"{min(values):.2f} to {max(values):.2f}, {len(values)} rounds; target {target}x"
            print(f"{self.name}: {statistics.median(values):.2f}x by {kind} ({spread})")


def timed(function: Callable[..., Any], clock: Clock) -> Callable[..., Any]:
    """``function``, counted by ``clock``."""

    def counted(*arguments: Any, **options: Any) -> Any:
        with clock.running():
            return function(*arguments, **options)

    return counted
