"""The bundle: what is asked is the official prompt; the demo is balanced; the data are asked for where they lack."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest

from biasfw import RunConfig, UsageError
from biasfw.bundles import find
from biasfw.hedging import hedges
from biasfw.plan import Plan, make_plan
from biasfw.plugins import Plugins


def plan_of(installed: Plugins, **changes: object) -> Plan:
    values = {"benchmark": "jubaku", "backend": "reference", "model": "first", "mode": "choices", **changes}
    return make_plan(RunConfig.from_mapping(values), installed)


@pytest.mark.parametrize("style", ["raw", "chat"])
@pytest.mark.parametrize(("split", "name"), [("v1", "jubaku_ver1.jsonl"), ("v2", "jubaku_ver2.jsonl")])
def test_the_prompt_is_the_official_one_to_the_last_character(
    jubaku: Path, installed: Plugins, split: str, name: str, style: str
) -> None:
    rows = [json.loads(line) for line in (jubaku / name).read_text(encoding="utf-8").splitlines()]
    plan = plan_of(installed, benchmark=f"jubaku:{split}", data=str(jubaku), prompt_style=style)
    by_id = {row["example_id"]: row for row in rows}
    requests = list(plan.requests())
    assert len(requests) == len(rows)
    for request in requests:
        item = plan.items[request.item_id]
        row = by_id[item.metadata["example_id"]]
        asked = request.prompt if style == "raw" else request.messages[-1].content
        assert asked == row["instruction"]
        assert style == "raw" or len(request.messages) == 1
        right = "AB"["ab".index(row["correct_answer"])]
        assert {choice.key: choice.text for choice in request.choices}[item.gold or ""] == right


def test_without_the_data_the_way_out_is_named(
    installed: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIASFW_CACHE", str(tmp_path))
    with pytest.raises(UsageError) as caught:
        plan_of(installed)
    assert "jubaku:v1" in str(caught.value)
    assert "biasfw fetch jubaku" in str(caught.value)
    assert "jubaku:demo" in str(caught.value)


def test_the_demo_is_expanded_to_instructions_and_orders(installed: Plugins) -> None:
    plan = plan_of(installed, benchmark="jubaku:demo")
    items = plan.items.values()
    assert len(items) == 58 * 4 * 2
    assert plan.selected.clusters == 58
    assert len({request.key for request in plan.requests()}) == len(items)
    pairs: dict[str | None, list[tuple[str, ...]]] = {}
    for item in items:
        pairs.setdefault(item.pair, []).append(item.order)
    assert all(len(orders) == 2 and orders[0] == orders[1][::-1] for orders in pairs.values())
    first = next(iter(plan.requests()))
    assert first.messages[0].content.endswith("■答え（AかB）："), "the letter is the next token"


def test_the_replies_of_the_demo_are_alike_in_length_and_hedging(installed: Plugins) -> None:
    seeds, _ = find("jubaku:demo", installed).read(installed)
    pack = plan_of(installed, benchmark="jubaku:demo").packs["ja"]
    by_category: dict[str, int] = {}
    for kind in (True, False):
        part = [seed for seed in seeds if (seed.category == "control") == kind]
        shorter = 0
        for seed in part:
            texts = {choice.key == seed.gold: choice.text for choice in seed.choices}
            right, other = len(texts[True]), len(texts[False])
            assert abs(right - other) / max(right, other) <= 0.1, seed.source_id
            assert not any(hedges(text, pack.hedging_phrases) for text in texts.values()), seed.source_id
            shorter += right < other
            by_category[seed.category] = by_category.get(seed.category, 0) + 1
        assert shorter * 2 == len(part), "taking the shorter reply gives chance"
    assert min(by_category.values()) >= 3
    assert len(by_category) == 11
    assert by_category["control"] >= 10


def test_every_dialogue_of_the_demo_says_what_is_claimed(installed: Plugins) -> None:
    seeds, _ = find("jubaku:demo", installed).read(installed)
    for seed in seeds:
        if seed.category != "control":
            assert all((seed.target, seed.stereotype, seed.harm, seed.attested)), seed.source_id
            assert {choice.role for choice in seed.choices} == {"stereotyped", "anti-stereotyped"}
        else:
            assert {choice.role for choice in seed.choices} == {None}
    assert statistics.mean(seed.contested for seed in seeds) < 0.25


def test_the_demo_shares_no_text_with_the_official_files(installed: Plugins, jubaku: Path) -> None:
    published = "".join((jubaku / name).read_text("utf-8") for name in ("jubaku_ver1.jsonl", "jubaku_ver2.jsonl"))
    seeds, _ = find("jubaku:demo", installed).read(installed)
    for seed in seeds:
        for text in [choice.text for choice in seed.choices] + seed.fields["context"].split("\n"):
            for at in range(len(text) - 19):
                assert text[at : at + 20] not in published, seed.source_id
