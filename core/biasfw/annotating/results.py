"""What people's answers show: accuracy with the two-way interval, agreement, doubtful items, a line beside models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from biasfw.annotating.besides import model_on_agreed
from biasfw.annotating.drawing import QUESTIONS, load_key
from biasfw.annotating.stored import load_answers
from biasfw.annotating.twoway import two_way_proportion
from biasfw.errors import UsageError
from biasfw.plugins import Plugins

THRESHOLD = 0.8
ATTENTIVE = 0.8  # of the controls
FEW = 10  # annotators below which each is listed


def results(
    folder: Path, *, threshold: float = THRESHOLD, runs: Sequence[Path] = (), plugins: Plugins | None = None
) -> dict[str, Any]:
    """Everything about an annotation, as plain data.

    Raises:
        UsageError: nothing was imported yet.
    """
    key, answers = load_key(folder), load_answers(folder)
    tasks = [task for task in key["tasks"] if task["task"] in answers]
    if not tasks:
        raise UsageError(f"nothing was answered in {folder} yet; biasfw annotate import {folder} FILE")
    every = [(task, answers[task["task"]]) for task in tasks]
    rows = [(task, answer) for task, answer in every if not task.get("control")]
    questions = {name: _question(name, rows, key) for name in QUESTIONS}
    agreed = {name: agreement_by_item(rows, name) for name in QUESTIONS}
    comments = _comments(every)
    return {
        "annotation": str(folder), "benchmark": key["benchmark"], "tasks": len(key["tasks"]), "answered": len(tasks),
        "annotators": len({task["annotator"] for task in tasks}), "questions": questions, "threshold": threshold,
        "controls": _controls([(task, answer) for task, answer in every if task.get("control")]),
        "doubtful": _doubtful(rows, agreed, comments, threshold),
        "comments": [{"source_id": item[0], "language": item[1], "said": said} for item, said in comments.items()],
        "reference_results": [row for name in QUESTIONS if (row := _reference(name, questions[name], key)) is not None],
        "models": [model_on_agreed(run, agreed, key["question_ids"], threshold, plugins) for run in runs],
    }  # fmt: skip


Item = tuple[str, str]  # source_id, language
Rows = Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]


def picked(task: Mapping[str, Any], answer: Mapping[str, Any], question: str) -> str | None:
    """The key of the reply that was picked; None if the question was skipped or left open."""
    said = answer.get(question)
    return task["order"]["ab".index(said)] if said in ("a", "b") else None


def _question(name: str, rows: Rows, key: Mapping[str, Any]) -> dict[str, Any]:
    usable = [(task, pick) for task, answer in rows if (pick := picked(task, answer, name)) is not None]
    skipped = sum(answer.get(name) == "skip" for _, answer in rows)
    people = sorted({task["annotator"] for task, _ in usable})
    document: dict[str, Any] = {
        "question_id": key["question_ids"][name], "accuracy": _accuracy(usable), "skipped": skipped,
        "categories": {
            category: _accuracy([row for row in usable if row[0]["category"] == category])
            for category in sorted({task["category"] for task, _ in usable})
        },
        **_agreements(usable),
    }  # fmt: skip
    if len(people) < FEW:
        own = {who: [row for row in usable if row[0]["annotator"] == who] for who in people}
        document["each"] = {
            who: {"n": len(found), "accuracy": sum(t["gold"] == p for t, p in found) / len(found)}
            for who, found in own.items()
        }
    return document


def _controls(rows: Rows) -> dict[str, Any]:
    """Who got the controls right: they are not part of any other figure. Below ``ATTENTIVE`` a name is given."""
    usable = [(task, pick) for task, answer in rows if (pick := picked(task, answer, "suitable")) is not None]
    people: dict[str, list[bool]] = defaultdict(list)
    for task, pick in usable:
        people[task["annotator"]].append(pick == task["gold"])
    doubtful = {
        who: {"right": sum(own), "n": len(own)} for who, own in people.items() if sum(own) < ATTENTIVE * len(own)
    }
    return {"accuracy": _accuracy(usable), "doubtful": dict(sorted(doubtful.items()))}


def _accuracy(usable: Sequence[tuple[Mapping[str, Any], str]]) -> dict[str, Any]:
    found = two_way_proportion(
        [float(task["gold"] == pick) for task, pick in usable],
        [f"{task['source_id']}/{task['language']}" for task, _ in usable],
        [task["annotator"] for task, _ in usable],
    )
    items = len({(task["source_id"], task["language"]) for task, _ in usable})
    people = len({task["annotator"] for task, _ in usable})
    return {
        "value": found.mean, "low": found.low, "high": found.high, "n": found.n, "items": items, "annotators": people,
        "method": found.method, "reason": found.reason,
    }  # fmt: skip


def _agreements(usable: Sequence[tuple[Mapping[str, Any], str]]) -> dict[str, dict[str, Any]]:
    """Krippendorff's alpha (nominal) and Gwet's AC1: did people find the same reply right? Units are items.

    Alpha is near 0 where nearly everybody is right, however well they agree; AC1 is not (Gwet 2008).
    """
    import numpy as np  # noqa: PLC0415 - loads late

    from biasfw.agreement import MISSING, gwet_ac1, krippendorff_alpha  # noqa: PLC0415

    items = {each: n for n, each in enumerate(dict.fromkeys((t["source_id"], t["language"]) for t, _ in usable))}
    people = {each: n for n, each in enumerate(dict.fromkeys(t["annotator"] for t, _ in usable))}
    codes = np.full((max(len(people), 1), max(len(items), 1)), MISSING, dtype=np.int64)
    for task, pick in usable:
        codes[people[task["annotator"]], items[task["source_id"], task["language"]]] = int(pick == task["gold"])
    document = {}
    for name, coefficient in (("alpha", krippendorff_alpha), ("ac1", gwet_ac1)):
        found = coefficient(codes, np.arange(codes.shape[1]))
        span = {"low": found.interval.low, "high": found.interval.high}
        document[name] = {"value": found.value, **span, "reason": found.reason or found.interval.reason}
    return document


def agreement_by_item(rows: Rows, question: str) -> dict[Item, float]:
    """Item -> the share of those who answered that picked the right reply."""
    found: dict[Item, list[bool]] = defaultdict(list)
    for task, answer in rows:
        pick = picked(task, answer, question)
        if pick is not None:
            found[task["source_id"], task["language"]].append(pick == task["gold"])
    return {item: sum(right) / len(right) for item, right in found.items()}


def _comments(rows: Rows) -> dict[Item, list[str]]:
    """Item -> what people said about it: items and controls."""
    found: dict[Item, list[str]] = defaultdict(list)
    for task, answer in rows:
        if answer.get("comment"):
            found[task["source_id"], task["language"]].append(answer["comment"])
    return dict(sorted(found.items()))


def _doubtful(
    rows: Rows, agreed: Mapping[str, Mapping[Item, float]], comments: Mapping[Item, list[str]], threshold: float
) -> list[dict[str, Any]]:
    """Items that too few people found right under either question, or that somebody flagged, with what was said."""
    flags: dict[Item, int] = defaultdict(int)
    for task, answer in rows:
        flags[task["source_id"], task["language"]] += bool(answer.get("harmful"))
    found = []
    for item, flagged in flags.items():
        shares = {name: agreed[name].get(item) for name in QUESTIONS}
        least = min((share for share in shares.values() if share is not None), default=None)
        if flagged or (least is not None and least < threshold):
            row = {
                "source_id": item[0], "language": item[1], "agreement": shares, "comments": comments.get(item, []),
                "harmful": flagged,
            }  # fmt: skip
            found.append((-1.0 if least is None else least, item, row))
    return [row for _, _, row in sorted(found, key=lambda each: each[:2])]


def _reference(name: str, question: Mapping[str, Any], key: Mapping[str, Any]) -> dict[str, Any] | None:
    """The row for the manifest's ``reference_results``: a human line, only beside the same question."""
    accuracy = question["accuracy"]
    if accuracy["value"] is None:
        return None
    interval = f", 95 % interval {100 * accuracy['low']:.1f} to {100 * accuracy['high']:.1f}" if accuracy["low"] else ""
    return {
        "metric": "accuracy", "value": round(100 * accuracy["value"], 1), "unit": "percent",
        "slice": {"over": f"human annotators ({accuracy['annotators']})", "question_id": question["question_id"]},
        "source": f"biasfw annotate, {key['benchmark']}, question {name}: {accuracy['n']} answers to "
        f"{accuracy['items']} items{interval}",
    }  # fmt: skip
