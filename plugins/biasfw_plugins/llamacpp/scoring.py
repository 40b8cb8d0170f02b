"""Log-probabilities of choices: tokenised in context, every shared token evaluated once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from biasfw import ChoiceScore, ChoiceText
from biasfw_plugins.llamacpp.cache import Cache
from biasfw_plugins.llamacpp.library import utf8
from biasfw_plugins.llamacpp.prompts import Part, Prompter


@dataclass(frozen=True, slots=True)
class Plan:
    """What to score: token ids of prompt + choice for each choice; those from ``start`` on are the choice's.

    ``prompt_tokens`` counts the prompt alone. ``flags`` say where the split departs from the simple case.
    """

    sequences: tuple[tuple[int, ...], ...]
    start: int
    prompt_tokens: int
    flags: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Length of the longest sequence."""
        return max(map(len, self.sequences))


def plan(prompter: Prompter, parts: Sequence[Part], choices: Sequence[ChoiceText]) -> Plan:
    """Decide which tokens are scored.

    Prompt + choice is tokenised as one text. Scoring starts where the token ids of the prompt alone and of all its
    continuations first part ways: a token that spans the border belongs to every choice (``token_spans_border``), and
    tokens with which all choices begin count for each, so that a sum covers the whole choice. If a choice is left
    without a token of its own, prompt and choices are tokenised apart (``choices_tokenised_apart``). The first token of
    all has nothing before it and is not scored (``first_token_unscored``): an empty prompt on a model without BOS.
    """
    prompt = tuple(prompter.encode(parts))
    sequences = [tuple(prompter.encode(parts, choice.text)) for choice in choices]
    start = _common([prompt, *sequences])
    flags = []
    if prompt and (start == 0 or any(len(sequence) <= start for sequence in sequences)):
        flags.append("choices_tokenised_apart")
        sequences = [prompt + tuple(prompter.encode_alone(choice.text)) for choice in choices]
        start = len(prompt)
    elif start < len(prompt):
        flags.append("token_spans_border")
    if start == 0:
        flags.append("first_token_unscored")
        start = 1
    return Plan(tuple(sequences), start, len(prompt), tuple(flags))


def score(cache: Cache, sequence: int, work: Plan) -> list[list[float]]:
    """Log-probability in nats of every scored token of every token sequence of ``work``, computed in ``sequence``.

    The token sequences form a tree of shared beginnings. It is walked depth first: each stretch up to the next fork is
    evaluated once, as one batch, and the cache is rewound to the fork for the next branch. What ``sequence`` holds of
    the beginning is not evaluated again (``Cache.place``). Each token stands where it stands when its token sequence is
    evaluated alone from an empty cache, in batches that round alike (``rounding``); so the result is the same bit for
    bit, whatever the other choices and the request before (measured with SmolLM2 on x86: ``rounding.even_batches``).
    To evaluate all branches in one batch of a cache that they share is 20 % faster, but it places tokens elsewhere:
    rounding, magnified by 8-bit activations, then moves sums by up to 0.2, and by the other choices of the request.

    Models that cannot rewind (recurrent state) evaluate each token sequence from its beginning.

    Raises:
        DecodeError: llama.cpp refused a batch.
    """
    results = [[0.0] * max(0, len(tokens) - work.start) for tokens in work.sequences]
    everything = [*range(len(work.sequences))]
    pending = [(cache.held(sequence), everything)] if cache.can_rewind else [(0, [index]) for index in everything]
    while pending:
        depth, group = pending.pop()
        members = [work.sequences[index] for index in group]
        end = _common(members) if len(group) > 1 else len(members[0]) - 1
        cache.rewind(sequence, depth) if depth else cache.drop(sequence)
        for position, logits in cache.extend(sequence, members[0][:end], work.start - 1):
            total = _log_sum_exp(logits)
            for index, tokens in zip(group, members, strict=True):
                if position < len(tokens):
                    results[index][position - work.start] = float(logits[tokens[position]]) - total
        if len(group) > 1:
            pending += [(end, branch) for branch in _branches(work.sequences, group, end)]
    return results


def score_of(key: str, text: str, token_ids: tuple[int, ...], logprobs: Sequence[float]) -> ChoiceScore:
    """The record of one choice; ``sum`` is null where there is no token or no finite number."""
    total = sum(logprobs)
    usable = bool(logprobs) and math.isfinite(total)
    return ChoiceScore(key, total if usable else None, len(token_ids), len(utf8(text)), token_ids)


def _branches(sequences: Sequence[Sequence[int]], group: Sequence[int], fork: int) -> list[list[int]]:
    """The members of ``group`` by their token at ``fork``, where something is left to evaluate."""
    branches: dict[int, list[int]] = {}
    for index in group:
        if len(sequences[index]) > fork + 1:
            branches.setdefault(sequences[index][fork], []).append(index)
    return list(branches.values())


def _log_sum_exp(logits: NDArray[np.float32]) -> float:
    values = logits.astype(np.float64)
    peak = values.max()
    with np.errstate(invalid="ignore"):  # an infinite peak makes the sum not a number, which is reported
        return float(peak + np.log(np.exp(values - peak).sum()))


def _common(sequences: Sequence[Sequence[int]]) -> int:
    """How many tokens all sequences begin with."""
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*sequences, strict=False)))
