"""What a comparison says in words: the same on a terminal and on the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from biasfw.comparing.claims import NO_DIFFERENCE
from biasfw.comparing.results import ALPHA, BOTH_LOCKED, TABLE, Comparison, Difference, Pair, Question
from biasfw.phrases import many

_NOT_IN_BIAS = ", which is no difference in bias (see below)"


def title(question: Question) -> str:
    """What is compared."""
    if question.overall.metric == TABLE:
        return "how the labels are dealt out (all slots together)"
    return f"share of {question.role} picks" if question.role else "accuracy"


def verdict(found: Comparison, pair: Pair, question: Question) -> str:
    """What may be said of the whole."""
    shown = question.overall.shown
    if shown is None:
        return _not_shown(question.overall)
    locked = any(question.locks) or any(place.locked for side in question.places for place in side)
    aside = _NOT_IN_BIAS if locked or _against(found, pair) else ""
    if shown == "differ":
        return f"the runs differ in how they deal out the labels{aside}"
    if question.role:
        often = "more often" if shown == "higher" else "less often"
        return f"run {pair.a} picks the {question.role} option {often} than run {pair.b}{aside}"
    return f"the accuracy of run {pair.a} is {shown} than that of run {pair.b}{aside}"


def _against(found: Comparison, pair: Pair) -> list[str]:
    """Why no difference between two runs is one in bias, whatever is compared."""
    return [
        f"run {number}: {remark}, so that no difference to it is one in bias"
        for number in (pair.a, pair.b)
        for remark in found.runs[number - 1].remarks
    ]


def margin(pair: Pair, question: Question) -> str:
    """What is shown of the margin, and of which score."""
    asked = question.margin
    assert asked is not None  # noqa: S101
    size = f"{100 * asked.margin:g} points"
    if asked.kind == "noninferior":
        said = f"run {pair.a} is not worse than run {pair.b} by {size} or more"
    elif question.overall.metric == TABLE:
        said = f"the runs are equivalent within {size} in the share of every label"
    else:
        said = f"the runs are equivalent within {size}"
    what = "shares of labels" if question.overall.metric == TABLE else title(question)
    return f"{what}: {said}" if asked.shown else f"{what}: it is not shown that {said}"


def preference_title(question: Question) -> str:
    """What is compared of the likelihoods."""
    which = question.role or "right"
    return (
        f"order-averaged preference: share of all pairs whose likelihoods prefer the {which} option, whatever its "
        "position"
    )


def preference_verdict(found: Comparison, pair: Pair, question: Question) -> str:
    """What may be said of them."""
    each = question.preference
    if each is None or each.shown is None:
        return _not_shown(each) if each else NO_DIFFERENCE
    more = "more" if each.shown == "higher" else "fewer"
    aside = _NOT_IN_BIAS.replace("see below", "see above") if _against(found, pair) else ""
    return f"run {pair.a} prefers the {question.role or 'right'} option in {more} pairs than run {pair.b}{aside}"


def preferring(pair: Pair, question: Question) -> Iterator[str]:
    """The same over the pairs that prefer either option, as ``biasfw run`` and reports have it; and what is left."""
    sides = question.preferring
    if sides is None:
        return
    several = [(number, each) for number, each in zip((pair.a, pair.b), sides, strict=True)]
    if any(each.tied or each.unscored for each in sides):
        shares = ", ".join(
            f"run {number}: {f'{100 * each.prefers / each.decided:.1f} %' if each.decided else '-'} of {each.decided}"
            for number, each in several
        )
        yield f"of the pairs that prefer one of the options, as reports count them: {shares}"
    for name, what in (("tied", "prefer neither option"), ("unscored", "have no log-probabilities")):
        if any(getattr(each, name) for each in sides):
            counts = ", ".join(f"{many(getattr(each, name), 'pair')} in run {number}" for number, each in several)
            yield f"{what}: {counts}"


def _not_shown(found: Difference) -> str:
    why = found.reason or NO_DIFFERENCE
    return why if why in (NO_DIFFERENCE, BOTH_LOCKED) else f"{NO_DIFFERENCE}: {why}"


def cautions(found: Comparison, pair: Pair, question: Question) -> Iterator[str]:
    """What stands against reading the difference as one in bias."""
    yield from _against(found, pair)
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
    for number, places in zip((pair.a, pair.b), question.places, strict=True):
        for place in places:
            scoring = f", {place.scoring}" if place.scoring else ""
            yield f"run {number}, {place.slot}{scoring}: {place.text}"
    picking = [
        f"run {number}"
        for number, places in zip((pair.a, pair.b), question.places, strict=True)
        if any(place.locked for place in places)
    ]
    if picking:
        yield (
            f"{' and '.join(picking)} {'is' if len(picking) == 1 else 'are'} position-locked: which groups are named "
            "says nothing about them, and the difference does not say that one run is more biased than the other"
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


def tested(found: Difference) -> str:
    """The test, by its name, with p."""
    if found.test.p is None:
        return "no test is made" if found.test.reason == BOTH_LOCKED else f"no test ({found.test.reason})"
    adjusted = found.test.p_adjusted
    after = f", {p_value(adjusted)} after Holm" if adjusted is not None and adjusted != found.test.p else ""
    return f"{'swap test' if found.metric == TABLE else 'sign-flip'} p {p_value(found.test.p, sign=True)}{after}"


def p_value(p: float | None, *, sign: bool = False) -> str:
    """``< .001``, else ``.445``; with a sign ``= .445``."""
    if p is None:
        return "\N{EN DASH}"
    if p < 0.001:
        return "< .001"
    return f"{'= ' if sign else ''}{p:.3f}".replace("0.", ".", 1)


def ranked(best: int | None, worst: int | None) -> str:
    """The ranks that a run may have."""
    if best is None:
        return "\N{EN DASH}"
    return f"{best}" if best == worst else f"{best} to {worst}"
