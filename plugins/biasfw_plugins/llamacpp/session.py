"""A loaded model that answers one request at a time."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from biasfw import Request, Response, ResponseError, request_seed
from biasfw_plugins.llamacpp.chat import FIXED_DATE, ChatTemplate, ChatTemplateError
from biasfw_plugins.llamacpp.native import Context, DecodeError, Model
from biasfw_plugins.llamacpp.prompts import Prompter
from biasfw_plugins.llamacpp.sampling import NotFiniteError, generate
from biasfw_plugins.llamacpp.scoring import Plan, plan, score, score_of

_ROUND_TO = 256  # llama.cpp rounds contexts up to this


class CannotAnswerError(Exception):
    """A request that cannot be answered; carries what is recorded for it."""

    def __init__(self, kind: str, message: str, *, permanent: bool = True) -> None:
        super().__init__(message)
        self.error = ResponseError(kind, message, permanent)


@dataclass(frozen=True, slots=True)
class Speed:
    """How to compute: tokens per batch and threads."""

    n_batch: int
    n_threads: int


class Session:
    """A model, its chat template and a cache that grows to what the longest request needs, up to ``n_ctx``.

    Each request starts from an empty cache: an answer depends on nothing but its request. Scheduling many requests at
    once belongs here.
    """

    def __init__(self, model: Model, speed: Speed, n_ctx: int | None = None) -> None:
        self._model = model
        self._speed = speed
        self._fixed = n_ctx is not None
        self.limit = min(n_ctx or model.n_ctx_train, model.n_ctx_train)
        self._context: Context | None = None
        self.prompter, self.notes = _prompter(model)

    def need(self, request: Request) -> int:
        """How many tokens ``request`` takes in all; 0 if its prompt cannot be made.

        Raises:
            ComponentError: messages are given but the model has no usable chat template.
        """
        try:
            if request.choices:
                return self._plan(request).tokens
            return len(self._prompt(request)) + request.sampling.max_tokens
        except CannotAnswerError:
            return 0

    def reserve(self, tokens: int) -> Context:
        """A context with room for ``tokens`` (at most ``limit``).

        Raises:
            ComponentError: memory is short.
        """
        if self._context is not None and self._context.cells > tokens:
            return self._context
        if self._fixed:
            tokens = self.limit
        elif self._context is not None:  # requests turn out longer than expected: do not grow again for the next
            tokens = min(tokens * 5 // 4, self.limit)
        self.close()
        # One more cell, for the token that fills up a batch of one.
        cells = -(-(tokens + 1) // _ROUND_TO) * _ROUND_TO
        self._context = Context(self._model, cells=cells, n_batch=self._speed.n_batch, n_threads=self._speed.n_threads)
        return self._context

    def answer(self, request: Request) -> Response:
        """Score the choices of ``request``, or continue its prompt.

        Raises:
            ComponentError: messages are given but the model has no usable chat template, or memory is short.
        """
        begin = time.perf_counter()
        try:
            response = self._choose(request) if request.choices else self._generate(request)
        except CannotAnswerError as failure:
            response = Response(request.key, error=failure.error)
        except DecodeError as failure:
            response = Response(request.key, error=ResponseError("decode_failed", str(failure)))
        except NotFiniteError as failure:
            response = Response(request.key, error=ResponseError("not_finite", str(failure), permanent=True))
        return replace(response, seconds=time.perf_counter() - begin)

    def close(self) -> None:
        """Free the cache."""
        if self._context is not None:
            self._context.close()
            self._context = None

    def _choose(self, request: Request) -> Response:
        work = self._plan(request)
        self._check_fits(f"the prompt with its longest choice has {work.tokens} tokens", work.tokens)
        logprobs = score(self.reserve(work.tokens), work, can_rewind=self._model.can_rewind)
        scores = tuple(
            score_of(choice.key, choice.text, sequence[work.start :], values)
            for choice, sequence, values in zip(request.choices, work.sequences, logprobs, strict=True)
        )
        return Response(
            request.key, choice_logprobs=scores, prompt_tokens=work.prompt_tokens, completion_tokens=0, flags=work.flags
        )

    def _generate(self, request: Request) -> Response:
        prompt, sampling = self._prompt(request), request.sampling
        if not prompt:
            raise CannotAnswerError("empty_prompt", "the prompt is empty and the model has no BOS token to begin with")
        total = len(prompt) + sampling.max_tokens
        self._check_fits(f"the prompt's {len(prompt)} tokens and max_tokens={sampling.max_tokens} are {total}", total)
        text = generate(self._model, self.reserve(total), prompt, sampling, request_seed(request))
        return Response(
            request.key,
            text=text.text,
            finish_reason=text.finish_reason,
            prompt_tokens=len(prompt),
            completion_tokens=text.tokens,
            flags=text.flags,
        )

    def _prompt(self, request: Request) -> list[int]:
        try:
            return self.prompter.encode(self.prompter.parts(request))
        except ChatTemplateError as failure:
            raise CannotAnswerError("template", f"the chat template refuses the messages: {failure}") from failure

    def _plan(self, request: Request) -> Plan:
        try:
            return plan(self.prompter, self.prompter.parts(request), request.choices)
        except ChatTemplateError as failure:
            raise CannotAnswerError("template", f"the chat template refuses the messages: {failure}") from failure

    def _check_fits(self, what: str, tokens: int) -> None:
        if tokens <= self.limit:
            return
        if self.limit < self._model.n_ctx_train:
            way_out = f"set -B n_ctx={tokens} or more"
        else:
            way_out = "the model was trained for no more; lower max_tokens or use another model"
        raise CannotAnswerError("context_too_small", f"{what}, but the context holds {self.limit}; {way_out}")


def _prompter(model: Model) -> tuple[Prompter, tuple[str, ...]]:
    """The prompter of ``model``, and what the user should know about its chat template."""
    source = model.metadata.get("tokenizer.chat_template")
    if not source:
        return Prompter(model, None), ("the model has no chat template: only --prompt-style raw works",)
    try:
        template = ChatTemplate(source, bos=model.name(model.bos), eos=model.name(model.eos))
    except ChatTemplateError as failure:
        reason = f"has a chat template that cannot be used ({failure})"
        return Prompter(model, None, reason), (f"the model {reason}: only --prompt-style raw works",)
    notes = []
    if template.folds_system:
        notes.append("the chat template refuses a system role: system text is put before the first user turn")
    if template.writes_date:
        notes.append(f"the chat template asks for today's date: it gets {FIXED_DATE}, so that prompts stay the same")
    return Prompter(model, template), tuple(notes)
