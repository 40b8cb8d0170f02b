"""What the scripts here share: requests of a benchmark, versions and machine, measured times and their ratios."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

from biasfw import BiasfwError, Request, RunConfig, run
from biasfw.codec import decode

MARK = 256  # characters by which requests that begin alike are known


class _Help(argparse.RawDescriptionHelpFormatter):
    """The description as it is written, and the default of every option that has one."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        shown = action.default is not None and action.default is not argparse.SUPPRESS
        return f"{action.help or ''} (default: %(default)s)" if shown else action.help


def options_of(description: str | None, epilog: str | None = None) -> argparse.ArgumentParser:
    """A parser of options that tells what it does and every default."""
    return argparse.ArgumentParser(description=description, epilog=epilog, formatter_class=_Help)


def number(text: str) -> int:
    """A whole number of at least 1.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)


def none_or_number(text: str) -> int:
    """A whole number, 0 for none."""
    return 0 if text == "0" else number(text)


def existing(text: str) -> str:
    """The path of something that is there.

    Raises:
        argparse.ArgumentTypeError: it is not.
    """
    if not Path(text).exists():
        raise argparse.ArgumentTypeError(f"{text} is not there")
    return text


def told(main: Callable[[], None]) -> None:
    """Run ``main``; what a user can mend ends it with one line."""
    try:
        main()
    except (BiasfwError, ChildFailedError) as failure:
        sys.exit(f"error: {failure}")
    except metadata.PackageNotFoundError as missing:
        sys.exit(f"error: {missing.name} is not installed; bench/README.md says what each script needs")


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


def say_where(*libraries: str) -> None:
    """Print versions, those of ``libraries`` too, and the machine; whatever follows is printed line by line."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    told = [f"{name} {metadata.version(name)}" for name in ("biasfw", *libraries, "numpy")]
    print("versions:", ", ".join([*told, f"Python {platform.python_version()}"]))
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
    seconds: list[float] = field(default_factory=list)  # ours, by the wall

    def add(self, theirs: Clock, ours: Clock) -> None:
        """One round."""
        self.seconds.append(ours.wall)
        self.processor.append(theirs.processor / ours.processor)
        self.wall.append(theirs.wall / ours.wall)

    def show(self, target: float) -> None:
        """Print median, smallest and greatest."""
        for kind, values in (("processor seconds", self.processor), ("wall", self.wall)):
            spread = f"{min(values):.2f} to {max(values):.2f}, {len(values)} rounds; target {target}x"
            print(f"{self.name}: {statistics.median(values):.2f}x by {kind} ({spread})")


def median_and_spread(values: Sequence[float], digits: int = 2) -> str:
    """Median, smallest and greatest in words."""
    spread = f"({min(values):.{digits}f} to {max(values):.{digits}f}, {len(values)} rounds)"
    return f"{statistics.median(values):.{digits}f} {spread}"


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that has ended: seconds by the wall and of all processors, its greatest memory, what it printed."""

    wall: float
    processor: float
    peak_mb: float
    output: str


# The greatest memory of a process counts that of its parent until it begins a program of its own. So a small one stands
# between: it starts the command, waits, and tells what the kernel counted.
_STARTER = """
import json, os, resource, subprocess, sys, time
told = open("/proc/meminfo") if os.path.exists("/proc/meminfo") else ()
available = [row.split()[1] for row in told if row.startswith("MemAvailable")]
if available:  # an allocation that fails can be answered; a machine without memory kills anybody
    most = int(available[0]) * 1024 * 3 // 4
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
begun = time.perf_counter()
done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
wall = time.perf_counter() - begun
used = resource.getrusage(resource.RUSAGE_CHILDREN)
peak = used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
with open(sys.argv[1], "w") as told:
    json.dump([done.returncode, wall, used.ru_utime + used.ru_stime, peak], told)
sys.stdout.buffer.write(done.stdout)
sys.stderr.buffer.write(done.stderr[-4000:])
"""


class ChildFailedError(Exception):
    """A process ended badly; the text is its last line, or its code."""


def whole_process(command: Sequence[str], *, environment: Mapping[str, str] | None = None) -> Ended:
    """Run ``command``, measured as a whole process (not on Windows).

    Raises:
        ChildFailedError: it ended with another code than 0.
    """
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told.json"
        done = subprocess.run(  # noqa: S603 - our own commands
            [sys.executable, "-I", "-S", "-c", _STARTER, str(told), *command],
            capture_output=True, text=True, check=False, env={**os.environ, **(environment or {})},
        )  # fmt: skip
        code, wall, processor, peak = json.loads(told.read_text()) if told.exists() else (done.returncode, 0, 0, 0)
    if code:
        last = done.stderr.strip().splitlines()[-1:] or [f"ended with code {code}"]
        raise ChildFailedError(last[0][-300:])
    return Ended(wall, processor, peak, done.stdout)


def timed(function: Callable[..., Any], clock: Clock) -> Callable[..., Any]:
    """``function``, counted by ``clock``."""

    def counted(*arguments: Any, **options: Any) -> Any:
        with clock.running():
            return function(*arguments, **options)

    return counted
