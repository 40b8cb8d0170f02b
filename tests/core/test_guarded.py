"""Backends that do not keep their promises: one line that names backend and item, and nothing of it is scored."""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from biasfw import (
    BackendSettings,
    BackendSpec,
    BiasfwError,
    ChoiceScore,
    Identity,
    Request,
    RequestSequence,
    Response,
    RunConfig,
    RunResult,
    hookimpl,
)
from biasfw.choices import read_choices
from biasfw.engine import run
from biasfw.fitting import misfit
from biasfw.form import Form, Label, Slot
from biasfw.plugins import Plugins

Answer = Callable[[int, Request], Response]
IN_CHOICES = {"mode": "choices"}


def scores(request: Request, value: Any = -1.0) -> tuple[ChoiceScore, ...]:
    return tuple(ChoiceScore(c.key, value if n == 0 else -2.0 - n, 1, 1) for n, c in enumerate(request.choices))


class Model:
    """A backend made of what a test gives it."""

    answer: Answer
    identity: Any = Identity("m", "m:1")
    mark: Any = "m:1"

    def __init__(self, settings: BackendSettings) -> None:
        self.settings = settings

    def fingerprint(self) -> Any:
        return self.mark

    def prepare(self) -> Any:
        return self.identity

    def run(self, requests: RequestSequence) -> Iterator[Response]:
        for number, request in enumerate(requests):
            yield type(self).answer(number, request)

    def close(self) -> None:
        pass


class Unclosed:
    def __init__(self, settings: BackendSettings) -> None:
        pass

    fingerprint, prepare, run = Model.fingerprint, Model.prepare, Model.run


Asked = Callable[..., RunResult]


@pytest.fixture
def asked(installed: Plugins, tmp_path: Path) -> Asked:
    """Run JUBAKU's demo on a backend class."""

    def asked(model: type, *, benchmark: str = "jubaku:demo", **given: Any) -> RunResult:
        module = types.ModuleType("odd_backend")
        module.Model = model  # type: ignore[attr-defined]
        sys.modules["odd_backend"] = module

        @hookimpl
        def biasfw_backends() -> Iterable[BackendSpec]:
            both = frozenset({"generate", "choices"})
            yield BackendSpec("odd", load="odd_backend:Model", summary="for tests", capabilities=both)

        plugins = Plugins()
        plugins.all += installed.all
        plugins.add(types.SimpleNamespace(biasfw_api=1, biasfw_backends=biasfw_backends), "odd", "odd-package", "1.0")
        return run(RunConfig(benchmark=benchmark, backend="odd", runs=str(tmp_path), **given), plugins)

    return asked


def model(answer: Answer | None = None, **attributes: Any) -> type:
    taken = answer or (lambda _, request: Response(request.key, choice_logprobs=scores(request)))
    return type("Odd", (Model,), {"answer": staticmethod(taken), **attributes})


WRONG: dict[str, tuple[Answer, str]] = {
    "a part": (
        lambda _, r: Response(r.key, choice_logprobs=scores(r)[:1]),
        "it scores 1 of 2 choices, without ",
    ),
    "text": (lambda _, r: Response(r.key, text="A"), "it answers with text, and 2 choices were to be scored"),
    "nothing": (lambda _, r: Response(r.key), "there is no score, and 2 choices were to be scored"),
    "nan": (lambda _, r: Response(r.key, choice_logprobs=scores(r, math.nan)), "is nan, no finite number"),
    "minus infinity": (lambda _, r: Response(r.key, choice_logprobs=scores(r, -math.inf)), "is -inf, no finite number"),
    "positive": (lambda _, r: Response(r.key, choice_logprobs=scores(r, 0.7)), "is 0.7, more than 0"),
    "zeros": (
        lambda _, r: Response(r.key, choice_logprobs=tuple(ChoiceScore(c.key, 0.0, 1, 1) for c in r.choices)),
        "every choice has the log-probability 0",
    ),
    "null without a bound": (
        lambda _, r: Response(r.key, choice_logprobs=scores(r, None)),
        "and no bound that shows it is not the likeliest",
    ),
    "null that may be the likeliest": (
        lambda _, r: Response(
            r.key, choice_logprobs=scores(r, None), flags=(f"unlisted_{r.choices[0].key}_at_most_-0.500",)
        ),
        "and no bound that shows it is not the likeliest",
    ),
    "twice": (
        lambda _, r: Response(r.key, choice_logprobs=(*scores(r), scores(r)[0])),
        "it scores a choice twice",
    ),
    "another": (
        lambda _, r: Response(r.key, choice_logprobs=(*scores(r), ChoiceScore("z", -1.0, 1, 1))),
        'it scores "z", which is no choice',
    ),
    "no number": (lambda _, r: Response(r.key, choice_logprobs=scores(r, "-1")), "is a str, not a plain number"),
    "seconds": (
        lambda _, r: Response(r.key, choice_logprobs=scores(r), seconds=math.nan),
        "seconds is nan, no plain finite number",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_stops_a_run_in_which_nothing_fits(asked: Asked, name: str) -> None:
    answer, words = WRONG[name]
    with pytest.raises(BiasfwError) as failure:
        asked(model(answer), **IN_CHOICES)
    text = str(failure.value)
    assert text.startswith("backend odd (odd-package 1.0), item "), text
    assert "demo-" in text or "/ja/" in text, text
    assert words in text
    assert "\n" not in text


@pytest.mark.parametrize("name", WRONG)
def test_one_that_does_not_fit_is_a_failure_among_the_others(asked: Asked, name: str) -> None:
    answer, words = WRONG[name]
    good = model().answer  # type: ignore[attr-defined]
    result = asked(model(lambda n, r: answer(n, r) if n == 2 else good(n, r)), **IN_CHOICES)
    assert (result.status, result.failed) == ("incomplete", 1)
    (message,) = result.errors
    assert message.startswith("backend odd (odd-package 1.0), item ")
    assert words in message
    (outcomes,) = result.outcomes.values()
    assert outcomes["error"] == 1
    assert outcomes["answered"] == result.total - 1


def test_a_bound_below_the_likeliest_is_enough(asked: Asked) -> None:
    """Lists of the likeliest tokens miss the unlikely letter: the bound that they give decides, its value is null."""

    def listed(_: int, r: Request) -> Response:
        return Response(r.key, choice_logprobs=scores(r, None), flags=(f"unlisted_{r.choices[0].key}_at_most_-9.000",))

    result = asked(model(listed), **IN_CHOICES)
    assert (result.status, dict(result.outcomes)) == ("complete", {"choice": {"answered": result.total}})


@pytest.mark.parametrize("reason", ["content_filter", "refusal"])
def test_what_a_server_refuses_has_no_scores(reason: str) -> None:
    assert misfit(Response("k", text="no", finish_reason=reason), ("a", "b")) is None
    assert misfit(Response("k", finish_reason=reason), ()) is None


def test_scores_of_a_part_are_no_answer() -> None:
    form = Form("choice", (Slot("choice"),), (Label("a", {}), Label("b", {})))
    partly = Response("k", choice_logprobs=(ChoiceScore("a", -1.0, 1, 1), ChoiceScore("b", None, 1, 1)))
    assert str(read_choices(partly, form).slots["choice"].outcome) == "error"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda _, r: Response(r.key, choice_logprobs=(ChoiceScore("a", -1.0, 1, 1),)), "the request has none"),
        (lambda _, r: Response(r.key), "neither text, nor scores, nor an error"),
        (lambda _, r: Response(r.key, text=cast("Any", b"A")), "text is a bytes, not a text"),
    ],
)
def test_text_is_asked_for_where_nothing_is_scored(asked: Asked, answer: Answer, words: str) -> None:
    with pytest.raises(BiasfwError, match=r"^backend odd \(odd-package 1\.0\), item .*" + words):
        asked(model(answer), mode="generate")


def explode(*_: Any) -> Any:
    raise ZeroDivisionError("by nothing")


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (Unclosed, "has no close; odd_backend:Model must have every method"),
        (model(identity={"model": "m"}), "prepare() gives a dict, not an Identity"),
        (model(identity=None), "prepare() gives None, not an Identity"),
        (model(identity=Identity("m", "")), "an Identity whose fingerprint is"),
        (model(identity=Identity("m", "m:1", notes="a text")), "notes"),  # type: ignore[arg-type]
        (model(identity=Identity("m", "m:1", details={"cost": math.nan})), "details.cost is nan, no finite number"),
        (model(mark=None), "fingerprint() gives None"),
        (model(explode), "failed while it was asked: ZeroDivisionError: by nothing"),
        (model(prepare=explode), "failed in prepare: ZeroDivisionError: by nothing"),
        (model(__init__=explode), "cannot be built: ZeroDivisionError: by nothing"),
        (model(run=lambda *_: None), "failed in run: TypeError"),
        (model(lambda *_: "A"), "run() yields a str, not a Response"),  # type: ignore[arg-type]
    ],
)
def test_faults_of_a_backend_are_one_line(asked: Asked, odd: type, words: str) -> None:
    with pytest.raises(BiasfwError) as failure:
        asked(odd, **IN_CHOICES)
    assert str(failure.value).startswith("backend odd (odd-package 1.0)")
    assert words in str(failure.value)
    assert "\n" not in str(failure.value)
