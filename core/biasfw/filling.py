"""`biasfw check --write`: what can be counted and computed of a benchmark is written into its files for the author.

Into the manifest: what the reference models score. Into the datasheet: a section with the counts. All other lines stay
as they are.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from biasfw import bundles
from biasfw.conforming import conform
from biasfw.conforming.references import declared, meant, of_all, scores_of
from biasfw.document import child
from biasfw.errors import BiasfwError, UsageError
from biasfw.findings import Measure
from biasfw.jsonlines import write_atomically
from biasfw.opening import unwritable
from biasfw.packcheck import Kit
from biasfw.phrases import many
from biasfw.textfile import read_text
from biasfw.validating.inspection import Inspected, Split, inspect
from biasfw.yamlfile import load_yaml

DATASHEET = "DATASHEET.md"
_BEGIN, _END = "<!-- counts: written by `biasfw check --write` -->", "<!-- end of counts -->"
_MODELS = ("first", "stereotyped", "anti-stereotyped")
_SCALAR = re.compile(r"[^\s,}\]#]+")
_NUMBERS = ("roles", "position of the right option", "pick the shorter option", "pick the longer option")
_NEW = """
# What models whose answers are known score here, as `biasfw check --write` computed it: is it what you meant?
expected:
"""


def fill(folder: Path, kit: Kit) -> list[str]:
    """Write what is known of the bundle in ``folder``; what was written, one line each.

    Raises:
        UsageError: there is no bundle.
        BiasfwError: it has errors, which come first, or a file cannot be written.
    """
    path = folder / bundles.MANIFEST
    if not path.is_file():
        raise UsageError(f"{folder} holds no {bundles.MANIFEST}; --write is for the folder of a benchmark")
    seen = inspect(folder, kit)
    if not seen.report.errors:
        conform(seen, without=("references",))
    if seen.report.errors:
        raise BiasfwError(f"{folder} has {many(seen.report.errors, 'error')}, so nothing was written; mend them first")
    told = []
    text = read_text(path)
    with TemporaryDirectory(prefix="biasfw-check-") as runs:
        for split in seen.splits:
            if split.told and "reader" not in split.bundle.entry:
                text, said = _references(seen, split, text, Path(runs))
                told += [f"{path}:{each}" for each in said]
    if told:
        _write(path, text)
    if counted := _datasheet(folder / DATASHEET, seen.report.measures):
        told.append(counted)
    return told


def _references(seen: Inspected, split: Split, text: str, runs: Path) -> tuple[str, list[str]]:
    """``text`` of the manifest with the scores of reference models on a split, and the lines that changed."""
    expected, pointer = declared(split)
    fresh = not expected
    if fresh and ("expected" in seen.document.value or split.name != seen.document.value["default_split"]):
        return text, []
    expected = expected or _wanted(split)
    scores: dict[tuple[str, str], Any] = {}
    told: list[str] = []
    lines = text.split("\n")
    for index, each in enumerate(expected):
        key = each["model"], each["mode"]
        if key not in scores:
            scores[key] = scores_of(seen, split, *key, runs)
        found = [score.value for score in of_all(meant(each, scores[key])) if score.value is not None]
        if not found:
            continue
        value = round(found[0], 6)
        if fresh:
            lines[-1] += (
                ("" if told or text.endswith("\n") else "\n") + (_NEW if not told else "") + _entry(each, value)
            )
            told.append(f" expected of {each['model']}: {value:g}")
            continue
        old = each["value"]
        if old is not None and math.isclose(found[0], old, abs_tol=each.get("tolerance", 0.0) + 1e-6):
            continue
        line, column = seen.document.position(child(f"{pointer}/{index}", "value"))
        row = lines[line - 1]
        if written := _SCALAR.match(row, column - 1):
            lines[line - 1] = f"{row[: column - 1]}{value:g}{row[written.end() :]}"
            told.append(
                f"{line}:{column}: {' in mode '.join(key)}: {written[0]} became {value:g}; is it what you meant?"
            )
    return "\n".join(lines), told


def _wanted(split: Split) -> list[dict[str, Any]]:
    """What to declare where nothing is: the headline of models without chance."""
    manifest = split.bundle.manifest
    mode, primary = manifest["default_mode"], manifest["primary"]
    part = dict(primary.get("slice", {}))
    part.setdefault("condition", manifest["protocols"][mode]["conditions"][0])
    return [{"model": model, "mode": mode, "metric": primary["metric"], "slice": part} for model in _MODELS]


def _entry(each: Mapping[str, Any], value: float) -> str:
    part = ", ".join(f"{name}: {json.dumps(text, ensure_ascii=False)}" for name, text in each["slice"].items())
    about = f"model: {each['model']}, mode: {each['mode']}, metric: {each['metric']}, slice: {{{part}}}"
    return f"  - {{{about}, value: {value:g}}}\n"


def _write(path: Path, text: str) -> None:
    """Replace the manifest, once what is written can be read again."""
    with TemporaryDirectory(prefix="biasfw-check-") as folder:
        trial = Path(folder) / path.name
        trial.write_text(text, encoding="utf-8", newline="")
        load_yaml(trial)
    _replace(path, text)


def _datasheet(path: Path, measures: Sequence[Measure]) -> str:
    """Write the section with the counts; "" if it is there and says the same."""
    section = "\n".join([_BEGIN, "", *_counts(measures), _END])
    text = read_text(path) if path.is_file() else ""
    if _BEGIN in text and _END in text:
        before, _, rest = text.partition(_BEGIN)
        new = before + section + rest.partition(_END)[2]
    else:
        new = f"{text.rstrip()}\n\n## Counts\n\n{section}\n".lstrip()
    if new == text:
        return ""
    _replace(path, new)
    return f"{path}: the counts of items, in a section of its own"


def _counts(measures: Sequence[Measure]) -> list[str]:
    lines = []
    for split in dict.fromkeys(measure.split for measure in measures):
        lines += [f"Split {split}:", ""]
        of_split = [measure for measure in measures if measure.split == split]
        for measure in of_split:
            if measure.name == "coverage" and measure.value:
                columns = measure.about["columns"]
                rows = [columns, ["---"] * len(columns), *measure.value]
                lines += [*(f"| {' | '.join(map(str, row))} |" for row in rows), ""]
        lines += [f"- {measure.name}: {_number(measure)}" for measure in of_split if measure.name in _NUMBERS]
        lines.append("")
    return lines


def _number(measure: Measure) -> str:
    if isinstance(measure.value, Mapping):
        return ", ".join(f"{name}: {each:.3g}" for name, each in measure.value.items())
    low, high = measure.about.get("low"), measure.about.get("high")
    interval = f" [{low:.3f}, {high:.3f}]" if low is not None and high is not None else ""
    return f"right in {measure.value:.3f}{interval}"


def _replace(path: Path, text: str) -> None:
    if path.is_symlink():
        raise BiasfwError(f"{path}: this is a link, which is not written through; put the file itself there")
    try:
        write_atomically(path, text.encode("utf-8"))
    except OSError as failure:
        raise BiasfwError(unwritable(path, failure)) from None
