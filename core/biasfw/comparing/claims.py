"""What may be claimed of differences: where the test and the interval agree, over all comparisons of a kind together.

A sign-flip test holds its level exactly where the runs could be swapped, whatever the number of clusters; the t
interval is about the mean difference itself, and rests on cluster means that are about normal. With few or uneven
clusters the one can show a difference where the other does not. A claim that needs both is wrong at most as often as
each of them, and never stands beside an interval that holds 0.

For several comparisons the p-values are Holm's and the intervals Bonferroni's, which hold together: Holm alone shows a
little more, of differences whose interval then holds 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from biasfw.comparing.results import ALPHA, TABLE, Difference
from biasfw.paired import minimum_detectable, paired_mean
from biasfw.stats import holm, simultaneous_level

NO_DIFFERENCE = "no difference can be shown with this data"
_DISAGREE = "with few or uneven clusters the two can disagree"


def settled(differences: Sequence[Difference]) -> list[Difference]:
    """``differences`` with Holm's p and simultaneous intervals within their families, and what may be claimed."""
    done: dict[int, Difference] = {}
    for family in dict.fromkeys(each.family for each in differences):
        places = [place for place, each in enumerate(differences) if each.family == family]
        found = holm([differences[place].test.p for place in places])
        worst = holm([differences[place].p_least for place in places])
        count = sum(p is not None for p in found)
        for place, p, q in zip(places, found, worst, strict=True):
            done[place] = _claimed(_widened(differences[place], max(count, 1)), p, q)
    return [done[place] for place in range(len(differences))]


def _widened(each: Difference, count: int) -> Difference:
    """One of ``count`` comparisons: its interval and what could be found at the level that all hold together."""
    alpha, level = ALPHA / count, simultaneous_level(count)
    if each.means is None:
        return replace(each, comparisons=count)
    moved = each.means[:, 2].any()
    return replace(
        each,
        comparisons=count,
        simultaneous=paired_mean(each.means[:, 2], level).interval() if count > 1 else None,
        detectable=minimum_detectable(each.se if moved else None, each.clusters, alpha),
    )


def _claimed(each: Difference, adjusted: float | None, least: float | None) -> Difference:
    each = replace(each, test=replace(each.test, p_adjusted=adjusted))
    if each.value is None or adjusted is None or least is None:
        return replace(each, reason=each.reason or each.test.reason)
    clear = _clear(each)
    if adjusted < ALPHA and clear is not False:
        if least < ALPHA and _clear_at_worst(each):
            side: Literal["higher", "lower", "differ"] = "higher" if each.value > 0 else "lower"
            return replace(each, shown="differ" if each.metric == TABLE else side)
        return replace(each, reason="the missing answers could undo it")
    if adjusted < ALPHA:
        return replace(each, alone="test", reason=_test_alone(each))
    smallest = each.smallest_p if each.smallest_p is not None else 0.0
    none_can = smallest * each.comparisons >= ALPHA and each.value != 0
    if clear:
        why = f"no test can here: {_smallest(each)}" if none_can else f"the test does not; {_DISAGREE}"
        return replace(each, alone="interval", reason=f"the interval alone would show one, but {why}")
    return replace(each, reason=f"no test can show one here: {_smallest(each)}" if none_can else NO_DIFFERENCE)


def _clear(each: Difference) -> bool | None:
    """Whether the interval that claims are held against leaves 0 out; None for tables, which have none."""
    if each.metric == TABLE:
        return None
    found = each.outer
    return found is not None and found.low is not None and found.high is not None and not found.low <= 0 <= found.high


def _clear_at_worst(each: Difference) -> bool:
    """The same where the missing answers fall against the difference."""
    if each.means is None or not any(each.missing) or each.value is None:
        return True
    found = paired_mean(each.means[:, 3 if each.value > 0 else 4], simultaneous_level(each.comparisons))
    return found.low is not None and found.high is not None and not found.low <= 0 <= found.high


def _smallest(each: Difference) -> str:
    assert each.smallest_p is not None  # noqa: S101
    differ = round(1 - math.log2(each.smallest_p))
    some = f"{each.clusters} clusters" + (f", {differ} of which differ," if differ < each.clusters else "")
    times = f", times {each.comparisons} comparisons" if each.comparisons > 1 else ""
    return f"the smallest p of {some} is {each.smallest_p:.2g}{times}"


def _test_alone(each: Difference) -> str:
    return (
        f"the test alone would show one, but the interval holds 0; {_DISAGREE} (here: {each.clusters}), since the test "
        "asks whether the runs could be swapped, the interval where their mean difference lies"
    )
