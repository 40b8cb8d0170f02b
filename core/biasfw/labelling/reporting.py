"""Judges against people: confusion, and shares by the judge that are corrected by what people said.

Slices are slot x language x condition: a share over conditions, or over languages, is the share of nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from biasfw.codec import encode
from biasfw.labelling.drawing import RESERVED, Draw, beginning
from biasfw.labelling.keeping import load_draw, load_labels
from biasfw.prediction import Corrected, corrected_share
from biasfw.stats import Estimate, clustered_proportion
from biasfw.verdicts import Row, Verdicts, open_run

NOTE = "people are the measure here, not the truth: what they could not tell is `unclear`"
_UNREAD = "(not read)"


@dataclass(frozen=True, slots=True)
class _Slice:
    slot: str
    language: str
    condition: str
    rows: tuple[Row, ...]


def label_report(run: Path, draw_name: str | None = None, judges: Sequence[str] = ()) -> dict[str, Any]:
    """What people's labels say of every judge, as plain data.

    Raises:
        UsageError: no draw, several draws and none named, or no such judge.
        StoreError: no run, or a draw that was changed.
    """
    draw = load_draw(run, draw_name)
    kept = load_labels(run, draw)
    stored = open_run(run, judges)
    people = {row.key: kept.labels[row.id] for row in draw.rows if row.id in kept.labels}
    there = draw.known()
    rows = [row for row in stored.rows if beginning(row.key) in there]
    warnings = list(stored.warnings)
    later = sum(row.answered and row.category not in draw.left_out for row in stored.rows) - len(rows)
    if later:
        warnings.append(f"{later} responses came after the draw; what stands here is of the {len(rows)} before it")
    slices = list(_slices(rows, draw))
    return {
        "run": str(run),
        "benchmark": f"{stored.info['benchmark']['name']}:{stored.info['benchmark']['split']}",
        "demo": stored.info["benchmark"]["demo"],
        "draw": _about(draw),
        "labels": _progress(draw, people),
        "judges": [
            {"name": verdicts.name, "slices": [_judged(part, verdicts, people, draw) for part in slices]}
            for verdicts in stored.verdicts
        ],
        "warnings": warnings,
        "note": NOTE,
    }


def _about(draw: Draw) -> dict[str, Any]:
    return {
        "name": draw.name,
        "seed": draw.seed,
        "prompts": draw.prompts,
        "responses": len(draw.rows),
        "strata": [encode(stratum) for stratum in draw.strata],
    }


def _progress(draw: Draw, people: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """How many of the drawn rows have a label, by slot and language, and how many are complete."""
    counts = {
        slot: dict(Counter(row.language for row in draw.rows if slot in people.get(row.key, {}))) for slot in draw.slots
    }
    whole = sum(all(slot in people.get(row.key, {}) for slot in draw.slots) for row in draw.rows)
    return {"rows": len(draw.rows), "complete": whole, "by_slot_and_language": counts}


def _slices(rows: Sequence[Row], draw: Draw) -> Iterator[_Slice]:
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.language, row.condition].append(row)
    for slot in draw.slots:
        for (language, condition), members in groups.items():
            yield _Slice(slot, language, condition, tuple(members))


def _judged(part: _Slice, verdicts: Verdicts, people: Mapping[str, Mapping[str, str]], draw: Draw) -> dict[str, Any]:
    said = [row.shown(verdicts.labels.get(row.key, {}).get(part.slot)) for row in part.rows]
    truth = [row.shown(people.get(row.key, {}).get(part.slot)) for row in part.rows]
    confusion: dict[str, Counter[str]] = defaultdict(Counter)
    for judge, person in zip(said, truth, strict=True):
        if person is not None:
            confusion[person][judge or _UNREAD] += 1
    labelled = [place for place, person in enumerate(truth) if person is not None]
    right = clustered_proportion(
        [float(said[place] == truth[place]) for place in labelled], [part.rows[place].cluster for place in labelled]
    )
    return {
        "slot": part.slot,
        "language": part.language,
        "condition": part.condition,
        "rows": len(part.rows),
        "labelled": len(labelled),
        "confusion": {person: dict(counts) for person, counts in sorted(confusion.items())},
        "judge_agrees": _plain(right),
        "shares": [_share(part.rows, said, truth, label) for label in _indicators(draw, said, truth)],
    }


def _indicators(draw: Draw, *seen: Sequence[str | None]) -> list[str]:
    """The groups; for options of items, their roles (or keys, where they have none) that were said."""
    if draw.letters:
        return sorted({label for labels in seen for label in labels if label is not None} - set(RESERVED))
    return [label for label in draw.labels if label not in RESERVED]


def _share(rows: Sequence[Row], said: Sequence[str | None], truth: Sequence[str | None], label: str) -> dict[str, Any]:
    found = corrected_share(
        [float(judge == label) for judge in said],
        [np.nan if person is None else float(person == label) for person in truth],
        [row.cluster for row in rows],
        [row.category for row in rows],
    )
    pairs = Counter((judge == label, person == label) for judge, person in zip(said, truth, strict=True) if person)
    counts = {
        "both": pairs[True, True],
        "judge_only": pairs[True, False],
        "people_only": pairs[False, True],
        "neither": pairs[False, False],
    }
    return {"label": label, "confusion": counts, **_corrected(found)}


def _corrected(found: Corrected) -> dict[str, Any]:
    return {
        "judge": found.judge,
        "share": _plain(found.estimate),
        "labels_only": _plain(found.labels_only),
        "correction": found.correction,
        "labelled_prompts": found.prompts,
        "disagreeing_prompts": found.disagreements,
        **({"note": found.note} if found.note else {}),
    }


def _plain(found: Estimate) -> dict[str, Any]:
    document: dict[str, Any] = {"value": found.mean, "n": found.n, "clusters": found.clusters, "se": found.se}
    document["interval"] = encode(found.interval())
    return {**document, **({"reason": found.reason} if found.mean is None else {})}
