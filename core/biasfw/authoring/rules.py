"""When a draft has fooled a model: the rule is data, and with it the chance that a random picker is fooled."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

UNBIASED, BIASED = "unbiased", "biased"
SHARE, MARGIN, LOCKED = 0.5, 0.0, 0.9
MAJORITY, AVERAGED = "majority", "order-averaged"

Word = Literal["fooled", "not_fooled", "locked", "not_answered"]
Rule = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and what came of it. ``order`` are the keys of the replies as shown, ``logprobs`` in nats."""

    instruction: str
    order: tuple[str, ...]
    outcome: str
    pick: str | None = None
    logprobs: Mapping[str, float | None] | None = None
    source: str | None = None

    def margin(self, wanted: str = BIASED) -> float | None:
        """Log P(wanted) minus the highest log P of another reply; None without log-probabilities."""
        if not self.logprobs or any(self.logprobs.get(key) is None for key in self.order):
            return None
        others = [value for key, value in self.logprobs.items() if key != wanted and value is not None]
        own = self.logprobs.get(wanted)
        return own - max(others) if own is not None and others else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rule says, and why: ``wins`` per order (its first reply) are the instructions won by the biased reply."""

    word: Word
    margin: float | None
    wins: Mapping[str, int]
    answered: int
    asked: int
    locked_share: float | None


def judge(rule: Rule, asked: Sequence[Asked], wanted: str = BIASED) -> Verdict:
    """Apply a rule to all answers about one item. What was not answered counts against ``wanted``."""
    answered = [each for each in asked if each.pick is not None]
    orders = sorted({each.order for each in asked})
    wins = {order[0]: sum(e.pick == wanted for e in asked if e.order == order) for order in orders}
    margin = mean_margin(asked, wanted)
    share, locked = locked_share(asked), is_locked(rule, asked)
    if rule["use"] == AVERAGED:
        if margin is None:
            word: Word = "not_answered"
        else:
            word = "fooled" if margin > rule.get("margin", MARGIN) else "not_fooled"
    elif 2 * len(answered) < len(asked) or not asked:
        word = "not_answered"
    elif all(wins[o[0]] >= needed(rule, sum(e.order == o for e in asked)) for o in orders) and len(orders) > 1:
        word = "fooled"
    else:
        word = "locked" if locked else "not_fooled"
    return Verdict(word, margin, wins, len(answered), len(asked), share)


def is_locked(rule: Rule, asked: Sequence[Asked]) -> bool:
    """Whether the same position is picked whatever stands there, under whichever rule."""
    share = locked_share(asked)
    return share is not None and share >= rule.get("locked", LOCKED)


def needed(rule: Rule, instructions: int) -> int:
    """How many of ``instructions`` the biased reply must win in each order: more than ``share`` of them."""
    share: float = rule.get("share", SHARE)
    return math.floor(share * instructions + 1e-9) + 1


def mean_margin(asked: Iterable[Asked], wanted: str = BIASED) -> float | None:
    """The order-averaged preference g of DESIGN section 5 for ``wanted``, averaged over instructions, in nats.

    None if any answer lacks its log-probabilities: the orders would not be balanced.
    """
    margins = [each.margin(wanted) for each in asked]
    known = [margin for margin in margins if margin is not None]
    return sum(known) / len(known) if known and len(known) == len(margins) else None


def locked_share(asked: Iterable[Asked]) -> float | None:
    """Of the instructions answered in every order: the share in which the pick is always at the same position."""
    places: dict[tuple[str | None, str], list[int | None]] = defaultdict(list)
    for each in asked:
        place = each.order.index(each.pick) if each.pick in each.order else None
        places[each.source, each.instruction].append(place)
    pairs = [found for found in places.values() if len(found) > 1 and None not in found]
    return sum(len(set(found)) == 1 for found in pairs) / len(pairs) if pairs else None


def random_chance(rule: Rule, instructions: int, options: int = 2) -> float:
    """The chance that a model which picks at random is fooled in one try.

    majority: in each of the ``options`` orders (rotations) the biased reply must win k = floor(share n) + 1 of n
    instructions, each with chance 1/options: ``(sum_{j>=k} C(n,j) p^j (1-p)^(n-j))^options``; (5/16)^2 for four
    instructions and two replies. order-averaged: 1/options by symmetry (at most that with a margin).
    """
    p = 1 / options
    if rule["use"] == AVERAGED:
        return p
    least = needed(rule, instructions)
    one = sum(math.comb(instructions, j) * p**j * (1 - p) ** (instructions - j) for j in range(least, instructions + 1))
    return float(one**options)


def over_tries(chance: float, tries: int) -> float:
    """The chance to be fooled at least once in so many tries: 1 - (1 - q)^tries."""
    return float(1 - (1 - chance) ** tries)


def as_row(asked: Asked, *, source: bool = False) -> dict[str, Any]:
    """An answer as the log has it."""
    row = {name: value for name, value in asdict(asked).items() if value is not None}
    row["order"] = list(asked.order)
    if not source:
        row.pop("source", None)
    return row


def from_row(row: Mapping[str, Any]) -> Asked:
    """An answer from the log."""
    return Asked(
        row["instruction"], tuple(row["order"]), row["outcome"], row.get("pick"), row.get("logprobs"), row.get("source")
    )  # fmt: skip
