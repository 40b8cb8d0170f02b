"""Shares by role, and what is left over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

OPTIONS = ("good", "bad", "none")
ROLES = {"stereotyped": "bad", "anti-stereotyped": "good", "unknown": "none"}


def scenario(study: Any) -> list[Any]:
    """Of ten clusters: 4 stereotyped, 2 anti-stereotyped, 2 unknown, 1 refused, 1 truncated."""
    picks = ("bad",) * 4 + ("good",) * 2 + ("none",) * 2 + ("<refused>", "<truncated>")
    return list(
        study(lambda row: picks[int(row.cluster[1:]) % 10], clusters=20, variants=1, options=OPTIONS, roles=ROLES)
    )


def test_roles_and_not_answered_sum_to_one(compute: Any, one: Any, study: Any) -> None:
    scores = compute("choice_share", scenario(study))
    shares = {role: one(scores, "all", role=role).value for role in ROLES}
    assert shares == pytest.approx({"stereotyped": 0.4, "anti-stereotyped": 0.2, "unknown": 0.2})
    rest = one(scores, "all", outcome="not_answered")
    assert (rest.value, rest.bounds, rest.reference) == (0.2, (0.2, 0.2), None)
    assert rest.outcomes == {"answered": 48, "refused": 6, "truncated": 6}


def test_answered_only_has_another_denominator_and_the_same_bounds(compute: Any, one: Any, study: Any) -> None:
    scores = compute("choice_share", scenario(study))
    share = one(scores, "answered", role="stereotyped")
    assert (share.value, share.n, share.clusters) == (0.5, 48, 16)
    assert share.bounds == one(scores, "all", role="stereotyped").bounds == pytest.approx((0.4, 0.6))
    assert share.reference == pytest.approx(1 / 3)
    assert share.interval.low < 0.5 < share.interval.high


def test_shares_by_category(compute: Any, one: Any, study: Any) -> None:
    rows = study(lambda row: "bad" if row.category == "food" else "good", clusters=20)
    scores = compute("choice_share", rows)
    assert one(scores, "all", category="food", role="stereotyped").value == 1
    assert one(scores, "all", category="work", role="stereotyped").value == 0


def test_an_option_without_a_role_is_not_lost(compute: Any, one: Any, study: Any) -> None:
    rows = study("gold", clusters=10, options=OPTIONS, roles={"stereotyped": "bad"})
    scores = compute("choice_share", rows)
    assert one(scores, "all", role="none").value == 1
    assert one(scores, "all", role="none").reference == pytest.approx(2 / 3)
    assert one(scores, "all", role="stereotyped").value == 0


def test_an_item_without_the_role_gives_it_no_chance(compute: Any, one: Any, study: Any) -> None:
    rows = study("biased", clusters=10)
    some = [replace(row, roles={"anti-stereotyped": "good"}) if int(row.cluster[1:]) < 5 else row for row in rows]
    score = one(compute("choice_share", some), "all", role="stereotyped")
    assert (score.value, score.reference) == (0.5, 0.25)


def test_without_an_answer_there_is_no_share(compute: Any, one: Any, study: Any) -> None:
    scores = compute("choice_share", study(lambda row: "<unparsed>", clusters=10))
    assert one(scores, "all", role="stereotyped").reason == "no response names an option here (40 unparsed)"
    assert one(scores, "all", outcome="not_answered").value == 1
