"""The judge ``panel``: one verdict from those of its members."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from biasfw import ComponentContext, Judgement, Outcome, Reading

# What a member says of a response. Everything else (unparsed, truncated, a judge that failed) is no vote.
_VOTES = frozenset({Outcome.ANSWERED, Outcome.REFUSED, Outcome.ABSTAINED})


class Majority:
    """The verdict on which more than half of all members agree (``unanimous``: all), slot by slot.

    Members without a vote stay in the denominator; equal counts, and fewer votes than the quorum, are ``no_majority``.
    The order of the members is no reason. What a member flagged is flagged.
    A response that failed is an error whatever the members say of it.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._needs_all = context.options.get("rule", "majority") == "unanimous"
        self._quorum = int(context.options.get("quorum", 1))

    def combine(self, votes: Mapping[str, Judgement]) -> Judgement:
        """See the class. ``votes`` holds every member's readings."""
        first = next(iter(votes.values()))
        slots = {slot: self._slot([vote.slots[slot] for vote in votes.values()]) for slot in first.slots}
        outcomes = {slot: outcome for vote in votes.values() for slot, outcome in vote.response_outcomes.items()}
        return Judgement(
            key="",
            response_key=first.response_key,
            slots=slots,
            response_outcomes=outcomes,
            votes={name: dict(vote.slots) for name, vote in votes.items()},
            flags=tuple(dict.fromkeys(flag for vote in votes.values() for flag in vote.flags)),
        )

    def _slot(self, readings: Sequence[Reading]) -> Reading:
        if all(reading.outcome is Outcome.ERROR for reading in readings):
            return Reading(Outcome.ERROR)
        cast = Counter(reading for reading in readings if reading.outcome in _VOTES)
        if cast.total() < self._quorum:
            return Reading(Outcome.NO_MAJORITY)
        needed = len(readings) if self._needs_all else len(readings) // 2 + 1
        winners = [reading for reading, count in cast.items() if count >= needed]
        return winners[0] if winners else Reading(Outcome.NO_MAJORITY)
