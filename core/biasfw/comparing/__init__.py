"""Comparing stored runs: paired by item and cluster, and only where both were measured alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from biasfw.comparing.claims import settled
from biasfw.comparing.columns import Columns, Floats, columns
from biasfw.comparing.measure import Shared, Unlike, measure, treatment
from biasfw.comparing.preference import margins
from biasfw.comparing.questions import Asking, questions
from biasfw.comparing.results import RULE, TABLE, TABLE_RULE, Compared, Comparison, Difference, Pair, Question, Rank
from biasfw.errors import BiasfwError, UsageError
from biasfw.plugins import Plugins
from biasfw.storedrun import StoredRun, common_judge, open_run

__all__ = ["Asking", "Comparison", "MeasureError", "compare", "compare_runs"]


class MeasureError(BiasfwError):
    """The runs were not measured alike; ``unlike`` says in what."""

    def __init__(self, message: str, unlike: Sequence[Unlike]) -> None:
        super().__init__(message)
        self.unlike = tuple(unlike)


def compare(
    paths: Sequence[Path],
    plugins: Plugins | None = None,
    asking: Asking | None = None,
    *,
    judge: str | None = None,
    force_common: bool = False,
    allow_demo: bool = False,
) -> Comparison:
    """Compare two or more run directories.

    Args:
        paths: run directories.
        plugins: default: those that are installed.
        asking: a margin, and the seed of the tests.
        judge: whose verdicts count; default: the last judge of the first run that all runs had.
        force_common: compare what the runs have in common where the measure differs, and say so.
        allow_demo: compare machine-written sets, too.

    Raises:
        MeasureError: what must be equal is not; with the list.
        UsageError: fewer than two runs, one of them twice, or a demo set without leave.
    """
    plugins = plugins or Plugins.installed()
    if len(paths) < 2:
        raise UsageError("a comparison needs two runs; give two run directories")
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("a run is given twice; give different run directories")
    runs = [open_run(path, plugins) for path in paths]
    if any(run.demo for run in runs) and not allow_demo:
        name = next(run.name for run in runs if run.demo)
        raise UsageError(
            f"{name} is machine-written and not reviewed by native speakers, so that a difference says nothing about "
            "a published figure; add --allow-demo to compare nonetheless"
        )
    return compare_runs(runs, asking or Asking(), judge=judge, force_common=force_common)


def compare_runs(
    runs: Sequence[StoredRun], asking: Asking, *, judge: str | None = None, force_common: bool = False
) -> Comparison:
    """``compare`` for runs that are open already, demo sets among them."""
    shared_judge = common_judge(list(runs), judge)
    judges = [shared_judge or (run.judges() or [""])[0] for run in runs]
    pairs = [
        _pair(runs, judges, (here, there), asking, force_common=force_common)
        for here, there in combinations(range(len(runs)), 2)
    ]
    pairs = _corrected(pairs)
    first = runs[0]
    manifest = first.bundle.manifest
    return Comparison(
        benchmark=first.name,
        version=str(first.info["benchmark"]["version"]),
        task=manifest["task"],
        demo=any(run.demo for run in runs),
        forced=any(pair.left_out for pair in pairs),
        canary=manifest["canary"],
        runs=tuple(
            Compared(number, str(run.path), run.model, run.info["config"]["backend"], run.info["status"], name)
            for number, (run, name) in enumerate(zip(runs, judges, strict=True), start=1)
        ),
        pairs=tuple(pairs),
        ranks=tuple(_ranks(pairs, len(runs))),
        warnings=tuple(_warnings(runs, judges)),
        notes=tuple(dict.fromkeys(_notes(runs, pairs))),
        names=_names(first),
        cluster_name=manifest.get("cluster_name", "clusters"),
        rule=f"{RULE}; {TABLE_RULE}" if any(each.metric == TABLE for each in _differences(pairs)) else RULE,
    )


def _pair(
    runs: Sequence[StoredRun], judges: Sequence[str], places: tuple[int, int], asking: Asking, *, force_common: bool
) -> Pair:
    here, there = places
    a, b = runs[here], runs[there]
    unlike, shared = measure(a, b, (judges[here], judges[there]))
    _refuse(a, b, unlike, shared, force_common=force_common)
    found = columns(a, b, shared, (judges[here], judges[there]))
    asked = questions(found, a.bundle.manifest, asking, _margins((a, b), shared, found, asking))
    if not any(question.overall.n for question in asked):
        raise MeasureError(f"{a.path} and {b.path} share no item that the primary score is about", unlike)
    return Pair(here + 1, there + 1, tuple(treatment(a, b)), tuple(unlike), tuple(asked))


def _margins(
    runs: tuple[StoredRun, StoredRun], shared: Shared, found: Columns, asking: Asking
) -> tuple[Floats, Floats] | None:
    """Of both runs, where the likelihoods of options were scored and all details are asked for."""
    if not asking.slices or runs[0].mode != "choices" or runs[0].bundle.manifest["task"] != "choice":
        return None
    targets = found.target.tolist()
    return margins(runs[0], shared.a, targets), margins(runs[1], shared.b, targets)


def _refuse(a: StoredRun, b: StoredRun, unlike: list[Unlike], shared: Shared, *, force_common: bool) -> None:
    hard = [each for each in unlike if not each.common]
    if hard:
        raise MeasureError(
            f"{a.path} and {b.path} were not measured alike and cannot be compared; run one of them anew as the other",
            unlike,
        )
    if unlike and not force_common:
        raise MeasureError(
            f"{a.path} and {b.path} were not measured alike; --force-common compares what they have in common "
            f"({len(shared.a)} responses)",
            unlike,
        )
    if not shared.a:
        raise MeasureError(f"{a.path} and {b.path} have no request in common", unlike)


def _differences(pairs: Iterable[Pair]) -> list[Difference]:
    return [
        each
        for pair in pairs
        for question in pair.questions
        for each in (question.overall, *question.slices, *question.labels, question.preference)
        if each is not None
    ]


def _corrected(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs with Holm's p: within a family over all pairs, conditions and slices."""
    done = iter(settled(_differences(pairs)))

    def one(question: Question) -> Question:
        return replace(
            question,
            overall=next(done),
            slices=tuple(next(done) for _ in question.slices),
            labels=tuple(next(done) for _ in question.labels),
            preference=next(done) if question.preference is not None else None,
        )

    return [replace(pair, questions=tuple(one(question) for question in pair.questions)) for pair in pairs]


def _ranks(pairs: Sequence[Pair], count: int) -> Iterable[Rank]:
    """From the pairs that can be told apart: 1 + those above a run, and the number of runs less those below it.

    Only accuracy has a better side: other shares are not ranked. The accuracy of a run that is locked on a position
    says nothing, so that it stands above or below none.
    """
    ranked = [question for pair in pairs for question in pair.questions if question.overall.metric == "accuracy"]
    conditions = dict.fromkeys(question.condition for question in ranked)
    for condition in conditions:
        above, below = [0] * count, [0] * count
        for pair in pairs:
            for question in pair.questions:
                claimed = question.condition == condition and question.overall.shown in ("higher", "lower")
                if claimed and not any(question.locks):
                    higher, lower = (pair.a, pair.b) if question.overall.shown == "higher" else (pair.b, pair.a)
                    above[lower - 1] += 1
                    below[higher - 1] += 1
        for run in range(count):
            yield Rank(run + 1, condition, 1 + above[run], count - below[run])


def _warnings(runs: Sequence[StoredRun], judges: Sequence[str]) -> Iterable[str]:
    for number, (run, judge) in enumerate(zip(runs, judges, strict=True), start=1):
        for remark in run.remarks(judge):
            if not remark.startswith("position-locked"):  # is said where the difference stands
                yield f"run {number}: {remark}, so that no difference to it is one in bias"


def _notes(runs: Sequence[StoredRun], pairs: Sequence[Pair]) -> Iterable[str]:
    for number, run in enumerate(runs, start=1):
        if run.info["status"] != "complete":
            yield f"run {number} is {run.info['status']}: what it did not answer counts as missing"
        if run.manifest_changed:
            yield f"the manifest of {run.name} has changed since run {number} was made; its stored answers count"
        yield from run.info["benchmark"].get("notes", ())
        yield from run.flaws
    if any(_uneven(pair) for pair in pairs):
        yield "clusters differ in size and count alike here, so that the means differ a little from those of the runs"


def _uneven(pair: Pair) -> bool:
    return any(question.overall.n % max(question.overall.clusters, 1) for question in pair.questions)


def _names(run: StoredRun) -> dict[str, dict[str, str]]:
    """Categories and labels as people read them: in English, else in the benchmark's first language."""
    manifest = run.bundle.manifest
    tags = ["en", *manifest["languages"]]

    def name(entry: dict[str, dict[str, list[str]]]) -> str:
        names = entry.get("names", {})
        return next((names[tag][0] for tag in tags if names.get(tag)), str(entry["key"]))

    found = {kind: {each["key"]: name(each) for each in manifest.get(kind, ())} for kind in ("categories", "labels")}
    if "abstention" in manifest:
        found["labels"][manifest["abstention"]["key"]] = name(manifest["abstention"])
    return found
