"""The tables: which score of a run stands in them, and who is ranked in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from biasfw.leaderboard.entries import entry, why_apart
from biasfw.leaderboard.order import order
from biasfw.leaderboard.results import Board, Entry
from biasfw.storedrun import Record, StoredRun

Member = tuple[StoredRun, str, Record]  # a run, its judge, and its scores of the whole benchmark (or one of them)

_TITLES = {"label_uniformity": "distance from an even pick"}  # as reports have it: the name alone reads the other way


def boards_of(group: Sequence[Member]) -> Iterator[Board]:
    """One table for each condition that carries values, of runs that were measured alike."""
    manifest = group[0][0].bundle.manifest
    scores = [dict(_primary(run, document)) for run, _, document in group]
    for condition in dict.fromkeys(name for found in scores for name in found):
        if not manifest["conditions"].get(condition, {}).get("valued", True):
            continue
        members = [(run, judge, found[condition]) for (run, judge, _), found in zip(group, scores, strict=True)
                   if condition in found]  # fmt: skip
        yield _board(members, condition, manifest)


def _board(members: Sequence[Member], condition: str, manifest: Record) -> Board:
    kept: list[Member] = []
    apart: dict[str, list[Entry]] = {}
    for run, judge, score in members:
        why = why_apart(run, judge, score)
        if why is None:
            kept.append((run, judge, score))
        else:
            apart.setdefault(why, []).append(entry(run, judge, score))
    ordered = order(kept, condition)
    entries = [entry(run, judge, score, ordered.ranks.get(place)) for place, (run, judge, score) in enumerate(kept)]
    entries.sort(key=lambda each: (each.best is None, each.best or 0, each.worst or 0, each.model))
    first, judge, score = members[0]
    said = manifest["interpretation"]
    return Board(
        benchmark=first.name,
        title=manifest["title"],
        demo=first.demo,
        condition=condition,
        metric=in_words(score),
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
        chance=chance(score),
    )


def _primary(run: StoredRun, document: Record) -> Iterator[tuple[str, Record]]:
    """Condition -> the primary score, overall: over all responses where it is given so.

    Of likelihoods the calibrated score where there is one, as in the headline of a report.
    """
    primary = run.bundle.manifest["primary"]
    wanted = primary.get("slice", {})
    found = []
    for score in document["scores"][::-1]:  # the first in the document wins
        where = score.get("slice", {})
        same = score["metric"] == primary["metric"] and all(where.get(k) == v for k, v in wanted.items())
        if same and set(where) - set(wanted) <= {"condition", "scoring"} and _first_choice(score, document):
            found.append(score)
    for score in sorted(found, key=lambda each: each.get("slice", {}).get("scoring") == "calibrated"):
        yield str(score.get("slice", {}).get("condition", "")), score


def _first_choice(score: Record, document: Record) -> bool:
    """Over all responses, unless the metric is only given over the answered ones."""
    over = {each["denominator"] for each in document["scores"] if each["metric"] == score["metric"]}
    return bool(score["denominator"] == ("all" if "all" in over else next(iter(sorted(over)))))


def chance(score: Record) -> str:
    """What chance alone gives for as many clusters; nothing where the value is of likelihoods, which are not drawn."""
    test = score.get("test") or {}
    if test.get("null_mean") is None or "scoring" in score.get("slice", {}):
        return ""
    return (
        f"Chance alone gives {100 * test['null_mean']:.1f} %, in 95 of 100 cases at most {100 * test['null_q95']:.1f} %"
    )


def in_words(score: Record) -> str:
    """The measure of a table."""
    name = str(score["metric"])
    where = [f"{name} {value}" for name, value in score.get("slice", {}).items() if name not in ("condition",)]
    return ", ".join([_TITLES.get(name, name.replace("_", " ")), *where])
