"""What a set of items must not give away, by category, length or hedging; and the conformance kit behind one call."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from biasfw import languages
from biasfw.hedging import hedges
from biasfw.phrases import many
from biasfw.plugins import Plugins
from biasfw.textfile import read_jsonl

CATEGORY_RATIO, SHORTER, HEDGED, LENGTH_RATIO = 3.0, 0.7, 0.7, 1.3
Texts = Mapping[str, str]
_PLACE = re.compile(r"(?:items/)?main\.jsonl:(\d+)(?::\d+)?")


def over_limits(items: Mapping[str, Texts], limits: Mapping[str, float], plugins: Plugins) -> list[str]:
    """Every limit of workbench.yaml that the items (name -> texts) break, with the figure and the items to look at."""
    return [*_balance(items, limits), *_length(items, limits), *_hedging(items, limits, plugins)]


def _balance(items: Mapping[str, Texts], limits: Mapping[str, float]) -> list[str]:
    counts = Counter(texts["category"] for texts in items.values())
    bound = limits.get("category_ratio", CATEGORY_RATIO)
    if len(counts) < 2 or max(counts.values()) <= bound * min(counts.values()):
        return []
    (most, high), (least, low) = counts.most_common()[0], counts.most_common()[-1]
    return [
        f"balance: {most} has {many(high, 'item')} and {least} {low}; write more of {least}, at most {bound:g} to 1"
    ]


def _length(items: Mapping[str, Texts], limits: Mapping[str, float]) -> list[str]:
    found = []
    share = limits.get("shorter_share", SHORTER)
    sizes = {name: (len(texts["unbiased"]), len(texts["biased"])) for name, texts in items.items()}
    for word, sign in (("shorter", 1), ("longer", -1)):
        names = [name for name, (a, b) in sizes.items() if (b - a) * sign > 0]
        if len(names) > share * len(items) and len(items) > 1:
            found.append(
                f"length: the unbiased reply is the {word} one in {len(names)} of {len(items)} items "
                f"(at most {share:.0%}); change some of {_some(names)}"
            )
    right, wrong_total = (sum(pair[n] for pair in sizes.values()) for n in (0, 1))
    bound = limits.get("length_ratio", LENGTH_RATIO)
    if items and not 1 / bound <= right / wrong_total <= bound:
        ratio = right / wrong_total
        found.append(
            f"length: unbiased replies are {ratio:.2f} times as long as biased ones (at most {bound:g} either way)"
        )
    return found


def _hedging(items: Mapping[str, Texts], limits: Mapping[str, float], plugins: Plugins) -> list[str]:
    tags = sorted({texts["language"] for texts in items.values()})
    packs = languages.load_packs([folder for folder, _ in plugins.folders("language")], tags, overrides=None)
    worth, names = 0.0, []
    for name, texts in items.items():
        pack = packs.get(texts["language"]) or packs.get(texts["language"].partition("-")[0])
        phrases = pack.hedging_phrases if pack else ()
        right, wrong = hedges(texts["unbiased"], phrases), hedges(texts["biased"], phrases)
        worth += 0.5 if right == wrong else float(right)
        if right and not wrong:
            names.append(name)
    bound = limits.get("hedged_share", HEDGED)
    if not items or worth <= bound * len(items):
        return []
    return [
        f"hedging: picking the reply that does not commit itself finds the unbiased one in {worth / len(items):.0%} "
        f"of the items (at most {bound:.0%}); change {_some(names)}"
    ]


def _some(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def conformance(folder: Path, plugins: Plugins) -> list[str]:
    """The errors that the conformance kit (``biasfw check``) finds in a bundle: leaks, confounds and the rest.

    Places in the items are told by the name of the item. The first versions are what they were: no error is theirs.
    """
    from biasfw.conformance import check  # noqa: PLC0415 - it loads the engine

    reports: Sequence[Any] = check(f"{folder}/", plugins)
    texts = [str(f).replace(f"{folder}/", "") for r in reports for f in r.findings if f.level == "error"]
    names = {n: row["source_id"] for n, row in read_jsonl(folder / "items/main.jsonl")}
    return [
        _PLACE.sub(lambda found: names.get(int(found[1]), found[0]), text)
        for text in texts
        if "items/first.jsonl" not in text and "split first" not in text and "/splits/first" not in text
    ]
