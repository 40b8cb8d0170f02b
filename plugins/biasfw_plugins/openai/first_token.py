"""Options scored by their letter: log-probabilities of the first token of an answer, from the list of the likeliest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from biasfw import ChoiceScore, ChoiceText

_UNUSABLE = -9000.0  # some servers write -9999 for what they did not compute
_ROUNDING = 0.02  # how much over 1 the listed probabilities may add up to
_HALF = math.log(0.5)
_SPACE_MARKS = "\u2581\u0120\u010a"  # how tokenisers write a space or a line break inside a token


@dataclass(frozen=True, slots=True)
class FirstToken:
    """The scores of the options, and what to know about them."""

    scores: tuple[ChoiceScore, ...]
    flags: tuple[str, ...]


def letters(choices: Sequence[ChoiceText]) -> dict[str, str]:
    """Choice key -> its letter; empty if the choices are not distinct single characters."""
    found = {choice.key: choice.text.strip() for choice in choices}
    if any(len(letter) != 1 for letter in found.values()) or len(set(found.values())) < len(choices):
        return {}
    return found


def usable(listed: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """The entries that can be log-probabilities; none where the list as a whole cannot be.

    Servers that computed nothing send 0.0 for every token: no distribution gives more than one token probability 1.
    """
    entries = [(token, value) for token, value in listed if _UNUSABLE < value <= _ROUNDING]
    total = sum(math.exp(min(value, 0.0)) for _, value in entries)
    return entries if total <= 1 + _ROUNDING else []


def score_letters(choices: Sequence[ChoiceText], listed: Sequence[tuple[str, float]]) -> FirstToken | None:
    """The score of every choice out of ``listed``, tokens with their log-probabilities in nats.

    "A" and " A" are the same choice: their probabilities add up. A letter that is not listed gets null and a flag with
    the bound that holds for it, the least value listed. None where nothing usable is listed.
    """
    entries, keys = usable(listed), letters(choices)
    if not entries or not keys:
        return None
    found: dict[str, list[float]] = {}
    for token, value in entries:
        found.setdefault(token.strip().strip(_SPACE_MARKS), []).append(value)
    sums = {key: log_sum(found[letter]) if letter in found else None for key, letter in keys.items()}
    present = [value for value in sums.values() if value is not None]
    bound = min(value for _, value in entries)
    flags = [f"unlisted_{key}_at_most_{bound:.3f}" for key, value in sums.items() if value is None]
    if not present or log_sum(present) < _HALF:
        flags.append("letters_below_half")
    scores = tuple(ChoiceScore(key, value, 1, len(keys[key].encode("utf-8", "replace"))) for key, value in sums.items())
    return FirstToken(scores, tuple(flags))


def log_sum(values: Sequence[float]) -> float:
    """log(sum(exp(values))), computed so that nothing underflows."""
    peak = max(values)
    return peak + math.log(sum(math.exp(value - peak) for value in values))
