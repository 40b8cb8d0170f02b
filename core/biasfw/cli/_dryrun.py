"""``biasfw run --dry-run``: the plan, and three prompts to look at. Neither model nor library is loaded."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, cast

from biasfw.cli._common import print_json, say
from biasfw.cli._forecast import ROUGH, Tokens, cost, forecast, missing_price
from biasfw.codec import encode
from biasfw.config import RunConfig
from biasfw.errors import DataError, StoreError
from biasfw.plan import Plan, make_plan
from biasfw.plugins import Plugins
from biasfw.records import Request
from biasfw.sitting import questions_per_response
from biasfw.specs import BackendSpec
from biasfw.store import read_run
from biasfw.textfile import read_jsonl

MEASURED = 500  # responses of a stored run that are looked at


def print_plan(config: RunConfig, plugins: Plugins, *, as_json: bool) -> None:
    """Print what a run would ask."""
    plan = make_plan(config, plugins)
    requests = choices = 0
    tokens = Tokens()
    for request in plan.requests():
        requests += 1
        tokens.add(request, request_texts(request))
        choices += len(request.choices)
    known = measured(plan)
    scored = plan.protocol.mode == "choices" and "choices" in cast("BackendSpec", plan.backend.spec).capabilities
    told = forecast(tokens, requests, known[0] if known else (), scored=scored)
    document = {
        "benchmark": plan.bundle.full_name,
        "demo": plan.bundle.demo,
        "mode": plan.protocol.mode,
        "conditions": list(plan.protocol.conditions),
        "languages": list(dict.fromkeys(trial.item.language for trial in plan.selected.trials)),
        "selection": str(plan.selected),
        "notes": list(plan.notes),
        "clusters": plan.selected.clusters,
        "requests": requests,
        "choices_to_score": choices,
        **told,
        **cost(told, plan.backend_options),
        "backend": plan.backend.spec.name,
        "backend_options": dict(plan.backend_options),
        "judge": plan.jury.name,
        "judge_models": list(_judge_models(plan, requests)),
        "metrics": [component.spec.name for component, _ in plan.metrics],
        "samples": [encode(request) for request in islice(plan.requests(), 3)],
    }
    if known:
        rows, run = known
        document["seconds_about"] = round(sum(row["seconds"] for row in rows) / len(rows) * requests)
        document["measured_in"] = str(run)
    if as_json:
        print_json(document)
    else:
        _print(document, plan)


def _judge_models(plan: Plan, responses: int) -> Iterator[dict[str, Any]]:
    """Who asks which model, and how much, if every response holds something to judge."""
    for seat in plan.jury.leaves:
        if seat.binding is not None:
            yield {
                "judge": seat.name,
                "backend": seat.binding.spec.name,
                "model": seat.binding.model,
                "questions_at_most": responses * questions_per_response(plan, seat),
            }


def measured(plan: Plan) -> tuple[list[dict[str, Any]], Path] | None:
    """The first responses of the newest stored run of the same model in the same mode that took time, and that run."""
    stem = plan.directory_name({}).rpartition("-")[0]
    found = sorted(Path(plan.config.runs).glob(f"{glob.escape(stem)}-*/run.json"), key=lambda p: p.stat().st_mtime)
    for path in reversed(found):
        try:
            info = read_run(path)
        except StoreError:  # of a newer biasfw
            continue
        if info is None or info.get("protocol", {}).get("mode") != plan.protocol.mode:
            continue
        if all(info["config"].get(name) == getattr(plan.config, name) for name in ("backend", "model")):
            rows = _timed(path.with_name("responses.jsonl"))
            if rows:
                return rows, path.parent
    return None


def _timed(path: Path) -> list[dict[str, Any]]:
    """The first responses that say how long they took; none if the file cannot be read."""
    try:
        rows = [row for _, row in islice(read_jsonl(path), MEASURED)] if path.is_file() else []
    except DataError:
        return []
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("seconds"), (int, float))]


def request_texts(request: Request) -> list[str]:
    """The prompt, or each message."""
    return [request.prompt] if request.prompt is not None else [message.content for message in request.messages]


def _print(document: dict[str, Any], plan: Plan) -> None:
    for name, value in document.items():
        if name not in ("samples", "notes", "judge_models"):
            text = ", ".join(map(str, value)) if isinstance(value, list) else value
            say(f"{name.replace('_', ' ')}: {text}")
    for asks in document["judge_models"]:
        model = f"{asks['backend']} {asks['model']}" if asks["model"] else asks["backend"]
        say(f"judge {asks['judge']} asks {model}: {asks['questions_at_most']} questions at most")
    for note in plan.notes:
        say(f"note: {note}")
    for request in islice(plan.requests(), 3):
        say(f"\n--- {request.item_id}")
        say("\n\n".join(request_texts(request)))
        for choice in request.choices[:2]:
            say(f"[choice {choice.key}] {choice.text!r}")
    if price := missing_price(plan.backend_options):
        say(
            f"\nThe cost is not told: {price} is missing; -B {price}=NUMBER is the price of a million tokens.", err=True
        )
    elif "cost_at_most" in document:
        judges = " What judges ask is not in it." if document["judge_models"] else ""
        say(f"\nThe cost is that of the prices given, in their currency.{judges}", err=True)
    say(f"\nNothing was asked. {ROUGH}", err=True)
