"""What we give to authors of plugins: our own plugins pass it, and what is broken does not."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import biasfw_plugins.bundled
import biasfw_plugins.debatebias
import biasfw_plugins.hf
import biasfw_plugins.jubaku
import biasfw_plugins.judges
import biasfw_plugins.languages
import biasfw_plugins.llamacpp
import biasfw_plugins.metrics
import biasfw_plugins.openai
import biasfw_plugins.parsers
import biasfw_plugins.reference
import biasfw_plugins.report
from biasfw import (
    Answer,
    BackendSettings,
    BackendSpec,
    ChoiceScore,
    Identity,
    Interval,
    Judgement,
    JudgeSpec,
    MetricSpec,
    Outcome,
    ParserSpec,
    Reading,
    Response,
    ResponseError,
    Score,
    Table,
    hookimpl,
    testing,
)
from biasfw.plugins import Component, Plugin
from biasfw.testing import conformance
from biasfw.trying.backends import check_backend


@pytest.mark.biasfw(biasfw_plugins.parsers)
@pytest.mark.biasfw(biasfw_plugins.metrics)
@pytest.mark.biasfw(biasfw_plugins.judges)
@pytest.mark.biasfw(biasfw_plugins.reference)
@pytest.mark.biasfw(biasfw_plugins.report, biasfw_plugins.debatebias, biasfw_plugins.jubaku)
@pytest.mark.biasfw(biasfw_plugins.languages)
def test_our_own_plugins(biasfw_conformance: Callable[[], None]) -> None:
    biasfw_conformance()


@pytest.mark.parametrize("module", [biasfw_plugins.hf, biasfw_plugins.llamacpp, biasfw_plugins.openai])
def test_backends_that_need_a_model(module: ModuleType) -> None:
    """Their specs pass where their libraries are; their answers are tested with real models."""
    for case in conformance(module):
        if case.name.endswith("spec"):
            try:
                case()
            except Exception as failure:
                if "is not installed" not in str(failure):
                    raise
        elif case.name.endswith("answers"):
            assert case.skip.startswith("it needs a model")


def test_our_own_bundles() -> None:
    names = [case.name for case in conformance(biasfw_plugins.bundled)]
    assert names == ["loads", "benchmark debatebias", "benchmark jubaku"]


@pytest.mark.biasfw("jubaku", without=["references"])
def test_a_benchmark_by_its_name(biasfw_conformance: Callable[[], None]) -> None:
    biasfw_conformance()


@pytest.mark.biasfw(biasfw_plugins.jubaku)
def test_a_reader_with_its_files(biasfw_conformance: Any, jubaku: Path) -> None:
    cases = conformance(biasfw_plugins.jubaku, readers={"jubaku_v1": jubaku, "jubaku_v2": jubaku})
    assert [case.skip for case in cases] == [""] * len(cases)
    for case in cases:
        if case.name.endswith("reads") and biasfw_conformance.name == "loads":
            case()


class Broken:
    """Components that are wrong in one way each; used as a plugin's module."""

    biasfw_api = 1

    @hookimpl
    def biasfw_parsers(self) -> Iterable[ParserSpec]:
        tasks = frozenset({"choice"})
        for name in ("Guesses", "Remembers", "Fails", "Invents"):
            yield ParserSpec(name.lower(), f"{__name__}:{name}", "it reads", tasks=tasks)

    @hookimpl
    def biasfw_metrics(self) -> Iterable[MetricSpec]:
        tasks = frozenset({"choice"})
        for name in ("Nan", "Silent", "Narrow", "Writes", "ByOrder"):
            yield MetricSpec(name.lower(), f"{__name__}:{name}", "it counts", tasks=tasks)

    @hookimpl
    def biasfw_judges(self) -> Iterable[JudgeSpec]:
        for name in ("Asks", "Forgets"):
            yield JudgeSpec(name.lower(), f"{__name__}:{name}", "it judges", tasks=frozenset({"choice"}))
        yield JudgeSpec("first", f"{__name__}:First", "it decides", tasks=frozenset({"choice"}), combines=True)

    @hookimpl
    def biasfw_backends(self) -> Iterable[BackendSpec]:
        yield BackendSpec("twice", f"{__name__}:Twice", "it answers twice")
        yield BackendSpec("open", f"{__name__}:Twice", "takes anything", options={"type": "object"})


def _answer(outcome: Outcome, value: str | None = None) -> Answer:
    return Answer({"choice": Reading(outcome, value)})


class Guesses:
    def __init__(self, context: Any) -> None:
        pass

    def parse(self, text: str, **_: Any) -> Answer:
        return _answer(Outcome.ANSWERED, "C")


class Remembers(Guesses):
    def __init__(self, context: Any) -> None:
        self.seen = 0

    def parse(self, text: str, **_: Any) -> Answer:
        self.seen += 1
        return _answer(Outcome.ANSWERED, "AB"[self.seen > 2])


class Fails(Guesses):
    def parse(self, text: str, **_: Any) -> Answer:
        return _answer(Outcome.ANSWERED, text.encode("utf-8").decode()[0].replace("P", "A"))


class Invents(Guesses):
    def parse(self, text: str, **_: Any) -> Answer:
        return _answer(Outcome.NO_MAJORITY)


def _score(name: str, table: Table, **changes: Any) -> Score:
    values: dict[str, Any] = {"value": 0.5, "n": len(table), "clusters": len(set(table.cluster.tolist()))}
    return Score(metric=name, unit="share", denominator="all", **{**values, **changes})


class Nan(Guesses):
    def compute(self, table: Table) -> Iterator[Score]:
        yield _score("nan", table, value=float("nan"))


class Silent(Guesses):
    def compute(self, table: Table) -> Iterator[Score]:
        yield _score("silent", table, value=None)


class Narrow(Guesses):
    def compute(self, table: Table) -> Iterator[Score]:
        if len(table):
            half = 0.5 / len(table) ** 0.5
            yield _score("narrow", table, interval=Interval(0.5 - half, 0.5 + half, "of rows"))


class Writes(Guesses):
    def compute(self, table: Table) -> Iterator[Score]:
        if len(table):
            table.gold[0] = "x"
        yield _score("writes", table)


class ByOrder(Guesses):
    def compute(self, table: Table) -> Iterator[Score]:
        yield _score("byorder", table, value=float(len(table) and table.category[0] == "food"))


class Asks(Guesses):
    def requests(self, case: Any) -> Sequence[Any]:
        return (case.request,)

    def judge(self, case: Any, responses: Sequence[Any]) -> Judgement:
        return Judgement("", case.response.key, dict(case.answer.slots))


class Forgets(Asks):
    def requests(self, case: Any) -> Sequence[Any]:
        return ()

    def judge(self, case: Any, responses: Sequence[Any]) -> Judgement:
        return Judgement("", case.response.key, {})


class First(Guesses):
    def combine(self, votes: Mapping[str, Judgement]) -> Judgement:
        return next(iter(votes.values()))


class Twice:
    def __init__(self, settings: BackendSettings) -> None:
        self.mode = settings.mode

    def fingerprint(self) -> str:
        return "twice"

    def prepare(self) -> Identity:
        return Identity("twice", "twice")

    def run(self, requests: Any) -> Iterator[Response]:
        for request in requests:
            yield Response(request.key, text="A")
            yield Response(request.key, text="B")

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("parser guesses: choice: hostile text", "is read as 'C', which was not offered"),
        ("parser remembers: choice: pure", "it keeps a state"),
        ("parser fails: choice: hostile text", "it fails on '' (0 characters, finish_reason None): IndexError"),
        ("parser invents: choice: hostile text", "no parser may say no_majority"),
        ("metric nan: choice: tables", "nan is no finite number"),
        ("metric silent: choice: tables", "null without a reason"),
        ("metric narrow: choice: rows", "three copies of every row narrow"),
        ("metric writes: choice: tables", "it fails on the table 'all answered': ValueError"),
        ("metric byorder: choice: rows", "1.0 turns into 0.0"),
        ("judge asks: choice: verdicts", "it asks a model, and its spec names no role"),
        ("judge forgets: choice: verdicts", "gives the slots []"),
        ("judge first: choice: panel", "depends on the order of its members"),
        ("backend twice: answers", "each key exactly once"),
        ("backend open: spec", "takes any option"),
    ],
)
def test_what_is_broken_is_named(case: str, words: str) -> None:
    module = ModuleType("broken")
    broken = Broken()
    module.biasfw_api = 1  # type: ignore[attr-defined]
    for hook in ("biasfw_parsers", "biasfw_metrics", "biasfw_judges", "biasfw_backends"):
        setattr(module, hook, getattr(broken, hook))
    settings = {"twice": BackendSettings("tiny", "generate")}
    (found,) = [each for each in conformance(module, backends=settings) if each.name == case]
    with pytest.raises(AssertionError) as failure:
        found()
    assert words in str(failure.value)


def test_a_plugin_that_does_not_load() -> None:
    first, *others = conformance(ModuleType("empty"))
    assert not others
    with pytest.raises(AssertionError, match="declares no biasfw_api"):
        first()


def test_a_test_without_a_mark_is_told(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["biasfw.testing"]')
    pytester.makepyfile("def test_it(biasfw_conformance): biasfw_conformance()")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret != 0
    assert "says nothing to check; write @pytest.mark.biasfw(target)" in result.stdout.str()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "in mode choices, a response does not fit its request: the log-probability of a is nan"),
        (0.5, "the log-probability of a is 0.5, more than 0"),
        (None, "no log-probability for a, and no bound"),
    ],
)
def test_scores_that_are_none_are_told_in_words(
    monkeypatch: pytest.MonkeyPatch, value: float | None, words: str
) -> None:
    class Scores(Twice):
        def run(self, requests: Any) -> Iterator[Response]:
            for each in requests:
                scores = (ChoiceScore("a", value, 1, 1), ChoiceScore("b", -2.0, 1, 1))
                yield Response(each.key, choice_logprobs=scores if each.choices else (), text="A")

    spec = BackendSpec("scores", "nowhere:Scores", "for tests", capabilities=frozenset({"choices", "generate"}))
    component = Component(spec, Plugin("p", "d", "0", "m"))
    monkeypatch.setattr("biasfw.trying.backends.load_class", lambda _: Scores)
    with pytest.raises(AssertionError) as failure:
        check_backend(component, BackendSettings("tiny", "generate"))
    assert words in str(failure.value)


def test_a_backend_that_fails_at_everything_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fails(Twice):
        def run(self, requests: Any) -> Iterator[Response]:
            return (Response(each.key, error=ResponseError("down", "the server is down")) for each in requests)

    component = Component(BackendSpec("fails", "nowhere:Fails", "for tests"), Plugin("p", "d", "0", "m"))
    monkeypatch.setattr("biasfw.trying.backends.load_class", lambda _: Fails)
    with pytest.raises(AssertionError, match="failed: the server is down"):
        check_backend(component, BackendSettings("tiny", "generate"))


def test_every_assertion_of_the_checks_has_words() -> None:
    for path in [Path(testing.__file__), *(Path(testing.__file__).parent / "trying").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assert):
                assert node.msg is not None, f"{path.name}:{node.lineno}: an assertion without words"


def test_a_task_that_does_not_exist_is_told_and_no_traceback() -> None:
    module = ModuleType("mistaken")
    module.biasfw_api = 1  # type: ignore[attr-defined]

    @hookimpl
    def biasfw_parsers() -> Iterable[ParserSpec]:
        yield ParserSpec("mistaken", f"{__name__}:Guesses", "for tests", tasks=frozenset({"chioce"}))

    module.biasfw_parsers = biasfw_parsers  # type: ignore[attr-defined]
    (spec,) = [case for case in conformance(module) if case.name == "parser mistaken: spec"]
    with pytest.raises(AssertionError, match=r"the task 'chioce', and there is none; did you mean \"choice\"\?"):
        spec()
