"""The main path on the reference backend and on small backends made here: resume, failures, identity, selection."""

from __future__ import annotations

import json
import shutil
import sys
import types
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import biasfw
from biasfw import (
    BackendSettings,
    BackendSpec,
    Identity,
    Request,
    RequestSequence,
    Response,
    ResponseError,
    RunConfig,
    RunResult,
    StoreError,
    UsageError,
    hookimpl,
)
from biasfw.asking import Quiet
from biasfw.engine import run
from biasfw.plugins import Plugins
from biasfw.rescoring import judge, score
from biasfw.schemas import problems
from biasfw.store import RunDirectory, choose_directory, slug
from biasfw.tasks import REFERENCE_MODELS

ASKED: list[str] = []


class Scripted:
    """Answers by the option ``script``; counts what it is asked."""

    def __init__(self, settings: BackendSettings) -> None:
        self.script = settings.options.get("script", "good")
        self.dtype = settings.options.get("dtype", "float32")

    def fingerprint(self) -> str:
        return "scripted:1"

    def prepare(self) -> Identity:
        return Identity("scripted", self.fingerprint(), dtype=self.dtype, device=self.script)

    def run(self, requests: RequestSequence) -> Iterator[Response]:
        for number, request in enumerate(requests):
            assert request.references is None, "only the reference backend sees what reference models say"
            ASKED.append(request.key)
            yield from self.answer(number, request)

    def answer(self, number: int, request: Request) -> Iterable[Response]:
        good = Response(request.key, text="MODERN GROUP: Indians\nSTEREOTYPED GROUP: Western", finish_reason="stop")
        match self.script:
            case "good":
                yield good
            case "interrupted":
                if number == 3:
                    raise KeyboardInterrupt
                yield good
            case "flaky" | "hopeless":
                permanent = self.script == "hopeless"
                error = ResponseError("context_too_small", "needs 900 tokens, has 512", permanent)
                yield good if number % 2 else replace(good, text=None, finish_reason=None, error=error)
            case "twice":
                yield good
                yield good
            case "lazy":
                if number == 0:
                    yield good

    def close(self) -> None:
        pass


OPTIONS = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "script": {"type": "string", "affects_answers": False},
        "dtype": {"type": "string", "affects_answers": False},
        "style": {"type": "string"},
    },
}


@pytest.fixture
def plugins(installed: Plugins) -> Plugins:
    """The installed plugins and the scripted backend."""

    @hookimpl
    def biasfw_backends() -> Iterable[BackendSpec]:
        yield BackendSpec("scripted", load=f"{__name__}:Scripted", summary="for tests", options=OPTIONS)

    ASKED.clear()
    found = Plugins()
    found.all += installed.all
    found.add(types.SimpleNamespace(biasfw_api=1, biasfw_backends=biasfw_backends), "scripted")
    # The file is imported under a name of its own; make that name importable for the spec.
    sys.modules.setdefault(__name__, types.ModuleType(__name__))
    sys.modules[__name__].Scripted = Scripted  # type: ignore[attr-defined]
    return found


def config(tmp_path: Path, **changes: Any) -> RunConfig:
    options = changes.pop("options", {})
    values = {
        "benchmark": "debatebias",
        "backend": "scripted",
        "limit": 8,
        "languages": ("en",),
        "runs": str(tmp_path),
        "backend_options": options,
    }
    return RunConfig(**{**values, **changes})


def reference(tmp_path: Path, model: str, **changes: Any) -> RunConfig:
    return config(tmp_path, backend="reference", model=model, limit=None, **changes)


def values(result: RunResult) -> list[tuple[Any, ...]]:
    return [(s.metric, sorted(s.slice.items()), s.denominator, s.value) for s in result.scores]


def test_nothing_is_asked_twice_and_a_larger_limit_asks_only_what_is_new(plugins: Plugins, tmp_path: Path) -> None:
    first = run(config(tmp_path), plugins)
    assert (first.status, first.total, first.asked, len(ASKED)) == ("complete", 8, 8, 8)
    again = run(config(tmp_path), plugins)
    assert (again.asked, len(ASKED)) == (0, 8)
    assert values(again) == values(first)
    larger = run(config(tmp_path, limit=16), plugins)
    assert (larger.asked, larger.total, len(ASKED), len(set(ASKED))) == (8, 16, 16, 16)
    assert larger.directory == first.directory
    assert values(run(config(tmp_path), plugins)) == values(first), "a smaller selection gives its own scores again"
    third = run(config(tmp_path, repeats=2), plugins)
    assert third.asked == 8


def test_metrics_judges_and_scores_ask_nothing(plugins: Plugins, tmp_path: Path) -> None:
    first = run(config(tmp_path), plugins)
    ASKED.clear()
    assert {s.metric for s in score(first.directory, ("decline_rate",), plugins).scores} == {"decline_rate"}
    run(config(tmp_path, metrics=("label_share", "position_rate")), plugins)
    assert values(judge(first.directory, "rules", plugins)) == values(first)
    assert not ASKED


def scores_of(directory: Path) -> dict[str, Any]:
    """The files in scores/ as they are in run.json, checked to be there."""
    scored: dict[str, Any] = json.loads((directory / "run.json").read_text(encoding="utf-8"))["scored"]
    assert set(scored) == {f"scores/{path.name}" for path in (directory / "scores").iterdir()}
    return scored


def test_no_selection_and_no_set_of_metrics_replaces_the_scores_of_another(plugins: Plugins, tmp_path: Path) -> None:
    whole = run(config(tmp_path, limit=None, languages=None), plugins)
    assert list(scores_of(whole.directory).values()) == [
        {"selection": "280 of 280 items", "responses": 280, "status": "complete", "filters": {}}
    ]
    before = (whole.directory / whole.scores_file).read_bytes()
    small = run(config(tmp_path), plugins)
    alike = run(config(tmp_path, limit=7), plugins)  # clusters stay whole
    only = score(whole.directory, ("decline_rate",), plugins)
    assert small.directory == only.directory == whole.directory
    assert len({whole.scores_file, small.scores_file, alike.scores_file, only.scores_file}) == 4
    assert set(only.beside) == {whole.scores_file, small.scores_file, alike.scores_file}
    about = scores_of(whole.directory)
    assert about[small.scores_file]["filters"] == {"languages": ["en"], "limit": 8}
    assert about[only.scores_file]["filters"] == {"languages": ["en"], "limit": 7, "metrics": ["decline_rate"]}
    assert (whole.directory / whole.scores_file).read_bytes() == before
    document = json.loads((whole.directory / small.scores_file).read_text(encoding="utf-8"))
    assert (document["selection"], document["filters"]) == ("8 of 280 items", {"languages": ["en"], "limit": 8})
    assert run(config(tmp_path), plugins).scores_file == small.scores_file
    assert score(whole.directory, None, plugins).scores_file == small.scores_file


def test_what_affects_answers_starts_another_run_and_the_rest_continues(plugins: Plugins, tmp_path: Path) -> None:
    base = run(config(tmp_path), plugins).directory
    same: list[dict[str, Any]] = [{"judge": "rules"}, {"limit": 4}, {"options": {"script": "good"}}]
    other: list[dict[str, Any]] = [
        {"options": {"style": "x"}}, {"seed": 1}, {"temperature": 0.1}, {"max_tokens": 5}, {"prompt_style": "raw"},
        {"conditions": ("optional",)}, {"without": ("indians",)},
    ]  # fmt: skip
    assert all(run(config(tmp_path, **changes), plugins).directory == base for changes in same)
    directories = [run(config(tmp_path, **changes), plugins).directory for changes in other]
    assert len({base, *directories}) == 1 + len(other)


def test_fresh_starts_beside_the_old_run_and_is_then_continued(plugins: Plugins, tmp_path: Path) -> None:
    first = run(config(tmp_path), plugins)
    fresh = run(config(tmp_path, fresh=True), plugins)
    assert fresh.directory.name == f"{first.directory.name}.2"
    assert fresh.asked == 8
    later = run(config(tmp_path), plugins)
    assert (later.directory, later.asked) == (fresh.directory, 0)
    assert first.directory.is_dir()


class Listener(Quiet):
    """Progress that keeps the notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_a_fresh_run_is_called_fresh_and_not_different(plugins: Plugins, tmp_path: Path) -> None:
    run(config(tmp_path, options={"style": "x"}), plugins)
    run(config(tmp_path), plugins)
    heard = Listener()
    run(config(tmp_path, fresh=True), plugins, heard)
    assert [note for note in heard.notes if "differs" in note] == []
    assert [note for note in heard.notes if "--fresh" in note] == [
        "a new run, as --fresh asks: no answer stored before is used"
    ]


def test_a_run_of_a_bundle_in_a_folder_is_scored_from_anywhere(
    plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "elsewhere").mkdir()
    bundle = tmp_path / "work" / "mine"
    shutil.copytree(biasfw.shipped("benchmarks") / "debatebias", bundle)
    monkeypatch.chdir(tmp_path / "work")
    first = run(config(Path("runs"), benchmark="./mine"), plugins)
    info = json.loads((first.directory / "run.json").read_text(encoding="utf-8"))
    assert info["benchmark"]["folder"] == "../../mine"
    assert str(tmp_path) not in json.dumps(info)
    again = run(config(Path("runs"), benchmark=str(bundle)), plugins)
    assert (again.directory, again.asked) == (first.directory, 0), "how the folder is named does not matter"
    directory = first.directory.resolve()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert values(score(directory, None, plugins)) == values(first)
    bundle.rename(tmp_path / "moved")
    with pytest.raises(StoreError, match="give its folder with --benchmark"):
        judge(directory, None, plugins)
    assert values(judge(directory, None, plugins, benchmark=str(tmp_path / "moved"))) == values(first)


def test_ctrl_c_loses_nothing(plugins: Plugins, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(config(tmp_path, options={"script": "interrupted"}), plugins)
    result = run(config(tmp_path), plugins)
    assert (result.asked, result.total, result.status) == (5, 8, "complete")


def test_failures_are_asked_again_unless_they_are_permanent(plugins: Plugins, tmp_path: Path) -> None:
    flaky = run(config(tmp_path, options={"script": "flaky"}), plugins)
    assert (flaky.status, flaky.failed) == ("incomplete", 4)
    assert flaky.outcomes["modern"] == {"answered": 4, "error": 4}
    mended = run(config(tmp_path), plugins)
    assert (mended.status, mended.asked, mended.failed) == ("complete", 4, 0)
    hopeless = run(config(tmp_path, seed=7, options={"script": "hopeless"}), plugins)
    assert hopeless.failed == 4
    still = run(config(tmp_path, seed=7), plugins)
    assert (still.status, still.asked, still.failed) == ("incomplete", 0, 4)
    shares = [s for s in still.scores if s.metric == "label_share" and s.slice.get("label") == "western"]
    assert all(
        s.bounds is not None and s.bounds[0] < s.bounds[1] for s in shares if s.denominator == "all" and s.n == 8
    )


@pytest.mark.parametrize(("script", "words"), [("twice", "twice"), ("lazy", "7 requests unanswered")])
def test_a_backend_that_miscounts_is_named(plugins: Plugins, tmp_path: Path, script: str, words: str) -> None:
    with pytest.raises(biasfw.BiasfwError, match=words):
        run(config(tmp_path, options={"script": script}), plugins)


def test_another_dtype_is_never_mixed_in_and_another_device_is_recorded(plugins: Plugins, tmp_path: Path) -> None:
    first = run(config(tmp_path, options={"script": "good"}), plugins)
    with pytest.raises(StoreError, match=r"dtype float32, now it is bfloat16.*--fresh"):
        run(config(tmp_path, limit=16, options={"dtype": "bfloat16"}), plugins)
    run(config(tmp_path, limit=16, options={"script": "flaky"}), plugins)
    info = json.loads((first.directory / "run.json").read_text(encoding="utf-8"))
    assert info["identity"]["device"] == "good"
    assert [sitting["device"] for sitting in info["identities"]] == ["good", "flaky"]


def test_a_second_process_gets_one_clear_line(plugins: Plugins, tmp_path: Path) -> None:
    directory = run(config(tmp_path), plugins).directory
    with RunDirectory(directory), pytest.raises(StoreError, match="in use by another biasfw process"):
        run(config(tmp_path), plugins)


@pytest.mark.parametrize("name", ["responses.jsonl", "requests.jsonl", "items.jsonl", "judgements"])
@pytest.mark.parametrize("harm", ["torn", "middle", "gone", "empty"])
def test_damage_costs_only_what_was_damaged(plugins: Plugins, tmp_path: Path, name: str, harm: str) -> None:
    first = run(config(tmp_path), plugins)
    path = first.directory / name
    path = next(path.iterdir()) if path.is_dir() else path
    lines = path.read_bytes().splitlines(keepends=True)
    content = {
        "torn": b"".join(lines)[:-17],
        "middle": b"".join([lines[0], lines[1][:20] + b"\n", *lines[2:]]),
        "gone": None,
        "empty": b"",
    }[harm]
    path.unlink() if content is None else path.write_bytes(content)
    ASKED.clear()
    again = run(config(tmp_path), plugins)
    lost = 0 if name != "responses.jsonl" else {"torn": 1, "middle": 1, "gone": 8, "empty": 8}[harm]
    assert len(ASKED) == again.asked == lost
    assert again.status == "complete"
    assert values(again) == values(first)
    keys = [json.loads(line)["key"] for line in (first.directory / "responses.jsonl").read_bytes().splitlines()]
    assert len(keys) == len(set(keys)) == 8


def test_a_damaged_run_json_is_kept_aside(plugins: Plugins, tmp_path: Path) -> None:
    first = run(config(tmp_path), plugins)
    (first.directory / "run.json").write_text('{"config": {"bench', encoding="utf-8")
    assert run(config(tmp_path), plugins).asked == 0
    assert (first.directory / "run.json.damaged").is_file()
    assert json.loads((first.directory / "run.json").read_text(encoding="utf-8"))["status"] == "complete"


@pytest.mark.parametrize(
    "change",
    [
        {"config": {"benchmark": "debatebias", "backend": "scripted", "limit": "eight"}},
        {"config": {"benchmark": 5, "backend": "scripted"}},
        {"config": None},
        {"created": float("nan")},
    ],
)
def test_a_run_json_changed_by_hand_is_no_traceback(plugins: Plugins, tmp_path: Path, change: dict[str, Any]) -> None:
    first = run(config(tmp_path), plugins)
    path = first.directory / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **change}), encoding="utf-8")
    with pytest.raises(StoreError, match=r"run\.json is damaged"):
        score(first.directory, None, plugins)
    assert run(config(tmp_path), plugins).asked == 0
    assert values(score(first.directory, None, plugins)) == values(first)


def test_a_folder_in_the_place_of_a_file_is_no_traceback(plugins: Plugins, tmp_path: Path) -> None:
    first = run(config(tmp_path), plugins)
    (first.directory / "items.jsonl").unlink()
    (first.directory / "items.jsonl").mkdir()
    with pytest.raises(StoreError, match=r"cannot read .*items\.jsonl"):
        run(config(tmp_path), plugins)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"benchmark": "debatebais"}, "unknown benchmark 'debatebais'; did you mean debatebias"),
        ({"benchmark": "debatebias:officail"}, "no split 'officail'; it has: demo"),
        ({"backend": "scriptd"}, "unknown backend 'scriptd'; did you mean scripted"),
        ({"options": {"scrpt": "x"}}, "scrpt.*script"),
        ({"mode": "choice"}, "no mode 'choice'; it has: generate, choices"),
        ({"mode": "choices"}, "cannot do --mode choices; use --mode generate"),
        ({"conditions": ("forcd",)}, "no condition 'forcd'; it has: forced, optional, neutral"),
        ({"without": ("belgians",)}, "no label 'belgians'"),
        ({"without": ("arabs", "western", "south_asians", "indians")}, "at least two labels"),
        ({"preset": "fast"}, "no preset 'fast'; it has: quick, paper"),
        ({"languages": ("xx",)}, "no language 'xx'"),
        ({"categories": ("sport",)}, "no category 'sport'; it has: backwardness"),
        ({"limit": 0}, "start at 1"),
        ({"repeats": 0}, "start at 1"),
        ({"repeats": 10**9}, "at most 1000"),
        ({"temperature": float("nan")}, "0 or more"),
        ({"top_p": 0.0}, "above 0"),
        ({"metrics": ("label_shares",)}, "unknown metric 'label_shares'; did you mean label_share"),
        ({"parser": "lines"}, "unknown parser 'lines'"),
        ({"judge": "jury"}, "unknown judge 'jury'"),
        ({"backend": "reference", "model": "randomly"}, "no model 'randomly'"),
        ({"backend": "reference", "model": "first", "mode": "choices", "temperature": 1.0}, "temperature"),
    ],
)
def test_a_wrong_name_gets_the_way_out(plugins: Plugins, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        run(config(tmp_path, **changes), plugins)
    assert not list(tmp_path.iterdir()), "nothing is made before everything is checked"


@pytest.mark.parametrize("mode", ["generate", "choices"])
@pytest.mark.parametrize("model", REFERENCE_MODELS)
def test_reference_models_score_what_the_manifest_declares(
    plugins: Plugins, tmp_path: Path, model: str, mode: str
) -> None:
    result = run(reference(tmp_path, model, mode=mode, languages=None), plugins)
    expected = [e for e in result.plan.bundle.manifest["expected"] if (e["model"], e["mode"]) == (model, mode)]
    if mode == "generate" and model in ("shorter", "longer"):
        assert result.failed == result.total, "there is nothing of different length to say"
        assert not expected
        return
    assert result.status == "complete"
    assert expected
    for entry in expected:
        found = [
            s
            for s in result.scores
            if s.metric == entry["metric"]
            and all(s.slice.get(k) == v for k, v in entry["slice"].items())
            and set(s.slice) - set(entry["slice"]) <= {"merged"}
        ]
        assert found, entry
        for s in found:
            if entry["value"] is None:
                if s.denominator == "answered":
                    assert s.value is None
                    assert s.reason
            else:
                assert s.value == pytest.approx(entry["value"], abs=entry["tolerance"] + 1e-12), entry


def test_random_is_not_told_from_chance_after_holm(plugins: Plugins, tmp_path: Path) -> None:
    result = run(reference(tmp_path, "random", repeats=2), plugins)
    tests = [s.test for s in result.scores if s.metric == "label_uniformity" and s.test is not None]
    assert len(tests) > 5
    assert all(test.p_adjusted is None or test.p_adjusted > 0.01 for test in tests)


def test_leaving_a_label_out_changes_the_chance_line(plugins: Plugins, tmp_path: Path) -> None:
    result = run(reference(tmp_path, "random", without=("indians",)), plugins)
    shares = [s for s in result.scores if s.metric == "label_share" and "label" in s.slice and "merged" not in s.slice]
    assert {s.slice["label"] for s in shares} == {"arabs", "western", "south_asians", "africans"}
    assert {round(s.reference or 0, 9) for s in shares} == {0.25}
    requests = (result.directory / "requests.jsonl").read_text(encoding="utf-8")
    assert "Indians" not in requests


def test_every_file_of_a_run_fits_its_schema(plugins: Plugins, tmp_path: Path) -> None:
    result = run(reference(tmp_path, "random", mode="choices"), plugins)
    where = result.directory
    info = json.loads((where / "run.json").read_text(encoding="utf-8"))
    assert [str(p) for p in problems("run", info)] == []
    files = {"items.jsonl": "stored-item", "requests.jsonl": "request", "responses.jsonl": "response"}
    files[str(next((where / "judgements").iterdir()).relative_to(where))] = "judgement"
    for name, schema in files.items():
        rows = [json.loads(line) for line in (where / name).read_text(encoding="utf-8").splitlines()]
        assert rows
        assert [str(p) for row in rows for p in problems(schema, row)] == []
    document = json.loads(next((where / "scores").iterdir()).read_text(encoding="utf-8"))
    assert [str(p) for s in document["scores"] for p in problems("score", s)] == []
    assert document["demo"] is True
    assert "not for training" in document["canary"]
    assert all("references" not in line for line in (where / "requests.jsonl").read_text(encoding="utf-8").splitlines())


def test_selecting_changes_no_prompt_and_no_key(plugins: Plugins, tmp_path: Path) -> None:
    whole = run(reference(tmp_path / "a", "first"), plugins)
    part = run(reference(tmp_path / "b", "first", categories=("religion",)), plugins)
    rows = set((whole.directory / "requests.jsonl").read_text(encoding="utf-8").splitlines())
    some = (part.directory / "requests.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(some) == 10
    assert set(some) <= rows


def test_directory_names_are_short_safe_and_distinct() -> None:
    names = ["org/model:v1|x?*", "x" * 300, "..", "", "\u65e5\u672c\u8a9e", "CON:"]
    for name in names:
        made = slug(name)
        assert made
        assert len(made) <= 40
        assert not set(made) & set('/\\:|?*"<> ')
        assert made.strip(".") == made


def test_the_newest_fresh_directory_is_continued(tmp_path: Path) -> None:
    base = tmp_path / "run-abc"
    assert choose_directory(base, fresh=True) == base
    base.mkdir()
    (tmp_path / "run-abc.10").mkdir()
    (tmp_path / "run-abc.9").mkdir()
    (tmp_path / "run-abcd.77").mkdir()
    assert choose_directory(base, fresh=False).name == "run-abc.10"
    assert choose_directory(base, fresh=True).name == "run-abc.11"


def test_the_run_folder_may_not_be_writable(plugins: Plugins, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    with pytest.raises(StoreError, match=r"cannot write in .*--runs"):
        run(config(tmp_path / "file"), plugins)
