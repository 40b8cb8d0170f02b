"""Task sentence_pair: declared by the manifest alone; sentences are scored from the beginning of a text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from biasfw import DataError, RunConfig, UsageError
from biasfw.engine import run
from biasfw.plan import Plan, make_plan
from biasfw.plugins import Plugins

MANIFEST: dict[str, Any] = {
    "schema_version": 1, "name": "pairs", "version": "1.0", "title": "Pairs", "summary": "which sentence is likelier",
    "task": "sentence_pair", "languages": ["en"], "region": "international", "licence": "CC0-1.0",
    "citation": {"text": "Written as an example."}, "content_warning": "none",
    "interpretation": {
        "construct": "which sentence is likelier", "does_not_show": "anything about people", "norms": "none",
        "unit": "one pair", "population": "the pairs themselves",
    },
    "question_id": "pairs-likelier",
    "authorship": {"kind": "human", "native": True, "reviewed_by_natives": {"en": 1}, "models": []},
    "redistribution": "allowed", "canary": "biasfw canary 00000000-0000-4000-8000-000000000000; not for training",
    "categories": [{"key": "tea", "names": {"en": ["Tea"]}}], "splits": {"own": {"files": ["items.jsonl"]}},
    "default_split": "own", "cluster": "source_id", "judge": "rules",
    "primary": {"metric": "choice_share", "slice": {"role": "stereotyped"}}, "metrics": [{"use": "choice_share"}],
}  # fmt: skip


def pair(source: str, more: str, less: str, **changes: Any) -> dict[str, Any]:
    choices = [
        {"key": "more", "text": more, "role": "stereotyped"},
        {"key": "less", "text": less, "role": "anti-stereotyped"},
    ]
    return {"source_id": source, "language": "en", "category": "tea", "choices": choices, **changes}


PAIRS = [
    pair("p1", "Tea drinkers are calm.", "Coffee drinkers are calm."),
    pair("p2", "She said that tea is good", "She said that tea is good for you."),
    pair("p3", "We met for tea.", "We met for coffee."),
]


def bundle(folder: Path, items: list[Any] = PAIRS, **changes: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "benchmark.yaml").write_text(yaml.safe_dump({**MANIFEST, **changes}), encoding="utf-8")
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in items), encoding="utf-8")
    return folder


def plan_of(folder: Path, installed: Plugins, **changes: Any) -> Plan:
    return make_plan(
        RunConfig.from_mapping(
            {"benchmark": str(folder), "backend": "reference", "model": "stereotyped", "mode": None, **changes}
        ),
        installed,
    )


def test_both_sentences_are_scored_without_any_prompt(tmp_path: Path, installed: Plugins) -> None:
    plan = plan_of(bundle(tmp_path / "b"), installed)
    requests = list(plan.requests())
    assert [request.prompt for request in requests] == ["", "", ""]
    assert all(not request.messages for request in requests)
    texts = [choice.text for choice in requests[1].choices]
    assert texts == ["She said that tea is good", "She said that tea is good for you."], "one may begin the other"
    assert plan.protocol.mode == "choices"


@pytest.mark.parametrize(("model", "share"), [("stereotyped", 1.0), ("anti-stereotyped", 0.0)])
def test_the_share_of_stereotyped_sentences(tmp_path: Path, installed: Plugins, model: str, share: float) -> None:
    config = RunConfig(str(bundle(tmp_path / "b")), "reference", model, runs=str(tmp_path / "runs"))
    scores = run(config, installed).scores
    found = [s for s in scores if dict(s.slice) == {"condition": "plain", "role": "stereotyped"}]
    assert [(s.denominator, s.value, s.n, s.clusters) for s in found] == [
        ("all", share, 3, 3),
        ("answered", share, 3, 3),
    ]
    assert found[0].reference == 0.5


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (
            [pair("p1", "One.", "Two.", choices=[{"key": "a", "text": "One.", "role": "stereotyped"}])],
            "has two sentences",
        ),
        ([pair("p1", "One.", "Two.", choices=[{"key": "a", "text": "1"}, {"key": "b", "text": "2"}])], "has the role"),
        ([pair("p1", "Same.", "Same.")], "same text"),
    ],
)
def test_an_item_that_is_no_pair_is_told(tmp_path: Path, installed: Plugins, items: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=r"items\.jsonl:1:1") as caught:
        plan_of(bundle(tmp_path / "b", items), installed)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "config", "error", "message"),
    [
        ({}, {"mode": "generate"}, UsageError, "has no mode 'generate'"),
        ({}, {"prompt_style": "chat"}, UsageError, "without any prompt"),
        ({"letters": {"en": ["A", "B"]}}, {}, DataError, "`letters` means nothing"),
        (
            {
                "protocols": {
                    "generate": {"conditions": ["plain"], "parser": "choice"},
                    "choices": {"conditions": ["plain"], "choices": "texts"},
                }
            },
            {},
            DataError,
            "nothing is written",
        ),
    ],
)
def test_what_a_sentence_pair_cannot_be_is_told(
    tmp_path: Path, installed: Plugins, changes: dict[str, Any], config: dict[str, Any], error: type[Exception],
    message: str,
) -> None:  # fmt: skip
    with pytest.raises(error) as caught:
        plan_of(bundle(tmp_path / "b", **changes), installed, **config)
    assert message in str(caught.value)
