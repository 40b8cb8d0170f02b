"""Backends: each key exactly once, failures as responses, plain data in and out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from biasfw.contracts import Backend, BackendSettings
from biasfw.plugins import Component, load_class
from biasfw.records import ChoiceText, Identity, Request, Response
from biasfw.schemas import check_options
from biasfw.specs import BackendSpec
from biasfw.trying.samples import CHOICE, request


@dataclass(frozen=True)
class Requests:
    """A sequence of requests as the engine gives it: lazy, with lengths and common beginnings."""

    all: Sequence[Request]

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, index: int) -> Request:
        return self.all[index]

    def __iter__(self) -> Iterator[Request]:
        return iter(self.all)

    @property
    def lengths(self) -> Sequence[int]:
        """Characters of each."""
        return [sum(len(message.content) for message in each.messages) for each in self.all]

    @property
    def prefixes(self) -> Sequence[int]:
        """All begin alike."""
        return [0] * len(self.all)


def settings_of(component: Component, given: BackendSettings | None) -> BackendSettings | None:
    """What to build a backend from: what was given, or the first of the models it knows; None if it needs a model."""
    spec = cast("BackendSpec", component.spec)
    if given is not None:
        return replace(given, options=check_options(f"backend {spec.name}", spec.options, given.options))
    if not spec.models:
        return None
    return BackendSettings(spec.models[0], "generate", options=check_options(f"backend {spec.name}", spec.options, {}))


def check_backend(component: Component, settings: BackendSettings) -> None:
    """In every mode it says it can: a fingerprint before loading, an identity, every key once, and it can be closed."""
    spec = cast("BackendSpec", component.spec)
    for mode in sorted(spec.capabilities & {"generate", "choices"}):
        backend = cast("Backend", load_class(component)(replace(settings, mode=cast("Any", mode))))
        assert isinstance(backend, Backend), f"{spec.load} lacks one of fingerprint, prepare, run, close"
        fingerprint = backend.fingerprint()
        assert isinstance(fingerprint, str), "the fingerprint is no text"
        assert fingerprint, "the fingerprint is empty: two models would share a run"
        try:
            identity = backend.prepare()
            assert isinstance(identity, Identity), f"prepare gives {type(identity).__name__}, not an Identity"
            assert backend.fingerprint() == fingerprint, "loading changes the fingerprint"
            assert identity.fingerprint == fingerprint, "the identity has another fingerprint"
            _answers(backend, mode, references=spec.references)
            assert list(backend.run(Requests([]))) == [], "it answers requests that nobody made"
        finally:
            backend.close()
            backend.close()  # may be called more than once


def _answers(backend: Backend, mode: str, *, references: bool) -> None:
    asked = [request(CHOICE, place) for place in range(5)]
    if mode == "choices":
        options = (ChoiceText("a", "A\n"), ChoiceText("b", "B and more\n"))
        asked = [replace(each, choices=options) for each in asked]
    if references:
        said = dict.fromkeys(
            ("first", "random", "shorter", "longer", "stereotyped", "anti-stereotyped", "refuses"), "a"
        )
        asked = [replace(each, references=said) for each in asked]
    found = list(backend.run(Requests(asked)))
    counts = Counter(response.key for response in found)
    assert counts == Counter(each.key for each in asked), f"each key exactly once, found {dict(counts)}"
    for response in found:
        assert isinstance(response, Response), f"run yields {type(response).__name__}, not a Response"
        if response.error is not None:
            assert response.error.message, "an error without a message"
        elif mode == "choices":
            keys = [score.key for score in response.choice_logprobs]
            assert sorted(keys) == ["a", "b"], f"a score for every choice, found {keys}"
            assert all(s.sum is None or (math.isfinite(s.sum) and s.sum <= 0) for s in response.choice_logprobs)
        else:
            assert isinstance(response.text, str), "neither text nor error"
