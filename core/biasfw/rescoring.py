"""Judging and scoring a stored run again: nothing is asked, and the model under test is never loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from biasfw.asking import Progress, Quiet, handle
from biasfw.config import RunConfig
from biasfw.engine import RunResult, conclude
from biasfw.errors import StoreError
from biasfw.keys import canonical
from biasfw.plan import Plan, make_plan
from biasfw.plugins import Plugins
from biasfw.store import RunDirectory, read_run


def reopen(path: Path, plugins: Plugins, **changes: Any) -> Plan:
    """The plan of a stored run, with some of its components changed.

    Raises:
        StoreError: there is no run in ``path``, or the benchmark's data or prompts have changed since.
    """
    info = path / "run.json"
    if not info.is_file():
        raise StoreError(f"{path} holds no run (no run.json); give a folder that biasfw run made")
    stored = read_run(info)
    if stored is None:
        raise StoreError(f"{info} is damaged; run the command that made it once more")
    config = RunConfig.from_mapping({**stored["config"], **changes})
    plan = make_plan(config, plugins)
    now = json.loads(canonical(plan.identity_inputs(stored["protocol"]["fingerprint"])))  # as it was stored
    changed = [name for name, value in stored["protocol"].items() if now.get(name) != value]
    if changed:
        raise StoreError(
            f"{plan.bundle.full_name} has changed since {path} was made ({', '.join(changed)}); "
            f"install the version {stored['benchmark']['version']} again, or run anew"
        )
    return plan


def judge(
    path: Path, judge: str | None = None, plugins: Plugins | None = None, progress: Progress | None = None
) -> RunResult:
    """Judge the stored responses of a run again, and score them. The model under test is never loaded."""
    plugins = plugins or Plugins.installed()
    return _rescore(path, reopen(path, plugins, **({"judge": judge} if judge else {})), progress or Quiet())


def score(
    path: Path, metrics: tuple[str, ...] | None = None, plugins: Plugins | None = None, progress: Progress | None = None
) -> RunResult:
    """Compute the scores of a run again, or only some metrics. Nothing is asked."""
    plugins = plugins or Plugins.installed()
    return _rescore(path, reopen(path, plugins, **({"metrics": metrics} if metrics else {})), progress or Quiet())


def _rescore(path: Path, plan: Plan, progress: Progress) -> RunResult:
    with RunDirectory(path) as directory:
        handles = [handle(request) for request in plan.requests()]
        return conclude(plan, directory, handles, progress)
