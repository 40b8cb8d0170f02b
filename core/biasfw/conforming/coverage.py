"""Which categories, languages and targets have items, and where there are holes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from biasfw.conforming.shared import here, measure, scored
from biasfw.document import child
from biasfw.phrases import listed, many

if TYPE_CHECKING:
    from biasfw.validating.inspection import Inspected, Split

_FEW_CLUSTERS = 10  # below which a slice is greyed in reports
_UNEVEN = 4  # how many times larger the largest category may be


def check(seen: Inspected) -> None:
    """Add the table of every split, and its holes."""
    used = {told.seed.category for split in seen.splits for told in split.told}
    for index, category in enumerate(seen.document.value["categories"]):
        if category["key"] not in used and all(split.read for split in seen.splits):
            what = f"no item is about the category {category['key']!r}; write some, or remove it"
            seen.report.add("warning", seen.document, f"/categories/{index}/key", what)
    for split in here(seen):
        _split(seen, split)


def _split(seen: Inspected, split: Split) -> None:
    languages = list(dict.fromkeys(told.seed.language for told in split.told))
    cells = Counter((t.seed.category, t.seed.language, t.seed.target or "") for t in split.told)
    categories = Counter((t.seed.category, t.seed.language) for t in split.told)
    keys = list(dict.fromkeys(told.seed.category for told in split.told))
    rows = [[key, *(categories[key, tag] for tag in languages)] for key in keys]
    measure(seen, split, "coverage", rows, columns=["category", *languages])
    targets = sorted({target for _, _, target in cells if target})
    if targets:
        table = [
            [key, target, *(cells[key, tag, target] for tag in languages)]
            for key in keys
            for target in targets
            if any(cells[key, tag, target] for tag in languages)
        ]
        measure(seen, split, "targets", table, columns=["category", "target", *languages])
    pointer = child("/splits", split.name)
    absent = [tag for tag in split.bundle.manifest["languages"] if tag not in languages]
    if absent:
        what = f"split {split.name} has no items in {listed(absent)}; a comparison of languages leaves them out"
        seen.report.add("warning", seen.document, pointer, what)
    holes = [f"{key} in {tag}" for key in keys for tag in languages if not categories[key, tag]]
    if holes:
        what = f"split {split.name} has no items for {listed(holes)}; write them, or say in the datasheet why not"
        seen.report.add("warning", seen.document, pointer, what)
    lone = [f"{target} in {tag}" for target in targets for tag in languages if not _any(cells, tag, target)]
    if lone and len(languages) > 1:
        what = f"split {split.name} has no items about {listed(lone)}, which other languages have; write them"
        seen.report.add("warning", seen.document, pointer, what)
    _sizes(seen, split, pointer)


def _any(cells: Counter[tuple[str, str, str]], tag: str, target: str) -> bool:
    return any(cells[key] for key in cells if key[1:] == (tag, target))


def _sizes(seen: Inspected, split: Split, pointer: str) -> None:
    """Categories with few independent observations cannot be told apart."""
    sources: dict[str, set[str]] = {}
    for told in scored(split):
        sources.setdefault(told.seed.category, set()).add(told.seed.cluster or told.seed.source_id)
    small = [f"{key} {len(ids)}" for key, ids in sources.items() if len(ids) < _FEW_CLUSTERS]
    if small:
        what = f"split {split.name} has categories of fewer than {_FEW_CLUSTERS} clusters ({listed(small)})"
        seen.report.facts.append(f"{what}: they are shown greyed, and never ranked")
    sizes = [len(ids) for ids in sources.values()]
    if sizes and max(sizes) > _UNEVEN * min(sizes):
        what = f"split {split.name}: the largest category has {many(max(sizes), 'cluster')}, the smallest {min(sizes)}"
        seen.report.add("warning", seen.document, pointer, f"{what}; a mean over items is one over the largest")
