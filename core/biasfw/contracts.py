"""What each kind of component must do. Plugins implement these protocols; nothing has to be subclassed.

Every component is built from plain data, holds no global state and imports its heavy libraries only when it is
built or used, so that listing components stays fast and a worker elsewhere can build one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from biasfw.form import Form
from biasfw.languages import LanguagePack
from biasfw.records import (
    Answer,
    Identity,
    Item,
    Judgement,
    Mode,
    Request,
    Response,
    Score,
    Seed,
)

if TYPE_CHECKING:
    from biasfw.table import Table


@dataclass(frozen=True, slots=True)
class BackendSettings:
    """Everything a backend is built from. ``options`` were validated against the options schema of its spec."""

    model: str | None
    mode: Mode
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)


class RequestSequence(Protocol):
    """All pending requests, lazy: texts are read on access; ``lengths`` (characters) and ``prefixes`` are in memory.

    Equal entries of ``prefixes`` mean that the requests begin alike, so that a backend can schedule by them.
    """

    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Request: ...
    def __iter__(self) -> Iterator[Request]: ...
    @property
    def lengths(self) -> Sequence[int]: ...
    @property
    def prefixes(self) -> Sequence[int]: ...


@runtime_checkable
class Backend(Protocol):
    """A model. Built as ``Backend(settings: BackendSettings)``.

    It may also have ``learned() -> Identity``: what became known while it was asked, in ``notes`` and ``details`` (a
    parameter that a server refused, tokens, cost); taken when asking has ended, however it ended.
    """

    def fingerprint(self) -> str:
        """What identifies the weights, without loading them (a file's sha256, a resolved commit).

        Raises:
            BiasfwError: the model is not there; the message says how to get it.
        """
        ...

    def prepare(self) -> Identity:
        """Load the model and say what was loaded."""
        ...

    def run(self, requests: RequestSequence) -> Iterator[Response]:
        """Answer every request exactly once, in any order; a failure is a response with ``error``."""
        ...

    def close(self) -> None:
        """Free the model's memory; may be called at any time, more than once."""
        ...


@dataclass(frozen=True, slots=True)
class ComponentContext:
    """What parsers, judges and metrics are built from: the answer form, language packs and checked options.

    For judges: ``parsers`` builds a parser by name, for a form of the judge's own; ``texts`` are the prompts that the
    benchmark words itself (language -> ``system``, ``user``); ``mode`` is that of the judge's model.
    """

    form: Form
    languages: Mapping[str, LanguagePack] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    parsers: Callable[[str, Form, Mapping[str, Any]], Parser] | None = None
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    mode: Mode = "generate"

    def pack(self, language: str) -> LanguagePack | None:
        """The pack of ``language``, or of its base language (``pt-BR`` -> ``pt``); None where there is none."""
        return self.languages.get(language) or self.languages.get(language.partition("-")[0])


@runtime_checkable
class Parser(Protocol):
    """Reads free text. Built as ``Parser(context: ComponentContext)``; must be a pure function of its arguments."""

    def parse(self, text: str, *, language: str, condition: str, finish_reason: str | None = None) -> Answer:
        """Read ``text`` as an answer. Never guesses: what cannot be read is an outcome, not a label."""
        ...


@dataclass(frozen=True, slots=True)
class Case:
    """One response to be judged, with what led to it; ``answer`` is the parser's reading."""

    item: Item
    request: Request
    response: Response
    answer: Answer


@runtime_checkable
class Judge(Protocol):
    """Turns a case into a judgement. Built as ``Judge(context: ComponentContext)``; never holds a backend."""

    def requests(self, case: Case) -> Sequence[Request]:
        """What has to be asked of the judge's model; empty for rules."""
        ...

    def judge(self, case: Case, responses: Sequence[Response]) -> Judgement:
        """The verdict, given the model's responses to ``requests(case)``; ``key`` is filled by the engine."""
        ...


@runtime_checkable
class Panel(Protocol):
    """Combines the verdicts of judges. Built as ``Panel(context: ComponentContext)``, offered with ``combines``."""

    def combine(self, votes: Mapping[str, Judgement]) -> Judgement:
        """One verdict from those of all members, by name; ``key`` is filled by the engine. Their order is no reason.

        Every slot of the form is there in every vote. What became of the response is the same in all of them.
        """
        ...


@runtime_checkable
class Metric(Protocol):
    """Computes scores from the columns of a run. Built as ``Metric(context: ComponentContext)``."""

    def compute(self, table: Table) -> Iterable[Score]:
        """Scores with n, clusters, denominator and method; an undefined value is null with a reason, never 0."""
        ...


@runtime_checkable
class Reader(Protocol):
    """Reads somebody else's files. Built as ``Reader(options: Mapping[str, Any])``.

    Languages that the benchmark has no texts for may be yielded: the engine leaves them out and says so. An option
    ``encoding`` gets what the user gives with ``--encoding``. A reader may also have:

    ``files(folder: Path) -> Mapping[str, Path]``
        Every file that ``read`` reads, under a name that does not depend on where the folder lies. The data digest of
        a run covers names and contents. Without it, all files below the folder count.
    ``notes: Sequence[str]``
        What a user should know about what was read; taken after ``read`` has ended, printed and stored with the run.
    """

    def read(self, folder: Path) -> Iterator[Seed]:
        """Yield the seeds in ``folder``.

        Raises:
            DataError: a file is missing or is not as expected; the message names file, line and what was expected.
        """
        ...


@runtime_checkable
class Reporter(Protocol):
    """Writes a report about finished runs. Built as ``Reporter(options: Mapping[str, Any])``."""

    def write(self, runs: Sequence[Path], output: Path) -> Sequence[str] | None:
        """Write a report on the run directories ``runs`` to ``output``; what a user has to know of it, if anything."""
        ...
