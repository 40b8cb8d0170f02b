"""Many requests at once: continued side by side, scored one after the other, what they share evaluated once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from biasfw import RequestSequence, Response, ResponseError, by_beginning, request_seed
from biasfw_plugins.llamacpp.cache import Cache
from biasfw_plugins.llamacpp.context import DecodeError
from biasfw_plugins.llamacpp.jobs import CannotAnswerError, Continuing, Job, Scoring
from biasfw_plugins.llamacpp.native import Model
from biasfw_plugins.llamacpp.sampling import Continuation, NotFiniteError
from biasfw_plugins.llamacpp.scoring import score, score_of
from biasfw_plugins.llamacpp.session import Session

_WINDOW = 250_000  # token ids that are ready at a time, about 9 MB


@dataclass(slots=True)
class _Text:
    """A prompt that is being continued. ``tokens``: all so far; the cache may hold fewer."""

    job: Continuing
    made: Continuation
    tokens: list[int]
    begin: float


class Schedule:
    """Answers requests in the order in which they are done.

    A sequence that has ended makes room for the next request at once. Those in use are kept side by side, from 0 on.
    """

    def __init__(self, session: Session, model: Model) -> None:
        self._session = session
        self._model = model
        self._active: dict[int, _Text] = {}  # by sequence

    def answer(self, requests: RequestSequence) -> Iterator[Response]:
        """Answer each of ``requests`` once.

        Raises:
            ComponentError: messages are given but the model has no usable chat template, or memory is short.
        """
        cache: Cache | None = None
        for job in self._jobs(requests):
            if isinstance(job, Response):
                yield job
                continue
            while cache is not None and self._active and not self._has_room(cache, job):
                yield from self._step(cache)
            if cache is None or not self._active:
                cache = self._session.reserve(job.tokens, len(requests) if isinstance(job, Continuing) else 0)
                cache.settle()
            yield from self._admit(cache, job)
        while cache is not None and self._active:
            yield from self._step(cache)

    def _jobs(self, requests: RequestSequence) -> Iterator[Job | Response]:
        """What to compute, so ordered that requests that begin alike follow each other, and what cannot be computed.

        A window of requests is ready at a time, so that memory stays bounded.
        """
        window: list[Job] = []
        size = 0
        for place in by_beginning(requests):
            request = requests[place]
            try:
                job = self._session.job(request)
            except CannotAnswerError as failure:
                yield Response(request.key, error=failure.error, seconds=0.0)
                continue
            window.append(job)
            size += job.size
            if size >= _WINDOW:
                yield from sorted(window, key=_beginning)
                window, size = [], 0
        yield from sorted(window, key=_beginning)

    def _has_room(self, cache: Cache, job: Job) -> bool:
        """Whether ``job`` can begin beside what is being continued."""
        return job.tokens <= cache.room and len(self._active) < cache.sequences

    def _admit(self, cache: Cache, job: Job) -> Iterator[Response]:
        """Score choices, or evaluate a prompt and begin to continue it."""
        begin = time.perf_counter()
        free = [number for number in range(cache.sequences) if number not in self._active]
        sequence = cache.place(job.beginning, job.most, free)
        if isinstance(job, Scoring):
            yield self._score(cache, sequence, job, begin)
            return
        made = Continuation(self._model, job.request.sampling, request_seed(job.request))
        text = _Text(job, made, [*job.prompt], begin)
        self._active[sequence] = text
        yield from self._go_on(cache, sequence, text, partial(cache.logits_after, sequence, text.tokens))

    def _score(self, cache: Cache, sequence: int, job: Scoring, begin: float) -> Response:
        try:
            logprobs = score(cache, sequence, job.plan)
        except DecodeError as failure:
            error = ResponseError("decode_failed", str(failure))
            return Response(job.request.key, error=error, seconds=time.perf_counter() - begin)
        if not all(np.isfinite(values).all() for values in logprobs):
            cache.spoil(sequence)
        scores = tuple(
            score_of(choice.key, choice.text, tokens[job.plan.start :], values)
            for choice, tokens, values in zip(job.request.choices, job.plan.sequences, logprobs, strict=True)
        )
        return Response(
            job.request.key,
            choice_logprobs=scores,
            prompt_tokens=job.plan.prompt_tokens,
            completion_tokens=0,
            flags=job.plan.flags,
            seconds=time.perf_counter() - begin,
        )

    def _step(self, cache: Cache) -> Iterator[Response]:
        """One more token for every text; those that end with it are answered."""
        self._close_ranks(cache)
        texts = [self._active[sequence] for sequence in range(len(self._active))]
        try:
            rows = cache.step([text.tokens[-1] for text in texts])
        except DecodeError:  # one by one, so that a failure is that of one request
            for sequence, text in enumerate(texts):
                yield from self._go_on(cache, sequence, text, partial(cache.logits_after, sequence, text.tokens))
            return
        for sequence, text in enumerate(texts):
            yield from self._go_on(cache, sequence, text, partial(rows.__getitem__, sequence))

    def _go_on(
        self, cache: Cache, sequence: int, text: _Text, logits: Callable[[], NDArray[np.float32]]
    ) -> Iterator[Response]:
        """Give ``text`` its next token; an answer if it has ended or failed, and its sequence is free then."""
        key = text.job.request.key
        try:
            text.tokens.append(text.made.take(logits()))
            made = text.made.result
            if made is None:
                return
            response = Response(
                key,
                text=made.text,
                finish_reason=made.finish_reason,
                prompt_tokens=len(text.job.prompt),
                completion_tokens=made.tokens,
                flags=made.flags,
                seconds=time.perf_counter() - text.begin,
            )
            del self._active[sequence]
        except (DecodeError, NotFiniteError) as failure:
            del self._active[sequence]
            broken = isinstance(failure, NotFiniteError)
            if broken:
                cache.spoil(sequence)
            error = ResponseError("not_finite" if broken else "decode_failed", str(failure), permanent=broken)
            response = Response(key, error=error, seconds=time.perf_counter() - text.begin)
        yield response

    def _close_ranks(self, cache: Cache) -> None:
        """Move texts from the highest sequences to gaps between the lower ones."""
        for gap in range(len(self._active)):
            if gap not in self._active:
                last = max(self._active)
                cache.move(last, gap)
                self._active[gap] = self._active.pop(last)


def _beginning(job: Job) -> tuple[int, ...]:
    return job.beginning
