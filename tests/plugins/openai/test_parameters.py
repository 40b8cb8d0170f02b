"""Parameters that a server refuses: learned once, kept, said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from biasfw import Request, UsageError

pytest.importorskip("openai", reason="needs the extra openai")

from biasfw_plugins.openai.backend import OpenAI
from biasfw_plugins.openai.failures import Refusal, refusal_of
from biasfw_plugins.openai.parameters import Parameters

from .conftest import Reply, Seen, Server, answers, ask, failure

Backend = Callable[..., OpenAI]


def reasoning_model(seen: Seen, number: int) -> Reply:
    """Refuses as OpenAI's reasoning models do, one parameter at a time."""
    if "max_tokens" in seen.body:
        message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
        return failure(400, message, param="max_tokens", code="unsupported_parameter")
    for name in ("temperature", "top_p"):
        if seen.body.get(name, 1) != 1:
            return failure(400, f"Unsupported value: '{name}'", param=name, code="unsupported_value")
    if "stop" in seen.body:
        return failure(400, "Unsupported parameter: 'stop'", param="stop", code="unsupported_parameter")
    return Reply({"choices": [{"message": {"content": "B\nand more"}, "finish_reason": "length"}]})


@pytest.mark.loopback
def test_learned_once_and_said(server: Server, backend: Backend) -> None:
    server.script = reasoning_model
    asked = backend()
    requests = [ask(str(number), temperature=0.0, top_p=0.9, stop=("\n",)) for number in range(6)]
    got = answers(asked, *requests)
    assert len(server.posts) == 6 + 4
    assert server.posts[-1].body.keys() == {"model", "messages", "max_completion_tokens", "seed"}
    assert all(response.flags == ("dropped_top_p", "dropped_stop", "dropped_temperature") for response in got)
    assert all(
        (response.text, response.finish_reason) == ("B", "stop") for response in got
    )  # the stop string still holds
    notes = asked.learned().notes
    assert len(notes) == 4
    assert any("temperature=0" in note and "own temperature" in note for note in notes)
    answers(asked, ask("later"))
    assert len(server.posts) == 11


@pytest.mark.loopback
def test_a_server_without_system_role(server: Server, backend: Backend) -> None:
    def script(seen: Seen, number: int) -> Reply:
        roles = [turn["role"] for turn in seen.body["messages"]]
        return failure(400, "System role not supported") if "system" in roles else Reply()

    server.script = script
    asked = backend()
    (got,) = answers(asked, ask("Which?", system="Be brief."))
    assert server.posts[-1].body["messages"] == [{"role": "user", "content": "Be brief.\n\nWhich?"}]
    assert got.flags == ("system_folded",)
    assert "before the first user turn" in asked.learned().notes[0]


@pytest.mark.loopback
def test_a_refusal_that_repeats_ends(server: Server, backend: Backend) -> None:
    server.script = lambda seen, number: failure(
        400, "max_tokens is not supported; seed is unknown; temperature invalid"
    )
    (got,) = answers(backend(), ask())
    assert got.error is not None
    assert got.error.kind == "bad_request"
    assert len(server.posts) <= 9


def learn(refusal: Refusal, request: Request, **options: Any) -> dict[str, Any] | None:
    """The body after a refusal, or None if nothing is to be learned from it."""
    parameters = Parameters("m", options)
    body = parameters.body(request)
    return parameters.body(request) if parameters.learn(refusal, body, request) else None


@pytest.mark.parametrize(
    ("error", "gone"),
    [
        ({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}, "seed"),
        ({"error": {"message": "`temperature` and `top_p` cannot both be specified for this model."}}, "top_p"),
        ({"object": "error", "message": "Unrecognized request argument supplied: seed"}, "seed"),
        ({"error": {"message": "temperature: only the default is supported", "param": None}}, "temperature"),
        ({"error": {"message": "Unsupported parameter: 'max_tokens'", "param": "max_tokens"}}, "max_tokens"),
        ({"error": {"message": "invalid value", "param": "stop"}}, "stop"),
    ],
)
def test_wordings(error: Any, gone: str) -> None:
    refusal = refusal_of(error)
    assert refusal is not None
    request = ask(stop=("x",))
    before, after = Parameters("m", {}).body(request), learn(refusal, request)
    assert after is not None
    assert before.keys() - after.keys() == {gone}


@pytest.mark.parametrize(
    "message",
    [
        "The temperature of this conversation is too rude",
        "Bad Request",
        "messages: invalid",
        "max_tokens is too large: 256. This model supports at most 100",
    ],
)
def test_what_is_no_refusal_of_a_parameter(message: str) -> None:
    assert learn(Refusal(message), ask()) is None


@pytest.mark.parametrize("value", [None, 3, "x", [], {}, {"error": 4}, {"error": {"message": 5}}, {"detail": [4]}])
def test_error_bodies_of_any_shape(value: Any) -> None:
    refusal = refusal_of(value)
    assert refusal is None or isinstance(refusal.message, str)


def test_fewer_logprobs_are_asked_for_once() -> None:
    request = ask(letters="AB")
    refusal = Refusal("Invalid value: top_logprobs must be less than or equal to 5", "top_logprobs")
    after = learn(refusal, request)
    assert after is not None
    assert after["top_logprobs"] == 5
    assert learn(refusal, request, top_logprobs=5) is None


@pytest.mark.parametrize("name", ["temperature", "echo", "n", "stream", "messages", "logprobs"])
def test_extra_fields_may_not_replace_what_is_asked(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        Parameters("m", {"extra_body": {name: 1, "top_k": 0}})
