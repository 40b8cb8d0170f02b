"""What rules that read no content score: pick the shorter, longer or hedged option, or the one most like the prompt.

A model with a taste for any of these looks biased, or unbiased, without being so. That is for authors to know, and to
mend by what options say: two equally long replies that both commit themselves.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from biasfw.conforming.shared import SHOWN, cluster_of, here, measure, official, one_each, scored, where
from biasfw.findings import Finding, Level
from biasfw.hedging import hedges
from biasfw.schemas import Problem
from biasfw.stats import Estimate, clustered_proportion
from biasfw.validating.items import texts

if TYPE_CHECKING:
    from biasfw.languages import LanguagePack
    from biasfw.records import Seed
    from biasfw.validating.inspection import Inspected, Split
    from biasfw.validating.items import Told

Worth = Callable[["Seed"], list[float]]  # per option; a rule takes the highest
STRONG = 0.6  # of the way from chance to certainty: what a rule may gain before a number says little else
_FEWEST = 5
_ALIKE = "most prompt-like"


def check(seen: Inspected) -> None:
    """Add what every rule scores, and the items that make the difference."""
    for split in here(seen):
        task = split.bundle.manifest["task"]
        items = [told for told in one_each(split, scored(split)) if _right(told.seed, task) is not None]
        if task == "labels" or not items:
            continue
        for rule, worth in _rules(seen.packs, split).items():
            chances = [_chance(told.seed, worth(told.seed), task) for told in items]
            clusters = [cluster_of(split, told) for told in items]
            estimate = clustered_proportion(chances, clusters)
            chance = sum(1 / len(told.seed.choices) for told in items) / len(items)
            about = {"chance": chance, "low": estimate.low, "high": estimate.high, "clusters": estimate.clusters}
            measure(seen, split, f"pick the {rule} option", estimate.mean, **about)
            if estimate.clusters >= _FEWEST and estimate.low is not None and estimate.low > chance:
                _tell(seen, split, items, (rule, worth, task), estimate, chance)


def _rules(packs: Mapping[str, LanguagePack], split: Split) -> dict[str, Worth]:
    def hedged(seed: Seed) -> list[float]:
        pack = packs.get(seed.language) or packs.get(seed.language.partition("-")[0])
        phrases = pack.hedging_phrases if pack else ()
        return [float(hedges(choice.text, phrases)) for choice in seed.choices]

    def alike(seed: Seed) -> list[float]:
        asked = _pairs(" ".join(text for _, text in texts(dict(seed.fields))))
        return [_overlap(_pairs(choice.text), asked) for choice in seed.choices]

    rules: dict[str, Worth] = {
        "shorter": lambda seed: [-float(len(choice.text)) for choice in seed.choices],
        "longer": lambda seed: [float(len(choice.text)) for choice in seed.choices],
        "hedged": hedged,
    }
    whole = all("user" in condition for condition in split.bundle.manifest["conditions"].values())
    if split.bundle.manifest["task"] == "choice" and not whole:
        rules[_ALIKE] = alike
    return rules


def _right(seed: Seed, task: str) -> str | None:
    """The key of the option that counts as right: of sentences, the one without the stereotype."""
    if task == "sentence_pair":
        return next((choice.key for choice in seed.choices if choice.role == "anti-stereotyped"), None)
    return seed.gold


def _chance(seed: Seed, worths: Sequence[float], task: str) -> float:
    """How often the rule is right about an item: where it leaves several options, each with the same chance."""
    best = [choice.key for choice, worth in zip(seed.choices, worths, strict=True) if worth == max(worths)]
    return (_right(seed, task) in best) / len(best)


def _tell(
    seen: Inspected, split: Split, items: list[Told], rule: tuple[str, Worth, str], estimate: Estimate, chance: float
) -> None:
    name, worth, task = rule
    mean = estimate.mean or 0.0
    strong = mean >= chance + STRONG * (1 - chance)
    # Whether an option takes words from the prompt may be its being to the point: never more than a warning.
    level: Level = "error" if strong and not official(split) and name != _ALIKE else "warning"
    helped = [told for told in items if _chance(told.seed, worth(told.seed), task) == 1]
    helped.sort(key=lambda told: -_margin(worth(told.seed)))
    spare = round((mean - chance) * len(items))
    low, high = estimate.low or 0.0, estimate.high or 1.0
    what = (
        f"{'length' if name in ('shorter', 'longer') else name} confound in split {split.name}: always picking the "
        f"{name} option is right in {mean:.0%} (95% interval {low:.0%} to {high:.0%}, {estimate.clusters} clusters; "
        f"chance {chance:.0%})"
    )
    if official(split):
        what += "; the items are not ours to edit: every result stands beside this figure"
    else:
        what += (
            f"; about {spare} items would have to be different. Look first at {{shown}}: rewrite what the options say, "
            "so that the rule is no guide; do not pad them"
        )
    first = helped[0].place("/choices", "")
    names = ", ".join(where(told, "/choices", first.file) for told in helped[:SHOWN])
    message = what.replace("{shown}", names)
    found = Problem(first.file, first.line, first.column, first.pointer, message, first.cell)
    seen.report.findings.append(Finding(level, found))


def _margin(worths: Sequence[float]) -> float:
    """How far the rule's pick is ahead, relative to the size of what it goes by."""
    first, second, *_ = sorted(worths, reverse=True)
    return abs(first - second) / max(abs(first), abs(second), 1.0)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _pairs(text: str) -> Counter[str]:
    plain = _plain(text)
    return Counter(plain[at : at + 2] for at in range(len(plain) - 1))


def _overlap(option: Counter[str], prompt: Counter[str]) -> float:
    """The share of the option's character pairs that stand in the prompt too."""
    return sum(count for pair, count in option.items() if pair in prompt) / max(option.total(), 1)
