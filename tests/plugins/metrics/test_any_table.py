"""What holds of every score of every metric, whatever the table."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from biasfw import Score, Table
from biasfw.codec import decode, dumps, encode
from biasfw.schemas import schema
from biasfw_plugins.metrics import biasfw_metrics

SCHEMA = Draft202012Validator(schema("score"))
SPECS = {spec.name: spec for spec in biasfw_metrics() if "labels" in spec.tasks or not spec.tasks}
LABELS = ("ants", "bees", "cats", "dogs", "elks")
KEYS = tuple(f"{one}|{other}" for one, other in itertools.permutations(LABELS, 2))

readings = st.sampled_from(
    [*LABELS, "nobody", "<refused>", "<unparsed>", "<truncated>", "<tied>", "<error>", "<abstained>", "<no_majority>"]
)
orders = st.permutations(range(1, 6)).map(lambda order: (*order, 0))
logprobs = st.dictionaries(st.sampled_from(KEYS), st.floats(-60, 0), max_size=6)
fields = st.fixed_dictionaries(
    {
        "slots": st.tuples(readings, readings),
        "source": st.sampled_from([f"s{place}" for place in range(14)]),
        "category": st.sampled_from(["food", "work", "play"]),
        "condition": st.sampled_from(["forced", "optional", "plain"]),
        "language": st.sampled_from(["en", "ja"]),
        "repeat": st.integers(0, 1),
        "order": st.one_of(orders, st.sampled_from([(0,) * 6, (2, 1, 0, 0, 0, 3)])),
        "logprobs": logprobs,
        "written": st.sampled_from(["", "asked", "other:Latn", "other:Cyrl"]),
    }
)
tables = st.lists(fields, min_size=0, max_size=40)


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
    assert score.denominator in ("all", "returned", "answered")
    assert score.n >= score.clusters >= 0
    assert "condition" in score.slice
    if score.value is None:
        assert score.reason
        assert score.interval is None
    else:
        assert spec.range is not None
        assert spec.range[0] <= score.value <= spec.range[1]
        check_interval(score, score.value)
    if score.bounds is not None:
        assert score.bounds[0] <= score.bounds[1]
        assert score.value is None or score.bounds[0] <= score.value <= score.bounds[1]
    if score.test is not None and score.test.p is None:
        assert score.test.reason
    if score.test is not None and score.test.p is not None:
        assert 0 < score.test.p <= 1


def check_interval(score: Score, value: float) -> None:
    if score.interval is None:
        return
    if score.interval.low is None or score.interval.high is None:
        assert score.interval.reason
        return
    assert score.interval.low <= value <= score.interval.high
    assert score.interval.low < score.interval.high
    least, most = possible(score)
    assert least - 1e-12 <= score.interval.low, score
    assert score.interval.high <= most + 1e-12, score


def possible(score: Score) -> tuple[float, float]:
    """The values that a score about five labels can have.

    Where some rows present fewer labels, chance is not even, and uniformity can be more than four fifths away from it.
    """
    if score.metric == "label_uniformity":
        return 0.0, 1.0
    if score.slice.get("statistic") == "largest_share":
        return 0.2, 1.0
    found = SPECS[score.metric].range
    assert found is not None
    return found


def everything(compute: Any, table: Table, form: Any) -> list[Score]:
    return [score for name in SPECS for score in compute(name, table, form)]


@settings(deadline=None, max_examples=25)
@given(tables, st.booleans())
def test_no_score_is_ever_undefined_in_silence(
    compute: Any, table_of: Any, row: Any, form: Any, rows: list[Any], choices: bool
) -> None:
    table = table_of([row(**fields) for fields in rows], form, KEYS if choices else ())
    for score in everything(compute, table, form):
        check(score)


@settings(deadline=None, max_examples=15)
@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(
    compute: Any, table_of: Any, row: Any, form: Any, rows: list[Any], random: Any
) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    one, other = (everything(compute, table_of([row(**f) for f in some], form), form) for some in (rows, shuffled))
    assert [dict(score.slice) for score in one] == [dict(score.slice) for score in other]
    for before, after in zip(one, other, strict=True):
        assert (
            before.value == pytest.approx(after.value, abs=1e-12) if before.value is not None else after.value is None
        )


@pytest.mark.parametrize("slots", [("<refused>", "<refused>"), ("<error>", "<error>"), ("ants", "bees")])
def test_one_cluster(compute: Any, table_of: Any, row: Any, form: Any, slots: tuple[str, str]) -> None:
    table = table_of([row(slots), row(slots, condition="plain"), row(slots, language="ja")], form)
    scores = everything(compute, table, form)
    for score in scores:
        check(score)
        assert score.interval is None or score.interval.low is None
    assert {score.metric for score in scores} == set(SPECS)


def test_slices_identify_scores_and_scores_survive_json(compute: Any, table_of: Any, row: Any, form: Any) -> None:
    generator = np.random.default_rng(0)
    rows = [
        row(
            tuple(generator.choice(LABELS, 2, replace=False).tolist()),
            source=f"s{place}",
            condition=condition,
            language=language,
            category=("food", "work")[place % 2],
            logprobs=dict(zip(KEYS, generator.normal(size=20).tolist(), strict=True)),
        )
        for place in range(12)
        for condition in ("forced", "plain")
        for language in ("en", "ja")
    ]
    for keys in ((), KEYS):
        for name in SPECS:
            scores = compute(name, table_of(rows, form, keys), form)
            names = [(score.denominator, tuple(sorted(score.slice.items()))) for score in scores]
            assert len(names) == len(set(names))
            assert all(("scoring" in score.slice) <= bool(keys) for score in scores)
            for score in scores:
                SCHEMA.validate(encode(score))
                assert decode(Score, json.loads(dumps(score))) == score


def test_listing_the_metrics_imports_no_numbers() -> None:
    code = (
        "import sys; from biasfw_plugins.metrics import biasfw_metrics; list(biasfw_metrics()); "
        "sys.exit(any(name in sys.modules for name in ('numpy', 'scipy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_a_full_study_takes_seconds(compute: Any, form_with: Any) -> None:
    form = form_with(categories={name: {} for name in "wxyz"}, languages=tuple("abcdefg"))
    table = _study(form)
    begun = time.process_time()
    scores = everything(compute, table, form)
    assert time.process_time() - begun < 10
    assert len(scores) > 5000


def _study(form: Any) -> Table:
    """100,800 responses: 4 categories x 300 sources x 7 languages x 12 repeats."""
    generator = np.random.default_rng(0)
    names = [
        (category, f"{category}{source}", language)
        for category in "wxyz"
        for source in range(300)
        for language in "abcdefg"
        for _ in range(12)
    ]
    categories, sources, languages = (np.array(column) for column in zip(*names, strict=True))
    size = len(names)
    empty = np.full(size, "")
    outcomes = {
        slot.key: generator.choice(["answered", "refused", "unparsed"], size, p=[0.9, 0.05, 0.05])
        for slot in form.slots
    }
    values = {
        slot: np.where(outcome == "answered", generator.choice(LABELS, size, p=[0.4, 0.2, 0.2, 0.1, 0.1]), "")
        for slot, outcome in outcomes.items()
    }
    order = np.concatenate(
        [generator.random((size, 5)).argsort(axis=1) + 1, np.zeros((size, 1), dtype=np.int64)], axis=1
    )
    return Table(
        mode="generate",
        keys=np.array([f"{place:064}" for place in range(size)]),
        item=sources,
        source=sources,
        cluster=sources,
        pair=empty,
        variant=empty,
        condition=np.full(size, "forced"),
        language=languages,
        category=categories,
        gold=empty,
        repeat=np.tile(np.arange(12), size // 12),
        labels=(*LABELS, "nobody"),
        order=order,
        outcomes=outcomes,
        values=values,
    )
