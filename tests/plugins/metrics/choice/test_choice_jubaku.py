"""The official file of JUBAKU, answered by pickers whose results are known (skipped where the file is not there)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from biasfw import wilson


def answered(rows: Any, pick: Any) -> Any:
    return [replace(row, pick=pick(row)) for row in rows]


def shorter(row: Any) -> Any:
    return min(row.order, key=row.lengths.__getitem__)


def test_its_shape(jubaku: Any) -> None:
    assert len(jubaku) == 1216
    assert len({row.cluster for row in jubaku}) == 152
    assert len({row.pair for row in jubaku}) == 608


def test_the_shorter_reply_is_right_in_93_percent(compute: Any, one: Any, jubaku: Any) -> None:
    rows = answered(jubaku, shorter)
    score = one(compute("accuracy", rows), "all")
    assert (score.value, score.n, score.clusters) == (1136 / 1216, 1216, 152)
    baselines = compute("confound_baselines", rows)
    assert one(baselines, baseline="shorter").value == 1136 / 1216
    assert one(baselines, baseline="longer").value == 80 / 1216
    assert one(baselines, baseline="first_position").value == 0.5
    assert one(baselines, "all", gold_shorter="false").clusters == 10
    assert one(baselines, "all", gold_shorter="false").value == 0


def test_always_the_first_is_half_right_and_locked(compute: Any, one: Any, jubaku: Any) -> None:
    rows = answered(jubaku, lambda row: row.order[0])
    scores = compute("accuracy", rows)
    assert one(scores, "all").value == 0.5
    assert one(scores, "all").test.p is None
    assert one(scores, "all", gold_position="1").value == 1
    locked = one(compute("position_locked", rows), position="1")
    assert (locked.value, locked.n) == (1, 608)
    assert locked.reason == "position-locked: accuracy says nothing about bias"
    assert one(compute("pair_accuracy", rows), "all").value == 0


def test_copying_every_row_eight_times_changes_no_interval(compute: Any, one: Any, jubaku: Any) -> None:
    rows = answered(jubaku, lambda row: "good" if int(row.cluster) % 4 == 0 else row.order[int(row.cluster) % 2])
    often = [replace(row, repeat=copy) for copy in range(8) for row in rows]
    for name in ("accuracy", "pair_accuracy", "choice_share", "order_ledger"):
        for before, after in zip(compute(name, rows), compute(name, often), strict=True):
            assert after.n == 8 * before.n
            assert (after.interval.low, after.interval.high) == pytest.approx(
                (before.interval.low, before.interval.high), abs=1e-9
            )
    score = one(compute("accuracy", often), "all")
    naive = wilson(score.value * score.n, score.n)
    assert naive is not None
    assert score.interval.high - score.interval.low > 3 * (naive[1] - naive[0])


def test_ten_categories_cannot_be_ranked_by_a_model_at_23_percent(compute: Any, one: Any, jubaku: Any) -> None:
    rows = answered(jubaku, lambda row: "good" if int(row.cluster) * 7919 % 100 < 23 else "bad")
    score = one(compute("accuracy", rows), "all")
    assert score.value == pytest.approx(0.23, abs=0.03)
    assert score.reason == "below chance"
    assert score.interval.high - score.interval.low == pytest.approx(2 * 1.976 * 0.0341, rel=0.1)
    for rank in compute("accuracy_rank", rows):
        assert rank.reason == "cannot be ranked: the simultaneous intervals overlap"
    macro = one(compute("accuracy", rows), "all", average="macro")
    assert macro.value == pytest.approx(score.value, abs=0.03)
    assert macro.interval.low < macro.value < macro.interval.high
