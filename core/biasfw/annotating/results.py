"""What people's answers show: accuracy with the two-way interval, agreement, doubtful items, a line beside models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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
    agreed = agreement_by_item(rows, "unbiased")
    return {
        "annotation": str(folder), "benchmark": key["benchmark"], "tasks": len(key["tasks"]), "answered": len(tasks),
        "annotators": len({task["annotator"] for task in tasks}), "questions": questions, "threshold": threshold,
        "controls": _controls([(task, answer) for task, answer in every if task.get("control")]),
        "doubtful": _doubtful(rows, agreed, threshold),
        "reference_results": [row for name in QUESTIONS if (row := _reference(name, questions[name], key)) is not None],
        "models": [_model(run, agreed, threshold, plugins) for run in runs],
    }  # fmt: skip


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
        "alpha": _alpha(usable),
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


def _alpha(usable: Sequence[tuple[Mapping[str, Any], str]]) -> dict[str, Any]:
    """Krippendorff's alpha, nominal: did two people find the same reply right? Units are items, raters are people."""
    import numpy as np  # noqa: PLC0415 - loads late

    from biasfw.agreement import MISSING, krippendorff_alpha  # noqa: PLC0415

    items = {each: n for n, each in enumerate(dict.fromkeys((t["source_id"], t["language"]) for t, _ in usable))}
    people = {each: n for n, each in enumerate(dict.fromkeys(t["annotator"] for t, _ in usable))}
    codes = np.full((max(len(people), 1), max(len(items), 1)), MISSING, dtype=np.int64)
    for task, pick in usable:
        codes[people[task["annotator"]], items[task["source_id"], task["language"]]] = int(pick == task["gold"])
    found = krippendorff_alpha(codes, np.arange(codes.shape[1]))
    interval = found.interval
    return {"value": found.value, "low": interval.low, "high": interval.high, "reason": found.reason or interval.reason}


def agreement_by_item(rows: Rows, question: str) -> dict[tuple[str, str], float]:
    """(source_id, language) -> the share of those who answered that picked the right reply."""
    found: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for task, answer in rows:
        pick = picked(task, answer, question)
        if pick is not None:
            found[task["source_id"], task["language"]].append(pick == task["gold"])
    return {item: sum(right) / len(right) for item, right in found.items()}


def _doubtful(rows: Rows, agreed: Mapping[tuple[str, str], float], threshold: float) -> list[dict[str, Any]]:
    """Items that too few people found right, or that somebody flagged, with what was said about them."""
    said: dict[tuple[str, str], list[str]] = defaultdict(list)
    flags: dict[tuple[str, str], int] = defaultdict(int)
    for task, answer in rows:
        item = task["source_id"], task["language"]
        flags[item] += bool(answer.get("harmful"))
        if answer.get("comment"):
            said[item].append(answer["comment"])
    found = [
        {"source_id": item[0], "language": item[1], "agreement": agreed.get(item), "comments": said[item],
         "harmful": flags[item]}
        for item in dict.fromkeys((task["source_id"], task["language"]) for task, _ in rows)
        if (item in agreed and agreed[item] < threshold) or flags[item]
    ]  # fmt: skip
    return sorted(found, key=lambda row: (row["agreement"] if row["agreement"] is not None else -1, row["source_id"]))


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


def _model(
    run: Path, agreed: Mapping[tuple[str, str], float], threshold: float, plugins: Plugins | None
) -> dict[str, Any]:
    """The accuracy of a run on the items that enough people found right, clustered by item."""
    from biasfw.runview import view_run  # noqa: PLC0415
    from biasfw.stats import clustered_proportion  # noqa: PLC0415

    view = view_run(run, plugins)
    judge, slot = view.judges[0], view.form.slots[0].key
    kept: list[tuple[float, str]] = []
    everything: list[tuple[float, str]] = []
    with view.rows() as rows:
        for row in rows:
            share = agreed.get((row.item.source_id, row.item.language))
            verdict = row.judgements.get(judge)
            if share is None or row.item.gold is None:
                continue
            value = verdict.slots[slot].value if verdict is not None else None
            one = (float(value == row.item.gold), row.item.source_id)
            everything.append(one)
            if share >= threshold:
                kept.append(one)
    document: dict[str, Any] = {"run": str(run), "judge": judge}
    for name, found in (("all", everything), ("agreed", kept)):
        estimate = clustered_proportion([v for v, _ in found], [c for _, c in found])
        document[name] = {
            "value": estimate.mean, "low": estimate.low, "high": estimate.high, "n": estimate.n,
            "items": estimate.clusters, "reason": estimate.reason,
        }  # fmt: skip
    return document
