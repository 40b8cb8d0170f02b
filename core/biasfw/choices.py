"""Scored choices to answers: the decision is by the sum of log-probs; ties and missing scores are never guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from biasfw.form import JOIN, Form
from biasfw.records import Answer, ChoiceScore, Outcome, Reading, Response

# A backend that knows no more of a choice than a bound says it with this flag, and gives the sum as null.
_BOUND = re.compile(r"unlisted_(.+)_at_most_(-?\d+(?:\.\d+)?)", re.DOTALL)
_PARTLY = "unscored_choices"
_DIGITS = 0.001  # the bound in a flag is rounded


def undecided(response: Response) -> list[str]:
    """The choices without a score of which nothing shows that they are not the likeliest.

    A bound shows it (flag ``unlisted_KEY_at_most_VALUE``): the likeliest choice is not below it.
    """
    bounds = {found[1]: float(found[2]) for flag in response.flags if (found := _BOUND.fullmatch(flag))}
    known = [s.sum for s in response.choice_logprobs if s.sum is not None and not math.isnan(s.sum)]
    top = max(known, default=math.inf)
    unknown = [s.key for s in response.choice_logprobs if s.sum is None or math.isnan(s.sum)]
    return [key for key in unknown if bounds.get(key, math.inf) > top + _DIGITS or key not in bounds]


def read_choices(response: Response, form: Form) -> Answer:
    """The answer that the scores decide for.

    Equal highest sums that disagree on a slot give ``tied`` for that slot. Scores that are missing or all exactly
    zero (a backend that returns no log-probs) give ``error``, and so does a part of them, unless the others are known
    to be less likely. Flags say when the per-token or per-byte mean would have decided otherwise.
    """
    slots = [slot.key for slot in form.slots]
    scored = [score for score in response.choice_logprobs if score.sum is not None and math.isfinite(score.sum)]
    if not scored or (len(scored) > 1 and all(score.sum == 0.0 for score in scored)):
        flag = "no_logprobs" if scored or not response.choice_logprobs else "no_choice_listed"
        return Answer({slot: Reading(Outcome.ERROR) for slot in slots}, (flag,))
    if undecided(response):
        return Answer({slot: Reading(Outcome.ERROR) for slot in slots}, (_PARTLY,))
    abstaining = {label.key for label in form.labels if label.abstains}
    best = _best(scored, lambda score: score.sum or 0.0)
    readings = {}
    for index, slot in enumerate(slots):
        labels = {key.split(JOIN)[index] for key in best}
        if len(labels) > 1:
            readings[slot] = Reading(Outcome.TIED)
        else:
            label = labels.pop()
            readings[slot] = Reading(Outcome.ABSTAINED if label in abstaining else Outcome.ANSWERED, label)
    flags = []
    if len(scored) < len(response.choice_logprobs):
        flags.append(_PARTLY)
    if _best(scored, lambda score: (score.sum or 0.0) / max(score.tokens, 1)) != best:
        flags.append("per_token_differs")
    if _best(scored, lambda score: (score.sum or 0.0) / max(score.bytes, 1)) != best:
        flags.append("per_byte_differs")
    return Answer(readings, tuple(flags))


def _best(scores: list[ChoiceScore], value: Callable[[ChoiceScore], float]) -> set[str]:
    top = max(value(score) for score in scores)
    return {score.key for score in scores if value(score) == top}
