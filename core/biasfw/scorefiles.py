"""Where scores are kept: one file for each judge, selection and set of metrics, so that none replaces another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from biasfw.keys import sha256_json
from biasfw.plan import Plan

FOLDER = "scores"


def filters(plan: Plan) -> dict[str, Any]:
    """What was asked for that the whole benchmark with its own metrics is not; empty for that."""
    config, chosen = plan.config, plan.selected
    said: dict[str, Any] = {}
    if chosen.items < chosen.of:
        for name in ("languages", "categories"):
            if values := getattr(config, name):
                said[name] = sorted(values)
        if config.limit is not None:
            said["limit"] = config.limit
    if plan.protocol.repeats > 1:
        said["repeats"] = plan.protocol.repeats
    if not _is_usual(plan):
        said["metrics"] = [component.spec.name for component, _ in plan.metrics]
    return said


def file_name(plan: Plan, judge: str, keys: Sequence[str]) -> str:
    """``scores/<judge>.json`` for the whole benchmark, else ``scores/<judge>-<hash8>.json``.

    The hash covers the ``keys`` of the requests and the metrics: two ways to say the same selection share a file.
    """
    if not filters(plan):
        return f"{FOLDER}/{judge}.json"
    metrics = None if _is_usual(plan) else sorted(component.spec.name for component, _ in plan.metrics)
    return f"{FOLDER}/{judge}-{sha256_json([sorted(keys), metrics])[:8]}.json"


def _is_usual(plan: Plan) -> bool:
    return [component.spec.name for component, _ in plan.metrics] == [
        metric["use"] for metric in plan.bundle.manifest["metrics"]
    ]


def in_words(entry: Mapping[str, Any]) -> str:
    """An entry of ``scored`` in run.json: ``8 of 280 items, languages en, only label_share``."""
    said = entry.get("filters", {})
    parts = [str(entry.get("selection", ""))]
    parts += [", ".join(said["languages"])] if said.get("languages") else []
    parts += [", ".join(said["categories"])] if said.get("categories") else []
    parts += [f"{said['repeats']} repeats"] if said.get("repeats") else []
    parts += [f"only {', '.join(said['metrics'])}"] if said.get("metrics") else []
    return "; ".join(part for part in parts if part)
