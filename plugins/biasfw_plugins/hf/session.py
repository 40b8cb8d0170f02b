"""A loaded model that answers requests in batches."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from biasfw import Request, RequestSequence, Response, ResponseError, by_beginning, request_seed
from biasfw_plugins.hf.devices import free_memory, is_out_of_memory
from biasfw_plugins.hf.generation import NOT_FINITE, Generated, Text, generate
from biasfw_plugins.hf.jobs import CannotAnswerError, Continuing, Job, Scoring, batches, branched, make_job
from biasfw_plugins.hf.network import Network
from biasfw_plugins.hf.prompts import Prompter
from biasfw_plugins.hf.sampling import Picker
from biasfw_plugins.hf.scoring import Scorer, score_of
from biasfw_plugins.hf.sharing import Trunk
from biasfw_plugins.hf.tokens import Tokeniser

_WINDOW = 256  # requests that are tokenised at once, to be sorted by their true length
_IDS = 250_000  # token ids that are ready at a time, about 9 MB, to be sorted by how they begin
_BROKEN = ResponseError(
    NOT_FINITE,
    "the model computed no finite logits; use -B dtype=float32 or bfloat16, else its files may be damaged",
    permanent=True,
)


@dataclass(frozen=True)
class Subject:
    """A model with everything that is needed to ask it.

    ``limit``: how many tokens it can hold, None for any number; ``ends``: the tokens that end a text.
    """

    network: Network
    tokeniser: Tokeniser
    prompter: Prompter
    limit: int | None
    ends: frozenset[int]


class Session:
    """Answers requests with one model. ``budget``: how many tokens are computed at once; ``scoring``: of choices.

    Where memory does not suffice the budget is halved, and stays so.
    """

    def __init__(self, subject: Subject, budget: int, scoring: int | None = None) -> None:
        self._subject = subject
        self.budget = budget
        self._scoring = scoring or budget
        self._trunk = Trunk(subject.network)

    def answer(self, requests: RequestSequence) -> Iterator[Response]:
        """Answer each request once: long ones first, or where beginnings are shared those that begin alike together.

        Raises:
            ComponentError: messages are given but the model has no usable chat template.
        """
        try:
            if self._subject.network.shares and len(requests) and requests[0].choices:
                yield from self._by_beginning(requests)
            else:
                yield from self._by_length(requests)
        finally:
            self._trunk.clear()

    def _by_length(self, requests: RequestSequence) -> Iterator[Response]:
        lengths = requests.lengths
        order = sorted(range(len(requests)), key=lambda index: lengths[index], reverse=True)
        for begin in range(0, len(order), _WINDOW):
            jobs: list[Job] = []
            for index in order[begin : begin + _WINDOW]:
                made = self._job(requests[index])
                if isinstance(made, Response):
                    yield made
                else:
                    jobs.append(made)
            yield from self._in_batches(jobs)

    def _by_beginning(self, requests: RequestSequence) -> Iterator[Response]:
        jobs: list[Job] = []
        size = 0
        for index in by_beginning(requests):
            made = self._job(requests[index])
            if isinstance(made, Response):
                yield made
                continue
            jobs.append(made)
            size += made.size
            if size >= _IDS:
                yield from self._in_batches(jobs)
                jobs, size = [], 0
        yield from self._in_batches(jobs)

    def _job(self, request: Request) -> Job | Response:
        try:
            return make_job(self._subject.prompter, request, self._subject.limit)
        except CannotAnswerError as failure:
            return Response(request.key, error=failure.error, seconds=0.0)

    def _in_batches(self, jobs: Sequence[Job]) -> Iterator[Response]:
        scorings = [job for job in jobs if isinstance(job, Scoring)]
        texts = [job for job in jobs if isinstance(job, Continuing)]
        if self._subject.network.shares:
            for depth, batch in branched(scorings, self._most(Scoring)):
                yield from self._batch(batch, depth)
        else:
            for batch in batches(scorings, self._most(Scoring)):
                yield from self._batch(batch)
        for batch in batches(texts, self._most(Continuing)):
            yield from self._batch(batch)

    def _most(self, kind: type[Job]) -> int:
        """How many tokens of such jobs are computed at once."""
        if self._subject.network.recurrent:  # its state takes in padding: one by one
            return 1
        return min(self.budget, self._scoring) if kind is Scoring else self.budget

    def _batch(self, batch: Sequence[Job], depth: int = 0) -> Iterator[Response]:
        """Answer ``batch``; where memory does not suffice, in halves. ``depth``: with how many tokens all begin."""
        if len(batch) > 1 and len(batch) * max(job.tokens for job in batch) > self._most(type(batch[0])):
            yield from self._halves(batch, depth)  # since it was planned, the budget became smaller
            return
        open_jobs = {job.request.key: job for job in batch}
        begin = time.perf_counter()
        failure = ""
        try:
            for response in self._compute(batch, depth):
                del open_jobs[response.key]
                yield replace(response, seconds=(time.perf_counter() - begin) / len(batch))
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            failure = str(error).strip().partition("\n")[0]
        if failure:  # only here is the traceback gone, which holds on to what was computed
            yield from self._again(list(open_jobs.values()), failure, depth)

    def _halves(self, batch: Sequence[Job], depth: int) -> Iterator[Response]:
        half = (len(batch) + 1) // 2
        for part in (batch[:half], batch[half:]):
            if part:
                yield from self._batch(part, depth)

    def _again(self, left: Sequence[Job], failure: str, depth: int) -> Iterator[Response]:
        self._trunk.clear()
        free_memory()
        used = min(self._most(type(left[0])), sum(job.widest for job in left))
        if len(left) == 1 and used <= left[0].tokens:
            if depth:  # what is kept of the beginning needs memory, too
                yield from self._batch(left)
                return
            message = f"not enough memory for this request alone ({failure}); use a GPU with more, or -B device=cpu"
            yield Response(left[0].request.key, error=ResponseError("out_of_memory", message))
            return
        self.budget = max(1, used // 2)
        yield from self._halves(left, depth)

    def _compute(self, batch: Sequence[Job], depth: int) -> Iterator[Response]:
        scorings = [job for job in batch if isinstance(job, Scoring)]
        if scorings:
            scorer = Scorer(self._subject.network, min(self.budget, self._scoring), self._trunk)
            results = scorer.score([job.plan for job in scorings], depth)
            yield from map(_scored, scorings, results)
        prompts = [job for job in batch if isinstance(job, Continuing)]
        if prompts:
            texts = [self._text(job.request) for job in prompts]
            for index, made in generate(self._subject.network, [job.prompt for job in prompts], texts):
                yield _continued(prompts[index], made)

    def _text(self, request: Request) -> Text:
        picker = Picker(request.sampling, request_seed(request))
        return Text(self._subject.tokeniser, self._subject.ends, request.sampling, picker)


def _scored(job: Scoring, logprobs: Sequence[Sequence[float]]) -> Response:
    request, work = job.request, job.plan
    if any(value != value for values in logprobs for value in values):  # noqa: PLR0124 - not a number
        return Response(request.key, error=_BROKEN)
    scores = tuple(
        score_of(choice.key, choice.text, sequence[work.start :], values)
        for choice, sequence, values in zip(request.choices, work.sequences, logprobs, strict=True)
    )
    return Response(
        request.key, choice_logprobs=scores, prompt_tokens=work.prompt_tokens, completion_tokens=0, flags=work.flags
    )


def _continued(job: Continuing, made: Generated) -> Response:
    if made.reason == NOT_FINITE:
        return Response(job.request.key, error=_BROKEN)
    return Response(
        job.request.key,
        text=made.text,
        finish_reason=made.reason,
        prompt_tokens=len(job.prompt),
        completion_tokens=made.tokens,
        flags=made.flags,
    )
