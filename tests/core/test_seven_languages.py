"""debatebias:demo in all its languages, end to end on reference models: headers, orders, keys, scores."""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from biasfw import RunConfig, RunResult, Score
from biasfw.engine import run
from biasfw.plan import make_plan
from biasfw.plugins import Plugins
from biasfw.rescoring import score
from biasfw.resources import shipped
from biasfw.sitting import sit
from biasfw_plugins.judges.rules import Rules

LANGUAGES = ("en", "zh", "ar", "hi", "ko", "sw", "pcm")
ASSESSED = {"zh", "ar", "hi", "ko"}
CATEGORIES = {"backwardness", "religion", "terrorism", "women_rights"}


def config(runs: Path, **changes: Any) -> RunConfig:
    values = {"benchmark": "debatebias", "backend": "reference", "model": "random", "runs": str(runs)}
    return RunConfig(**{**values, **changes})


@pytest.fixture(scope="module")
def whole(installed: Plugins, tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """Everything, asked of `random` in generate mode."""
    return run(config(tmp_path_factory.mktemp("whole"), mode="generate"), installed)


def rows(result: RunResult, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (result.directory / name).read_text(encoding="utf-8").splitlines()]


def judgements(result: RunResult) -> list[dict[str, Any]]:
    (path,) = (result.directory / "judgements").iterdir()
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def first(names: Mapping[str, list[str]], language: str) -> str:
    return names[language][0]


def test_every_header_and_name_is_read_as_it_was_written(whole: RunResult) -> None:
    manifest = whole.plan.bundle.manifest
    languages = {row["key"]: whole.plan.items[row["item_id"]].language for row in rows(whole, "requests.jsonl")}
    said = {row["key"]: row["text"] for row in rows(whole, "responses.jsonl")}
    assert Counter(languages.values()) == dict.fromkeys(LANGUAGES, 40)
    judged = {row["response_key"]: row["slots"] for row in judgements(whole)}
    for key, text in said.items():
        language = languages[key]
        for slot, line in zip(manifest["slots"], text.split("\n"), strict=True):
            header = first(slot["headers"]["forced"], language)
            assert line.startswith(header), "the header is the one of the language"
            name = line.removeprefix(header).lstrip(":： ")
            (label,) = [label["key"] for label in manifest["labels"] if first(label["names"], language) == name]
            assert judged[key][slot["key"]] == {"outcome": "answered", "value": label}


def test_answers_are_in_the_language_asked_for_or_not_assessed(whole: RunResult) -> None:
    found = {
        (s.slice["language"], s.denominator): (s.value, s.n) for s in whole.scores if s.metric == "answer_language"
    }
    assessed = {(language, over): (1.0, 40) for language in ASSESSED for over in ("all", "returned")}
    assert found == assessed | {(tag, "returned"): (None, 40) for tag in set(LANGUAGES) - ASSESSED}
    assert whole.flags["language:asked"] == 160
    for s in whole.scores:
        if s.metric == "answer_language" and s.value is None:
            assert s.reason == f"not assessed: no method with a known error rate for {s.slice['language']}"


def test_every_label_stands_twice_in_every_position_in_every_language_and_domain(whole: RunResult) -> None:
    manifest = whole.plan.bundle.manifest
    labels = {label["key"]: label["names"] for label in manifest["labels"]}
    seen: dict[tuple[str, str], Counter[tuple[str, int]]] = defaultdict(Counter)
    orders: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for row in rows(whole, "requests.jsonl"):
        item = whole.plan.items[row["item_id"]]
        style = manifest["list_style"][item.language]
        names = [first(labels[key], item.language) for key in item.order]
        listed = style["between"].join(names[:-1]) + style["last"] + names[-1]
        assert listed in row["messages"][-1]["content"], "the prompt lists them in this order"
        seen[item.language, item.category].update((key, place) for place, key in enumerate(item.order))
        orders[item.source_id].add(item.order)
    assert seen.keys() == {(language, category) for language in LANGUAGES for category in CATEGORIES}
    for counts in seen.values():
        assert counts == {(key, place): 2 for key in labels for place in range(5)}
    assert {len(of_source) for of_source in orders.values()} == {1}, "a topic has one order in all languages"


@pytest.mark.parametrize("mode", ["generate", "choices"])
@pytest.mark.parametrize("tag", ["ar", "pcm"])
def test_selecting_a_language_changes_no_prompt_and_no_key(
    installed: Plugins, tmp_path: Path, mode: str, tag: str
) -> None:
    everything = run(config(tmp_path / "all", mode=mode, limit=14), installed)
    alone = run(config(tmp_path / "one", mode=mode, limit=2, languages=(tag,)), installed)
    lines = (everything.directory / "requests.jsonl").read_bytes().splitlines()
    some = (alone.directory / "requests.jsonl").read_bytes().splitlines()
    of_language = [line for line in lines if f"/{tag}/" in json.loads(line)["item_id"]]
    assert some == of_language
    assert len(some) == (2 if mode == "generate" else 4)


def test_selecting_a_language_of_the_whole_changes_nothing(
    whole: RunResult, installed: Plugins, tmp_path: Path
) -> None:
    arabic = run(config(tmp_path, mode="generate", languages=("ar",)), installed)
    lines = set((whole.directory / "requests.jsonl").read_bytes().splitlines())
    some = (arabic.directory / "requests.jsonl").read_bytes().splitlines()
    assert len(some) == 40
    assert set(some) <= lines
    mine = {row["key"]: row["text"] for row in rows(arabic, "responses.jsonl")}
    assert mine.items() <= {row["key"]: row["text"] for row in rows(whole, "responses.jsonl")}.items()
    assert not [s for s in arabic.scores if s.metric == "language_contrast"]


@pytest.mark.parametrize("model", ["first", "stereotyped", "anti-stereotyped", "random"])
def test_declared_values_hold_in_every_language(installed: Plugins, tmp_path: Path, model: str) -> None:
    result = run(config(tmp_path, model=model, mode="generate"), installed)
    declared = [e for e in result.plan.bundle.manifest["expected"] if (e["model"], e["mode"]) == (model, "generate")]
    assert declared
    for entry in declared:
        for language in LANGUAGES:
            (found,) = {s.value for s in result.scores if _is(s, entry, language)}
            assert found == pytest.approx(entry["value"], abs=entry["tolerance"] + 1e-12), (entry, language)


def _is(found: Score, entry: Mapping[str, Any], language: str) -> bool:
    wanted = {**entry["slice"], "language": language}
    primary = found.denominator == "answered" or entry["metric"] == "label_share"
    same = {k: v for k, v in found.slice.items() if k != "merged"} == wanted
    return found.metric == entry["metric"] and same and primary


def test_a_model_that_does_not_see_the_language_differs_between_none(installed: Plugins, tmp_path: Path) -> None:
    result = run(config(tmp_path, model="first", mode="generate"), installed)
    contrasts = [s for s in result.scores if s.metric == "language_contrast"]
    assert {s.slice["language"] for s in contrasts} == set(LANGUAGES) - {"en"}
    assert {s.value for s in contrasts} == {0.0}
    assert {s.test.p_adjusted for s in contrasts if s.test} == {1.0}


def test_the_language_of_answers_is_stored_and_not_told_again(
    whole: RunResult, installed: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(*_: object) -> None:
        raise AssertionError("judged again")

    monkeypatch.setattr("biasfw.scripts.written_in", told)
    again = score(whole.directory, ("answer_language",), installed)
    assert list(again.scores) == [s for s in whole.scores if s.metric == "answer_language"]


def test_a_judge_that_drops_flags_loses_no_language(
    installed: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Rules.judge
    monkeypatch.setattr(Rules, "judge", lambda *arguments: replace(judge(*arguments), flags=()))
    result = run(config(tmp_path, mode="generate", languages=("ar",), limit=4), installed)
    assert result.flags == {"language:asked": 4}


def test_another_language_pack_judges_anew(installed: Plugins, tmp_path: Path) -> None:
    bundle = tmp_path / "debatebias"
    shutil.copytree(shipped("benchmarks") / "debatebias", bundle)
    before = sit(make_plan(config(tmp_path, benchmark=str(bundle)), installed), tmp_path, {}).name
    (folder,) = (path for path, _ in installed.folders("language"))
    pack = yaml.safe_load((folder / "ar.yaml").read_text(encoding="utf-8"))
    (bundle / "languages").mkdir()
    own = bundle / "languages" / "ar.yaml"
    own.write_text(yaml.safe_dump({**pack, "answer_language_method": None}, allow_unicode=True), encoding="utf-8")
    plan = make_plan(config(tmp_path, benchmark=str(bundle), languages=("ar",), limit=4), installed)
    assert sit(plan, tmp_path, {}).name != before
    scores = run(plan.config, installed).scores
    assert {s.value for s in scores if s.metric == "answer_language"} == {None}
