"""Options scored by their letter from the likeliest first tokens."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from biasfw import BiasfwError, ChoiceText

pytest.importorskip("openai", reason="needs the extra openai")

from biasfw_plugins.openai.backend import OpenAI
from biasfw_plugins.openai.first_token import letters, score_letters, usable

from .conftest import Reply, Server, answers, ask, completion, failure

Backend = Callable[..., OpenAI]
AB = (ChoiceText("a", "A\n"), ChoiceText("b", " B"))


def listed(**tokens: float) -> list[tuple[str, float]]:
    return list(tokens.items())


def test_variants_of_a_letter_add_up() -> None:
    scored = score_letters(AB, [("A", -1.0), (" A", -2.0), ("\u2581B", -3.0), ("A)", -1.5), ("\u0410", -1.6)])
    assert scored is not None
    assert [score.key for score in scored.scores] == ["a", "b"]
    assert scored.scores[0].sum == pytest.approx(math.log(math.exp(-1) + math.exp(-2)))
    assert scored.scores[1].sum == pytest.approx(-3)
    assert [(score.tokens, score.bytes) for score in scored.scores] == [(1, 1), (1, 1)]
    assert scored.flags == ()


def test_a_letter_that_is_not_listed_is_null_with_its_bound() -> None:
    scored = score_letters(AB, listed(A=-0.2, The=-4.25, b=-2.0))
    assert scored is not None
    assert [score.sum for score in scored.scores] == [-0.2, None]
    assert scored.flags == ("unlisted_b_at_most_-4.250",)


def test_where_no_letter_is_listed_all_are_null() -> None:
    scored = score_letters(AB, listed(The=-0.2, Sure=-2.0))
    assert scored is not None
    assert [score.sum for score in scored.scores] == [None, None]
    assert scored.flags == ("unlisted_a_at_most_-2.000", "unlisted_b_at_most_-2.000", "letters_below_half")


def test_little_mass_on_the_letters_is_said() -> None:
    scored = score_letters(AB, listed(The=-0.2, A=-2.0, B=-3.0))
    assert scored is not None
    assert scored.flags == ("letters_below_half",)


@pytest.mark.parametrize(
    "entries",
    [[], [("A", 0.0), ("B", 0.0)], [("A", -9999.0)], [("A", 0.5)], [("A", -0.1), ("B", -0.1), ("C", -0.1)]],
)
def test_what_no_model_can_have_computed_is_not_used(entries: Any) -> None:
    assert usable(entries) == []
    assert score_letters(AB, entries) is None


@pytest.mark.parametrize("texts", [["A", "AB"], ["A", "A"], ["A", ""], ["Yes", "No"]])
def test_choices_that_are_no_letters(texts: list[str]) -> None:
    assert letters([ChoiceText(str(number), text) for number, text in enumerate(texts)]) == {}


def chat(**tokens: float) -> dict[str, Any]:
    body = completion("A")
    top = [{"token": token, "logprob": value, "bytes": None} for token, value in tokens.items()]
    body["choices"][0]["logprobs"] = {"content": [{"token": "A", "logprob": -0.1, "top_logprobs": top}]}
    return body


@pytest.mark.loopback
def test_asked_as_chat(server: Server, backend: Backend) -> None:
    server.script = lambda seen, number: Reply(chat(A=-0.5, B=-1.5))
    (got,) = answers(backend(mode="choices", top_logprobs=7), ask(letters="AB"))
    assert [(score.key, score.sum) for score in got.choice_logprobs] == [("a", -0.5), ("b", -1.5)]
    assert got.text is None
    body = server.posts[0].body
    assert (body["max_tokens"], body["logprobs"], body["top_logprobs"], body["temperature"]) == (1, True, 7, 1.0)
    assert "seed" not in body


@pytest.mark.loopback
def test_asked_raw(server: Server, backend: Backend) -> None:
    choice = {"text": " A", "logprobs": {"top_logprobs": [{" A": -0.5, " B": -1.5}]}, "finish_reason": "length"}
    server.script = lambda seen, number: Reply({"choices": [choice]})
    (got,) = answers(backend(mode="choices"), ask(raw="Answer:", letters="AB"))
    assert [score.sum for score in got.choice_logprobs] == [-0.5, -1.5]
    body = server.posts[0].body
    assert (server.posts[0].path, body["logprobs"], body["max_tokens"]) == ("/v1/completions", 20, 1)
    assert "echo" not in body


@pytest.mark.loopback
@pytest.mark.parametrize(
    "reply",
    [
        Reply(),
        Reply(chat(A=0.0, B=0.0)),
        Reply(chat()),
        failure(400, "logprobs is not supported by this model", param="logprobs"),
    ],
)
def test_a_server_without_log_probabilities_ends_the_run_on_the_first_item(
    server: Server, backend: Backend, reply: Reply
) -> None:
    server.script = lambda seen, number: reply
    with pytest.raises(BiasfwError, match="--mode generate"):
        answers(backend(mode="choices"), *(ask(str(number), letters="AB") for number in range(50)))
    assert len(server.posts) == 1


@pytest.mark.loopback
def test_one_without_log_probabilities_among_others_is_an_error_row(server: Server, backend: Backend) -> None:
    server.script = lambda seen, number: Reply() if "1" in str(seen.body["messages"]) else Reply(chat(A=-0.5))
    first, second = answers(backend(mode="choices", concurrency=1), ask("0", letters="AB"), ask("1", letters="AB"))
    assert first.error is None
    assert second.error is not None
    assert (second.error.kind, second.choice_logprobs) == ("no_logprobs", ())


@pytest.mark.loopback
def test_options_that_are_no_letters_end_the_run_unasked(server: Server, backend: Backend) -> None:
    request = ask(letters="AB")
    long = type(request)("k", "i", request.sampling, request.messages, choices=(ChoiceText("0", "Yes"),))
    with pytest.raises(BiasfwError, match="--mode generate"):
        answers(backend(mode="choices"), long)
    assert server.posts == []
