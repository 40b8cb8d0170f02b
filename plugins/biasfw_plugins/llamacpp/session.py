"""A loaded model: its prompts, and a cache of the size that requests need."""

from __future__ import annotations

from dataclasses import dataclass

from biasfw import ComponentError, Request
from biasfw_plugins.llamacpp.cache import Cache
from biasfw_plugins.llamacpp.chat import FIXED_DATE, ChatTemplate, ChatTemplateError
from biasfw_plugins.llamacpp.context import Context
from biasfw_plugins.llamacpp.jobs import CannotAnswerError, Job, Limit, make_job
from biasfw_plugins.llamacpp.memory import cell_bytes, free_memory, side_by_side
from biasfw_plugins.llamacpp.native import Model
from biasfw_plugins.llamacpp.prompts import Prompter
from biasfw_plugins.llamacpp.rounding import even_batches

_FEW = 2  # sequences that are reserved even where one is asked for
_ROUND_TO = 256  # llama.cpp rounds contexts up to this


@dataclass(frozen=True, slots=True)
class Speed:
    """How to compute: tokens per batch, threads, sequences side by side (None: by memory and cores), and where."""

    n_batch: int
    n_threads: int
    parallel: int | None = None
    gpu: bool = False


class Session:
    """A model, its chat template and a cache that grows to what the longest request needs, up to ``n_ctx`` tokens."""

    def __init__(self, model: Model, speed: Speed, n_ctx: int | None = None) -> None:
        self._model = model
        self._speed = speed
        self._fixed = n_ctx is not None
        self._limit = Limit(min(n_ctx or model.n_ctx_train, model.n_ctx_train), model.n_ctx_train)
        self._context: Context | None = None
        self._cache: Cache | None = None
        self._even: int | None = None
        self._fitting: int | None = None  # sequences that memory holds and cores can use
        self.prompter, self.notes = _prompter(model)

    def job(self, request: Request) -> Job:
        """``request`` tokenised.

        Raises:
            CannotAnswerError: the template refuses the messages, the prompt is empty, or there is no room.
            ComponentError: messages are given but the model has no usable chat template.
        """
        return make_job(self.prompter, request, self._limit)

    def need(self, request: Request) -> int:
        """How many tokens ``request`` takes in all; 0 if it cannot be answered.

        Raises:
            ComponentError: messages are given but the model has no usable chat template.
        """
        try:
            return self.job(request).tokens
        except CannotAnswerError:
            return 0

    def reserve(self, tokens: int, most: int) -> Cache:
        """A cache of up to ``most`` sequences (0: one, to score) with room for ``tokens`` each; it may be a new one.

        Raises:
            ComponentError: memory is short.
        """
        if self._even is None:
            self._even = even_batches(self._model, self._speed.n_threads)
        if self._cache is not None and self._suffices(self._cache, tokens, most):
            return self._cache
        cells = self._cells(tokens)
        self.close()
        wanted = self._side_by_side(cells, most)
        while self._context is None:
            try:
                self._context = Context(
                    self._model,
                    cells=cells,
                    n_batch=self._speed.n_batch,
                    n_threads=self._speed.n_threads,
                    sequences=wanted,
                )
            except ComponentError:
                if wanted == 1 or self._speed.parallel is not None:
                    raise
                wanted = self._fitting = wanted // 2
        self._cache = Cache(self._context, can_rewind=self._model.can_rewind, even=self._even)
        return self._cache

    def _suffices(self, cache: Cache, tokens: int, most: int) -> bool:
        """Whether ``cache`` has room for ``tokens`` and as many sequences as pay for ``most`` requests."""
        if cache.room < tokens:
            return False
        return most == 0 or (self._fitting is not None and cache.sequences >= min(most, self._fitting))

    def close(self) -> None:
        """Free the cache."""
        self._cache = None
        if self._context is not None:
            self._context.close()
            self._context = None

    def _cells(self, tokens: int) -> int:
        """How many cells a sequence gets."""
        if self._fixed:
            tokens = self._limit.tokens
        elif self._cache is not None and self._cache.room < tokens:  # longer than expected: the next ones may be, too
            tokens = min(tokens * 5 // 4, self._limit.tokens)
        fillers = max(self._even or 1, 2) - 1  # tokens that fill up a batch
        cells = -(-(tokens + fillers) // _ROUND_TO) * _ROUND_TO
        return cells if self._cache is None else max(cells, self._cache.cells)

    def _side_by_side(self, cells: int, most: int) -> int:
        """How many sequences to reserve to continue ``most`` requests."""
        if most == 0:
            return 1
        if self._speed.parallel is not None:
            self._fitting = self._speed.parallel
        else:
            size = cells * cell_bytes(self._model.metadata)
            self._fitting = side_by_side(self._speed.n_threads, size, None if self._speed.gpu else free_memory())
        count, even = min(self._fitting, most), self._even or 1
        # What would only fill up a batch can as well be of use; but one sequence does not become eight.
        return count + -count % even if count > 1 or even <= _FEW else count


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
