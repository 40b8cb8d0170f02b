"""Backends: each key exactly once, failures as responses, plain data in and out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from biasfw.contracts import Backend, BackendSettings
from biasfw.fitting import kind_of, misfit, wrong_identity
from biasfw.guarded import METHODS
from biasfw.phrases import listed
from biasfw.plugins import Component, load_class
from biasfw.records import ChoiceText, Request, Response
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
        missing = [name for name in METHODS if not callable(getattr(backend, name, None))]
        assert not missing, f"{spec.load} has no {listed(missing)}"
        fingerprint = backend.fingerprint()
        assert isinstance(fingerprint, str), "the fingerprint is no text"
        assert fingerprint, "the fingerprint is empty: two models would share a run"
        try:
            identity = backend.prepare()
            wrong = wrong_identity(identity)
            assert wrong is None, f"prepare gives {wrong}"
            assert backend.fingerprint() == fingerprint, "loading changes the fingerprint"
            assert identity.fingerprint == fingerprint, "the identity has another fingerprint"
            _answers(backend, mode, references=spec.references)
            assert list(backend.run(Requests([]))) == [], "it answers requests that nobody made"
        finally:
            backend.close()
            backend.close()  # may be called more than once


def _answers(backend: Backend, mode: str, *, references: bool) -> None:
    asked = [request(CHOICE, place) for place in range(5)]
    keys: tuple[str, ...] = ()
    if mode == "choices":
        options = (ChoiceText("a", "A\n"), ChoiceText("b", "B and more\n"))
        asked, keys = [replace(each, choices=options) for each in asked], ("a", "b")
    if references:
        said = dict.fromkeys(
            ("first", "random", "shorter", "longer", "stereotyped", "anti-stereotyped", "refuses"), "a"
        )
        asked = [replace(each, references=said) for each in asked]
    found = list(backend.run(Requests(asked)))
    for response in found:
        assert isinstance(response, Response), f"in mode {mode}, run yields {kind_of(response)}, not a Response"
    counts = Counter(response.key for response in found)
    assert counts == Counter(each.key for each in asked), f"each key exactly once, found {dict(counts)} in mode {mode}"
    for response in found:
        wrong = misfit(response, keys)
        assert wrong is None, f"in mode {mode}, a response does not fit its request: {wrong}"
    failed = [response.error.message for response in found if response.error is not None]
    assert len(failed) < len(found), f"in mode {mode}, every request failed: {failed[0]}"
