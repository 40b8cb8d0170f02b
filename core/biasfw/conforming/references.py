"""The reference models score what the manifest says they score: run for real, in a directory that is thrown away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from biasfw.conforming.shared import here, measure
from biasfw.document import child
from biasfw.errors import BiasfwError
from biasfw.phrases import are, listed, many

if TYPE_CHECKING:
    from biasfw.records import Score
    from biasfw.validating.inspection import Inspected, Split

BACKEND = "reference"
_ROUNDING = 1e-9


def check(seen: Inspected) -> None:
    """Run every model that a split declares something about, and compare."""
    for split in here(seen):
        expected, pointer = declared(split)
        if not expected:
            what = f"nothing is declared of what the reference models score on split {split.name}"
            way = "add `expected` with first, random, stereotyped and anti-stereotyped, so that a wrong score shows"
            seen.report.add("warning", seen.document, child("/splits", split.name), f"{what}; {way}")
            continue
        right = wrong = 0
        with TemporaryDirectory(prefix="biasfw-check-") as folder:
            for model, mode in dict.fromkeys((each["model"], each["mode"]) for each in expected):
                pair = model, mode
                wanted = [(i, each) for i, each in enumerate(expected) if (each["model"], each["mode"]) == pair]
                try:
                    scores = scores_of(seen, split, model, mode, Path(folder))
                except BiasfwError as failure:
                    what = f"the reference model {model} cannot be run in mode {mode}: {failure}"
                    seen.report.add("error", seen.document, f"{pointer}/{wanted[0][0]}", what)
                    wrong += len(wanted)
                    continue
                for index, each in wanted:
                    message = _unlike(each, scores)
                    if message:
                        seen.report.add("error", seen.document, f"{pointer}/{index}/value", message)
                    right, wrong = right + (not message), wrong + bool(message)
        measure(seen, split, "reference scores", right, declared=len(expected))
        if not wrong:
            seen.report.facts.append(
                f"split {split.name}: {many(right, 'score')} of reference models {are(right)} as declared"
            )


def scores_of(seen: Inspected, split: Split, model: str, mode: str, runs: Path) -> Sequence[Score]:
    """What a reference model scores on a split.

    Raises:
        BiasfwError: it cannot be run.
    """
    from biasfw.config import RunConfig  # noqa: PLC0415
    from biasfw.engine import run  # noqa: PLC0415 - the engine is only wanted here

    benchmark = f"{split.bundle.folder.absolute()}:{split.name}"
    return run(RunConfig(benchmark, BACKEND, model, mode=mode, runs=str(runs)), seen.kit.plugins).scores


def declared(split: Split) -> tuple[Sequence[Mapping[str, Any]], str]:
    """What is declared for a split, and where."""
    if "expected" in split.bundle.entry:
        return split.bundle.entry["expected"], f"{child('/splits', split.name)}/expected"
    return split.bundle.written.get("expected", ()), "/expected"


def meant(expected: Mapping[str, Any], scores: Sequence[Score]) -> list[Score]:
    """The scores that a declaration speaks of."""
    metric, part = expected["metric"], expected.get("slice", {})
    return [
        score
        for score in scores
        if score.metric == metric.partition("@")[0]
        and all(score.slice.get(key) == value for key, value in part.items())
        and set(score.slice) - set(part) <= {"merged"}
    ]


def of_all(found: Sequence[Score]) -> list[Score]:
    """What is declared is about all items; where a metric has no such denominator, about whatever it divides by."""
    return [score for score in found if score.denominator == "all"] or list(found)


def _unlike(expected: Mapping[str, Any], scores: Sequence[Score]) -> str:
    """How the scores differ from what is expected; "" if they do not."""
    metric, part = expected["metric"], expected.get("slice", {})
    named = f"{expected['model']} in mode {expected['mode']}"
    found = meant(expected, scores)
    if not found:
        there = [dict(score.slice) for score in scores if score.metric == metric]
        some = listed([str(each) for each in there][:3]) or "none"
        return f"{named} has no score of {metric} with the slice {dict(part)}; there are slices such as {some}"
    value, tolerance = expected["value"], expected.get("tolerance", 0.0) + _ROUNDING
    if value is None:
        answered = [score for score in found if score.denominator == "answered"] or found
        defined = [score.value for score in answered if score.value is not None]
        return f"{named} scores {defined[0]:g} here, expected none; mend the items, or this" if defined else ""
    for score in of_all(found):
        if score.value is None:
            return f"{named} has no value here ({score.reason}), expected {value:g}; mend the items, or this"
        if abs(score.value - value) > tolerance:
            what = f"{named} scores {score.value:.6g} ({score.denominator}) here, expected {value:g}"
            return f"{what} within {tolerance:.2g}; mend the items, or this"
    return ""
