"""What a comparison says in words: the same on a terminal and on the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from biasfw.comparing.claims import NO_DIFFERENCE
from biasfw.comparing.results import ALPHA, BOTH_LOCKED, TABLE, Difference, Pair, Question


def title(question: Question) -> str:
    """What is compared."""
    if question.overall.metric == TABLE:
        return "how the labels are dealt out (all slots together)"
    return f"share of {question.role} picks" if question.role else "accuracy"


def verdict(pair: Pair, question: Question) -> str:
    """What may be said of the whole."""
    shown = question.overall.shown
    if shown is None:
        return _not_shown(question.overall)
    if shown == "differ":
        return "the runs differ in how they deal out the labels"
    if question.role:
        often = "more often" if shown == "higher" else "less often"
        return f"run {pair.a} picks the {question.role} option {often} than run {pair.b}"
    return f"the accuracy of run {pair.a} is {shown} than that of run {pair.b}"


def preference_title(question: Question) -> str:
    """What is compared of the likelihoods."""
    which = question.role or "right"
    return f"order-averaged preference: pairs whose likelihoods prefer the {which} option, whatever its position"


def preference_verdict(pair: Pair, question: Question) -> str:
    """What may be said of them."""
    found = question.preference
    if found is None or found.shown is None:
        return _not_shown(found) if found else NO_DIFFERENCE
    more = "more" if found.shown == "higher" else "fewer"
    return f"run {pair.a} prefers the {question.role or 'right'} option in {more} pairs than run {pair.b}"


def preferring_none(pair: Pair, found: Difference) -> str:
    """How many pairs prefer neither option."""
    return (
        f"neither option preferred, or no log-probabilities: {found.missing[0]} pairs in run {pair.a}, "
        f"{found.missing[1]} in run {pair.b}"
    )


def _not_shown(found: Difference) -> str:
    why = found.reason or NO_DIFFERENCE
    return why if why in (NO_DIFFERENCE, BOTH_LOCKED) else f"{NO_DIFFERENCE}: {why}"


def cautions(pair: Pair, question: Question) -> Iterator[str]:
    """What stands against reading the difference as one in bias."""
    locked = [(number, lock) for number, lock in zip((pair.a, pair.b), question.locks, strict=True) if lock is not None]
    for number, lock in locked:
        yield (
            f"run {number} is position-locked: in {100 * lock.share:.1f} % of {lock.pairs} pairs it picks position "
            f"{lock.position} whichever option stands there"
        )
    if len(locked) == 1:
        yield (
            f"how often run {locked[0][0]} is right therefore says nothing about bias, and the difference does not say "
            "that one run is more biased than the other"
        )


def intervals(found: Difference) -> str:
    """How far the intervals of rows hold."""
    if found.comparisons == 1:
        return "95 % intervals"
    return (
        f"intervals that hold with 95 % for all {found.comparisons} comparisons together (level 1 - .05/"
        f"{found.comparisons} each), and p after Holm's correction over them"
    )


def hopeless(rows: Sequence[Difference]) -> str | None:
    """Where no row has clusters enough for its test to show anything."""
    known = [each.smallest_p * each.comparisons for each in rows if each.smallest_p is not None and each.value]
    if not known or min(known) < ALPHA:
        return None
    return "none of these has clusters enough for any test to show a difference"


def detectable(found: Difference) -> str | None:
    """What could have been found."""
    if found.detectable is None:
        return None
    return f"a difference of {100 * found.detectable:.1f} points would be found in 80 of 100 such comparisons"
