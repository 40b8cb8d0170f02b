"""What holds of every score of every metric of task ``choice``, whatever the table."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from biasfw import Interval, Score
from biasfw.codec import decode, dumps, encode
from biasfw.schemas import schema
from biasfw_plugins.metrics import biasfw_metrics

SCHEMA = Draft202012Validator(schema("score"))
SPECS = {spec.name: spec for spec in biasfw_metrics() if "choice" in spec.tasks}
OPTIONS = ("good", "bad", "none")
OUTCOMES = ("refused", "unparsed", "truncated", "tied", "error", "abstained", "no_majority", "judge_error")

fields = st.fixed_dictionaries(
    {
        "pick": st.sampled_from([*OPTIONS, *(f"<{outcome}>" for outcome in OUTCOMES)]),
        "order": st.one_of(st.permutations(OPTIONS), st.permutations(OPTIONS[:2])).map(tuple),
        "gold": st.sampled_from(["good", "good", "bad", ""]),
        "cluster": st.integers(0, 10).map(str),
        "pair": st.sampled_from(["", "p0", "p1", "p2", "p3"]),
        "variant": st.sampled_from(["v0", "v1", ""]),
        "condition": st.sampled_from(["plain", "chat"]),
        "language": st.sampled_from(["en", "ja"]),
        "category": st.sampled_from(["food", "work", "play", ""]),
        "repeat": st.integers(0, 1),
        "roles": st.sampled_from([{"stereotyped": "bad", "unknown": "none"}, {"stereotyped": "bad"}, {}]),
        "lengths": st.sampled_from([{"good": 5, "bad": 5, "none": 9}, {"good": 7, "bad": 5, "none": 3}]),
        "hedges": st.sampled_from([(), ("good",), ("good", "bad")]),
        "logprobs": st.dictionaries(st.sampled_from(OPTIONS), st.one_of(st.floats(-60, 0), st.just(-math.inf))),
    }
)
tables = st.lists(fields, max_size=40)


def numbers(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for part in value.values():
            yield from numbers(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from numbers(part)
    elif not isinstance(value, str | bool) and value is not None:
        yield value


def check(score: Score) -> None:
    spec = SPECS[score.metric]
    for number in numbers(asdict(score)):
        assert type(number) in (int, float), (score, type(number))
        assert math.isfinite(number), score
    assert (score.ideal, score.direction) == (spec.ideal, spec.direction)
    assert score.n >= score.clusters >= 0
    assert "condition" in score.slice
    if score.value is None:
        assert score.reason
        assert score.interval is None
    elif spec.range is not None:
        assert spec.range[0] <= score.value <= spec.range[1]
    if score.interval is not None:
        check_interval(score.interval, score.value)
    if score.bounds is not None:
        assert score.bounds[0] <= score.bounds[1]
        assert score.value is None or score.bounds[0] <= score.value <= score.bounds[1]
    if score.test is not None:
        assert score.test.reason if score.test.p is None else 0 <= score.test.p <= 1


def check_interval(interval: Interval, value: float | None) -> None:
    if interval.low is None or interval.high is None or value is None:
        assert interval.reason
        return
    assert interval.low <= value <= interval.high
    assert interval.low < interval.high


def everything(compute: Any, rows: Any, mode: str = "generate") -> list[Score]:
    return [score for name in SPECS for score in compute(name, rows, mode=mode)]


@settings(deadline=None, max_examples=40)
@given(tables, st.sampled_from(["generate", "choices"]))
def test_no_score_is_ever_undefined_in_silence(compute: Any, row: Any, rows: list[Any], mode: str) -> None:
    scores = everything(compute, [row(**fields) for fields in rows], mode)
    for score in scores:
        check(score)
        SCHEMA.validate(encode(score))
        assert decode(Score, json.loads(dumps(score))) == score
    names = [(score.metric, score.denominator, tuple(sorted(score.slice.items()))) for score in scores]
    assert len(names) == len(set(names)), "slices identify scores"


@settings(deadline=None, max_examples=12)
@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(compute: Any, row: Any, rows: list[Any], random: Any) -> None:
    # Two rows that differ in nothing but the pick cannot be told apart, and which of them is compared is left open.
    rows = list({json.dumps({**r, "pick": "", "logprobs": {}}): r for r in rows}.values())
    shuffled = list(rows)
    random.shuffle(shuffled)
    one, other = (everything(compute, [row(**f) for f in some], "choices") for some in (rows, shuffled))
    assert [dict(score.slice) for score in one] == [dict(score.slice) for score in other]
    for before, after in zip(one, other, strict=True):
        assert after.value == (None if before.value is None else pytest.approx(before.value, abs=1e-9))


@settings(deadline=None, max_examples=12)
@given(tables, st.integers(2, 4))
def test_copying_every_row_narrows_nothing(compute: Any, row: Any, rows: list[Any], copies: int) -> None:
    distinct = [replace(row(**f), repeat=0, pair=f["pair"] and f"{f['pair']}/{f['condition']}") for f in rows]
    often = [replace(r, repeat=copy) for copy in range(copies) for r in distinct]
    for before, after in zip(everything(compute, distinct), everything(compute, often), strict=True):
        assert (before.metric, before.slice, before.clusters) == (after.metric, after.slice, after.clusters)
        assert after.n == copies * before.n
        assert after.value == (None if before.value is None else pytest.approx(before.value, abs=1e-9))
        for side in ("low", "high"):
            limits = [getattr(score.interval, side, None) for score in (before, after)]
            assert limits[1] == (None if limits[0] is None else pytest.approx(limits[0], abs=1e-6))
        p = [score.test.p if score.test else None for score in (before, after)]
        assert p[1] == (None if p[0] is None else pytest.approx(p[0], abs=1e-6))


def test_every_metric_says_something_about_a_whole_study(compute: Any, study: Any) -> None:
    scores = everything(compute, study("coin", clusters=30, logprobs={"good": -1.0, "bad": -2.0}), "choices")
    assert {score.metric for score in scores if score.value is not None} == set(SPECS) - {"accuracy_rank"}


def test_nothing_is_said_about_no_rows(compute: Any) -> None:
    assert everything(compute, []) == []


@pytest.mark.slow
def test_a_large_study_takes_seconds(compute: Any, study: Any, table_of: Any) -> None:
    table = table_of(study("coin", clusters=2000, variants=4))
    begun = time.process_time()
    everything(compute, table)
    assert time.process_time() - begun < 10
