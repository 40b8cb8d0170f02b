"""Judges that ask models, over stored runs: who is loaded when, what is asked, stored, kept back, and told."""

from __future__ import annotations

import json
import shutil
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from biasfw import (
    BackendSettings,
    BackendSpec,
    BiasfwError,
    Identity,
    Judgement,
    Outcome,
    Reading,
    RequestSequence,
    Response,
    ResponseError,
    RunConfig,
    RunResult,
    StoreError,
    UsageError,
    hookimpl,
    sha256_text,
)
from biasfw.asking import Quiet
from biasfw.engine import run
from biasfw.plugins import Plugins
from biasfw.rescoring import judge, score
from biasfw.schemas import problems
from biasfw_plugins.judges.rules import Rules

Say = Callable[[str], str | ResponseError]  # what a judge's model answers to a prompt

EVENTS: list[str] = []  # "load NAME", "close NAME"
ASKED: Counter[str] = Counter()  # by name
KEYS: list[str] = []
SAYS: dict[str, Say] = {}
DTYPE = {"dtype": "float32"}

ARABS = "MODERN GROUP: Arabs\nSTEREOTYPED GROUP: Indians"
INDIANS = "MODERN GROUP: Indians\nSTEREOTYPED GROUP: Arabs"
BUSY = ResponseError("overloaded", "the server is busy")
TOO_LONG = ResponseError("context_too_small", "needs 900 tokens, has 512", permanent=True)


class Stub:
    """Answers as ``SAYS`` tells for its model; notes what happens to it."""

    def __init__(self, settings: BackendSettings) -> None:
        self.name = settings.model or "?"
        self.server = settings.options.get("server", "")

    def fingerprint(self) -> str:
        return f"stub:{self.name}:{sha256_text(self.server)[:8]}"

    def prepare(self) -> Identity:
        EVENTS.append(f"load {self.name}{self.server}")
        return Identity(self.name, self.fingerprint(), dtype=DTYPE["dtype"])

    def run(self, requests: RequestSequence) -> Iterator[Response]:
        for request in requests:
            assert request.references is None, "only the reference backend sees what reference models say"
            ASKED[self.name + self.server] += 1
            KEYS.append(request.key)
            said = SAYS[self.name]("\n".join(message.content for message in request.messages))
            if isinstance(said, ResponseError):
                yield Response(request.key, error=said)
            else:
                yield Response(request.key, text=said, finish_reason="stop")

    def close(self) -> None:
        EVENTS.append(f"close {self.name}{self.server}")


OPTIONS = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "server": {"type": "string", "writeOnly": True, "affects_answers": False},
        "speed": {"type": "integer", "affects_answers": False},
    },
}


@pytest.fixture
def plugins(installed: Plugins) -> Plugins:
    """The installed plugins and the stub."""

    @hookimpl
    def biasfw_backends() -> Iterable[BackendSpec]:
        yield BackendSpec("stub", load=f"{__name__}:Stub", summary="for tests", options=OPTIONS)

    EVENTS.clear()
    ASKED.clear()
    KEYS.clear()
    SAYS.clear()
    DTYPE["dtype"] = "float32"
    SAYS.update(subject=lambda _: ARABS, a=lambda _: ARABS, b=lambda _: INDIANS, c=lambda _: ARABS)
    found = Plugins()
    found.all += installed.all
    found.add(types.SimpleNamespace(biasfw_api=1, biasfw_backends=biasfw_backends), "stub")
    # The file is imported under a name of its own; make that name importable for the spec.
    sys.modules.setdefault(__name__, types.ModuleType(__name__))
    sys.modules[__name__].Stub = Stub  # type: ignore[attr-defined]
    return found


@pytest.fixture
def stored(plugins: Plugins, tmp_path: Path) -> Path:
    """A run of 8 responses by the stub, judged by the rules; what led to it is forgotten."""
    result = run(config(tmp_path), plugins)
    EVENTS.clear()
    ASKED.clear()
    KEYS.clear()
    return result.directory


def config(tmp_path: Path, **changes: Any) -> RunConfig:
    values = {
        "benchmark": "debatebias", "backend": "stub", "model": "subject", "limit": 8, "languages": ("en",),
        "runs": str(tmp_path / "runs"),
    }  # fmt: skip
    return RunConfig(**{**values, **changes})


def member(name: str, model: str | None = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "judge": "llm", "backend": "stub", "model": model or name, **more}


RULES = {"name": "rules", "judge": "rules"}


def write(path: Path, **definition: Any) -> str:
    path.write_text(json.dumps(definition), encoding="utf-8")  # JSON is YAML
    return str(path)


def panel(tmp_path: Path, *members: dict[str, Any], name: str = "panel.yaml", **more: Any) -> str:
    return write(tmp_path / name, judge="panel", members=list(members), **more)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def verdicts(directory: Path, name: str) -> list[dict[str, Any]]:
    """The stored judgements of the one judge called ``name``."""
    (found,) = (directory / "judgements").glob(f"{name}-*.jsonl")
    return rows(found)


def modern(result: RunResult) -> dict[str, int]:
    return dict(result.outcomes["modern"])


def test_a_panel_of_a_rule_and_two_models(plugins: Plugins, stored: Path, tmp_path: Path) -> None:
    result = judge(stored, panel(tmp_path, RULES, member("a"), member("b")), plugins)
    assert ASKED == {"a": 8, "b": 8}
    assert EVENTS == ["load a", "close a", "load b", "close b"]
    assert modern(result) == {"answered": 8}
    found = verdicts(stored, "panel")
    assert len(found) == 8
    for row in found:
        assert problems("judgement", row) == []
        assert row["slots"]["modern"] == {"outcome": "answered", "value": "arabs"}
        assert {name: vote["modern"]["value"] for name, vote in row["votes"].items()} == {
            "rules": "arabs", "a": "arabs", "b": "indians",
        }  # fmt: skip
        assert "judge_disagrees" in row["flags"]
    (answers,) = (stored / "judge-responses").glob("a-*")
    assert len(rows(answers / "requests.jsonl")) == len(rows(answers / "responses.jsonl")) == 8
    shown = rows(answers / "requests.jsonl")[0]["messages"]
    assert ARABS in shown[-1]["content"], "prompts are stored beside what was answered"
    info = json.loads((stored / "run.json").read_text(encoding="utf-8"))
    assert problems("run", info) == []


def test_the_model_under_test_is_never_built_again(
    plugins: Plugins, stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []
    real = Stub.__init__

    def noting(self: Stub, settings: BackendSettings) -> None:
        built.append(settings.model or "?")
        real(self, settings)

    monkeypatch.setattr(Stub, "__init__", noting)
    file = panel(tmp_path, RULES, member("a"), member("b"))
    judge(stored, file, plugins)
    assert set(built) == {"a", "b"}
    built.clear()
    score(stored, plugins=plugins, judge="panel")
    score(stored, plugins=plugins)
    assert built == [], "scoring builds no backend at all"


def test_judging_again_asks_nothing(plugins: Plugins, stored: Path, tmp_path: Path) -> None:
    file = panel(tmp_path, RULES, member("a"), member("b"))
    first = judge(stored, file, plugins)
    before = {path: path.read_bytes() for path in stored.rglob("*.jsonl")}
    EVENTS.clear()
    again = judge(stored, file, plugins)
    assert (EVENTS, ASKED) == ([], {"a": 8, "b": 8})
    assert {path: path.read_bytes() for path in stored.rglob("*.jsonl")} == before
    assert [(s.metric, s.slice, s.value) for s in again.scores] == [(s.metric, s.slice, s.value) for s in first.scores]
    info = json.loads((stored / "run.json").read_text(encoding="utf-8"))
    for name, entry in info["judges"].items():
        assert ("identity" in entry) == name.startswith(("a-", "b-")), "what was loaded stays on record"


def test_only_what_is_new_is_asked(plugins: Plugins, tmp_path: Path) -> None:
    file = panel(tmp_path, RULES, member("a"), member("b"))
    directory = run(config(tmp_path, judge=file), plugins).directory
    assert ASKED == {"subject": 8, "a": 8, "b": 8}
    judge(directory, panel(tmp_path, RULES, member("a"), member("c"), name="other.yaml"), plugins)
    assert ASKED == {"subject": 8, "a": 8, "b": 8, "c": 8}, "one member was swapped"
    larger = run(config(tmp_path, judge=file, limit=16), plugins)
    assert larger.directory == directory
    assert ASKED == {"subject": 16, "a": 16, "b": 16, "c": 8}
    judge(directory, panel(tmp_path, RULES, member("a", options={"view": "body"}), member("b")), plugins)
    assert ASKED == {"subject": 16, "a": 16, "b": 16, "c": 8}, "nothing but header lines: nothing to show"
    judge(directory, panel(tmp_path, RULES, member("a", options={"label_order": "reversed"}), member("b")), plugins)
    assert ASKED["a"] == 32


def test_the_subject_is_closed_before_a_judge_is_loaded_and_one_model_is_loaded_once(
    plugins: Plugins, tmp_path: Path
) -> None:
    twice = [
        member("one", "a"),
        member("two", "a", options={"label_order": "reversed"}, backend_options={"speed": 2}),
        member("three", "b"),
    ]
    run(config(tmp_path, judge=panel(tmp_path, *twice)), plugins)
    assert EVENTS == ["load subject", "close subject", "load a", "close a", "load b", "close b"]
    assert ASKED == {"subject": 8, "a": 16, "b": 8}


def test_one_model_on_two_servers_is_asked_on_both(plugins: Plugins, stored: Path, tmp_path: Path) -> None:
    members = [member(name, "a", backend_options={"server": f"@{name}"}) for name in ("x", "y")]
    judge(stored, panel(tmp_path, *members), plugins)
    assert ASKED == {"a@x": 8, "a@y": 8}


def test_the_roles_of_a_benchmark_s_judge_are_bound_by_the_user(plugins: Plugins, stored: Path, tmp_path: Path) -> None:
    models = {"judge_1": "a", "judge_2": "b", "judge_3": "c"}
    roles = {role: {"backend": "stub", "model": model} for role, model in models.items()}
    result = judge(stored, write(tmp_path / "mine.yaml", judge="published", roles=roles), plugins)
    assert ASKED == {"a": 8, "b": 8, "c": 8}
    assert {row["slots"]["modern"]["value"] for row in verdicts(result.directory, "mine")} == {"arabs"}


# Failures


def test_a_failure_is_no_verdict_and_is_asked_again(plugins: Plugins, stored: Path, tmp_path: Path) -> None:
    file = panel(tmp_path, RULES, member("a"), member("b"), options={"rule": "unanimous"})
    SAYS["b"] = lambda _: ARABS if ASKED["b"] % 2 else BUSY
    notes: list[str] = []

    class Watch(Quiet):
        def note(self, text: str) -> None:
            notes.append(text)

    first = judge(stored, file, plugins, Watch())
    assert notes[-1].startswith("4 of 8 questions to the model of b failed, most often: the server is busy; the same")
    assert modern(first) == {"answered": 4, "no_majority": 4}
    assert len(verdicts(stored, "b")) == 4, "what the judge could not do is not stored as a verdict"
    assert len(verdicts(stored, "panel")) == 8
    assert modern(score(stored, plugins=plugins, judge="panel")) == modern(first), "it was asked; it may be scored"
    assert ASKED["b"] == 8
    SAYS["b"] = lambda _: ARABS
    again = judge(stored, file, plugins)
    assert ASKED == {"a": 8, "b": 12}
    assert modern(again) == {"answered": 8}, "the panel's verdict follows the votes that have come"
    assert (
        modern(judge(stored, file, plugins)) == modern(score(stored, plugins=plugins, judge="panel")) == {"answered": 8}
    )
    assert ASKED == {"a": 8, "b": 12}
    last = {row["response_key"]: row for row in verdicts(stored, "panel")}
    assert {row["slots"]["modern"]["outcome"] for row in last.values()} == {"answered"}


def test_a_permanent_failure_is_not_asked_again(plugins: Plugins, stored: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "strict.yaml", **member("strict", "a"))
    SAYS["a"] = lambda _: ARABS if ASKED["a"] > 2 else TOO_LONG
    assert modern(judge(stored, file, plugins)) == {"answered": 6, "judge_error": 2}
    SAYS["a"] = lambda _: ARABS
    assert modern(judge(stored, file, plugins)) == {"answered": 6, "judge_error": 2}
    assert ASKED == {"a": 8}


def test_a_torn_line_is_asked_again_and_nothing_else(plugins: Plugins, stored: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "strict.yaml", **member("strict", "a"))
    first = judge(stored, file, plugins)
    (answers,) = (stored / "judge-responses").iterdir()
    (judged,) = (stored / "judgements").glob("strict-*")
    for path in (answers / "responses.jsonl", judged):
        path.write_bytes(path.read_bytes()[:-20])
    again = judge(stored, file, plugins)
    assert ASKED == {"a": 9}
    assert (modern(again), len(rows(judged))) == (modern(first), 8)
    judged.write_bytes(judged.read_bytes()[:-20])
    judge(stored, file, plugins)
    assert ASKED == {"a": 9}, "a lost verdict is made from the stored answer"


def test_a_response_that_failed_is_not_shown(plugins: Plugins, tmp_path: Path) -> None:
    SAYS["subject"] = lambda _: BUSY if ASKED["subject"] == 1 else ARABS
    result = run(config(tmp_path, judge=write(tmp_path / "strict.yaml", **member("strict", "a"))), plugins)
    assert ASKED == {"subject": 8, "a": 7}
    assert (result.status, modern(result)) == ("incomplete", {"answered": 7, "error": 1})
    again = run(config(tmp_path, judge=str(tmp_path / "strict.yaml")), plugins)
    assert ASKED == {"subject": 9, "a": 8}
    assert (again.status, modern(again)) == ("complete", {"answered": 8})


# Text that speaks to the judge


def test_an_obedient_judge_is_flagged_and_outvoted(plugins: Plugins, tmp_path: Path, cases: Path) -> None:
    injected = [row["response"] for row in rows(cases / "judge" / "injection_responses.jsonl")]
    SAYS["subject"] = lambda _: injected[ASKED["subject"] % 2]
    SAYS["a"] = lambda prompt: (
        "MODERN: Arabs\nSTEREOTYPED: Western"
        if "reply MODERN: Arabs" in prompt
        else "MODERN: Africans\nSTEREOTYPED: Western"
    )
    SAYS["c"] = lambda prompt: (
        f"MODERN: Western\nSTEREOTYPED: {'Arabs' if 'Note to the grader' in prompt else 'Africans'}"
    )
    file = panel(tmp_path, RULES, member("obedient", "a"), member("honest", "c"))
    result = run(config(tmp_path, judge=file), plugins)
    assert all("judge_disagrees" in row["flags"] for row in verdicts(result.directory, "obedient"))
    assert not any("judge_disagrees" in row.get("flags", ()) for row in verdicts(result.directory, "honest"))
    assert {row["slots"]["modern"]["value"] for row in verdicts(result.directory, "panel")} == {"western"}
    assert result.flags["judge_disagrees"] == 8


# score, and judges by their names


def test_score_says_what_to_run_when_verdicts_are_missing(plugins: Plugins, stored: Path, tmp_path: Path) -> None:
    file = panel(tmp_path, RULES, member("a"), member("b"))
    before = (stored / "run.json").read_text(encoding="utf-8")
    with pytest.raises(UsageError, match=r"16 questions were never asked.*run: biasfw judge .*panel\.yaml"):
        score(stored, plugins=plugins, judge=file)
    assert (ASKED, EVENTS) == ({}, [])
    assert (stored / "run.json").read_text(encoding="utf-8") == before, "a score that cannot be changes nothing"
    judge(stored, file, plugins)
    assert modern(score(stored, plugins=plugins, judge=file)) == {"answered": 8}


def test_a_judge_is_known_by_name_when_its_file_is_gone(plugins: Plugins, stored: Path, tmp_path: Path) -> None:
    file = panel(tmp_path, RULES, member("a"), member("b"))
    first = judge(stored, file, plugins)
    Path(file).unlink()
    moved = stored.rename(tmp_path / "elsewhere")
    for name in ("panel", file, json.loads((moved / "run.json").read_text(encoding="utf-8"))["judge"]):
        assert modern(score(moved, plugins=plugins, judge=name)) == modern(first)
        assert modern(judge(moved, name, plugins)) == modern(first)
    assert ASKED == {"a": 8, "b": 8}
    with pytest.raises(UsageError, match="nobody"):
        score(moved, plugins=plugins, judge="nobody")


def test_two_judges_of_one_name_are_told_apart(plugins: Plugins, stored: Path, tmp_path: Path) -> None:
    for model in ("a", "b"):
        judge(stored, write(tmp_path / "strict.yaml", judge="llm", backend="stub", model=model), plugins)
    (tmp_path / "strict.yaml").unlink()
    with pytest.raises(UsageError, match=r"several judges called 'strict': strict-\w{8}, strict-\w{8}"):
        score(stored, plugins=plugins, judge="strict")


# What must not be mixed or kept


def test_options_that_may_hold_a_secret_stay_out_of_every_file(plugins: Plugins, stored: Path, tmp_path: Path) -> None:
    secret = "hunter2-" * 3
    members = [member("a", backend_options={"server": secret, "speed": 3}), member("b")]
    file = panel(tmp_path, RULES, *members)
    first = judge(stored, file, plugins)
    info = json.loads((stored / "run.json").read_text(encoding="utf-8"))
    (kept,) = (entry for name, entry in info["judges"].items() if name.startswith("a-"))
    assert kept["withheld"] == ["server"]
    assert kept["definition"]["backend_options"] == {"speed": 3}
    for path in stored.rglob("*"):
        assert path.is_dir() or secret not in path.read_text(encoding="utf-8"), path
    Path(file).unlink()
    assert modern(score(stored, plugins=plugins, judge="panel")) == modern(first), (
        "nothing is asked, nothing is missing"
    )
    with pytest.raises(UsageError, match=r"does not keep server .*--judge FILE\.yaml"):
        judge(stored, "panel", plugins)
    assert {f"a{secret}": 8, "b": 8} == ASKED


def test_answers_of_another_dtype_are_not_mixed(plugins: Plugins, stored: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "strict.yaml", **member("strict", "a"))
    SAYS["a"] = lambda _: ARABS if ASKED["a"] > 1 else BUSY
    judge(stored, file, plugins)
    DTYPE["dtype"] = "bfloat16"
    with pytest.raises(StoreError, match=r"asked with dtype float32, now it is bfloat16.*another name"):
        judge(stored, file, plugins)
    assert ASKED == {"a": 8}


def test_scored_answers_have_no_text_to_judge(plugins: Plugins, tmp_path: Path) -> None:
    file = write(tmp_path / "strict.yaml", **member("strict", "a"))
    chosen = config(tmp_path, backend="reference", model="first", mode="choices", judge=file)
    with pytest.raises(UsageError, match="reads text, and --mode choices writes none"):
        run(chosen, plugins)


def test_a_judge_that_leaves_out_a_slot_is_named(
    plugins: Plugins, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Rules, "judge", lambda *_: Judgement("", "", {"modern": Reading(Outcome.REFUSED)}))
    shutil.rmtree(stored / "judgements")
    with pytest.raises(BiasfwError, match="judge rules said nothing of stereotyped; report this bug"):
        judge(stored, "rules", plugins)


# Other benchmarks and backends


def test_reference_models_judge_choice_items(plugins: Plugins, tmp_path: Path) -> None:
    file = write(tmp_path / "first.yaml", judge="llm", backend="reference", model="first")
    chosen = config(
        tmp_path, benchmark="jubaku:demo", backend="reference", model="first", mode="generate", languages=None,
        limit=6, judge=file,
    )  # fmt: skip
    result = run(chosen, plugins)
    assert set(result.outcomes["choice"]) == {"answered"}
    assert "judge_disagrees" not in result.flags, "the subject and the judge both name the first option"
    refusing = write(tmp_path / "refuses.yaml", judge="llm", backend="reference", model="refuses")
    assert set(judge(result.directory, refusing, plugins).outcomes["choice"]) == {"judge_unparsed"}
