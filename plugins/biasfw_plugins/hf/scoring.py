"""Log-probabilities of choices: tokenised in context, every shared token computed once."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from biasfw import ChoiceScore, ChoiceText
from biasfw_plugins.hf.network import Network, Rows
from biasfw_plugins.hf.prompts import Part, Prompter
from biasfw_plugins.hf.runtime import torch
from biasfw_plugins.hf.sharing import Trunk, common
from biasfw_plugins.hf.tokens import valid

if TYPE_CHECKING:
    from torch import Tensor

_LOGIT_BYTES = 1 << 29  # of logits that are held at once


@dataclass(frozen=True)
class Plan:
    """What to score: token ids of prompt + choice for each choice; those from ``start`` on are the choice's.

    ``prompt_tokens`` counts the prompt alone. ``flags`` say where the split departs from the simple case.
    """

    sequences: tuple[tuple[int, ...], ...]
    start: int
    prompt_tokens: int
    flags: tuple[str, ...] = ()

    @cached_property
    def tokens(self) -> int:
        """Length of the longest sequence."""
        return max(map(len, self.sequences))

    @cached_property
    def shared(self) -> int:
        """How many tokens all sequences begin with; the last one of the longest is never computed, only predicted."""
        return min(common(self.sequences), self.tokens - 1)

    @cached_property
    def border(self) -> int:
        """How many tokens stand before the one after which the first logits are wanted."""
        return max(0, min(self.start, self.shared) - 1)


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
    first = common([prompt, *sequences])
    flags = []
    if prompt and (first == 0 or any(len(sequence) <= first for sequence in sequences)):
        flags.append("choices_tokenised_apart")
        sequences = [prompt + tuple(prompter.encode_alone(choice.text)) for choice in choices]
        first = len(prompt)
    elif first < len(prompt):
        flags.append("token_spans_border")
    if first == 0:
        flags.append("first_token_unscored")
        first = 1
    return Plan(tuple(sequences), first, len(prompt), tuple(flags))


@dataclass(frozen=True, slots=True)
class _Branch:
    """Sequences of one plan that are computed up to ``depth`` and go on with the same token, in cache row ``row``."""

    work: int
    members: tuple[int, ...]
    depth: int
    row: int


class Scorer:
    """Scores several plans at once. ``budget``: how many tokens are computed or held at once.

    ``trunk``: what plans scored before began with; without it, ``depth`` below is 0.
    """

    def __init__(self, network: Network, budget: int, trunk: Trunk | None = None) -> None:
        self._network = network
        self._budget = budget
        self._trunk = trunk

    def score(self, works: Sequence[Plan], depth: int = 0) -> list[list[list[float]]]:
        """Log-probability in nats of every scored token of every sequence of every plan.

        The beginnings that the choices of each plan share are computed in one batch, padded on the left. Then rows of
        the cache are copied for the branches, in batches within the budget. ``depth``: with how many tokens all plans
        begin, at most any ``border``; they are taken from the trunk.
        """
        results = [[[0.0] * max(0, len(each) - work.start) for each in work.sequences] for work in works]
        cached = [index for index, work in enumerate(works) if work.shared and not self._network.recurrent]
        for index, work in enumerate(works):
            if index not in cached or not self._network.caches:
                self._each_alone(work, results[index])
        if cached and self._network.caches:
            self._walk([works[index] for index in cached], [results[index] for index in cached], depth)
        return results

    def _each_alone(self, work: Plan, results: list[list[float]]) -> None:
        """Without a cache: whole sequences, padded on the right, where padding cannot reach what came before."""
        pending = [index for index, sequence in enumerate(work.sequences) if len(sequence) > work.start]
        for chunk in self._chunks([len(work.sequences[index]) - 1 for index in pending], 0):
            members = [pending[place] for place in chunk]
            rows = Rows.empty(len(members), self._network.device)
            fed = [work.sequences[index][:-1] for index in members]
            logits = self._network.extend(rows, fed, skip=work.start - 1)
            for place, index in enumerate(members):
                targets = work.sequences[index][work.start :]
                results[index][:] = _logprobs(logits[place, : len(targets)], targets)

    def _walk(self, works: Sequence[Plan], results: list[list[list[float]]], depth: int) -> None:
        keep = max(1, *(work.shared - work.start + 1 for work in works))
        stems = [work.sequences[0][: work.shared] for work in works]
        if depth and self._trunk is not None:
            rows = self._trunk.rows(stems[0][:depth], len(stems))
            logits = self._network.append(rows, [stem[depth:] for stem in stems], keep=keep)
        else:
            rows, logits = self._network.start(stems, keep=keep)
        branches: list[_Branch] = []
        for index, work in enumerate(works):
            everything = tuple(range(len(work.sequences)))
            origin = _Branch(index, everything, min(work.start, work.shared) - 1, index)
            self._note(works, results, origin, logits[index], work.shared)
            branches += self._fork(work, _Branch(index, everything, work.shared, index))
        self._descend(works, results, rows, branches)

    def _descend(
        self, works: Sequence[Plan], results: list[list[list[float]]], rows: Rows, branches: Sequence[_Branch]
    ) -> None:
        ends = [self._end(works[branch.work], branch) for branch in branches]
        lengths = [end - branch.depth for branch, end in zip(branches, ends, strict=True)]
        chunks = list(self._chunks(lengths, rows.mask.shape[1]))
        for number, chunk in enumerate(chunks):
            own = rows if number == len(chunks) - 1 else copy.deepcopy(rows)
            own.select([branches[place].row for place in chunk])
            stretches = [works[branches[at].work].sequences[branches[at].members[0]] for at in chunk]
            fed = [line[branches[at].depth : ends[at]] for line, at in zip(stretches, chunk, strict=True)]
            logits = self._network.extend(own, fed)
            onward: list[_Branch] = []
            for row, place in enumerate(chunk):
                branch = branches[place]
                self._note(works, results, branch, logits[row][: lengths[place]], ends[place])
                work = works[branch.work]
                onward += self._fork(work, _Branch(branch.work, branch.members, ends[place], row))
            if onward:
                self._descend(works, results, own, onward)

    def _end(self, work: Plan, branch: _Branch) -> int:
        """Up to where the members of ``branch`` are computed together."""
        members = [work.sequences[index] for index in branch.members]
        return min(common(members), max(map(len, members)) - 1)

    def _fork(self, work: Plan, stem: _Branch) -> Iterator[_Branch]:
        """The branches that ``stem`` parts into, where something is left to compute."""
        groups: dict[int, list[int]] = {}
        for index in stem.members:
            if len(work.sequences[index]) > stem.depth + 1:
                key = work.sequences[index][stem.depth] if self._network.shares else index
                groups.setdefault(key, []).append(index)
        return (_Branch(stem.work, tuple(group), stem.depth, stem.row) for group in groups.values())

    def _note(
        self, works: Sequence[Plan], results: list[list[list[float]]], branch: _Branch, logits: Tensor, end: int
    ) -> None:
        """Store what ``logits`` (after the tokens up to ``end``) say of the next token of every member."""
        work = works[branch.work]
        first = max(work.start, branch.depth + 1)
        after = logits[len(logits) - (end - first + 1) :]
        totals = after.logsumexp(-1)
        for index in branch.members:
            sequence = work.sequences[index][first : end + 1]
            values = _logprobs(after[: len(sequence)], sequence, totals[: len(sequence)])
            results[branch.work][index][first - work.start : first - work.start + len(values)] = values

    def _chunks(self, lengths: Sequence[int], before: int) -> Iterator[list[int]]:
        """Places of ``lengths`` in batches within the budget, counting ``before`` tokens that each holds already."""
        most_logits = max(1, min(self._budget, _LOGIT_BYTES // (4 * self._network.vocabulary)))
        chunk: list[int] = []
        longest = 0
        for place in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
            longest = max(longest, lengths[place])
            size = len(chunk) + 1
            if chunk and (size * (before + longest) > self._budget or size * longest > most_logits):
                yield chunk
                chunk, longest = [], lengths[place]
            chunk.append(place)
        if chunk:
            yield chunk


def score_of(key: str, text: str, token_ids: tuple[int, ...], logprobs: Sequence[float]) -> ChoiceScore:
    """The record of one choice; ``sum`` is null where there is no token or no finite number."""
    total = sum(logprobs)
    usable = bool(logprobs) and math.isfinite(total)
    return ChoiceScore(key, total if usable else None, len(token_ids), len(valid(text).encode()), token_ids)


def _logprobs(logits: Tensor, targets: Sequence[int], totals: Tensor | None = None) -> list[float]:
    """log-softmax of ``logits`` (n, vocabulary; float32) at ``targets``."""
    if not targets:
        return []
    wanted = torch.tensor(list(targets), device=logits.device)
    totals = logits.logsumexp(-1) if totals is None else totals
    values: list[float] = (logits.gather(-1, wanted[:, None])[:, 0] - totals).tolist()
    return values
