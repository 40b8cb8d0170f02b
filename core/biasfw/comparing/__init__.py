"""Comparing stored runs: paired by item and cluster, and only where both were measured alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from biasfw.comparing.claims import settled
from biasfw.comparing.columns import Columns, Floats, columns
from biasfw.comparing.measure import Shared, Unlike, measure, treatment
from biasfw.comparing.places import Place, places_in
from biasfw.comparing.preference import margins
from biasfw.comparing.questions import Asking, questions
from biasfw.comparing.ranks import ranks
from biasfw.comparing.results import RULE, TABLE, TABLE_RULE, Compared, Comparison, Difference, Pair, Question
from biasfw.errors import BiasfwError, UsageError
from biasfw.languages import load_packs
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
    found = compare_runs(runs, asking or Asking(), judge=judge, force_common=force_common)
    return replace(found, names={**found.names, "languages": _language_names(runs[0], plugins)})


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
    against = [_against(run, name) for run, name in zip(runs, judges, strict=True)]
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
            Compared(
                number,
                str(run.path),
                run.model,
                run.info["config"]["backend"],
                run.info["status"],
                name,
                against[number - 1],
            )
            for number, (run, name) in enumerate(zip(runs, judges, strict=True), start=1)
        ),
        pairs=tuple(pairs),
        ranks=tuple(ranks(pairs, against)),
        warnings=tuple(_warnings(against)),
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
    if a.bundle.manifest["task"] == "labels":
        sides = [places_in(run, judges[place]) for run, place in zip((a, b), places, strict=True)]
        asked = [replace(each, places=(_under(each, sides[0]), _under(each, sides[1]))) for each in asked]
    return Pair(here + 1, there + 1, tuple(treatment(a, b)), tuple(unlike), tuple(asked))


def _under(question: Question, places: Iterable[Place]) -> tuple[Place, ...]:
    return tuple(each for each in places if each.condition == question.condition)


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
    if a.name != b.name:
        raise MeasureError(
            f"{a.path} and {b.path} are of two benchmarks, whose scores cannot be compared; give runs of one benchmark",
            unlike,
        )
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


def _against(run: StoredRun, judge: str) -> tuple[str, ...]:
    """Why no score of a run says anything about bias; of positions it is told where the difference stands."""
    return tuple(remark for remark in run.remarks(judge) if not remark.startswith("position"))


def _warnings(against: Sequence[Sequence[str]]) -> Iterable[str]:
    for number, remarks in enumerate(against, start=1):
        for remark in remarks:
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


def _language_names(run: StoredRun, plugins: Plugins) -> dict[str, str]:
    """The English name of every language that has a pack; the tag stays for the others."""
    own = run.bundle.folder / "languages"
    folders = [folder for folder, _ in plugins.folders("language")]
    tags = run.bundle.manifest["languages"]
    packs = load_packs(folders, tags, overrides=own if own.is_dir() else None)
    found = {tag: packs.get(tag) or packs.get(tag.partition("-")[0]) for tag in tags}
    return {tag: pack.name for tag, pack in found.items() if pack is not None}
