"""Judging and scoring a stored run again: nothing is asked, and the model under test is never loaded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from biasfw.asking import Progress, Quiet, handle
from biasfw.bundles import MANIFEST
from biasfw.config import RunConfig
from biasfw.engine import RunResult, conclude
from biasfw.errors import DataError, StoreError, UsageError
from biasfw.juries import called
from biasfw.keys import canonical
from biasfw.phrases import listed
from biasfw.plan import Plan, make_plan
from biasfw.plugins import Plugins
from biasfw.runfiles import open_files
from biasfw.specs import JudgeSpec
from biasfw.store import RunDirectory


def reopen(path: Path, plugins: Plugins, *, ask: bool, **changes: Any) -> Plan:
    """The plan of a stored run, with some of its components changed. ``ask``: judges may ask their models.

    Raises:
        StoreError: there is no run in ``path``, or the benchmark's data or prompts have changed since.
        UsageError: a judge is to ask, and the run keeps only a part of what its model needs.
    """
    stored = open_files(path).info
    config = RunConfig.from_mapping({**stored["config"], **_places(path, stored["benchmark"]), **changes})
    if (Path(config.benchmark) / MANIFEST).is_file():  # a folder, whose default split need not be the one that was run
        config = replace(config, benchmark=f"{config.benchmark}:{stored['benchmark']['split']}")
    name = _stored_judge(config.judge, stored, plugins) if config.judge else None
    if name is not None and ask:
        _check_nothing_withheld(name, stored["judges"])
    jury = stored["judges"][name]["definition"] if name is not None else None
    try:
        plan = make_plan(config, plugins, jury)
    except UsageError as failure:
        if str(failure).startswith("unknown judge") and stored.get("judges"):
            raise UsageError(f"{failure}; the run was judged by {', '.join(stored['judges'])}") from failure
        raise
    except DataError as failure:
        folder = _folder(config.benchmark)
        if "folder" in stored["benchmark"] and not (Path(folder) / MANIFEST).is_file():
            raise StoreError(
                f"the benchmark of {path} is not at {folder} any more; give its folder with --benchmark"
            ) from failure
        raise
    now = json.loads(canonical(plan.identity_inputs(stored["protocol"]["fingerprint"])))  # as it was stored
    changed = [name for name, value in stored["protocol"].items() if now.get(name) != value]
    if changed:
        raise StoreError(
            f"{plan.bundle.full_name} has changed since {path} was made ({', '.join(changed)}); "
            f"install the version {stored['benchmark']['version']} again, or run anew"
        )
    return plan


def _stored_judge(name: str, stored: Mapping[str, Any], plugins: Plugins) -> str | None:
    """Name and hash of a judge that the run remembers, by these or by its name; None: it is to be looked up.

    Raises:
        UsageError: the run knows several judges of that name.
    """
    judges: Mapping[str, Any] = stored.get("judges", {})
    if name in judges:
        return name
    specs = [cast("JudgeSpec", c.spec) for c in plugins.components("judge") if c.spec.name == name]
    if Path(name).is_file() or any(not spec.roles and not spec.combines for spec in specs):
        return None
    bare = called(Path(name))
    members = {member for entry in judges.values() for member in entry.get("members", {}).values()}
    named = [each for each in judges if each.rpartition("-")[0] == bare]
    matches = [each for each in named if each not in members] or named
    if len(matches) > 1:
        raise UsageError(f"the run knows several judges called {bare!r}: {', '.join(matches)}; give one of them whole")
    return matches[0] if matches else None


def _check_nothing_withheld(name: str, judges: Mapping[str, Any]) -> None:
    """A model is not asked with half of its options: the default of the rest may be another server."""
    for each in (name, *judges[name].get("members", {}).values()):
        if each != name and each in judges:
            _check_nothing_withheld(each, judges)
        if withheld := judges.get(each, {}).get("withheld"):
            raise UsageError(
                f"run.json does not keep {listed(withheld)} of the model that judge {each} asks; "
                "give the judge's file again with --judge FILE.yaml"
            )


def _folder(benchmark: str) -> str:
    """``PATH`` of ``PATH:SPLIT``."""
    place, _, split = benchmark.rpartition(":")
    return place if place and "/" not in split and "\\" not in split else benchmark


def _places(path: Path, benchmark: Mapping[str, Any]) -> dict[str, str]:
    """Benchmark and data in folders, which were noted as seen from the run, where they still are."""
    found = {}
    for name, option in (("folder", "benchmark"), ("data", "data")):
        place = path / benchmark[name] if name in benchmark else None
        if place is not None and place.is_dir():
            found[option] = str(place.resolve())
    return found


def judge(
    path: Path,
    judge: str | None = None,
    plugins: Plugins | None = None,
    progress: Progress | None = None,
    **places: str | None,
) -> RunResult:
    """Judge the stored responses of a run again, and score them. The model under test is never loaded.

    ``benchmark`` and ``data`` say where its folders lie now.
    """
    plugins = plugins or Plugins.installed()
    plan = reopen(path, plugins, ask=True, **_given(judge=judge, **places))
    return _rescore(path, plan, progress or Quiet())


def score(
    path: Path,
    metrics: tuple[str, ...] | None = None,
    plugins: Plugins | None = None,
    progress: Progress | None = None,
    *,
    judge: str | None = None,
    **places: str | None,
) -> RunResult:
    """Compute the scores of a run again, or only some metrics. Nothing is asked.

    ``judge`` is one that has judged the run; ``benchmark`` and ``data`` say where its folders lie now.

    Raises:
        UsageError: the judge's model has not answered everything yet.
    """
    plugins = plugins or Plugins.installed()
    plan = reopen(path, plugins, ask=False, **_given(metrics=metrics, judge=judge, **places))
    return _rescore(path, plan, progress or Quiet(), ask_judges=False)


def _given(**changes: Any) -> dict[str, Any]:
    return {name: value for name, value in changes.items() if value}


def _rescore(path: Path, plan: Plan, progress: Progress, *, ask_judges: bool = True) -> RunResult:
    with RunDirectory(path) as directory:
        handles = [handle(request) for request in plan.requests()]
        return conclude(plan, directory, handles, progress, ask_judges=ask_judges)
