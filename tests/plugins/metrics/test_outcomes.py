"""Outcome tables: no failure hides in a score, every rate names its denominator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from biasfw import clustered_proportion

SLOTS = ["ants"] * 5 + ["<refused>"] * 2 + ["nobody", "<unparsed>", "<error>"]


@pytest.fixture
def table(table_of: Any, row: Any, form: Any) -> Any:
    return table_of([row((slot, "bees"), source=f"s{place}") for place, slot in enumerate(SLOTS)], form)


def test_rates_of_all_outcomes_over_both_denominators(compute: Any, one: Any, table: Any, form: Any) -> None:
    scores = compute("outcome_rate", table, form, slot="praised")
    refused = one(scores, "all", outcome="refused")
    assert (refused.value, refused.n) == (0.2, 10)
    assert refused.outcomes == {"answered": 5, "refused": 2, "abstained": 1, "error": 1, "unparsed": 1}
    assert refused.interval == clustered_proportion([1] * 2 + [0] * 8, range(10)).interval()
    returned = one(scores, "returned", outcome="refused")
    assert (returned.value, returned.n) == (pytest.approx(2 / 9), 9)
    assert {s.slice["outcome"] for s in scores} == {"answered", "refused", "abstained", "unparsed", "error"}
    assert {s.denominator for s in scores if s.slice["outcome"] == "error"} == {"all"}
    assert one(compute("outcome_rate", table, form), "all", slot="blamed", outcome="answered").value == 1.0


def test_declining_is_refusing_or_abstaining(compute: Any, one: Any, table: Any, form: Any) -> None:
    scores = compute("decline_rate", table, form)
    assert one(scores, "all", slot="praised").value == 0.3
    assert one(scores, "returned", slot="praised").value == pytest.approx(3 / 9)
    assert one(scores, "all", slot="blamed").value == 0.0


def test_compliance_needs_every_slot_and_accepts_an_abstention_that_was_offered(
    compute: Any, one: Any, table: Any, form: Any
) -> None:
    scores = compute("format_compliance", table, form)
    assert (one(scores, "all").value, one(scores, "returned").value) == (0.6, pytest.approx(6 / 9))
    assert one(scores, "all").slice["slot"] == "praised|blamed"


def test_errors_alone_are_null_over_the_returned(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    table = table_of([row(("<error>", "<error>"), source=f"s{place}") for place in range(5)], form)
    for name in ("decline_rate", "format_compliance"):
        scores = [score for score in compute(name, table, form) if score.slice["slot"] != "blamed"]
        assert one(scores, "all").value == 0.0
        returned = one(scores, "returned")
        assert (returned.value, returned.n, returned.reason) == (None, 0, "every request failed")


def test_scored_choices_have_no_format(compute: Any, table_of: Any, row: Any, form: Any) -> None:
    table = table_of([row(("ants", "bees"), logprobs={"ants|bees": -1.0})], form, ["ants|bees"])
    scores = compute("format_compliance", table, form)
    assert {score.value for score in scores} == {None}
    assert all(score.reason for score in scores)


def test_the_handed_statuses(compute: Any, one: Any, table_of: Any, row: Any, form_with: Any, form: Any) -> None:
    folder = _shared("cases/metrics")
    expected = json.loads((folder / "statuses_expected.json").read_text(encoding="utf-8"))["age"]
    lines = (folder / "statuses.jsonl").read_text(encoding="utf-8").splitlines()
    readings = {
        "correct": "ants",
        "wrong": "bees",
        "invalid": "<unparsed>",
        "refusal": "<refused>",
        "api_error": "<error>",
    }
    rows = [
        row((readings[case["status"]],), source=case["item_id"], category=case["category"])
        for case in map(json.loads, lines)
    ]
    single = form_with(slots=form.slots[:1], categories={})
    table = table_of(rows, single)
    shares, rates = (compute(name, table, single) for name in ("label_share", "outcome_rate"))
    age = one(shares, "answered", category="age", label="ants")
    assert age.value == pytest.approx(expected["accuracy_of_valid"], abs=1e-6)
    assert one(rates, "returned", category="age", outcome="unparsed").value == pytest.approx(
        expected["invalid_rate_of_answered"], abs=1e-6
    )
    assert one(shares, "answered", category="religion", label="ants").value is None
    assert one(shares, "answered", category="religion", label="ants").reason
    assert one(shares, "answered", label="ants").value == pytest.approx(4 / 6)


def _shared(name: str) -> Path:
    for folder in Path(__file__).resolve().parents:
        path = folder / "shared" / name
        if path.is_dir():
            return path
    pytest.skip(f"there is no folder shared with {name} beside the checkout")
