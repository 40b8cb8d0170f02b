"""Scores in the format of Every Eval Ever, schema 0.3.0 (github.com/evaleval/every_eval_ever, eval.schema.json).

One aggregate record per run; responses are in the other exports. What biasfw does not know (the organisation, who made
the model) is said to be unknown. Every number keeps its slice, denominator and reason in ``details``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from biasfw import __version__
from biasfw.errors import UsageError
from biasfw.keys import canonical
from biasfw.storedrun import Record, StoredRun

SCHEMA_VERSION = "0.3.0"


def document(run: StoredRun) -> dict[str, Any]:
    """The record of a run's last scores over the whole selection.

    Raises:
        UsageError: the run has no scores.
    """
    scores = run.scores()
    if not scores:
        raise UsageError(f"{run.path} has no scores; run: biasfw score {run.path}")
    # The whole benchmark by its own metrics goes before a part of it.
    latest = ([each for each in scores if not each.get("filters")] or scores)[-1]
    info, now = run.info, str(int(time.time()))
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{run.name}/{run.model}/{now}",
        "evaluation_timestamp": info["updated"],
        "retrieved_timestamp": now,
        "source_metadata": {
            "source_name": "biasfw",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            "additional_details": _texts(
                {
                    "canary": run.bundle.manifest["canary"],
                    "demo": run.demo or None,
                    "status": info["status"],
                    "selection": latest.get("selection"),
                    "judge": latest["judge"],
                    "notes": latest.get("notes"),
                }
            ),
        },
        "eval_library": {"name": "biasfw", "version": info["environment"].get("biasfw", __version__)},
        "model_info": _model(run),
        "evaluation_results": list(_results(run, latest)),
    }


def _model(run: StoredRun) -> dict[str, Any]:
    identity: Mapping[str, Any] = run.info.get("identity", {})
    kept = ("fingerprint", "architecture", "quantisation", "dtype", "device", "template_sha256")
    known = {name: identity[name] for name in kept if identity.get(name)}
    return {
        "name": run.model,
        "id": run.model,
        "inference_engine": {"name": run.info["config"]["backend"]},
        "additional_details": {"deployment_type": "unknown", "model_availability": "unknown", **_texts(known)},
    }


def _results(run: StoredRun, latest: Record) -> Iterator[dict[str, Any]]:
    """One result for every score that has a value; cells of category by language are left to the other exports."""
    source, generation = _source(run), _generation(run)
    crossed = {"category", "language"}
    valued = [
        score
        for score in latest["scores"]
        if score.get("value") is not None and not crossed <= score.get("slice", {}).keys()
    ]
    least: dict[str, float] = {}
    for score in valued:
        least[score["metric"]] = min(least.get(score["metric"], 0.0), score["value"])
    for score in valued:
        share = score["unit"] == "share"
        yield {
            "evaluation_name": run.name,
            "source_data": source,
            "evaluation_timestamp": run.info["updated"],
            "metric_config": {
                "metric_id": f"biasfw.{score['metric']}",
                "metric_name": score["metric"],
                "metric_unit": score["unit"],
                "metric_parameters": {"denominator": score["denominator"], **score.get("slice", {})},
                "lower_is_better": score.get("direction") == "lower",
                "score_type": "continuous",
                # Differences of shares reach below 0.
                "min_score": (-1.0 if least[score["metric"]] < 0 else 0.0) if share else "-Infinity",
                "max_score": 1.0 if share else "Infinity",
                "additional_details": _texts(
                    {name: score.get(name) for name in ("direction", "ideal", "reference", "family")}
                ),
            },
            "score_details": _details(score),
            "generation_config": generation,
        }


def _details(score: Record) -> dict[str, Any]:
    interval = score.get("interval") or {}
    uncertainty: dict[str, Any] = {"num_samples": score["n"]}
    if interval.get("low") is not None:
        uncertainty["confidence_interval"] = {
            "lower": interval["low"],
            "upper": interval["high"],
            "confidence_level": interval.get("level", 0.95),
            "method": interval["method"],
        }
    said = ("clusters", "denominator", "reason", "outcomes", "bounds", "test")
    return {
        "score": score["value"],
        "details": _texts({name: score.get(name) for name in said}),
        "uncertainty": uncertainty,
    }


def _source(run: StoredRun) -> dict[str, Any]:
    benchmark, citation = run.info["benchmark"], run.bundle.manifest["citation"]
    about = _texts(
        {
            "version": benchmark["version"],
            "data_sha256": benchmark.get("data_sha256"),
            "machine_written": run.demo or None,
            "licence": run.bundle.manifest["licence"],
        }
    )
    if citation.get("url") and not run.demo:  # the address of a paper says nothing about a machine-written set
        return {"dataset_name": run.name, "source_type": "url", "url": [citation["url"]], "additional_details": about}
    return {"dataset_name": run.name, "source_type": "other", "additional_details": about}


def _generation(run: StoredRun) -> dict[str, Any]:
    sampling = run.protocol.get("sampling") or {}
    drawn = {name: sampling[name] for name in ("temperature", "top_p", "max_tokens") if name in sampling}
    said = {name: run.protocol.get(name) for name in ("mode", "prompt_style", "seed", "conditions", "shots")}
    return {"generation_args": drawn, "additional_details": _texts(said)}


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    """The schema wants texts: what is set, as a text or as JSON."""
    return {
        name: value if isinstance(value, str) else canonical(value)
        for name, value in values.items()
        if value is not None and value not in ({}, [])
    }


def text(found: Mapping[str, Any]) -> bytes:
    """The file."""
    return (json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode("utf-8", "backslashreplace")
