"""The main path: configuration -> plan -> requests -> responses -> judgements -> scores -> result."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from biasfw import cautions, scorefiles
from biasfw.asking import Handle, Pending, Progress, Quiet, ask, handle
from biasfw.codec import decode
from biasfw.config import RunConfig
from biasfw.contracts import Backend
from biasfw.filedigests import beginning
from biasfw.judging import judge_responses
from biasfw.plan import Plan, make_plan
from biasfw.plugins import Plugins
from biasfw.records import Identity, Item, Request, Response, Score
from biasfw.runfiles import changed_since, read_scores
from biasfw.specs import BackendSpec
from biasfw.store import RunDirectory, choose_directory, relative, unlike


@dataclass(frozen=True)
class RunResult:
    """What a run gave: where it lies, what became of the responses, and the scores."""

    directory: Path
    status: str  # complete, incomplete
    outcomes: Mapping[str, Mapping[str, int]]  # slot -> outcome -> count
    scores: tuple[Score, ...]
    plan: Plan
    total: int  # responses that belong to the selection
    asked: int  # requests that were asked just now
    failed: int  # responses that are not there
    flags: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    samples: tuple[tuple[Item, Response], ...] = ()
    permanent: int = 0  # of the failed: asking again cannot help
    errors: Mapping[str, int] = field(default_factory=dict)  # message of a failure -> how often
    scores_file: str = ""  # within the directory
    identity: Mapping[str, Any] = field(default_factory=dict)  # what was loaded when the run was asked
    beside: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # other scores of the run: file -> about it


def run(config: RunConfig, plugins: Plugins | None = None, progress: Progress | None = None) -> RunResult:
    """Run a benchmark against a model; what is answered already is not asked again.

    Raises:
        BiasfwError: with one line that says what is wrong and what to do.
    """
    progress = progress or Quiet()
    plan = make_plan(config, plugins or Plugins.installed())
    backend = plan.make_backend()
    inputs = plan.identity_inputs(backend.fingerprint())
    base = Path(plan.config.runs) / plan.directory_name(inputs)
    with RunDirectory(choose_directory(base, fresh=config.fresh)) as directory:
        _begin(directory, plan, inputs, progress)
        handles = []
        for request in plan.requests():
            directory.add(plan.items[request.item_id], request)
            handles.append(handle(request))
        pending = [
            h for h in handles if h.key not in directory.responses.index and not directory.is_permanent_failure(h.key)
        ]
        if pending:
            progress.start("asking", len(handles), len(handles) - len(pending))
            _ask(plan, backend, pending, directory, progress)
        return conclude(plan, directory, handles, progress, asked=len(pending))


def _begin(directory: RunDirectory, plan: Plan, inputs: Mapping[str, Any], progress: Progress) -> None:
    progress.note(f"run directory: {directory.path}")
    why_new = None
    if plan.config.fresh:
        why_new = "a new run, as --fresh asks: no answer stored before is used"
    elif not directory.info:
        why_new = unlike(directory.path, inputs)
    for text in (*plan.warnings, *plan.notes, *([why_new] if why_new else [])):
        progress.note(text)
    _warn(directory, progress)
    benchmark = {
        "name": plan.bundle.name,
        "split": plan.bundle.split,
        "version": plan.bundle.manifest["version"],
        "demo": plan.bundle.demo,
        **plan.bundle.digests(plan.plugins),
        **({"notes": list(plan.notes)} if plan.notes else {}),
        **_places(directory, plan),
    }
    config = {k: v for k, v in asdict(plan.config).items() if v is not None and k not in ("fresh", "runs", "metrics")}
    config["backend_options"] = _open(plan, config["backend_options"])
    directory.save(
        status="running", benchmark=benchmark, config=config, protocol=dict(inputs), components=plan.components()
    )  # fmt: skip


def _places(directory: RunDirectory, plan: Plan) -> dict[str, str]:
    """Where a benchmark in a folder and official data lie, as seen from the run: no home directory is named."""
    folders = {
        "folder": plan.bundle.folder if plan.bundle.origin == "folder" else None,
        "data": Path(plan.config.data) if plan.config.data else None,
    }
    return {name: relative(path, directory.path) for name, path in folders.items() if path is not None}


def _open(plan: Plan, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that may be written down: what a backend marks as secret (``writeOnly``) stays out of run.json."""
    properties = plan.backend.spec.options.get("properties", {})
    return {name: value for name, value in options.items() if not properties.get(name, {}).get("writeOnly")}


def _warn(directory: RunDirectory, progress: Progress) -> None:
    """Say what the directory has to say, once."""
    while directory.warnings:
        progress.note(directory.warnings.pop(0))


def _ask(plan: Plan, backend: Backend, pending: list[Handle], directory: RunDirectory, progress: Progress) -> None:
    references: Callable[[Request], Mapping[str, str]] | None = None
    if cast("BackendSpec", plan.backend.spec).references:
        references = lambda request: plan.renderer.references(plan.items[request.item_id], request)  # noqa: E731

    def stored(response: Response, row: dict[str, Any]) -> None:
        progress.step("error" if response.error else "answered")
        plan.plugins.notify("biasfw_response_stored", progress.note, directory=directory.path, response=row)

    try:
        identity = backend.prepare()
        directory.check_identity(identity)
        _warn(directory, progress)
        for text in identity.notes:
            progress.note(text)
        plan.plugins.notify(
            "biasfw_run_started", progress.note, directory=directory.path, config=directory.info["config"]
        )  # fmt: skip
        try:
            ask(backend, Pending(directory, pending, references), directory, stored)
        finally:
            _learn(backend, directory)
    finally:
        backend.close()
        progress.finish()


def _learn(backend: Backend, directory: RunDirectory) -> None:
    """Keep what a backend found out while it was asked: parameters that a server refused, tokens, cost."""
    learned: Callable[[], Identity] | None = getattr(backend, "learned", None)
    if learned is not None:
        directory.learn(learned())


def conclude(
    plan: Plan,
    directory: RunDirectory,
    handles: list[Handle],
    progress: Progress,
    *,
    asked: int = 0,
    ask_judges: bool = True,
) -> RunResult:
    """Judge and score what is stored, write it down, and say how it ended."""
    from biasfw.scoring import build_table, compute_scores, score_document  # noqa: PLC0415 - numpy loads late

    judged = judge_responses(plan, directory, handles, progress, ask=ask_judges)
    _warn(directory, progress)
    outcomes = judged.outcome_counts(h.key for h in handles)
    failed = sum(h.key not in directory.responses.index for h in handles)
    status = "incomplete" if failed else "complete"
    scores = compute_scores(plan, build_table(plan, directory, handles, judged))
    name = judged.judge
    filters, file = scorefiles.filters(plan), scorefiles.file_name(plan, name, [h.key for h in handles])
    told = {
        "filters": filters,
        "flags": dict(judged.flags),
        "unbalanced": cautions.unbalanced((trial.item for trial in plan.selected.trials), plan.form),
        "answers": _answers(directory, name, progress),
    }
    document = {**score_document(plan, name, scores, outcomes), **told}
    directory.write_file(file, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    beside = {other: about for other, about in directory.info.get("scored", {}).items() if other != file}
    about = {"selection": str(plan.selected), "responses": len(handles), "status": status, "filters": filters}
    directory.save(
        status=status, outcomes=outcomes, selection=str(plan.selected), scored={**beside, file: about}
    )  # fmt: skip
    rows = document["scores"]
    plan.plugins.notify("biasfw_run_finished", progress.note, directory=directory.path, scores=rows)
    return RunResult(
        directory.path, status, outcomes, tuple(scores), plan, len(handles), asked, failed, dict(judged.flags),
        (*plan.notes, *directory.info.get("identity", {}).get("notes", ())), _samples(plan, directory, handles),
        *_failures(directory, handles), file, directory.info.get("identity", {}), beside,
    )  # fmt: skip


def _answers(directory: RunDirectory, judge: str, progress: Progress) -> Mapping[str, Any]:
    """What was judged: size and sha256 of the responses, which only grow at their end.

    Stored verdicts are kept. So what they were given on stays the mark, until they and their scores are removed; but
    where a damaged file was repaired, whose answers were asked for again.
    """
    known = [read_scores(file) for file in sorted((directory.path / scorefiles.FOLDER).glob("*.json"))]
    stale = changed_since(directory.path, [each for each in known if each is not None and each["judge"] == judge])
    if judge in stale and not directory.responses.repairs:
        progress.note(f"responses.jsonl was changed after {judge} had judged it: the stored verdicts are used")
        return stale[judge]
    return beginning(directory.path / "responses.jsonl")


def _failures(directory: RunDirectory, handles: list[Handle]) -> tuple[int, dict[str, int]]:
    """How many failures are permanent, and how often each message is among them all."""
    failed = [h.key for h in handles if h.key not in directory.responses.index and h.key in directory.failures.index]
    errors = [directory.failures.read(key)["error"] for key in failed]
    return sum(bool(error.get("permanent")) for error in errors), dict(Counter(error["message"] for error in errors))


def _samples(plan: Plan, directory: RunDirectory, handles: list[Handle]) -> tuple[tuple[Item, Response], ...]:
    """Two responses to look at, from different categories where there are any."""
    by_category: dict[str, Handle] = {}
    for h in handles:
        if h.key in directory.responses.index:
            by_category.setdefault(plan.items[h.item_id].category, h)
    chosen = list(by_category.values())[:2]
    return tuple((plan.items[h.item_id], decode(Response, directory.responses.read(h.key))) for h in chosen)
