"""One request from its first try to its response: retries, changed parameters, and what the answer means."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import tenacity

from biasfw import Request, Response
from biasfw_plugins.openai.client import Client
from biasfw_plugins.openai.endpoint import Endpoint
from biasfw_plugins.openai.failures import NoAnswerError
from biasfw_plugins.openai.first_token import letters, score_letters
from biasfw_plugins.openai.parameters import Parameters
from biasfw_plugins.openai.replies import NoReplyError, Reply, read_reply
from biasfw_plugins.openai.waits import Throttle, wait_after

_MOST_CHANGES = 8  # of parameters, for one request
_MOST_NAMES = 20  # kept of what a server calls itself
GENERATE = "use --mode generate"


@dataclass(frozen=True, slots=True)
class Answered:
    """A response; ``stop`` is set where the run had better end, and says why."""

    response: Response
    stop: str | None = None


class Asker:
    """Asks one endpoint; belongs to the thread of the event loop."""

    def __init__(self, client: Client, endpoint: Endpoint, parameters: Parameters, options: Mapping[str, Any]) -> None:
        self._client = client
        self._endpoint = endpoint
        self._parameters = parameters
        self._tries = int(options.get("retries", 5)) + 1
        self._throttle = Throttle(int(options.get("concurrency", 16)), options.get("requests_per_minute"))
        self._scored = False
        self.stopping = False  # nothing is begun or tried again any more
        self.usage: Counter[str] = Counter()
        self.names: dict[str, set[str]] = {"served_models": set(), "system_fingerprints": set()}

    async def ask(self, request: Request) -> Answered:
        """Ask until there is an answer or no more sense in it."""
        begin = time.perf_counter()
        retrying = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(self._tries),
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, NoAnswerError) and self._again(error)),
            wait=_wait,
            reraise=True,
        )
        try:
            response: Response = await retrying(self._try, request)
        except NoAnswerError as failure:
            self.stopping = self.stopping or failure.then == "stop"
            if failure.kind != "content_filter":
                response = Response(request.key, error=failure.error, seconds=time.perf_counter() - begin)
                return Answered(response, str(failure) if failure.then == "stop" else None)
            response = Response(request.key, text="", finish_reason="content_filter", flags=("prompt_filtered",))
        if retrying.statistics.get("attempt_number", 1) > 1:
            response = replace(response, flags=(*response.flags, "asked_again"))
        return Answered(replace(response, seconds=time.perf_counter() - begin))

    def _again(self, failure: NoAnswerError) -> bool:
        return failure.then == "again" and not self.stopping

    async def _try(self, request: Request) -> Response:
        """One try, counted again for each change of parameters."""
        if request.choices and not letters(request.choices):
            raise NoAnswerError(
                "not_letters", f"this backend scores options only by a letter of their own; {GENERATE}", then="stop"
            )
        try:
            async with self._throttle:
                body, answer = await self._send(request)
        except NoAnswerError as failure:
            if failure.overloaded:
                self._throttle.overloaded(failure.wait)
            raise
        self._throttle.succeeded()
        try:
            reply = read_reply(answer)
        except NoReplyError:
            raise NoAnswerError("no_choices", "the server's answer holds no choices") from None
        reply = self._take(reply)
        flags = (*self._parameters.flags(request, body), *reply.flags)
        if request.choices:
            return self._choose(request, reply, flags)
        text, reason = reply.text, reply.finish_reason
        ends = [place for place in map(text.find, request.sampling.stop) if place >= 0] if "stop" not in body else []
        if ends:
            text, reason = text[: min(ends)], "stop"
        return _response(request, reply, text=text, finish_reason=reason, flags=flags)

    async def _send(self, request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
        """The body that was taken, and the answer to it."""
        for change in range(_MOST_CHANGES + 1):
            body = self._parameters.body(request)
            try:
                return body, await self._client.complete(body)
            except NoAnswerError as failure:
                refusal = failure.refusal
                if refusal is None:
                    raise
                if change < _MOST_CHANGES and self._parameters.learn(refusal, body, request):
                    continue
                if request.choices and "logprobs" in f"{refusal.parameter} {refusal.message}":
                    raise NoAnswerError("no_logprobs", f"{failure}; {GENERATE}", then="stop") from None
                raise
        raise AssertionError("unreachable: the last round returns or raises")

    def _choose(self, request: Request, reply: Reply, flags: tuple[str, ...]) -> Response:
        if reply.finish_reason == "content_filter":
            return _response(request, reply, text=reply.text, finish_reason="content_filter", flags=flags)
        scored = score_letters(request.choices, reply.listed or ())
        if scored is None:
            message = f"the server gives no log-probabilities of the first token of an answer; {GENERATE}"
            raise NoAnswerError("no_logprobs", message, then="record" if self._scored else "stop")
        self._scored = True
        return _response(request, reply, choice_logprobs=scored.scores, flags=(*flags, *scored.flags))

    def _take(self, reply: Reply) -> Reply:
        """Count what a reply tells beside its answer, and take the key out of it."""
        self.usage["prompt_tokens"] += reply.prompt_tokens or 0
        self.usage["completion_tokens"] += reply.completion_tokens or 0
        hide = self._endpoint.hide
        for name, value in (("served_models", reply.model), ("system_fingerprints", reply.system_fingerprint)):
            if value and len(self.names[name]) < _MOST_NAMES:
                self.names[name].add(hide(value))
        return replace(
            reply,
            text=hide(reply.text),
            reasoning=hide(reply.reasoning) if reply.reasoning else reply.reasoning,
            finish_reason=hide(reply.finish_reason) if reply.finish_reason else reply.finish_reason,
        )


def _response(request: Request, reply: Reply, **fields: Any) -> Response:
    return Response(
        request.key, reasoning=reply.reasoning, prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens, **fields,
    )  # fmt: skip


def _wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return wait_after(error.wait if isinstance(error, NoAnswerError) else None, state)
