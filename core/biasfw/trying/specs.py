"""Specs: a name that can be typed, a summary, options that can be checked, a class that is there."""

from __future__ import annotations

import re
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from biasfw.contracts import Backend, Judge, Metric, Panel, Parser, Reader, Reporter
from biasfw.phrases import did_you_mean
from biasfw.plugins import Component, load_class
from biasfw.specs import JudgeSpec
from biasfw.trying.samples import FORMS

_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_CONTRACTS: dict[str, Any] = {
    "backend": Backend,
    "parser": Parser,
    "judge": Judge,
    "metric": Metric,
    "reader": Reader,
    "reporter": Reporter,
}


def check_spec(kind: str, component: Component) -> None:
    """What a user meets first: name, summary and options, and that the class behind them has its methods."""
    spec = component.spec
    assert _NAME.fullmatch(spec.name), f"the name {spec.name!r}: small letters, digits, hyphens and underscores"
    assert spec.summary.strip(), f"{kind} {spec.name} has no summary; one line for `biasfw list`"
    assert "\n" not in spec.summary, f"the summary of {kind} {spec.name} has more than one line"
    tasks: Any = getattr(spec, "tasks", ())
    assert not isinstance(tasks, str), f"tasks of {kind} {spec.name} is a text; write a set of them"
    strange = sorted(set(tasks) - set(FORMS))
    assert not strange, (
        f"{kind} {spec.name} is for the task {strange[0]!r}, and there is none; {did_you_mean(strange[0], FORMS)}"
    )
    options = dict(spec.options)
    try:
        Draft202012Validator.check_schema(options)
    except SchemaError as failure:
        raise AssertionError(f"the options of {kind} {spec.name} are no JSON Schema: {failure.message}") from None
    assert options.get("type") == "object", f"the options of {kind} {spec.name} must be an object"
    open_ended = options.get("additionalProperties", True)
    assert open_ended is not True, f"{kind} {spec.name} takes any option: a misspelt one would go unnoticed"
    for name, about in options.get("properties", {}).items():
        assert about.get("description"), f"option {name} of {kind} {spec.name} has no description"
        if "default" in about:
            wrong = [error.message for error in Draft202012Validator(about).iter_errors(about["default"])]
            assert not wrong, f"the default of option {name} does not fit: {wrong[0]}"
    found = load_class(component)
    contract = _CONTRACTS.get(kind)
    if isinstance(spec, JudgeSpec) and spec.combines:
        contract = Panel
    methods = [name for name in vars(contract) if not name.startswith("_") and callable(getattr(contract, name))]
    missing = [name for name in methods if contract is not None and not callable(getattr(found, name, None))]
    assert not missing, f"{spec.load} lacks {', '.join(missing)}"
