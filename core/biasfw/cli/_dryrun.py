"""``biasfw run --dry-run``: the plan, and three prompts to look at. Neither model nor library is loaded."""

from __future__ import annotations

from itertools import islice
from typing import Any

from biasfw.cli._common import print_json, say
from biasfw.codec import encode
from biasfw.config import RunConfig
from biasfw.plan import Plan, make_plan
from biasfw.plugins import Plugins
from biasfw.records import Request

CHARACTERS_PER_TOKEN = 4  # a rough English figure; said to be rough where it is shown


def print_plan(config: RunConfig, plugins: Plugins, *, as_json: bool) -> None:
    """Print what a run would ask."""
    plan = make_plan(config, plugins)
    characters = requests = choices = 0
    for request in plan.requests():
        requests += 1
        characters += len(request_text(request))
        choices += len(request.choices)
    document = {
        "benchmark": plan.bundle.full_name,
        "demo": plan.bundle.demo,
        "mode": plan.protocol.mode,
        "conditions": list(plan.protocol.conditions),
        "selection": str(plan.selected),
        "notes": list(plan.notes),
        "clusters": plan.selected.clusters,
        "requests": requests,
        "choices_to_score": choices,
        "prompt_tokens_about": characters // CHARACTERS_PER_TOKEN,
        "new_tokens_at_most": requests * plan.protocol.sampling.max_tokens if plan.protocol.mode == "generate" else 0,
        "backend": plan.backend.spec.name,
        "backend_options": dict(plan.backend_options),
        "judge": plan.judge.spec.name,
        "metrics": [component.spec.name for component, _ in plan.metrics],
        "samples": [encode(request) for request in islice(plan.requests(), 3)],
    }
    if as_json:
        print_json(document)
    else:
        _print(document, plan)


def request_text(request: Request) -> str:
    """The prompt as one text."""
    return request.prompt if request.prompt is not None else "\n\n".join(m.content for m in request.messages)


def _print(document: dict[str, Any], plan: Plan) -> None:
    for name, value in document.items():
        if name not in ("samples", "notes"):
            text = ", ".join(map(str, value)) if isinstance(value, list) else value
            say(f"{name.replace('_', ' ')}: {text}")
    for note in plan.notes:
        say(f"note: {note}")
    for request in islice(plan.requests(), 3):
        say(f"\n--- {request.item_id}")
        say(request_text(request))
        for choice in request.choices[:2]:
            say(f"[choice {choice.key}] {choice.text!r}")
    say("\nNothing was asked. Token counts are rough (four characters a token).", err=True)
