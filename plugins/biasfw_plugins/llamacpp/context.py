"""A context of llama.cpp: a thin, typed layer over its cache, and batches of tokens computed into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasfw import ComponentError
from biasfw_plugins.llamacpp.library import C
from biasfw_plugins.llamacpp.native import Model

_LAST = slice(-1, None)


class DecodeError(Exception):
    """llama.cpp could not evaluate a batch."""


class Context:
    """The cache of ``sequences`` token sequences, of at most ``cells`` tokens each, and what computes into it.

    Each sequence has a buffer of its own (llama.cpp's split cache): attention then reads its own tokens only.

    Flash attention is off: on the CPU its rounding depends on the number of threads and on the batch size, which
    moved log-probabilities of SmolLM2 (Q4_1) by up to 0.5. Without it they are bit for bit the same for 1 to 4 threads,
    any context size and any batch of 2 tokens or more, at 12 % more time for the prompt.

    Raises:
        ComponentError: there is not enough memory.
    """

    def __init__(self, model: Model, *, cells: int, n_batch: int, n_threads: int, sequences: int = 1) -> None:
        self.cells = cells
        self.n_batch = n_batch
        self.sequences = sequences
        self._n_vocab = model.n_vocab
        self._handle: Any = None
        parameters = C.llama_context_default_params()
        parameters.n_ctx = cells * sequences
        parameters.n_batch = parameters.n_ubatch = n_batch
        parameters.n_seq_max = sequences
        parameters.kv_unified = False
        parameters.n_threads = parameters.n_threads_batch = n_threads
        parameters.flash_attn_type = C.LLAMA_FLASH_ATTN_TYPE_DISABLED
        if hasattr(parameters, "n_outputs_max_per_seq"):
            parameters.n_outputs_max_per_seq = 0  # no limit
        self._handle = C.llama_init_from_model(model.handle, parameters)
        if not self._handle:
            many = f"{sequences} times {cells}" if sequences > 1 else str(cells)
            fewer = "set -B parallel=NUMBER to fewer, " if sequences > 1 else ""
            raise ComponentError(
                f"not enough memory for a context of {many} tokens; {fewer}lower max_tokens or set -B n_ctx=NUMBER"
            )
        self._memory = C.llama_get_memory(self._handle)
        self._batch = C.llama_batch_init(n_batch, 0, 1)
        self._token, self._position, self._output = (
            np.ctypeslib.as_array(column, shape=(n_batch,))
            for column in (self._batch.token, self._batch.pos, self._batch.logits)
        )
        self._sequence = [self._batch.seq_id[index] for index in range(n_batch)]
        for index in range(n_batch):
            self._batch.n_seq_id[index] = 1

    def clear(self) -> None:
        """Forget everything and zero the cache, so that nothing of an earlier request can be read."""
        C.llama_memory_clear(self._memory, True)

    def rewind(self, position: int, sequence: int = 0) -> None:
        """Forget the tokens of ``sequence`` from ``position`` on.

        Raises:
            DecodeError: the model keeps a state that cannot go back.
        """
        if not C.llama_memory_seq_rm(self._memory, sequence, position, -1):
            raise DecodeError(f"llama.cpp cannot rewind to token {position}")

    def copy(self, source: int, target: int) -> None:
        """Let sequence ``target`` be a copy of ``source``: its whole buffer, copied when the next batch is evaluated.

        llama.cpp aborts the process when asked for a part of a sequence of a split cache; rewind the copy instead.
        """
        C.llama_memory_seq_cp(self._memory, source, target, -1, -1)

    def decode(self, tokens: Sequence[int], position: int, *, sequence: int = 0, outputs: slice = _LAST) -> None:
        """Evaluate 1 to ``n_batch`` tokens of one sequence, the first at ``position``; logits are kept for ``outputs``.

        Raises:
            DecodeError: llama.cpp refused.
        """
        count = len(tokens)
        self._position[:count] = range(position, position + count)
        self._output[:count] = 0
        self._output[:count][outputs] = 1
        for place in self._sequence[:count]:
            place[0] = sequence
        self._evaluate(tokens)

    def step(self, tokens: Sequence[int], positions: Sequence[int]) -> None:
        """Evaluate one token for each of the sequences 0, 1, 2, ...; logits are kept for all.

        The sequences stand side by side because llama.cpp evaluates a split cache's batch in one piece only then.

        Raises:
            DecodeError: llama.cpp refused.
        """
        count = len(tokens)
        self._position[:count] = positions
        self._output[:count] = 1
        for number, place in enumerate(self._sequence[:count]):
            place[0] = number
        self._evaluate(tokens)

    def _evaluate(self, tokens: Sequence[int]) -> None:
        self._batch.n_tokens = len(tokens)
        self._token[: len(tokens)] = tokens
        code = C.llama_decode(self._handle, self._batch)
        if code != 0:
            raise DecodeError(f"llama_decode failed with code {code}")

    def logits(self, index: int) -> NDArray[np.float32]:
        """Logits (n_vocab,) after token ``index`` of the last batch; valid until the next ``decode``."""
        return np.ctypeslib.as_array(C.llama_get_logits_ith(self._handle, index), shape=(self._n_vocab,))

    def close(self) -> None:
        """Free the cache."""
        if self._handle:
            handle, self._handle = self._handle, None
            C.llama_batch_free(self._batch)
            C.llama_free(handle)
