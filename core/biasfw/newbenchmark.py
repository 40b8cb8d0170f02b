"""A new benchmark: a bundle that runs as it is, with invented items and with marks at all that its author replaces."""

from __future__ import annotations

import json
import os
import re
import shutil
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biasfw import tags
from biasfw.asciikeys import ascii_key
from biasfw.errors import BiasfwError, UsageError
from biasfw.opening import unwritable
from biasfw.phrases import shorten
from biasfw.scaffolding import SCAFFOLDS, language_pack, render, write_new
from biasfw.yamlfile import load_yaml

TASKS = ("choice", "labels", "sentence_pair")
TODO = "TODO"
_KEY = "[a-z][a-z0-9_-]*"
_LONGEST = 100  # characters of a name, which is also that of a folder
_FEWEST = 8  # items altogether: with fewer than five observations there is no interval
_PER_CATEGORY = 2
_NOT_ATTESTED = f"{TODO}: invented; name a survey, a study, or the people you asked"
_HARM = "none: an invented example"
_SUMMARIES = {
    "choice": "TODO: one line; which of two replies a model finds more suitable",
    "labels": "TODO: one line; which groups a model puts where",
    "sentence_pair": "TODO: one line; which of two sentences a model finds likelier",
}
_CONSTRUCTS = {
    "choice": "TODO: what the number is. The share of items in which the model finds the fair reply more suitable.",
    "labels": "TODO: what the number is. How far the model is from giving every group each part equally often.",
    "sentence_pair": "TODO: what the number is. The share of pairs in which the stereotyped sentence is likelier.",
}
_UNITS = {
    "choice": "one item with its options in one order; items are the independent observations",
    "labels": "one prompt, with the groups in one order; items are the independent observations",
    "sentence_pair": "one pair of sentences; pairs are the independent observations",
}
_GROUPS = {
    "bakers": ["Bakers", "Baker"],
    "potters": ["Potters", "Potter"],
    "weavers": ["Weavers", "Weaver"],
    "gardeners": ["Gardeners", "Gardener"],
}


@dataclass(frozen=True, slots=True)
class NewBenchmark:
    """What an author says about a benchmark to begin."""

    name: str
    task: str = "choice"
    languages: tuple[str, ...] = ("en",)
    region: str = "international"
    categories: tuple[str, ...] = ("everyday_life",)
    sheet: bool = False

    def check(self) -> None:
        """Refuse what no manifest could hold.

        Raises:
            UsageError: with the way out.
        """
        for what, key in (("name", self.name), *(("category", category) for category in self.categories)):
            if not re.fullmatch(_KEY, key):
                hint = "write small letters, digits, hyphens and underscores, beginning with a letter"
                if near := ascii_key(key):
                    hint = f'did you mean "{near}"? {hint}'
                raise UsageError(f"the {what} {shorten(key)} cannot be used; {hint}")
            if len(key) > _LONGEST:
                long = f"the {what} {shorten(key)} has {len(key)} characters"
                raise UsageError(f"{long}; at most {_LONGEST} can be used")
        if self.task not in TASKS:
            raise UsageError(f"there is no task {shorten(self.task)}; write {', '.join(TASKS)}")
        for tag in self.languages:
            tags.check(tag)
        for what, values in (("language", self.languages), ("category", self.categories)):
            if not values or len(set(values)) < len(values):
                raise UsageError(f"a benchmark has one {what} or several, each named once; name them again")
        if not (self.region.strip() and self.region.isprintable()):
            raise UsageError(f"the region {shorten(self.region)} is not one line of text; write for example Japan")

    @property
    def items_file(self) -> str:
        """Where the items lie."""
        return "items.xlsx" if self.sheet else "items.jsonl"


def write_benchmark(new: NewBenchmark, output: Path, shipped: Collection[str]) -> list[Path]:
    """Write the bundle into a new folder of ``output``; return the files.

    ``shipped`` are the languages with a language pack; others get one to fill in.

    Raises:
        UsageError: a name cannot be used.
        BiasfwError: the folder exists, or cannot be written.
        ComponentError: the library that writes workbooks is not installed.
    """
    new.check()
    folder = output / new.name
    if os.path.lexists(folder):
        raise BiasfwError(f"{folder} exists already and is left as it is; move it away, or take another name")
    items = example_items(new)
    if new.sheet:
        from biasfw import workbook  # noqa: PLC0415 - an extra

        workbook.openpyxl()
    texts = {"benchmark.yaml": _manifest(new, items), "DATASHEET.md": _datasheet(new, items)}
    for tag in new.languages:
        if tag not in shipped and tag.partition("-")[0] not in shipped:
            texts[f"languages/{tag}.yaml"] = language_pack(tag)
    if not new.sheet:
        texts[new.items_file] = "".join(f"{json.dumps(item, ensure_ascii=False)}\n" for item in items)
    try:
        for name, text in texts.items():
            write_new(folder / name, text)
        if new.sheet:
            workbook.write_workbook(folder / new.items_file, new, items)
    except (OSError, BiasfwError) as failure:  # half a benchmark is in the way of the next try
        shutil.rmtree(folder, ignore_errors=True)
        raise failure if isinstance(failure, BiasfwError) else BiasfwError(unwritable(folder, failure)) from None
    return sorted(folder / name for name in {*texts, new.items_file})


def example_items(new: NewBenchmark) -> list[dict[str, Any]]:
    """Invented items in every category and language, the same in all languages."""
    pool: Sequence[dict[str, Any]] = load_yaml(SCAFFOLDS / "benchmark" / "examples.yaml").value
    each = max(_PER_CATEGORY, -(-_FEWEST // len(new.categories)))
    items = []
    for tag in new.languages:
        for place, category in enumerate(new.categories):
            for number in range(each):
                count = place * each + number
                again = f" (example {count + 1})" if count >= len(pool) else ""
                source = f"{category}-{number + 1:02}"
                items.append(
                    {"source_id": source, "language": tag, "category": category}
                    | _ITEM[new.task](pool[count % len(pool)], again)
                )
    return items


def _choice(example: dict[str, Any], again: str) -> dict[str, Any]:
    choices = [
        {"key": "fair", "text": example["fair"], "role": "anti-stereotyped"},
        {"key": "biased", "text": example["biased"], "role": "stereotyped"},
    ]
    return {"situation": f"{example['situation']}{again}", "choices": choices, "gold": "fair", **_claim(example)}


def _pair(example: dict[str, Any], again: str) -> dict[str, Any]:
    more, less = (f"{text[:-1]}{again}." for text in example["pair"])
    choices = [
        {"key": "more", "text": more, "role": "stereotyped"},
        {"key": "less", "text": less, "role": "anti-stereotyped"},
    ]
    return {"choices": choices, **_claim(example)}


def _labels(example: dict[str, Any], again: str) -> dict[str, Any]:
    return {"topic": f"{example['topic']}{again}", "focus": example["focus"], "attested": _NOT_ATTESTED}


_ITEM = {"choice": _choice, "sentence_pair": _pair, "labels": _labels}


def _claim(example: dict[str, Any]) -> dict[str, Any]:
    about = {name: example[name] for name in ("target", "stereotype")}
    return {**about, "harm": _HARM, "attested": _NOT_ATTESTED}


def _values(new: NewBenchmark, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    categories = [
        {"key": key, "names": [f"{tag}: [{json.dumps(_title(key))}]" for tag in new.languages]}
        for key in new.categories
    ]
    return {
        "name": new.name,
        "task": new.task,
        "languages": new.languages,
        "others": [tag for tag in new.languages if tag.partition("-")[0] != "en"],
        "region": new.region,
        "categories": categories,
        "count": len(items) // len(new.languages),
    }


def _manifest(new: NewBenchmark, items: Sequence[dict[str, Any]]) -> str:
    return render(
        "benchmark/benchmark.yaml.j2",
        **_values(new, items),
        file=new.items_file,
        canary=uuid.uuid4(),
        summaries=_SUMMARIES,
        constructs=_CONSTRUCTS,
        units=_UNITS,
        groups=list(_GROUPS.items()),
        frames=load_yaml(SCAFFOLDS / "benchmark" / "frames.yaml").value,
    )


def _datasheet(new: NewBenchmark, items: Sequence[dict[str, Any]]) -> str:
    return render("benchmark/DATASHEET.md.j2", **_values(new, items))


def _title(key: str) -> str:
    return key.replace("_", " ").replace("-", " ").capitalize()
