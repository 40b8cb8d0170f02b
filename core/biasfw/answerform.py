"""The answer form of a benchmark: what an answer has to fill, with which labels, as its manifest says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from biasfw.errors import UsageError
from biasfw.form import Form, Label, Merge, Names, Slot


def _names(mapping: Mapping[str, Sequence[str]]) -> Names:
    return {language: tuple(names) for language, names in mapping.items()}


def make_form(manifest: Mapping[str, Any], conditions: Sequence[str], without: Sequence[str]) -> Form:
    """The answer form of a benchmark under ``conditions``, without the labels in ``without``.

    Raises:
        UsageError: a label to leave out does not exist, or fewer than two would stay.
    """
    if manifest["task"] != "labels":
        if without:
            raise UsageError(f"{manifest['name']} has options, not labels to leave out; give it without --without")
        return _options_form(manifest, conditions)
    keys = [label["key"] for label in manifest["labels"]]
    for name in without:
        if name not in keys:
            raise UsageError(f"{manifest['name']} has no label {name!r} to leave out; it has: {', '.join(keys)}")
    labels = [Label(x["key"], _names(x["names"])) for x in manifest["labels"] if x["key"] not in without]
    if len(labels) < 2:
        raise UsageError("at least two labels must stay; give --without fewer times")
    if "abstention" in manifest:
        labels.append(Label(manifest["abstention"]["key"], _names(manifest["abstention"]["names"]), abstains=True))
    present = {label.key for label in labels}
    merges = tuple(
        Merge(x["key"], tuple(x["labels"]), _names(x["names"]))
        for x in manifest.get("merges", ())
        if present.issuperset(x["labels"])
    )
    slots = tuple(
        Slot(x["key"], {condition: _names(names) for condition, names in x["headers"].items()})
        for x in manifest["slots"]
    )
    calibrate = manifest["protocols"].get("choices", {}).get("calibrate")
    return Form(
        task=manifest["task"],
        slots=slots,
        labels=tuple(labels),
        merges=merges,
        categories={x["key"]: _names(x["names"]) for x in manifest["categories"]},
        languages=tuple(manifest["languages"]),
        conditions=tuple(conditions),
        calibrate=calibrate if calibrate in conditions else None,
    )


def _options_form(manifest: Mapping[str, Any], conditions: Sequence[str]) -> Form:
    """The form of task ``choice``: label n is what stands for the option shown as the n-th, in every language.

    Nothing stands for the sentences of a ``sentence_pair``.
    """
    letters = manifest.get("letters", {})
    most: list[str] = max(letters.values(), key=len, default=[])
    labels = [
        Label(mark, {tag: (marks[place],) for tag, marks in letters.items() if place < len(marks)})
        for place, mark in enumerate(most)
    ]
    return Form(
        task=manifest["task"],
        slots=(Slot("choice"),),
        labels=tuple(labels),
        categories={x["key"]: _names(x["names"]) for x in manifest["categories"]},
        languages=tuple(manifest["languages"]),
        conditions=tuple(conditions),
        controls=tuple(manifest.get("controls", {}).get("categories", ())),
    )
