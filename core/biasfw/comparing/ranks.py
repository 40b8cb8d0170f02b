"""Which places runs may have by accuracy, from the pairs that can be told apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from biasfw.comparing.results import Pair, Question, Rank


def ranks(pairs: Sequence[Pair], against: Sequence[Sequence[str]]) -> Iterable[Rank]:
    """1 + those shown above a run, and the number of ranked runs less those shown below it.

    Only accuracy has a better side: other shares are not ranked. A run has no rank where its accuracy says nothing:
    locked on a position, or ``against`` (for each run) says why.
    """
    asked = [(pair, question) for pair in pairs for question in pair.questions if question.overall.metric == "accuracy"]
    for condition in dict.fromkeys(question.condition for _, question in asked):
        here = [(pair, question) for pair, question in asked if question.condition == condition]
        yield from _under(condition, here, {number + 1: each for number, each in enumerate(against)})


def _under(condition: str, asked: Sequence[tuple[Pair, Question]], against: dict[int, Sequence[str]]) -> Iterable[Rank]:
    locked = {
        number
        for pair, question in asked
        for number, lock in zip((pair.a, pair.b), question.locks, strict=True)
        if lock is not None
    }
    said = {number: [*each, *(["position-locked"] if number in locked else [])] for number, each in against.items()}
    remarks = {number: "; ".join(each) for number, each in said.items() if each}
    ranked = [number for number in against if number not in remarks]
    above, below = dict.fromkeys(against, 0), dict.fromkeys(against, 0)
    for pair, question in asked:
        if question.overall.shown in ("higher", "lower") and not {pair.a, pair.b} & remarks.keys():
            higher, lower = (pair.a, pair.b) if question.overall.shown == "higher" else (pair.b, pair.a)
            above[lower] += 1
            below[higher] += 1
    for number in against:
        if number in ranked:
            yield Rank(number, condition, 1 + above[number], len(ranked) - below[number])
        else:
            yield Rank(number, condition, None, None, remarks[number])
