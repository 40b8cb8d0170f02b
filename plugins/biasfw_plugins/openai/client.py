"""One HTTP exchange: the official client, and every way in which it can fail turned into one error."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from itertools import cycle
from typing import Any

import openai

from biasfw_plugins.openai.endpoint import DEFAULT_URL, Endpoint
from biasfw_plugins.openai.failures import NoAnswerError, from_body, from_status, refusal_of, shown

_CONNECT = 30.0  # seconds to reach a server
# A pool looks through all its connections for every request: many at once share several pools, which halves the cost.
_POOL = 16
_DEEPEST = 8  # causes to look through


class Client:
    """Sends bodies to one endpoint. Nothing is retried here and no redirect is followed."""

    def __init__(self, endpoint: Endpoint, model: str, timeout: float, connections: int = 1) -> None:
        self._endpoint = endpoint
        self._model = model
        self._timeout = timeout
        pools = -(-connections // _POOL)
        self._clients = [_make(endpoint, timeout, connections) for _ in range(pools)]
        self._turns = cycle(self._clients)
        self._heard = False  # whether anything has come from the server
        # Without a key there is no such header, which has to be said with each request.
        self._headers: dict[str, Any] = {} if endpoint.key else {"Authorization": openai.Omit()}

    async def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        """The JSON object that answers ``body``, of /chat/completions or, for one with a prompt, of /completions.

        Raises:
            NoAnswerError: no JSON object came.
        """
        client = next(self._turns)
        if "prompt" in body:
            plain = client.completions.with_raw_response
            return await self._exchange(
                lambda: plain.create(model=self._model, prompt="", extra_body=body, extra_headers=self._headers)
            )
        chat = client.chat.completions.with_raw_response
        return await self._exchange(
            lambda: chat.create(model=self._model, messages=[], extra_body=body, extra_headers=self._headers)
        )

    async def models(self) -> list[str]:
        """The names of the models that the server lists.

        Raises:
            NoAnswerError: it lists none.
        """
        listing = self._clients[0].models.with_raw_response
        body = await self._exchange(lambda: listing.list(extra_headers=self._headers))
        data = body.get("data")
        entries = data if isinstance(data, list) else []
        return [entry["id"] for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)]

    async def close(self) -> None:
        """Close the connections."""
        for client in self._clients:
            await client.close()

    async def _exchange(self, send: Callable[[], Awaitable[Any]]) -> dict[str, Any]:
        try:
            async with asyncio.timeout(self._timeout):  # of the whole try: a server may send a byte now and then
                response = (await send()).http_response
                self._heard = True
        except (TimeoutError, openai.APITimeoutError):
            message = f"no answer from {self._endpoint.place} within {self._timeout:g} s"
            raise NoAnswerError("timeout", message, then="again", overloaded=True) from None
        except openai.APIStatusError as error:
            answer = error.response
            self._heard = True
            raise from_status(
                answer.status_code, answer.headers, answer.text, self._endpoint, self._model
            ) from None  # the cause would show the server's text, which may repeat the key
        except openai.APIConnectionError as error:
            reason = shown(_root(error), self._endpoint)
            if not self._heard and _refused(error):  # nobody listens there, and nobody did: asking again is in vain
                raise NoAnswerError(
                    "connection",
                    f"no connection to {self._endpoint.place}: {reason}; start the server, or name another address "
                    "(-B base_url=URL)",
                    then="stop",
                ) from None
            raise NoAnswerError(
                "connection", f"no connection to {self._endpoint.place}: {reason}", then="again"
            ) from None
        return self._object(response)

    def _object(self, response: Any) -> dict[str, Any]:
        try:
            body = json.loads(response.content)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise from_body(response.status_code, response.headers, response.text, self._endpoint)
        if body.get("error") and "choices" not in body:  # some gateways put a failure into a success
            refusal = refusal_of(body)
            error = body["error"]
            code = error.get("code") if isinstance(error, dict) else None
            if isinstance(code, int) and 400 <= code < 600:
                raise from_status(code, response.headers, response.text, self._endpoint, self._model)
            said = shown(refusal.message if refusal else response.text, self._endpoint)
            raise NoAnswerError("server_error", f"the server answered {response.status_code} with an error: {said}")
        return body


def _make(endpoint: Endpoint, timeout: float, connections: int) -> openai.AsyncOpenAI:
    for name in ("httpcore2", "httpcore"):  # at DEBUG they log the headers that come, which may repeat the key
        logging.getLogger(name).setLevel(logging.INFO)
    headers: dict[str, Any] = {}
    if endpoint.url != DEFAULT_URL:  # the client would send what the environment holds for OpenAI
        headers |= {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
    limits = type(openai.DEFAULT_CONNECTION_LIMITS)(
        max_connections=connections + 1, max_keepalive_connections=connections + 1
    )
    web = openai.DefaultAsyncHttpxClient(
        follow_redirects=False, trust_env=not endpoint.local, limits=limits,
        timeout=openai.Timeout(timeout, connect=min(timeout, _CONNECT)),
    )  # fmt: skip
    return openai.AsyncOpenAI(
        api_key=endpoint.key or "none", base_url=endpoint.url, max_retries=0, http_client=web, default_headers=headers
    )


def _refused(error: BaseException) -> bool:
    """Whether a connection was refused: the server is not there, rather than slow or far."""
    for each in _causes(error):
        inside = each.exceptions if isinstance(each, BaseExceptionGroup) else (each,)
        if any(isinstance(one, ConnectionRefusedError) for one in inside):
            return True
    return False


def _causes(error: BaseException) -> Iterator[BaseException]:
    each: BaseException | None = error
    for _ in range(_DEEPEST + 1):
        if each is None:
            return
        yield each
        each = each.__cause__ or each.__context__


def _root(error: BaseException) -> str:
    """What the innermost cause says: "Connection refused" rather than "Connection error."."""
    for _ in range(_DEEPEST):
        inner = error.__cause__ or error.__context__
        if inner is None:
            break
        error = inner
    return str(error) or type(error).__name__
