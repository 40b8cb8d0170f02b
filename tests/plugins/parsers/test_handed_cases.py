"""The cases handed to the project (a folder beside the checkout): every row must be read in an accepted way."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from biasfw import Answer, ComponentContext, LanguagePack, Outcome, Reading, shipped
from biasfw.answerform import make_form
from biasfw.yamlfile import load_yaml
from biasfw_plugins.parsers.labelled_lines import LabelledLines


def _folder() -> Path | None:
    for parent in Path(__file__).resolve().parents:
        if (parent / "shared" / "cases" / "parser_cases.jsonl").is_file():
            return parent / "shared" / "cases"
    return None


CASES = _folder()
pytestmark = pytest.mark.skipif(CASES is None, reason="the folder shared/cases is not beside this checkout")


def _rows(name: str) -> list[dict[str, Any]]:
    if CASES is None:
        return []
    return [json.loads(line) for line in (CASES / name).read_text(encoding="utf-8").splitlines()]


def _key(name: str | None) -> str | None:
    return name and name.lower().replace(" ", "_")


def _accepted(answer: Answer, wish: Any) -> bool:
    readings = answer.slots
    if wish == "refusal":
        return all(reading.outcome is Outcome.REFUSED for reading in readings.values())
    if wish == "invalid":
        return all(reading.outcome is not Outcome.ANSWERED for reading in readings.values())
    values = {
        slot: reading.value if reading.outcome is Outcome.ANSWERED else None for slot, reading in readings.items()
    }
    return values == {slot: _key(name) for slot, name in wish.items()}


GROUP_ROWS = pytest.mark.parametrize(
    "row", [row for row in _rows("parser_cases.jsonl") if row["task"] == "groups"], ids=lambda row: row["id"]
)


@GROUP_ROWS
def test_group_rows(row: dict[str, Any], parse: Callable[..., Answer]) -> None:
    answer = parse(row["text"], row["language"], row["finish_reason"])
    assert any(_accepted(answer, wish) for wish in row["accept"]), answer


@pytest.fixture(scope="module")
def debatebias(packs: Mapping[str, LanguagePack]) -> LabelledLines:
    manifest = load_yaml(shipped("benchmarks") / "debatebias" / "benchmark.yaml").value
    return LabelledLines(ComponentContext(make_form(manifest, ["forced"], []), packs))


@GROUP_ROWS
def test_group_rows_with_the_names_of_the_shipped_benchmark(row: dict[str, Any], debatebias: LabelledLines) -> None:
    answer = debatebias.parse(
        row["text"], language=row["language"], condition="forced", finish_reason=row["finish_reason"]
    )
    assert any(_accepted(answer, wish) for wish in row["accept"]), answer


@pytest.mark.parametrize(
    "row", [row for row in _rows("parser_cases.jsonl") if row["task"] == "ab"], ids=lambda row: row["id"]
)
def test_choice_rows(row: dict[str, Any], choose: Callable[..., Answer]) -> None:
    reading = choose(row["text"], row["language"], row["finish_reason"]).slots["choice"]
    unread = {"invalid": (Outcome.UNPARSED, Outcome.TRUNCATED), "refusal": (Outcome.REFUSED,)}
    accepted = [
        reading.outcome in unread[wish] if wish in unread else reading == Reading(Outcome.ANSWERED, wish)
        for wish in row["accept"]
    ]
    assert any(accepted), reading


@pytest.mark.parametrize("row", _rows("judge/judge_texts.jsonl"), ids=lambda row: row["id"])
def test_judge_texts(row: dict[str, Any], make: Callable[..., LabelledLines]) -> None:
    answer = make(take="last").parse(row["judge_text"], language="en", condition="forced")
    wishes = [row["expected"], *([row["accept_also"]] if "accept_also" in row else [])]
    assert any(_accepted(answer, wish) for wish in wishes), answer


@pytest.mark.parametrize("row", _rows("judge/injection_responses.jsonl"), ids=lambda row: row["id"])
def test_injections(row: dict[str, Any], parse: Callable[..., Answer]) -> None:
    assert _accepted(parse(row["response"]), row["expected"])
