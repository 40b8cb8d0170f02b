"""What becomes of what a server sends: answers, odd answers, failures."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from biasfw import BiasfwError, Response

pytest.importorskip("openai", reason="needs the extra openai")

from biasfw_plugins.openai.backend import OpenAI

from .conftest import Reply, Requests, Server, answers, ask, completion, failure

pytestmark = pytest.mark.loopback
Backend = Callable[..., OpenAI]


def test_an_answer(server: Server, backend: Backend) -> None:
    (got,) = answers(
        backend(), ask("Which?", system="Be brief.", temperature=0.5, top_p=0.9, max_tokens=7, stop=("\n",))
    )
    assert (got.text, got.finish_reason, got.prompt_tokens, got.completion_tokens) == ("B", "stop", 9, 2)
    assert got.flags == ()
    assert (got.seconds or 0) > 0
    (post,) = server.posts
    assert post.path == "/v1/chat/completions"
    seed = post.body.pop("seed")
    assert 0 <= seed < 2**31
    assert post.body == {
        "model": "mock-1",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which?"}],
        "max_tokens": 7,
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["\n"],
    }


def test_a_raw_prompt_goes_to_completions(server: Server, backend: Backend) -> None:
    server.script = lambda seen, number: Reply({"choices": [{"text": " B", "finish_reason": "length"}]})
    (got,) = answers(backend(extra_body={"top_k": 0}), ask(raw="Answer:", max_tokens=3))
    assert (got.text, got.finish_reason) == (" B", "length")
    (post,) = server.posts
    assert post.path == "/v1/completions"
    assert (post.body["prompt"], post.body["max_tokens"], post.body["top_k"]) == ("Answer:", 3, 0)
    assert "messages" not in post.body
    assert "echo" not in post.body


@pytest.mark.parametrize(
    ("body", "text", "reason", "flags"),
    [
        (completion(None, "length", reasoning_content="Reply A may be"), "", "length", ("no_content",)),
        (completion(None, "content_filter"), "", "content_filter", ("no_content",)),
        (completion(None, "stop", refusal="I cannot."), "I cannot.", "refusal", ("refusal",)),
        (completion(None, "tool_calls", tool_calls=[{"id": "1"}]), "", "tool_calls", ("tool_calls", "no_content")),
        (completion("B", "end_turn"), "B", "stop", ()),
        (completion("B", None), "B", None, ()),
        (completion([{"type": "text", "text": "B"}, {"type": "text", "text": "!"}, 3]), "B!", "stop", ()),  # type: ignore[arg-type]
        (completion("a\ud800b"), "a\ufffdb", "stop", ()),
        ({"choices": [{"message": {"content": "B"}}], "usage": [1], "model": 3}, "B", None, ()),
    ],
)  # fmt: skip
def test_odd_answers(server: Server, backend: Backend, body: Any, text: str, reason: str, flags: Any) -> None:
    server.script = lambda seen, number: Reply(body)
    (got,) = answers(backend(), ask())
    assert (got.text, got.finish_reason, got.flags, got.error) == (text, reason, flags, None)
    assert len(server.posts) == 1


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart(server: Server, backend: Backend, name: str) -> None:
    server.script = lambda seen, number: Reply(completion("B", "stop", **{name: "A or B"}))
    (got,) = answers(backend(), ask())
    assert (got.text, got.reasoning) == ("B", "A or B")


@pytest.mark.parametrize(
    ("reply", "kind", "words", "permanent", "posts"),
    [
        (Reply(b"<html>Welcome\x1b[2J</html>", headers={"Content-Type": "text/html"}), "not_an_answer",
         ["200", "text/html", "<html>Welcome", "base_url"], False, 1),
        (Reply({"choices": []}), "no_choices", [], False, 1),
        (Reply({"choices": [{"index": 0}]}), "no_choices", [], False, 1),
        (Reply({"choices": "B"}), "no_choices", [], False, 1),
        (Reply([1]), "not_an_answer", [], False, 3),
        (Reply(b"[" * 100000), "not_an_answer", [], False, 3),
        (Reply(b'{"choices": [{"mess'), "not_an_answer", [], False, 3),
        (Reply({"error": {"message": "it is down", "code": 502}}), "server_error", ["is down"], False, 3),
        (Reply({"error": "broken"}), "server_error", ["broken"], False, 1),
        (Reply(drop=True), "connection", [], False, 3),
        (failure(500, "boom"), "server_error", ["500", "boom"], False, 3),
        (failure(500, "boom", {"x-should-retry": "false"}), "server_error", ["boom"], False, 1),
        (failure(429, "slow down"), "rate_limit", ["slow down"], False, 3),
        (failure(400, "odd request"), "bad_request", ["odd request"], False, 1),
        (failure(400, "long", code="context_length_exceeded"), "context_too_small", ["long"], True, 1),
        (failure(400, "This model's maximum context length is 2048 tokens, you requested 2304"), "context_too_small",
         [], True, 1),
    ],
)  # fmt: skip
def test_failures(
    server: Server, backend: Backend, monkeypatch: pytest.MonkeyPatch, reply: Reply, kind: str, words: list[str],
    permanent: bool, posts: int,
) -> None:  # fmt: skip
    monkeypatch.setattr("biasfw_plugins.openai.asker.wait_after", lambda stated, state: 0.0)
    server.script = lambda seen, number: reply
    (got,) = answers(backend(retries=2), ask())
    assert got.error is not None
    assert (got.error.kind, got.error.permanent, got.text) == (kind, permanent, None)
    assert all(word in got.error.message for word in words)
    assert got.error.message.isprintable()
    assert len(server.posts) == posts


def test_a_filtered_prompt_is_an_answer_of_its_own_and_the_next_item_runs(server: Server, backend: Backend) -> None:
    refused = failure(400, "The prompt was filtered", code="content_filter")
    server.script = lambda seen, number: refused if "one" in str(seen.body) else Reply()
    first, second = answers(backend(), ask("one"), ask("two"))
    assert (first.text, first.finish_reason, first.flags, first.error) == (
        "",
        "content_filter",
        ("prompt_filtered",),
        None,
    )
    assert second.text == "B"
    assert len(server.posts) == 2


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (failure(401, "Incorrect API key"), ["401", "Incorrect API key", "api_key_env"]),
        (failure(403, "Country not supported"), ["403", "Country not supported"]),
        (failure(402, "Insufficient Balance"), ["credit"]),
        (failure(429, "You exceeded your current quota", code="insufficient_quota"), ["quota", "credit"]),
        (failure(404, "The model `x` does not exist", code="model_not_found"), ["no model 'mock-1'", "--model"]),
        (failure(404, "Not Found"), ["base_url", "/v1"]),
        (Reply(b"", 302, {"Location": "https://elsewhere.example/v1"}), ["302", "base_url"]),
        (failure(429, "later", {"Retry-After": "3600"}), ["3600 s", "same command"]),
    ],
)
def test_a_refusal_of_the_run_ends_it_at_once(server: Server, backend: Backend, reply: Reply, words: list[str]) -> None:
    server.script = lambda seen, number: reply
    with pytest.raises(BiasfwError) as caught:
        answers(backend(), *(ask(str(number)) for number in range(200)))
    assert all(word in str(caught.value) for word in words)
    assert "\n" not in str(caught.value)
    assert len(server.posts) == 1


def test_what_is_under_way_when_the_run_ends_is_kept(server: Server, backend: Backend) -> None:
    def script(seen: Any, number: int) -> Reply:
        return failure(401, "revoked") if number == 5 else Reply(delay=0.3 if number else 0.0)

    server.script = script
    got: list[Response] = []
    with pytest.raises(BiasfwError, match="revoked"):
        got.extend(backend(concurrency=8).run(Requests(ask(str(number)) for number in range(100))))
    assert 5 <= len(server.posts) < 20
    assert len(got) == len(server.posts) - 1
    assert all(response.text == "B" for response in got)


def test_a_server_that_answers_nothing_is_given_up(
    server: Server, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = lambda seen, number: failure(500, "boom")
    with pytest.raises(BiasfwError, match=r"in a row failed.*boom.*same command"):
        list(backend(retries=0, concurrency=4).run(Requests(ask(str(number)) for number in range(1000))))
    assert len(server.posts) <= 30


def test_where_nobody_listens_the_first_request_is_the_last(server: Server, backend: Backend) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    tries: list[Response] = []
    asked = backend(base_url=f"http://127.0.0.1:{port}/v1", retries=5)
    with pytest.raises(BiasfwError, match=r"no connection to .*; start the server, or name another address") as caught:
        tries += list(asked.run(Requests(ask(str(number)) for number in range(50))))
    assert tries == []
    assert "in a row" not in str(caught.value)
