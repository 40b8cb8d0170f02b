"""The asking stage: pending requests go to the backend; each response is on disk before anything else happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from sys import intern
from typing import Any, Protocol
from zlib import crc32

from biasfw.codec import decode, encode
from biasfw.contracts import Backend
from biasfw.errors import BiasfwError
from biasfw.guarded import MISFIT
from biasfw.jsonlines import JsonLines
from biasfw.records import Request, Response

PREFIX_CHARACTERS = 256
ENOUGH = 3  # responses that do not fit, before any that does: the others need not be paid for


class Progress(Protocol):
    """What watches a run. The default does nothing; the command line draws a bar."""

    def start(self, stage: str, total: int, done: int) -> None:
        """A stage begins; ``done`` of ``total`` are there already."""
        ...

    def step(self, outcome: str) -> None:
        """One more is done."""
        ...

    def finish(self) -> None:
        """The stage has ended."""
        ...

    def note(self, text: str) -> None:
        """Something the user should know."""
        ...


class Quiet:
    """Progress that says nothing."""

    def start(self, stage: str, total: int, done: int) -> None:
        pass

    def step(self, outcome: str) -> None:
        pass

    def finish(self) -> None:
        pass

    def note(self, text: str) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Handle:
    """What stays in memory of a request: its text lies in requests.jsonl."""

    key: str
    item_id: str
    length: int  # characters
    prefix: int  # hash of the beginning


def handle(request: Request) -> Handle:
    """The handle of a rendered request."""
    text = (request.prompt or "") + "".join(message.content for message in request.messages)
    prefix = crc32(text[:PREFIX_CHARACTERS].encode("utf-8", "surrogatepass"))
    return Handle(intern(request.key), request.item_id, len(text), prefix)  # the key is in several indexes


class Answers(Protocol):
    """Where requests and responses lie: the run directory, or the folder of a judge."""

    @property
    def requests(self) -> JsonLines:
        """The requests by key."""
        ...

    @property
    def responses(self) -> JsonLines:
        """The responses by key, without failures."""
        ...

    def store(self, response: Response) -> None:
        """Append a response."""
        ...


class Pending:
    """The pending requests as a lazy sequence over requests.jsonl (``biasfw.RequestSequence``)."""

    def __init__(
        self,
        directory: Answers,
        handles: Sequence[Handle],
        references: Callable[[Request], Mapping[str, str]] | None = None,
    ) -> None:
        self._directory = directory
        self._references = references
        self.handles = handles

    @property
    def lengths(self) -> Sequence[int]:
        """Characters of each request."""
        return [h.length for h in self.handles]

    @property
    def prefixes(self) -> Sequence[int]:
        """Equal where requests begin alike."""
        return [h.prefix for h in self.handles]

    def __len__(self) -> int:
        return len(self.handles)

    def __getitem__(self, index: int) -> Request:
        request = decode(Request, self._directory.requests.read(self.handles[index].key))
        return replace(request, references=self._references(request)) if self._references else request

    def __iter__(self) -> Iterator[Request]:
        return (self[index] for index in range(len(self.handles)))


def ask(
    backend: Backend,
    pending: Pending,
    directory: Answers,
    stored: Callable[[Response, dict[str, Any]], None],
) -> None:
    """Ask everything pending and store each response as it arrives.

    Raises:
        BiasfwError: the backend answered a key that was not asked, or one twice; or nothing it answers fits.
        StoreError: the directory cannot be written any more.
    """
    open_keys, misfits = {h.key for h in pending.handles}, 0
    for response in backend.run(pending):
        if response.key not in open_keys:
            raise BiasfwError(
                f"the backend answered key {response.key[:12]} twice or without being asked; report this bug"
            )
        open_keys.remove(response.key)
        directory.store(response)
        stored(response, encode(response))
        if response.error is not None and response.error.kind == MISFIT:
            misfits += 1
            if misfits == ENOUGH and not directory.responses.index:
                raise BiasfwError(f"{response.error.message} (and so the {ENOUGH - 1} responses before it)")
    if open_keys:
        raise BiasfwError(
            f"the backend left {len(open_keys)} requests unanswered; run the same command to ask them again"
        )
