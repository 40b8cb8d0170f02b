"""A server on the loopback interface that answers, or fails, as a test says; and requests to ask it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from biasfw import BackendSettings, ChoiceText, Message, Request, Response, Sampling, sha256_text

if TYPE_CHECKING:
    from biasfw_plugins.openai.backend import OpenAI


def completion(content: str | None = "B", finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    """A chat completion as servers send it."""
    return {
        "object": "chat.completion",
        "model": "mock-1",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
    }


@dataclass
class Reply:
    """What the server sends: ``body`` as JSON unless it is bytes; ``drop`` breaks the connection half-way."""

    body: Any = field(default_factory=completion)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False


def failure(status: int, message: str = "no", headers: Mapping[str, str] | None = None, **error: Any) -> Reply:
    """An error as OpenAI words it."""
    return Reply({"error": {"message": message, **error}}, status, headers or {})


@dataclass
class Seen:
    """A request that arrived."""

    path: str
    body: Any
    headers: Mapping[str, str]
    at: float


Script = Callable[[Seen, int], Reply]


class Server:
    """Answers POSTs by ``script(request, number)``; ``posts`` are in the order of arrival."""

    def __init__(self) -> None:
        self.script: Script = lambda seen, number: Reply()
        self.models: Reply = Reply({"data": [{"id": "mock-1"}]})
        self.posts: list[Seen] = []
        self.active = self.most_active = 0
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._started.wait(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _serve(self) -> None:
        self._loop.run_until_complete(self._main())
        self._loop.close()

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()
        open_ones = asyncio.all_tasks() - {asyncio.current_task()}
        for task in open_ones:
            task.cancel()
        await asyncio.gather(*open_ones, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, path, _ = head[0].split(" ")
                headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in head[1:] if line)}
                content = await reader.readexactly(int(headers.get("content-length", 0)))
                if method == "GET":
                    reply = self.models
                else:
                    seen = Seen(path, json.loads(content), headers, time.monotonic())
                    self.posts.append(seen)
                    reply = self.script(seen, len(self.posts) - 1)
                self.active += 1
                self.most_active = max(self.active, self.most_active)
                try:
                    if reply.delay:
                        await asyncio.sleep(reply.delay)
                finally:
                    self.active -= 1
                data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                sent = {"Content-Type": "application/json", **reply.headers, "Content-Length": str(len(data))}
                lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
                data = data[: len(data) // 2] if reply.drop else data
                writer.write(f"HTTP/1.1 {reply.status} X\r\n{lines}\r\n".encode() + data)
                await writer.drain()
                if reply.drop:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that answers B to everything, until the test gives it a script."""
    made = Server()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a refusal takes longer than the head start of the first request."""
    monkeypatch.setattr("biasfw_plugins.openai.flow._HEAD_START", 10.0)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the environment holds for OpenAI does not enter a test."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_LOG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def backend(server: Server) -> Iterator[Callable[..., OpenAI]]:
    """Build a backend that asks ``server``; keywords are options."""
    from biasfw_plugins.openai.backend import OpenAI  # noqa: PLC0415 - its extra may be missing

    made = []

    def build(model: str | None = "mock-1", mode: Any = "generate", **options: Any) -> OpenAI:
        made.append(OpenAI(BackendSettings(model, mode, options={"base_url": server.url, **options})))
        return made[-1]

    yield build
    for each in made:
        each.close()


class Requests(list[Request]):
    """A request sequence in memory that knows how far it was read."""

    reads = 0

    def __getitem__(self, index: Any) -> Any:
        self.reads += 1
        return super().__getitem__(index)

    @property
    def lengths(self) -> Sequence[int]:
        return [1] * len(self)

    @property
    def prefixes(self) -> Sequence[int]:
        return [0] * len(self)


def ask(
    text: str = "Which?", *, system: str | None = None, raw: str | None = None, letters: str = "", **sampling: Any
) -> Request:
    """A request: ``ask("text", letters="AB")``; ``raw=`` or ``system=`` where wanted."""
    messages = [Message("system", system)] if system is not None else []
    return Request(
        key=sha256_text(repr((text, system, raw, letters, sampling))),
        item_id=text,
        sampling=Sampling(**sampling),
        messages=() if raw is not None else (*messages, Message("user", text)),
        prompt=raw,
        choices=tuple(ChoiceText(letter.lower(), f"{letter}\n") for letter in letters),
    )


def answers(backend: OpenAI, *requests: Request) -> list[Response]:
    """The responses in the order of the requests; each key must come exactly once."""
    got = list(backend.run(Requests(requests)))
    assert sorted(response.key for response in got) == sorted(request.key for request in requests)
    by_key = {response.key: response for response in got}
    return [by_key[request.key] for request in requests]
