"""Requests made ready to compute: tokenised and checked, with the size that they take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from biasfw import Request, ResponseError
from biasfw_plugins.hf.chat import ChatTemplateError
from biasfw_plugins.hf.prompts import Prompter
from biasfw_plugins.hf.scoring import Plan, plan
from biasfw_plugins.hf.sharing import alike
from biasfw_plugins.hf.trees import branches, portions


class CannotAnswerError(Exception):
    """A request that cannot be answered; carries what is recorded for it."""

    def __init__(self, kind: str, message: str, *, permanent: bool = True) -> None:
        super().__init__(message)
        self.error = ResponseError(kind, message, permanent)


@dataclass(frozen=True, slots=True)
class Scoring:
    """Choices to score."""

    request: Request
    plan: Plan

    @property
    def tokens(self) -> int:
        """What it takes in a batch: the shared beginning, which is computed first."""
        return max(1, self.plan.shared)

    @property
    def size(self) -> int:
        """How many token ids it keeps in memory."""
        return sum(map(len, self.plan.sequences))

    @property
    def beginning(self) -> tuple[int, ...]:
        """What it may share with other requests."""
        return self.plan.sequences[0][: self.plan.border]

    @property
    def widest(self) -> int:
        """What it takes if all its choices are computed side by side."""
        return len(self.plan.sequences) * self.plan.tokens


@dataclass(frozen=True, slots=True)
class Continuing:
    """A prompt to continue."""

    request: Request
    prompt: tuple[int, ...]

    @property
    def tokens(self) -> int:
        """What it takes in a batch: prompt and room for the answer."""
        return len(self.prompt) + self.request.sampling.max_tokens

    @property
    def size(self) -> int:
        """How many token ids it keeps in memory."""
        return len(self.prompt)

    @property
    def beginning(self) -> tuple[int, ...]:
        """What it may share with other requests."""
        return self.prompt[:-1]

    @property
    def widest(self) -> int:
        """The same: a prompt is one row."""
        return self.tokens


Job = Scoring | Continuing


def make_job(prompter: Prompter, request: Request, limit: int | None) -> Job:
    """``request`` tokenised. ``limit``: how many tokens the model can hold, None for any number.

    Raises:
        CannotAnswerError: the template refuses the messages, or the model cannot hold them with the answer.
        ComponentError: messages are given but the model has no usable chat template.
    """
    try:
        parts = prompter.parts(request)
        if request.choices:
            work = plan(prompter, parts, request.choices)
            _check_fits(f"the prompt with its longest choice has {work.tokens} tokens", work.tokens, limit)
            return Scoring(request, work)
        prompt = prompter.encode(parts)
    except ChatTemplateError as failure:
        raise CannotAnswerError("template", f"the chat template refuses the messages: {failure}") from failure
    if not prompt:
        raise CannotAnswerError("empty_prompt", "the prompt is empty and the model has no BOS token to begin with")
    most = request.sampling.max_tokens
    total = len(prompt) + most
    _check_fits(f"the prompt's {len(prompt)} tokens and max_tokens={most} are {total}", total, limit)
    return Continuing(request, tuple(prompt))


def branched(jobs: Sequence[Scoring], budget: int) -> Iterator[tuple[int, list[Job]]]:
    """``jobs`` in batches within ``budget`` tokens, each with the number of tokens with which all in it begin.

    So ordered that each batch shares as much as it can with the one before (``trees``).
    """
    sizes = [job.tokens for job in jobs]
    for branch in branches([job.beginning for job in jobs]):
        for portion in portions(branch, sizes, budget):
            yield branch.depth, [jobs[place] for place in portion]


def batches(jobs: Sequence[Job], budget: int) -> list[list[Job]]:
    """``jobs`` in batches of one kind and like size, the largest first; padded, each stays within ``budget`` tokens.

    Those that have half of their tokens or more in common stand together. A job that is larger than the budget is a
    batch of its own.
    """
    made: list[list[Job]] = []
    for kind in (Scoring, Continuing):
        batch: list[Job] = []
        for group in _groups([job for job in jobs if isinstance(job, kind)]):
            if batch and not _fit([*batch, *group], budget):
                made.append(batch)
                batch = []
            for job in group:
                if batch and not _fit([*batch, job], budget):
                    made.append(batch)
                    batch = []
                batch.append(job)
        made += [batch] if batch else []
    return made


def _groups(jobs: Sequence[Job]) -> list[list[Job]]:
    """Jobs that begin alike, the largest first in each group, and the group with the largest first."""
    groups = [[jobs[place] for place in group] for group in alike([job.beginning for job in jobs], least=0.5)]
    for group in groups:
        group.sort(key=lambda job: job.tokens, reverse=True)
    return sorted(groups, key=lambda group: group[0].tokens, reverse=True)


def _fit(batch: Sequence[Job], budget: int) -> bool:
    return len(batch) * max(job.tokens for job in batch) <= budget


def _check_fits(what: str, tokens: int, limit: int | None) -> None:
    if limit is not None and tokens > limit:
        raise CannotAnswerError(
            "context_too_small",
            f"{what}, but the context holds {limit}; the model was trained for no more; lower max_tokens or use "
            "another model",
        )
