"""Scored choices to answers: the decision is by the sum of log-probs; ties and missing scores are never guessed."""

from __future__ import annotations

import math
from collections.abc import Callable

from biasfw.form import JOIN, Form
from biasfw.records import Answer, ChoiceScore, Outcome, Reading, Response


def read_choices(response: Response, form: Form) -> Answer:
    """The answer that the scores decide for.

    Equal highest sums that disagree on a slot give ``tied`` for that slot. Scores that are missing or all exactly
    zero (a backend that returns no log-probs) give ``error``. Flags say when the per-token or per-byte mean would
    have decided otherwise.
    """
    slots = [slot.key for slot in form.slots]
    scored = [score for score in response.choice_logprobs if score.sum is not None and math.isfinite(score.sum)]
    if not scored or (len(scored) > 1 and all(score.sum == 0.0 for score in scored)):
        flag = "no_logprobs" if scored or not response.choice_logprobs else "no_choice_listed"
        return Answer({slot: Reading(Outcome.ERROR) for slot in slots}, (flag,))
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
        flags.append("unscored_choices")
    if _best(scored, lambda score: (score.sum or 0.0) / max(score.tokens, 1)) != best:
        flags.append("per_token_differs")
    if _best(scored, lambda score: (score.sum or 0.0) / max(score.bytes, 1)) != best:
        flags.append("per_byte_differs")
    return Answer(readings, tuple(flags))


def _best(scores: list[ChoiceScore], value: Callable[[ChoiceScore], float]) -> set[str]:
    top = max(value(score) for score in scores)
    return {score.key for score in scores if value(score) == top}
