"""Whether what a backend returns is what was asked for: identities, and responses beside their requests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from biasfw.choices import undecided
from biasfw.phrases import listed, shorten
from biasfw.records import ChoiceScore, Identity, Response, ResponseError

# Log-probs that a server rounded may add up to a little more than 0 (a letter with and without a space before it).
OVER_ZERO = 0.05
SILENT = ("content_filter", "refusal")  # said by a server: neither text nor scores have to be there


def wrong_identity(found: object) -> str | None:
    """What is wrong with an identity, in words that follow "gives"; None where nothing is."""
    if not isinstance(found, Identity):
        return f"{kind_of(found)}, not an Identity"
    for name in ("model", "fingerprint"):
        if not isinstance(getattr(found, name), str) or not getattr(found, name):
            return f"an Identity whose {name} is {shorten(getattr(found, name))}, not a text"
    for name in ("architecture", "quantisation", "dtype", "template_sha256", "device"):
        if not isinstance(getattr(found, name), str | None):
            return f"an Identity whose {name} is {kind_of(getattr(found, name))}, not a text"
    if isinstance(found.notes, str) or not all(isinstance(note, str) for note in found.notes):
        return "an Identity whose notes are no texts; write a tuple of them"
    for name in ("libraries", "details"):
        if bad := _not_plain(getattr(found, name), name):
            return f"an Identity whose {bad}"
    return None


def _not_plain(value: object, place: str) -> str | None:
    """What in ``value`` cannot be written as JSON."""
    if isinstance(value, Mapping):
        if odd := next((key for key in value if not isinstance(key, str)), None):
            return f"{place} has the key {shorten(odd)}, not a text"
        return next((bad for key, each in value.items() if (bad := _not_plain(each, f"{place}.{key}"))), None)
    if isinstance(value, list | tuple):
        return next((bad for each in value if (bad := _not_plain(each, place))), None)
    if isinstance(value, float) and not math.isfinite(value):
        return f"{place} is {value}, no finite number"
    if not isinstance(value, str | int | float | bool | None):
        return f"{place} is {kind_of(value)}, not plain data"
    return None


def misfit(response: Response, choices: Sequence[str]) -> str | None:
    """Why it is no answer to a request with these ``choices`` (keys), in one line; None where it fits or failed."""
    error = response.error
    if error is not None:
        fits = isinstance(error, ResponseError) and isinstance(error.message, str) and error.message.strip()
        return None if fits else "the error has no message; say what went wrong"
    return _fields(response) or (_scores(response, choices) if choices else _text(response))


def _fields(response: Response) -> str | None:
    for name in ("text", "reasoning", "finish_reason"):
        if not isinstance(getattr(response, name), str | None):
            return f"{name} is {kind_of(getattr(response, name))}, not a text"
    for name in ("prompt_tokens", "completion_tokens", "seconds"):
        value = getattr(response, name)
        if value is not None and (not isinstance(value, int | float) or not math.isfinite(value)):
            return f"{name} is {shorten(value)}, no plain finite number"
    if isinstance(response.flags, str) or not all(isinstance(flag, str) for flag in response.flags):
        return "flags are no texts; write a tuple of them"
    return None


def _text(response: Response) -> str | None:
    if response.choice_logprobs:
        return "it scores choices, and the request has none; answer with text"
    if response.text is None and response.finish_reason not in SILENT:
        return "neither text, nor scores, nor an error; answer with one"
    return None


def _scores(response: Response, choices: Sequence[str]) -> str | None:
    scores = response.choice_logprobs
    if not scores:
        if response.finish_reason in SILENT:
            return None
        told = "it answers with text" if response.text is not None else "there is no score"
        return f"{told}, and {len(choices)} choices were to be scored; score them, or declare generate only"
    if odd := next((score for score in scores if not isinstance(score, ChoiceScore)), None):
        return f"choice_logprobs holds {kind_of(odd)}, not a ChoiceScore"
    wrong = _keys([score.key for score in scores], choices)
    return wrong or next((bad for score in scores if (bad := _score(score))), None) or _whole(response)


def _keys(found: Sequence[str], wanted: Sequence[str]) -> str | None:
    if other := [key for key in found if key not in wanted]:
        return f"it scores {shorten(other[0])}, which is no choice; there are: {listed(wanted)}"
    if len(set(found)) < len(found):
        return f"it scores a choice twice: {listed(sorted({key for key in found if found.count(key) > 1}))}"
    if missing := [key for key in wanted if key not in found]:
        return f"it scores {len(found)} of {len(wanted)} choices, without {listed(missing)}; a part tells nothing"
    return None


def _score(score: ChoiceScore) -> str | None:
    value: Any = score.sum
    if value is not None:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return f"the sum of {score.key} is {kind_of(value)}, not a plain number; write float(...)"
        if not math.isfinite(value):
            return f"the log-probability of {score.key} is {value}, no finite number"
        if value > OVER_ZERO:
            return f"the log-probability of {score.key} is {value:g}, more than 0; write sums in nats"
    for name in ("tokens", "bytes"):
        count: Any = getattr(score, name)
        if not isinstance(count, int) or count < 0:
            return f"{name} of {score.key} is {shorten(count)}, no count"
    if not all(isinstance(each, int) for each in score.token_ids):
        return f"token_ids of {score.key} are no plain integers; write int(...)"
    return None


def _whole(response: Response) -> str | None:
    """What the scores of all choices together cannot be."""
    sums = [score.sum for score in response.choice_logprobs]
    if len(sums) > 1 and all(value == 0.0 for value in sums):
        return "every choice has the log-probability 0: no log-probabilities were computed"
    if open_ := undecided(response):
        return f"no log-probability for {listed(open_)}, and no bound that shows it is not the likeliest"
    return None


def kind_of(value: object) -> str:
    """``a dict``, ``an int``, ``None``: what a value is, for ``gives ..., not a text``."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
