"""Requests made ready to compute: tokenised, and checked for room."""

from __future__ import annotations

from dataclasses import dataclass

from biasfw import Request, ResponseError
from biasfw_plugins.llamacpp.chat import ChatTemplateError
from biasfw_plugins.llamacpp.prompts import Prompter
from biasfw_plugins.llamacpp.scoring import Plan, plan


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
        """Room that it needs."""
        return self.plan.tokens

    @property
    def size(self) -> int:
        """How many token ids it keeps in memory."""
        return sum(map(len, self.plan.sequences))

    @property
    def beginning(self) -> tuple[int, ...]:
        """Token ids that other requests may begin with, too."""
        return self.plan.sequences[0]

    @property
    def most(self) -> int:
        """How many of these need no logits."""
        return self.plan.start - 1


@dataclass(frozen=True, slots=True)
class Continuing:
    """A prompt to continue."""

    request: Request
    prompt: tuple[int, ...]

    @property
    def tokens(self) -> int:
        """Room that it needs: the prompt and the longest answer."""
        return len(self.prompt) + self.request.sampling.max_tokens

    @property
    def size(self) -> int:
        """How many token ids it keeps in memory."""
        return len(self.prompt)

    @property
    def beginning(self) -> tuple[int, ...]:
        """Token ids that other requests may begin with, too."""
        return self.prompt

    @property
    def most(self) -> int:
        """How many of these need no logits."""
        return len(self.prompt) - 1


Job = Scoring | Continuing


@dataclass(frozen=True, slots=True)
class Limit:
    """``tokens`` that the context can hold; ``trained``: how many the model was trained for."""

    tokens: int
    trained: int

    def check(self, what: str, tokens: int) -> None:
        """Refuse what does not fit.

        Raises:
            CannotAnswerError: ``tokens`` are too many.
        """
        if tokens <= self.tokens:
            return
        if self.tokens < self.trained:
            way_out = f"set -B n_ctx={tokens} or more"
        else:
            way_out = "the model was trained for no more; lower max_tokens or use another model"
        raise CannotAnswerError("context_too_small", f"{what}, but the context holds {self.tokens}; {way_out}")


def make_job(prompter: Prompter, request: Request, limit: Limit) -> Job:
    """``request`` tokenised.

    Raises:
        CannotAnswerError: the template refuses the messages, the prompt is empty, or there is no room.
        ComponentError: messages are given but the model has no usable chat template.
    """
    try:
        parts = prompter.parts(request)
        if request.choices:
            work = plan(prompter, parts, request.choices)
            limit.check(f"the prompt with its longest choice has {work.tokens} tokens", work.tokens)
            return Scoring(request, work)
        prompt = tuple(prompter.encode(parts))
    except ChatTemplateError as failure:
        raise CannotAnswerError("template", f"the chat template refuses the messages: {failure}") from failure
    if not prompt:
        raise CannotAnswerError("empty_prompt", "the prompt is empty and the model has no BOS token to begin with")
    most = request.sampling.max_tokens
    total = len(prompt) + most
    limit.check(f"the prompt's {len(prompt)} tokens and max_tokens={most} are {total}", total)
    return Continuing(request, prompt)
