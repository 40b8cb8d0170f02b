"""Many runs on one page: only what was measured alike stands in one table, and ties are shown as ties."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from biasfw.errors import BiasfwError, UsageError
from biasfw.keys import sha256_json
from biasfw.leaderboard.order import order
from biasfw.plugins import Plugins
from biasfw.storedrun import Record, StoredRun, open_run

_DEPTH = 3  # folders below the given one in which runs are looked for
_MEASURE = ("version", "data_sha256", "reader", "names_in", "shots", "conditions", "without", "mode")
_SUFFIX = re.compile(r"\d+|latest|preview")  # of the name of the same model at another date
_SUBJECT = ("prompt_style", "quantisation", "dtype")


@dataclass(frozen=True, slots=True)
class Entry:
    """A run in a table: its primary score under one condition and the ranks that it may have (None: not ranked)."""

    model: str
    backend: str
    about: str
    run: str
    value: float | None
    low: float | None
    high: float | None
    missing: float  # share of responses without an answer
    best: int | None = None
    worst: int | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Board:
    """Runs of one benchmark that were measured alike, under one condition."""

    benchmark: str
    title: str
    demo: bool
    condition: str
    metric: str
    judge: str
    mode: str
    reference: float | None
    n: int
    clusters: int
    cluster_name: str
    construct: str
    does_not_show: str
    canary: str
    ranked: tuple[Entry, ...]
    apart: tuple[tuple[str, tuple[Entry, ...]], ...]  # why they stand apart, and who
    order: str  # how they are ranked, or why they are not
    chance: str  # what chance alone gives, where it is not the reference; or ""


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The boards, those of official sets first, and what was left out."""

    boards: tuple[Board, ...]
    left_out: tuple[tuple[str, str], ...] = field(default_factory=tuple)  # folder, why
    flaws: tuple[str, ...] = ()  # what could not be read of the runs that are in it


def leaderboard(folder: Path, plugins: Plugins | None = None) -> Leaderboard:
    """Every run below ``folder`` that has scores of a whole benchmark.

    Raises:
        UsageError: there is no folder, or no run in it.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; give the one that biasfw run writes to (runs)")
    plugins = plugins or Plugins.installed()
    groups: dict[str, list[tuple[StoredRun, str, Record]]] = {}
    left_out: list[tuple[str, str]] = []
    paths = list(_runs(folder))
    for path in paths:
        try:
            run = open_run(path, plugins)
        except BiasfwError as failure:
            left_out.append((str(path), str(failure)))
            continue
        judge = (run.judges() or [""])[0]
        document = run.whole(judge)
        if document is None:
            left_out.append((str(path), "no scores of the whole benchmark"))
            continue
        groups.setdefault(_measure(run, judge), []).append((run, judge, document))
    if not paths:
        raise UsageError(f"{folder} holds no run; give the folder that biasfw run writes to (runs)")
    boards = [board for group in groups.values() for board in _boards(group)]
    boards.sort(key=lambda board: (board.demo, board.benchmark, board.mode, board.condition))
    flaws = (flaw for group in groups.values() for run, _, _ in group for flaw in run.flaws)
    return Leaderboard(tuple(boards), tuple(left_out), tuple(flaws))


def _runs(folder: Path, depth: int = 0) -> Iterator[Path]:
    if (folder / "run.json").is_file():
        yield folder
    elif depth < _DEPTH:
        for each in sorted(folder.iterdir()):
            if each.is_dir() and not each.is_symlink():
                yield from _runs(each, depth + 1)


def _measure(run: StoredRun, judge: str) -> str:
    """Equal where runs were measured alike; templates are compared by their hash."""
    return sha256_json([run.name, run.demo, judge, [run.protocol.get(name) for name in (*_MEASURE, "frames")]])


def _boards(group: Sequence[tuple[StoredRun, str, Record]]) -> Iterator[Board]:
    first = group[0][0]
    manifest = first.bundle.manifest
    scores = [dict(_primary(run, document)) for run, _, document in group]
    for condition in dict.fromkeys(name for found in scores for name in found):
        if not manifest["conditions"].get(condition, {}).get("valued", True):
            continue
        members = [(run, judge, found[condition]) for (run, judge, _), found in zip(group, scores, strict=True)
                   if condition in found]  # fmt: skip
        yield _board(members, condition, manifest)


def _board(members: Sequence[tuple[StoredRun, str, Record]], condition: str, manifest: Record) -> Board:
    kept: list[tuple[StoredRun, str, Record]] = []
    apart: dict[str, list[Entry]] = {}
    for run, judge, score in members:
        why = _why_apart(run, judge, manifest)
        if why is None:
            kept.append((run, judge, score))
        else:
            apart.setdefault(why, []).append(_entry(run, judge, score))
    ordered = order(kept, condition)
    entries = [_entry(run, judge, score, ordered.ranks.get(place)) for place, (run, judge, score) in enumerate(kept)]
    entries.sort(key=lambda each: (each.best is None, each.best or 0, each.worst or 0, each.model))
    first, judge, score = members[0]
    said = manifest["interpretation"]
    return Board(
        benchmark=first.name,
        title=manifest["title"],
        demo=first.demo,
        condition=condition,
        metric=_in_words(score),
        judge=judge,
        mode=first.mode,
        reference=score.get("reference"),
        n=score["n"],
        clusters=score["clusters"],
        cluster_name=manifest.get("cluster_name", "clusters"),
        construct=said.get("construct", ""),
        does_not_show=said.get("does_not_show", ""),
        canary=manifest["canary"],
        ranked=tuple(entries),
        apart=tuple((why, tuple(rows)) for why, rows in apart.items()),
        order=ordered.said,
        chance=_chance(score),
    )


def _primary(run: StoredRun, document: Record) -> Iterator[tuple[str, Record]]:
    """Condition -> the primary score, overall: over all responses where it is given so."""
    primary = run.bundle.manifest["primary"]
    wanted = primary.get("slice", {})
    for score in document["scores"][::-1]:  # the first in the document wins
        where = score.get("slice", {})
        same = score["metric"] == primary["metric"] and all(where.get(k) == v for k, v in wanted.items())
        if same and set(where) - set(wanted) <= {"condition", "scoring"} and _first_choice(score, document):
            yield str(where.get("condition", "")), score


def _first_choice(score: Record, document: Record) -> bool:
    """Over all responses, unless the metric is only given over the answered ones."""
    over = {each["denominator"] for each in document["scores"] if each["metric"] == score["metric"]}
    return bool(score["denominator"] == ("all" if "all" in over else next(iter(sorted(over)))))


def _chance(score: Record) -> str:
    """What chance alone gives for as many clusters; nothing where the value is of likelihoods, which are not drawn."""
    test = score.get("test") or {}
    if test.get("null_mean") is None or "scoring" in score.get("slice", {}):
        return ""
    return (
        f"Chance alone gives {100 * test['null_mean']:.1f} %, in 95 of 100 cases at most {100 * test['null_q95']:.1f} %"
    )


def _in_words(score: Record) -> str:
    where = [f"{name} {value}" for name, value in score.get("slice", {}).items() if name not in ("condition",)]
    return ", ".join([str(score["metric"]).replace("_", " "), *where])


def _entry(run: StoredRun, judge: str, score: Record, rank: tuple[int, int] | None = None) -> Entry:
    interval = score.get("interval") or {}
    outcomes = score.get("outcomes") or {}
    total = sum(outcomes.values())
    silent = sum(count for name, count in outcomes.items() if name not in ("answered", "abstained"))
    identity = run.info.get("identity", {})
    about = {"prompt_style": run.protocol.get("prompt_style"), **identity}
    sampling = run.protocol.get("sampling") or {}
    said = [str(about[name]) for name in _SUBJECT if about.get(name)]
    said += [f"temperature {sampling['temperature']:g}"] if "temperature" in sampling else []
    remarks = [*run.remarks(judge), *_named_alike(run)]
    remarks += ["some of its stored lines are damaged and were passed over"] if run.flaws else []
    return Entry(
        model=run.model,
        backend=run.info["config"]["backend"],
        about=", ".join(said),
        run=run.path.name,
        value=score.get("value"),
        low=interval.get("low"),
        high=interval.get("high"),
        missing=silent / total if total else 0.0,
        best=rank[0] if rank else None,
        worst=rank[1] if rank else None,
        remarks=tuple(remarks),
    )


def _why_apart(run: StoredRun, judge: str, manifest: Record) -> str | None:
    if run.info["config"]["backend"] == "reference":
        return "Fixed rules, no models: what they score shows what the number can mean"
    builders = [name for name in manifest["authorship"].get("models", ()) if _is_model(run.model, name)]
    if builders:
        return (
            f"Used while the benchmark was built ({', '.join(builders)}): items were chosen by what it answered, so "
            "that its score cannot be held beside the others"
        )
    if run.info["status"] != "complete":
        return "Not complete: some responses are missing"
    if any(remark.startswith("position-locked") for remark in run.remarks(judge)):
        return "Position-locked: one position is picked whatever stands there, so that accuracy says nothing about bias"
    return None


def _named_alike(run: StoredRun) -> list[str]:
    names = run.bundle.manifest["authorship"].get("models", ())
    own = _tokens(run.model)
    return [
        f"named like {name}, which was used while the benchmark was built"
        for name in names
        if own[: len(_tokens(name))] == _tokens(name) and not _is_model(run.model, name)
    ]


def _is_model(model: str, name: str) -> bool:
    """Whether ``model`` is ``name``, maybe at a date: ``openai/gpt-4o-2024-08-06`` is GPT-4o, ``gpt-4o-mini`` not."""
    own, other = _tokens(model), _tokens(name)
    return own[: len(other)] == other and all(_SUFFIX.fullmatch(each) for each in own[len(other) :])


def _tokens(model: str) -> list[str]:
    return [each for each in re.split(r"[^a-z0-9]+", re.split(r"[/\\]", model)[-1].lower()) if each]
