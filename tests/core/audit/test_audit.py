"""What the stored judgements of a run say about its judges."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from click.testing import CliRunner
from rich.cells import cell_len
from sklearn.metrics import cohen_kappa_score

from biasfw import StoreError, UsageError
from biasfw.audit import NOTE, audit
from biasfw.cli import app
from biasfw.families import families
from biasfw.verdicts import open_run

from .conftest import Stored

LLM, OTHER, PANEL = "llm-11111111", "second-22222222", "trio-33333333"


def shifted(every: int) -> Any:
    """A judge that says another group in every n-th row, and cannot be read or declines in some."""

    def decide(at: int, slots: dict[str, Any]) -> dict[str, Any]:
        groups = ["arabs", "western", "africans"]
        found = {}
        for place, (slot, reading) in enumerate(slots.items()):
            found[slot] = reading
            if (at + place) % every == 0:
                found[slot] = {"outcome": "answered", "value": groups[at % 3]}
            if at % 11 == 3:
                found[slot] = {"outcome": "judge_unparsed"}
            if at % 13 == 4:
                found[slot] = {"outcome": "abstained", "value": "unclear"}
            if at % 17 == 5:
                found[slot] = {"outcome": "refused"}
        return found

    return decide


def panel_of(stored: Stored, names: dict[str, str], name: str = PANEL) -> None:
    """A panel by strict majority over stored judgements: member -> name and hash."""
    files = {member: stored.read(file) for member, file in names.items()}
    rows = []
    for place, row in enumerate(stored.read(stored.rules)):
        votes = {member: judged[place]["slots"] for member, judged in files.items()}
        slots = {}
        for slot in row["slots"]:
            said = Counter(
                vote[slot].get("value") or vote[slot]["outcome"]
                for vote in votes.values()
                if vote[slot]["outcome"] in ("answered", "abstained", "refused")
            )
            label, count = said.most_common(1)[0] if said else ("", 0)
            slots[slot] = {"outcome": "no_majority"}
            if 2 * count > len(files):
                outcome = {"refused": "refused", "unclear": "abstained"}.get(label, "answered")
                slots[slot] = {"outcome": outcome, **({} if label == "refused" else {"value": label})}
        rows.append({"response_key": row["response_key"], "slots": slots, "votes": votes})
    stored.write(name, rows)


def trio(stored: Stored) -> None:
    stored.judge(LLM, shifted(4))
    stored.judge(OTHER, shifted(7))
    panel_of(stored, {"rules": stored.rules, "first": LLM, "second": OTHER})


def out(*arguments: str) -> str:
    return CliRunner().invoke(app, list(arguments), standalone_mode=False, catch_exceptions=False).stdout


def label(reading: dict[str, Any]) -> str | None:
    if reading["outcome"] in ("answered", "abstained"):
        return str(reading["value"])
    return "refused" if reading["outcome"] == "refused" else None


def test_one_judge_has_a_table_and_nothing_to_compare(stored: Stored) -> None:
    document = audit(open_run(stored.path))
    [judge] = document["judges"]
    assert judge["name"] == stored.rules
    assert judge["judged"] == document["rows"]
    for found in judge["slots"].values():
        assert found == {"parse_rate": 1.0, "outcomes": {"answered": document["rows"]}}
    assert document["agreement"] == document["pairs"] == document["left_out"] == []
    assert "nothing to compare" in out("agreement", str(stored.path))


def test_outcomes_and_parse_rate_by_judge(stored: Stored) -> None:
    stored.judge(LLM, shifted(4))
    rows = stored.read(LLM)
    rows[0]["slots"] = {slot: {"outcome": "error"} for slot in rows[0]["slots"]}
    stored.write(LLM, rows)
    judge = next(each for each in audit(open_run(stored.path))["judges"] if each["name"] == LLM)
    for slot, found in judge["slots"].items():
        counts = Counter(row["slots"][slot]["outcome"] for row in rows)
        assert found["outcomes"] == dict(sorted(counts.items()))
        there = len(rows) - counts["error"]
        assert found["parse_rate"] == pytest.approx((there - counts["judge_unparsed"]) / there)


def test_coefficients_are_those_of_the_packages_per_slot_and_language(stored: Stored) -> None:
    stored.judge(LLM, shifted(4))
    stored.judge(OTHER, shifted(7))
    run = open_run(stored.path)
    document = audit(run)
    seen = set()
    for row in document["agreement"]:
        keys = [each.key for each in run.rows if row["language"] in (None, each.language)]
        labels = [[label(r["slots"][row["slot"]]) for r in sorted_rows(stored, name, keys)] for name in row["raters"]]
        names = sorted({each for line in labels for each in line if each})
        data = np.array([[np.nan if x is None else names.index(x) for x in line] for line in labels])
        alpha = krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
        assert row["alpha"]["value"] == pytest.approx(float(alpha))
        counted = {name: dict(Counter(x for x in line if x)) for name, line in zip(row["raters"], labels, strict=True)}
        assert row["labels"] == counted
        seen.add((row["slot"], row["language"]))
    assert seen == {(slot, tag) for slot in ("modern", "stereotyped") for tag in (None, "en", "ar")}
    assert {"unclear", "refused"} <= set(document["agreement"][0]["labels"][LLM])


def sorted_rows(stored: Stored, name: str, keys: list[str]) -> list[dict[str, Any]]:
    by_key = {row["response_key"]: row for row in stored.read(name)}
    return [by_key[key] for key in keys]


def test_pairs_have_cohens_kappa(stored: Stored) -> None:
    trio(stored)
    run = open_run(stored.path)
    rows = [row for row in audit(run)["pairs"] if row["language"] is None and row["slot"] == "modern"]
    keys = [row.key for row in run.rows]
    pair = next(row for row in rows if set(row["raters"]) == {LLM, OTHER})
    first, second = ([label(r["slots"]["modern"]) for r in sorted_rows(stored, name, keys)] for name in pair["raters"])
    both = [(a, b) for a, b in zip(first, second, strict=True) if a and b]
    assert pair["kappa"]["n"] == len(both) < len(keys)
    assert pair["kappa"]["value"] == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)))
    assert pair["percent_agreement"]["value"] == pytest.approx(np.mean([a == b for a, b in both]))
    members = {tuple(row["raters"]) for row in rows if "/" in row["raters"][0]}
    one, rules, other = (f"{PANEL}/{member}" for member in ("first", "rules", "second"))
    assert members == {(one, rules), (one, other), (rules, other)}


def test_a_panel_is_no_judge_beside_its_members(stored: Stored) -> None:
    trio(stored)
    raters = {row["among"]: row["raters"] for row in audit(open_run(stored.path))["agreement"]}
    assert raters["judges"] == sorted([stored.rules, LLM, OTHER])
    assert raters[PANEL] == [f"{PANEL}/first", f"{PANEL}/rules", f"{PANEL}/second"]


def test_a_panel_without_one_of_its_members(stored: Stored) -> None:
    trio(stored)
    run = open_run(stored.path)
    rows = [row for row in audit(run)["left_out"] if row["language"] is None and row["slot"] == "stereotyped"]
    keys = [row.key for row in run.rows]
    verdict = [label(r["slots"]["stereotyped"]) for r in sorted_rows(stored, PANEL, keys)]
    assert {row["without"] for row in rows} == {"first", "rules", "second"}
    for row in rows:
        left = {"first": (stored.rules, OTHER), "rules": (LLM, OTHER), "second": (stored.rules, LLM)}[row["without"]]
        a, b = ([label(r["slots"]["stereotyped"]) for r in sorted_rows(stored, name, keys)] for name in left)
        now = [x if x == y else None for x, y in zip(a, b, strict=True)]
        assert row["rule"] == "majority"
        assert row["flips"] == sum(x != y for x, y in zip(verdict, now, strict=True)) > 0
        assert row["flips"] == row["to_another_label"] + row["to_no_majority"] + row["from_no_majority"]


def test_verdicts_that_follow_no_rule_are_said_to(stored: Stored) -> None:
    trio(stored)
    rows = stored.read(PANEL)
    for row in rows:
        row["slots"] = row["votes"]["first"]
    stored.write(PANEL, rows)
    assert {row["reason"] for row in audit(open_run(stored.path))["left_out"]} == {
        "its verdicts follow no known rule of votes"
    }


def test_labels_in_another_order(stored: Stored) -> None:
    stored.judge(LLM, shifted(4))
    stored.judge(OTHER, shifted(7))
    definition = {"judge": "llm", "model": "x", "backend": "openai"}
    assert audit(open_run(stored.path))["label_order"] == []
    given = audit(open_run(stored.path), [(LLM, OTHER)])["label_order"]
    stored.info(
        judges={
            LLM: {"definition": {**definition, "name": "llm"}},
            OTHER: {"definition": {**definition, "name": "second", "options": {"label_order": "reversed"}}},
        }
    )
    document = audit(open_run(stored.path))
    assert document["label_order"] == given
    assert any("labels in two orders" in text for text in document["warnings"])
    a, b = ([label(r["slots"]["modern"]) for r in stored.read(name)] for name in (LLM, OTHER))
    row = next(row for row in given if row["slot"] == "modern" and row["language"] is None)
    assert row["changed"] == sum(x != y for x, y in zip(a, b, strict=True))
    with pytest.raises(UsageError, match="no judgements 'nobody'"):
        audit(open_run(stored.path), [(LLM, "nobody")])


def test_of_several_judgements_on_a_response_the_last_counts(stored: Stored) -> None:
    rows = stored.read(stored.rules)
    failed = [{**rows[0], "slots": {slot: {"outcome": "error"} for slot in rows[0]["slots"]}}]
    stored.write(LLM, [*failed, *rows])
    run = open_run(stored.path, [LLM])
    assert run.verdicts[0].outcomes["modern"] == {"answered": len(rows)}


def test_judges_are_chosen_by_name_or_name_and_hash(stored: Stored) -> None:
    stored.judge("rules-00000000", shifted(4))
    with pytest.raises(UsageError, match="2 versions; name one"):
        open_run(stored.path, ["rules"])
    assert [v.name for v in open_run(stored.path, ["rules-00000000"]).verdicts] == ["rules-00000000"]
    with pytest.raises(UsageError, match="no judgements by 'llm'"):
        open_run(stored.path, ["llm"])
    assert any("are one judge several times" in text for text in audit(open_run(stored.path))["warnings"])


def test_no_run_and_no_judgements_are_told(stored: Stored, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no run"):
        open_run(tmp_path / "nowhere")
    (stored.path / "judgements" / f"{stored.rules}.jsonl").unlink()
    with pytest.raises(StoreError, match="no judgements; judge it"):
        open_run(stored.path)


def test_a_judge_of_the_subjects_family_is_warned_of(stored: Stored) -> None:
    stored.judge(LLM, shifted(4))
    stored.judge(OTHER, shifted(7))
    stored.info(
        identity={"model": "meta-llama/Meta-Llama-3-8B-Instruct", "fingerprint": "f"},
        judges={
            LLM: {"definition": {"judge": "llm", "model": "DeepSeek-R1-Distill-Llama-8B"}},
            OTHER: {"definition": {"judge": "llm"}, "identity": {"model": "qwen2.5-7b-instruct-q4_k_m.gguf"}},
        },
    )
    warnings = audit(open_run(stored.path))["warnings"]
    assert [text for text in warnings if "of one family, llama" in text and LLM in text]
    assert not [text for text in warnings if OTHER in text]
    stored.info(identity={"model": "qwen2.5-7b-instruct-q4_k_m.gguf", "fingerprint": "f"})
    assert [
        text for text in audit(open_run(stored.path))["warnings"] if "judges its own answers" in text and OTHER in text
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpt-4o", {"gpt"}), ("o1-mini", {"gpt"}), ("openai/gpt-4.1-2025-04-14", {"gpt"}),
        ("chatgpt-4o-latest", {"gpt"}),
        ("meta-llama/Meta-Llama-3-8B-Instruct", {"llama"}), ("Llama3.1", {"llama"}), ("CodeLlama-7b", {"llama"}),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", {"deepseek", "qwen"}), ("deepseek-chat", {"deepseek"}),
        ("DeepSeekV3", {"deepseek"}), ("Qwen2.5-7B-Instruct-Q4_K_M.gguf", {"qwen"}), ("QwQ-32B", {"qwen"}),
        ("Mixtral-8x7B-Instruct-v0.1", {"mistral"}), ("claude-3-5-sonnet", {"claude"}),
        ("/models/phi-3-mini.gguf", {"phi"}),
        ("SmolLM2-135M-Instruct", {"smollm"}), ("C:\\models\\gemma-2-9b-it.gguf", {"gemma"}), ("My-Model-7B", {"my"}),
        ("swallow-llama-3-8b", {"swallow", "llama"}), ("", set()), ("7B", set()),
    ],
)  # fmt: skip
def test_families(name: str, expected: set[str]) -> None:
    assert families(name) == expected


def test_the_command_prints_every_part(stored: Stored) -> None:
    trio(stored)
    text = out("agreement", str(stored.path))
    for part in (
        "read %",
        "Gwet's AC1",
        "Krippendorff's alpha",
        "Cohen's kappa",
        "without one of its members",
        NOTE,
    ):
        assert part in text
    document = json.loads(out("agreement", str(stored.path), "--json", "--judge", LLM, "--judge", "rules"))
    assert [judge["name"] for judge in document["judges"]] == [LLM, stored.rules]
    assert document["note"] == NOTE


def test_every_table_fits_into_80_columns(stored: Stored) -> None:
    stored.judge("a-judge-with-a-long-name-55555555", shifted(3))
    trio(stored)
    lines = out("agreement", str(stored.path)).splitlines()
    tables = [line for line in lines if line.startswith(" ")]
    assert max(map(cell_len, tables)) <= 80
    assert any("abstained" in line for line in tables), "outcomes stay"


def test_judges_that_agree_on_one_label_have_no_coefficient(stored: Stored) -> None:
    def same(at: int, slots: dict[str, Any]) -> dict[str, Any]:
        return {slot: {"outcome": "answered", "value": "arabs"} for slot in slots}

    stored.judge(LLM, same)
    stored.judge(OTHER, same)
    for row in audit(open_run(stored.path, [LLM, OTHER]))["agreement"]:
        assert row["percent_agreement"]["value"] == 1
        assert row["alpha"]["value"] is row["ac1"]["value"] is None
        assert row["alpha"]["reason"].startswith("no variation")
    assert "-: no variation" in out("agreement", str(stored.path), "--judge", LLM, "--judge", OTHER)
