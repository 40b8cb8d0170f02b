"""Metrics: every score can be defended, whatever the table; copying rows and turning them round changes nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any, cast

import numpy as np

from biasfw.contracts import ComponentContext, Metric
from biasfw.form import Form
from biasfw.languages import LanguagePack
from biasfw.plugins import Component, load_class
from biasfw.records import Score
from biasfw.schemas import check_options
from biasfw.specs import MetricSpec
from biasfw.table import Table
from biasfw.trying.samples import tables

DENOMINATORS = ("all", "returned", "answered")
_SMALL = 1e-9


def compute(component: Component, form: Form, packs: Mapping[str, LanguagePack], table: Table) -> list[Score]:
    """The scores of a table that cannot be written to."""
    spec = component.spec
    options = check_options(f"metric {spec.name}", spec.options, {})
    metric = cast("Metric", load_class(component)(ComponentContext(form, packs, options)))
    return list(metric.compute(_frozen(table)))


def check_tables(component: Component, form: Form, packs: Mapping[str, LanguagePack]) -> None:
    """On every table: scores with n, clusters, denominator, and null with a reason where nothing can be said."""
    for name, table in tables(form.task).items():
        try:
            scores = compute(component, form, packs, table)
        except Exception as failure:
            raise AssertionError(f"it fails on the table {name!r}: {type(failure).__name__}: {failure}") from failure
        seen = set()
        for score in scores:
            shown = f"on the table {name!r}, {dict(score.slice)} over {score.denominator}"
            _check_score(score, cast("MetricSpec", component.spec), shown)
            identity = (score.denominator, tuple(sorted(score.slice.items())))
            assert identity not in seen, f"{shown}: two scores with this slice"
            seen.add(identity)
        if name in ("nothing answered", "no row"):
            told = [
                score for score in scores if score.denominator == "answered" and score.value is not None and not score.n
            ]
            assert not told, f"on the table {name!r} it gives {told[0].value} where there is nothing to divide by"


def check_rows(component: Component, form: Form, packs: Mapping[str, LanguagePack]) -> None:
    """The order of rows does not matter, and rows that are copied narrow no interval."""
    for name in ("all answered", "mixed outcomes"):
        table = tables(form.task)[name]
        scores = _by_slice(compute(component, form, packs, table))
        turned = _by_slice(compute(component, form, packs, _take(table, np.arange(len(table))[::-1])))
        assert set(turned) == set(scores), f"{name}: other slices when the rows are turned round"
        for key, score in scores.items():
            assert _near(score.value, turned[key].value), f"{name}, {key}: {score.value} turns into {turned[key].value}"
        copied = _by_slice(compute(component, form, packs, _copied(table, 3)))
        for key in set(copied) & set(scores):
            one, three = scores[key].interval, copied[key].interval
            if one and three and None not in (one.low, one.high, three.low, three.high):
                width, now = (
                    cast("float", one.high) - cast("float", one.low),
                    cast("float", three.high) - cast("float", three.low),
                )
                assert now >= width - 1e-6, f"{name}, {key}: three copies of every row narrow {width:.4f} to {now:.4f}"


def _check_score(score: Score, spec: MetricSpec, shown: str) -> None:
    assert isinstance(score, Score), f"{shown}: {type(score).__name__} is no Score"
    assert score.metric == spec.name, f"{shown}: it calls itself {score.metric!r}"
    assert score.denominator in DENOMINATORS, f"{shown}: the denominator must be one of {DENOMINATORS}"
    assert score.n >= score.clusters >= 0, f"{shown}: {score.clusters} clusters in {score.n} rows"
    for number in _numbers(asdict(score)):
        assert type(number) in (int, float), f"{shown}: {number!r} is a {type(number).__name__}, not a plain number"
        assert math.isfinite(number), f"{shown}: {number} is no finite number"
    if score.value is None:
        assert score.reason, f"{shown}: null without a reason"
        return
    if spec.range is not None:
        low, high = spec.range
        assert low - _SMALL <= score.value <= high + _SMALL, f"{shown}: {score.value} is outside {spec.range}"
    if score.bounds is not None:
        low, high = score.bounds
        assert low - _SMALL <= score.value <= high + _SMALL, (
            f"{shown}: {score.value} is outside its bounds {score.bounds}"
        )
    interval = score.interval
    if interval is not None:
        if interval.low is None or interval.high is None:
            assert interval.reason, f"{shown}: an interval without limits and without a reason"
        else:
            assert interval.low - _SMALL <= score.value <= interval.high + _SMALL, (
                f"{shown}: the interval misses {score.value}"
            )


def _numbers(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [number for part in value.values() for number in _numbers(part)]
    if isinstance(value, (list, tuple)):
        return [number for part in value for number in _numbers(part)]
    return [] if isinstance(value, (str, bool)) or value is None else [value]


def _near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=_SMALL)


def _by_slice(scores: list[Score]) -> dict[tuple[Any, ...], Score]:
    return {(score.denominator, *sorted(score.slice.items())): score for score in scores}


def _columns(table: Table) -> list[np.ndarray[Any, Any]]:
    assert is_dataclass(table), "a table is a dataclass"
    found = []
    for each in fields(table):
        value = getattr(table, each.name)
        found += [v for v in (value.values() if isinstance(value, dict) else [value]) if isinstance(v, np.ndarray)]
    return found


def _frozen(table: Table) -> Table:
    """The same table; a metric that writes into it fails."""
    for column in _columns(table):
        column.flags.writeable = False
    return table


def _take(table: Table, rows: np.ndarray[Any, Any]) -> Table:
    """The rows of a table by index, in any order and more than once."""
    changes: dict[str, Any] = {}
    for each in fields(table):
        value = getattr(table, each.name)
        if isinstance(value, np.ndarray):
            changes[each.name] = value[rows]
        elif isinstance(value, dict):
            changes[each.name] = {key: column[rows] for key, column in value.items()}
        else:
            changes[each.name] = value
    return Table(**changes)


def _copied(table: Table, times: int) -> Table:
    """Every row several times, as repeats of the same item."""
    rows = np.tile(np.arange(len(table)), times)
    copied = _take(table, rows)
    repeat = np.repeat(np.arange(times), len(table)).astype(np.int64)
    keys = np.array([f"{key}/{turn}" for key, turn in zip(copied.keys, repeat, strict=True)], dtype=np.str_)
    values = {each.name: getattr(copied, each.name) for each in fields(copied)}
    return Table(**{**values, "keys": keys, "repeat": repeat})
