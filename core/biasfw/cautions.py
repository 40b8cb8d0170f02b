"""What stands against reading a number as it looks: one wording for the terminal, reports, leaderboards, comparisons.

Everything is told from the scores and from what their file says beside them, so that it holds for stored runs, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from biasfw.form import Form
from biasfw.phrases import listed, many
from biasfw.records import Item, Score

HALF = 0.5  # of the picks; from here on a position is named
UNEVEN = 0.1  # a label that stands this much more often at one place than at another, of an even share
NOT_RANKED = "the simultaneous intervals overlap"  # how label_rank says it
APART = "; apart: "  # then, as it goes on, the labels whose intervals do not: "a > b, c; b > c"
PLACES = "positions are not balanced in this selection: shares may hold effects of place"
RULES = (("shorter", "shorter"), ("longer", "longer"), ("hedged", "hedged"))
FAR_MODEL, FAR_RULE = 0.05, 0.1  # from chance, before a rule is held beside a model
_MEANS = (("per_token_differs", "token"), ("per_byte_differs", "byte"))


@dataclass(frozen=True, slots=True)
class Caution:
    """``short`` stands beside a number in a table, ``text`` is the whole; ``where`` is the slice that it is about."""

    short: str
    text: str
    where: Mapping[str, str] = field(default_factory=dict)


def positions(scores: Iterable[Score]) -> list[Caution]:
    """Positions of the list that take most picks of a slot, more than by chance: ``where`` names slot and condition.

    Told from ``position_rate`` over everything. A model that picks by position gives every group its even share, which
    looks like no bias at all.
    """
    found = []
    for score in scores:
        if score.metric != "position_rate" or {"category", "language"} & set(score.slice):
            continue
        if score.value is None or score.value <= HALF or not _more_than_even(score):
            continue
        where = {name: value for name, value in score.slice.items() if name != "position"}
        found.append(_taken(score.slice["position"], [score.value], where))
    return found


def overall(scores: Iterable[Score]) -> list[Caution]:
    """The same for a headline or a line of a table: once for each position, over slots and conditions."""
    shares: dict[str, list[float]] = {}
    slots: dict[str, list[str]] = {}
    for score in scores:
        if score.value is not None and positions([score]):
            shares.setdefault(score.slice["position"], []).append(score.value)
            slots.setdefault(score.slice["position"], []).append(score.slice.get("slot", ""))
    made = [(_taken(place, values), dict.fromkeys(slots[place])) for place, values in shares.items()]
    return [
        replace(each, text=f"{each.text} ({', '.join(names)})" if any(names) else each.text) for each, names in made
    ]


def _taken(place: str, shares: Sequence[float], where: Mapping[str, str] | None = None) -> Caution:
    low, high = f"{100 * min(shares):.1f}", f"{100 * max(shares):.1f}"
    said = f"{high} %" if low == high else f"{low} to {high} %"
    text = f"position {place} takes {said} of the picks: perhaps its place, not the group"
    return Caution(f"position {place} takes {said}", text, where or {})


def _more_than_even(score: Score) -> bool:
    """Whether the interval lies above an even pick; without an interval: whether the value does."""
    known = score.interval.low if score.interval is not None else None
    least = known if known is not None else score.value
    return score.reference is None or least is None or least > score.reference


def ranking(ranks: Sequence[Score], names: Mapping[str, str]) -> str:
    """What the scores ``label_rank`` of one slot can tell; ``names``: label -> how it is shown.

    Two groups may be told apart although no group stands above, or below, all others: those are named.
    """
    decided = {s.slice["rank"]: names.get(s.slice["label"], s.slice["label"]) for s in ranks if s.value is not None}
    open_ = [s for s in ranks if s.value is None]
    reason = next((s.reason or "" for s in open_), "")
    if open_ and not decided and NOT_RANKED not in reason:
        return f"no group stands out: {reason.removeprefix('cannot be ranked: ')}" if reason else "no group stands out"
    said = [f"{rank}: {name}" for rank, name in decided.items()] or ["no group stands out"]
    said += [f"no group is {s.slice['rank']}" for s in open_ if decided]
    apart = [_apart(part, names) for part in reason.partition(APART)[2].split("; ") if part]
    return "; ".join([*said, *([f"shown apart: {', '.join(apart)}"] if apart else [])])


def _apart(part: str, names: Mapping[str, str]) -> str:
    upper, _, lower = part.partition(" > ")
    return f"{names.get(upper, upper)} above {listed(names.get(key, key) for key in lower.split(', '))}"


def unbalanced(items: Iterable[Item], form: Form) -> list[str]:
    """The conditions in which a group stands at one place of the list clearly more often than at another."""
    orders: dict[str, Counter[tuple[str, int]]] = {}
    keys = [label.key for label in form.groups]
    for item in items:
        counts = orders.setdefault(item.condition, Counter())
        counts.update((key, place) for place, key in enumerate(item.order) if key in keys)
    return [condition for condition, counts in orders.items() if any(_uneven(counts, key, len(keys)) for key in keys)]


def _uneven(counts: Counter[tuple[str, int]], key: str, places: int) -> bool:
    found = [counts[key, place] for place in range(places)]
    return max(found) - min(found) > UNEVEN * sum(found) / len(found)


def otherwise(flags: Mapping[str, int], outcomes: Mapping[str, Mapping[str, int]]) -> list[str]:
    """How many answers by likelihood another mean would change; ``outcomes``: slot -> outcome -> count."""
    row: Mapping[str, int] = next(iter(outcomes.values()), {})
    scored = sum(row.values()) - row.get("error", 0)
    if not scored:
        return []
    return [
        f"{flags.get(flag, 0)} of {many(scored, 'response')} would be decided otherwise by the mean per {by}"
        for flag, by in _MEANS
    ]


def alike(scores: Iterable[Score]) -> Iterator[Caution]:
    """Rules without any regard to bias that go the same way as the model, by condition."""
    found = [score for score in scores if score.denominator == "all" and score.value is not None]
    for model in found:
        rest = {name: value for name, value in model.slice.items() if name != "condition"}
        if model.metric != "accuracy" or rest or model.reference is None or model.value is None:
            continue
        chance = model.reference
        for name, words in RULES:
            cut = {**model.slice, "baseline": name}
            rule = next((s for s in found if s.metric == "confound_baselines" and s.slice == cut), None)
            if rule is None or rule.value is None or abs(rule.value - chance) < FAR_RULE:
                continue
            if abs(model.value - chance) >= FAR_MODEL and (rule.value > chance) == (model.value > chance):
                text = f"taking the {words} option alone scores {100 * rule.value:.1f} % here"
                yield Caution("", text, dict(model.slice))


def of_document(document: Mapping[str, Any], scores: Sequence[Score]) -> Iterator[Caution]:
    """Everything of that kind about a file of ``scores/``; what an older file does not tell is left out."""
    yield from positions(scores)
    yield from alike(scores)
    for condition in document.get("unbalanced", ()):
        yield Caution("positions not balanced", PLACES, {"condition": str(condition)})
    likelihoods = document.get("mode") == "choices" and "logprobs" not in document.get("lacks", ())
    if likelihoods and "flags" in document:
        for text in otherwise(document["flags"], document.get("outcomes", {})):
            yield Caution("", text)
