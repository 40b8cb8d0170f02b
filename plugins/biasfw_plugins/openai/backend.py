"""The backend ``openai``: asks a server over HTTP, many requests at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from typing import Any

from biasfw import BackendSettings, ComponentError, Identity, RequestSequence, Response, UsageError
from biasfw_plugins.openai.asker import Asker
from biasfw_plugins.openai.client import Client
from biasfw_plugins.openai.endpoint import DEFAULT_URL, Endpoint, find_endpoint
from biasfw_plugins.openai.failures import NoAnswerError
from biasfw_plugins.openai.flow import Flow, schedule
from biasfw_plugins.openai.parameters import Parameters

_MOST_LISTED = 20  # models named in a message
_MILLION = 1e6


class OpenAI:
    """A model behind an OpenAI-compatible server. Holds no connection until ``run``.

    ``learned`` tells, after a run, what only its answers could tell: which parameters the server refuses, what it calls
    itself, how many tokens were used.
    """

    def __init__(self, settings: BackendSettings) -> None:
        self._options = settings.options
        self._endpoint = find_endpoint(settings.options)
        self._model = settings.model
        self._parameters: Parameters | None = None
        self._asker: Asker | None = None
        self._flow: Flow | None = None

    def fingerprint(self) -> str:
        """``openai:`` and the server's host, path and model. A server without ``--model`` is asked which one it has.

        Raises:
            UsageError: no model is given, and the server has several.
            ComponentError: the server does not say.
        """
        return f"openai:{self._endpoint.place}#{self._name()}"

    def prepare(self) -> Identity:
        """What is known before the first answer; nothing is asked but, without ``--model``, for the model's name."""
        self._ready()
        return self.learned()

    def learned(self) -> Identity:
        """The identity with what the answers so far have told."""
        details: dict[str, Any] = {"server": self._endpoint.place}
        notes = [*(self._parameters.notes if self._parameters else ())]
        if not self._endpoint.encrypted and not self._endpoint.local:
            notes.append("the connection to the server is not encrypted: prompts and key can be read on their way")
        if self._asker is not None:
            details |= {name: sorted(values) for name, values in self._asker.names.items() if values}
            details |= self._used(self._asker)
        return Identity(
            model=self._name(),
            fingerprint=self.fingerprint(),
            libraries={"openai": metadata.version("openai")},
            details=details,
            notes=tuple(notes),
        )

    def run(self, requests: RequestSequence) -> Iterator[Response]:
        """Answer every request, in the order in which answers arrive.

        Raises:
            BiasfwError: the server refuses the whole run (key, address, model, no log-probabilities) or has stopped
                answering; what was answered before has been yielded.
        """
        concurrency = int(self._options.get("concurrency", 16))
        parameters = self._ready()
        client = Client(self._endpoint, self._name(), self._timeout, concurrency)
        self._asker = Asker(client, self._endpoint, parameters, self._options)
        self.close()
        flow = self._flow = Flow(self._asker, client, concurrency)
        try:
            yield from schedule(flow, requests, concurrency)
        finally:
            flow.close()

    def close(self) -> None:
        """Break off what is under way and close the connections."""
        if self._flow is not None:
            self._flow.close()
            self._flow = None

    @property
    def _timeout(self) -> float:
        return float(self._options.get("timeout", 300))

    def _ready(self) -> Parameters:
        """Parameters outlive a run: what a server refuses is learned once."""
        if self._parameters is None:
            self._parameters = Parameters(self._name(), self._options)
        return self._parameters

    def _used(self, asker: Asker) -> dict[str, Any]:
        """Tokens of this sitting and, where both prices are known, their cost in the currency of the prices."""
        price_in, price_out = self._options.get("price_in"), self._options.get("price_out")
        used: dict[str, Any] = dict(asker.usage)
        if asker.usage and price_in is not None and price_out is not None:
            cost = price_in * asker.usage["prompt_tokens"] + price_out * asker.usage["completion_tokens"]
            used["cost"] = cost / _MILLION
        return used

    def _name(self) -> str:
        if self._model is None:
            self._model = _only_model(self._endpoint, self._timeout)
        return self._model


def _only_model(endpoint: Endpoint, timeout: float) -> str:
    """The model of a server that has one."""
    if endpoint.url == DEFAULT_URL:
        raise UsageError("backend openai needs the name of a model; give --model NAME")

    async def ask() -> list[str]:
        client = Client(endpoint, "", timeout)
        try:
            return await client.models()
        finally:
            await client.close()

    try:
        with ThreadPoolExecutor(1) as thread:  # the caller's own thread may run a loop already, as in a notebook
            names = [endpoint.hide(name) for name in thread.submit(asyncio.run, ask()).result()]
    except NoAnswerError as failure:
        raise ComponentError(f"{failure}; without --model NAME the server is asked for its models") from None
    if len(names) != 1:
        listed = ", ".join(names[:_MOST_LISTED]) + (", ..." if len(names) > _MOST_LISTED else "")
        raise UsageError(
            f"{endpoint.place} has {len(names)} models; give --model NAME" + (f" ({listed})" if names else "")
        )
    return names[0]
