"""A backend as the engine uses it: whatever a plugin's code does wrong ends in one line that names the backend.

A response that does not fit its request becomes a failure of that request: it is never read, and never scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

from biasfw.contracts import Backend, BackendSettings, RequestSequence
from biasfw.errors import BiasfwError, ComponentError
from biasfw.fitting import kind_of, misfit, wrong_identity
from biasfw.phrases import listed, shorten
from biasfw.plugins import Component, load_class
from biasfw.records import Identity, Request, Response, ResponseError

MISFIT = "misfit"  # the kind of error of a response that does not fit its request
METHODS = ("fingerprint", "prepare", "run", "close")
T = TypeVar("T")


def make_backend(component: Component, settings: BackendSettings) -> Backend:
    """The backend, built but not loaded.

    Raises:
        ComponentError: it cannot be imported or built, or lacks a method.
    """
    build = load_class(component)
    name = f"backend {component.spec.name} ({component.plugin.origin})"
    built = _called(name, "cannot be built", lambda: build(settings))
    missing = [each for each in METHODS if not callable(getattr(built, each, None))]
    if missing:
        raise ComponentError(
            f"{name} has no {listed(missing)}; {component.spec.load} must have every method of Backend"
        )
    return Guarded(name, built)


def _called(name: str, what: str, action: Callable[[], T]) -> T:
    """Run code of a backend: errors of ours pass, all others are told in one line, with the traceback behind it."""
    try:
        return action()
    except BiasfwError:
        raise
    except Exception as failure:
        told = f"{type(failure).__name__}: {failure}" if str(failure) else type(failure).__name__
        raise ComponentError(
            f"{name} {what}: {' '.join(told.split())}; --debug (biasfw --debug run ...) shows where"
        ) from failure


class Guarded:
    """A backend between the engine and a plugin. Every method does what ``Backend`` says, or raises a BiasfwError."""

    def __init__(self, name: str, backend: Backend) -> None:
        self._name, self._backend = name, backend

    def fingerprint(self) -> str:
        """A text that is not empty: two models without one would share a run."""
        found: Any = _called(self._name, "failed in fingerprint", self._backend.fingerprint)
        if not isinstance(found, str) or not found.strip():
            what = f"fingerprint() gives {shorten(found)}, not a text that tells models apart"
            raise ComponentError(f"{self._name}: {what}")
        return found

    def prepare(self) -> Identity:
        """What was loaded."""
        return self._identity("prepare", self._backend.prepare)

    @property
    def learned(self) -> Callable[[], Identity] | None:
        """What became known while it was asked; None where the backend has no such method."""
        learned: Callable[[], Identity] | None = getattr(self._backend, "learned", None)
        return None if learned is None else lambda: self._identity("learned", learned)

    def _identity(self, method: str, action: Callable[[], Any]) -> Identity:
        found = _called(self._name, f"failed in {method}", action)
        if wrong := wrong_identity(found):
            raise ComponentError(f"{self._name}: {method}() gives {wrong}")
        return cast("Identity", found)

    def run(self, requests: RequestSequence) -> Iterator[Response]:
        """The responses; one that does not fit its request has become an error."""
        seen = _Seen(requests)
        answers = _called(self._name, "failed in run", lambda: iter(self._backend.run(seen)))
        end = object()
        while (response := _called(self._name, "failed while it was asked", lambda: next(answers, end))) is not end:
            if not isinstance(response, Response):
                raise ComponentError(f"{self._name}: run() yields {kind_of(response)}, not a Response")
            yield self._checked(response, seen.asked.pop(response.key, None))

    def _checked(self, response: Response, request: tuple[str, tuple[str, ...]] | None) -> Response:
        if request is None:
            return response  # a key that nobody asked for: who asked says so
        item, choices = request
        wrong = misfit(response, choices)
        if wrong is None:
            return response
        return Response(response.key, error=ResponseError(MISFIT, f"{self._name}, item {item}: {wrong}"))

    def close(self) -> None:
        """Free the memory."""
        _called(self._name, "failed in close", self._backend.close)


class _Seen:
    """The requests, and what to check a response against of each that the backend has looked at."""

    def __init__(self, requests: RequestSequence) -> None:
        self._requests = requests
        self.asked: dict[str, tuple[str, tuple[str, ...]]] = {}  # key -> item and keys of the choices
        self._sets: dict[tuple[str, ...], tuple[str, ...]] = {}  # they are few: each is kept once

    def __len__(self) -> int:
        return len(self._requests)

    def __getitem__(self, index: int) -> Request:
        return self._taken(self._requests[index])

    def __iter__(self) -> Iterator[Request]:
        return map(self._taken, self._requests)

    def _taken(self, request: Request) -> Request:
        keys = tuple(choice.key for choice in request.choices)
        self.asked[request.key] = request.item_id, self._sets.setdefault(keys, keys)
        return request

    @property
    def lengths(self) -> Sequence[int]:
        return self._requests.lengths

    @property
    def prefixes(self) -> Sequence[int]:
        return self._requests.prefixes
