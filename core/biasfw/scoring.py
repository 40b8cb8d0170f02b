"""The scoring stage: judgements become one column table, and metrics turn that into scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, cast, get_args

import numpy as np

from biasfw.asking import Handle
from biasfw.codec import encode
from biasfw.errors import BiasfwError
from biasfw.form import JOIN
from biasfw.hedging import hedges
from biasfw.judging import Judged
from biasfw.plan import Plan
from biasfw.records import Item, Outcome, Reading, Role, Score
from biasfw.specs import BackendSpec, MetricSpec
from biasfw.stats import CUT
from biasfw.store import RunDirectory
from biasfw.table import Floats, Table

_AXES = {"variant": "variants", "gold_position": "orders"}  # what a slice by it compares


def build_table(plan: Plan, directory: RunDirectory, handles: Sequence[Handle], judged: Judged) -> Table:
    """One row per selected request, in their order; a request without a response is an error row."""
    items = [plan.items[handle.item_id] for handle in handles]
    nothing = (Reading(Outcome.ERROR),) * len(judged.slots)
    rows = [judged.readings.get(handle.key, nothing) for handle in handles]
    labels = _labels(plan, items)
    order = np.zeros((len(items), len(labels)), dtype=np.int64)
    column = {key: index for index, key in enumerate(labels)}
    for row, item in enumerate(items):
        for position, key in enumerate(item.order, start=1):
            order[row, column[key]] = position
    repeats = [trial.repeat for trial in plan.selected.trials]
    found = _logprobs(directory, handles, labels) if plan.protocol.mode == "choices" else ((), None)
    keys, logprobs = found
    return Table(
        mode=plan.protocol.mode,
        keys=np.array([handle.key for handle in handles], dtype=np.str_),
        item=np.array([item.id for item in items], dtype=np.str_),
        source=np.array([item.source_id for item in items], dtype=np.str_),
        cluster=np.array([item.cluster for item in items], dtype=np.str_),
        pair=np.array([item.pair or "" for item in items], dtype=np.str_),
        variant=np.array([item.variant for item in items], dtype=np.str_),
        condition=np.array([item.condition for item in items], dtype=np.str_),
        language=np.array([item.language for item in items], dtype=np.str_),
        category=np.array([item.category for item in items], dtype=np.str_),
        gold=np.array([item.gold or "" for item in items], dtype=np.str_),
        repeat=np.array(repeats, dtype=np.int64),
        labels=labels,
        order=order,
        outcomes={
            s: np.array([str(row[i].outcome) for row in rows], dtype=np.str_) for i, s in enumerate(judged.slots)
        },
        values={s: np.array([row[i].value or "" for row in rows], dtype=np.str_) for i, s in enumerate(judged.slots)},
        choice_keys=keys,
        logprobs=logprobs,
        answer_language=None
        if plan.protocol.mode == "choices"
        else np.array([judged.languages.get(handle.key, "") for handle in handles], dtype=np.str_),
        **(_options(plan, items, labels) if plan.form.task != "labels" else {}),
    )


def _labels(plan: Plan, items: Sequence[Item]) -> tuple[str, ...]:
    """The labels of the form; under task choice the options of the items, in the order in which they first occur."""
    if plan.form.task == "labels":
        return tuple(label.key for label in plan.form.labels)
    return tuple(dict.fromkeys(choice.key for item in items for choice in item.choices))


def _options(plan: Plan, items: Sequence[Item], labels: Sequence[str]) -> dict[str, Any]:
    """What the options of each item are: roles, lengths and hedging, as ``Table`` says."""
    column = {key: index for index, key in enumerate(labels)}
    roles = {role: np.full(len(items), "", dtype=object) for role in get_args(Role)}
    lengths = np.zeros((len(items), len(labels)), dtype=np.int64)
    hedging = np.zeros((len(items), len(labels)), dtype=np.bool_)
    holds_hedge = cache(partial(_hedging, plan))
    for row, item in enumerate(items):
        for choice in item.choices:
            lengths[row, column[choice.key]] = len(choice.text)
            hedging[row, column[choice.key]] = holds_hedge(choice.text, item.language)
            if choice.role is not None:
                roles[choice.role][row] = choice.key
    return {
        "roles": {role: keys.astype(np.str_) for role, keys in roles.items()},
        "lengths": lengths,
        "hedges": hedging,
    }


def _hedging(plan: Plan, text: str, language: str) -> bool:
    pack = plan.context({}).pack(language)
    return pack is not None and hedges(text, pack.hedging_phrases)


def _logprobs(
    directory: RunDirectory, handles: Sequence[Handle], labels: Sequence[str]
) -> tuple[tuple[str, ...], Floats]:
    """Sums in nats by (joint) choice, in the order of ``labels`` whatever the presented order was."""
    found: list[dict[str, float]] = []
    for handle in handles:
        response = directory.answered(handle.key)
        scores = response.choice_logprobs if response is not None else ()
        found.append({s.key: s.sum for s in scores if s.sum is not None and math.isfinite(s.sum)})
    rank = {label: index for index, label in enumerate(labels)}
    keys = tuple(sorted({key for row in found for key in row}, key=lambda key: [rank[k] for k in key.split(JOIN)]))
    matrix = np.full((len(found), len(keys)), np.nan)
    column = {key: index for index, key in enumerate(keys)}
    for index, row in enumerate(found):
        for key, value in row.items():
            matrix[index, column[key]] = value
    return keys, matrix


def compute_scores(plan: Plan, table: Table) -> list[Score]:
    """Every score of every metric of the run.

    Raises:
        BiasfwError: a metric yielded something undefined without a reason (a bug in the metric, named).
    """
    scores = []
    lacks = cast("BackendSpec", plan.backend.spec).lacks
    control = np.isin(table.category, plan.form.controls)
    parts = {"items": table, "controls": table, "all": table}
    if control.any():
        parts.update(items=table.where(~control), controls=table.where(control))
    elif plan.form.controls:
        parts.update(controls=table.where(control))
    for (name, metric, rows), (component, _) in zip(plan.make_metrics(), plan.metrics, strict=True):
        spec = cast("MetricSpec", component.spec)
        for score in metric.compute(parts[rows]):
            if score.value is None and not score.reason:
                raise BiasfwError(f"metric {name} gave no value and no reason for {dict(score.slice)}; report this bug")
            if score.value is not None and not math.isfinite(score.value):
                raise BiasfwError(f"metric {name} gave {score.value} for {dict(score.slice)}; report this bug")
            scores.append(_known(_within(score, spec), spec, lacks))
    return scores


def _known(score: Score, spec: MetricSpec, lacks: Mapping[str, str]) -> Score:
    """``score``, or null with the reason where the backend's answers say nothing about what it needs."""
    needed = spec.requires | {_AXES[axis] for axis in score.slice if axis in _AXES}
    why = dict.fromkeys(lacks[name] for name in sorted(needed) if name in lacks)
    if not why:
        return score
    return replace(score, value=None, bounds=None, interval=None, reference=None, test=None, reason="; ".join(why))


def _within(score: Score, spec: MetricSpec) -> Score:
    """``score`` with its interval cut to the values that its metric declares as possible; whoever made the metric."""
    found = score.interval
    if spec.range is None or score.unit != spec.unit or score.value is None:
        return score
    least, most = spec.range
    if found is None or found.low is None or found.high is None or not least <= score.value <= most:
        return score
    if least <= found.low and found.high <= most:
        return score
    cut = replace(found, low=max(found.low, least), high=min(found.high, most), method=f"{found.method}; {CUT}")
    return replace(score, interval=cut)


def score_document(plan: Plan, judge: str, scores: Sequence[Score], outcomes: dict[str, Any]) -> dict[str, Any]:
    """What scores/*.json holds."""
    lacks = cast("BackendSpec", plan.backend.spec).lacks
    return {
        "schema_version": 1,
        "benchmark": plan.bundle.full_name,
        "demo": plan.bundle.demo,
        "selection": str(plan.selected),
        "notes": list(plan.notes),
        "judge": judge,
        "mode": plan.protocol.mode,
        **({"lacks": dict(lacks)} if lacks else {}),
        "outcomes": outcomes,
        "canary": plan.bundle.manifest["canary"],
        "scores": [encode(score) for score in scores],
    }
