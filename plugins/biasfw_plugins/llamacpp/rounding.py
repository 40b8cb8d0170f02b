"""How many tokens a batch must have, so that what is computed for one does not depend on the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from biasfw_plugins.llamacpp.context import Context, DecodeError
from biasfw_plugins.llamacpp.native import Model

_TRIED = (1, 2, 4, 8)
_LONG = 16


def even_batches(model: Model, n_threads: int) -> int:
    """Of what number the size of a batch must be a multiple: 1, 2, 4 or 8, tried out on ``model``, on this machine.

    llama.cpp multiplies matrices with one kernel for a single token, with another for several, and, depending on
    processor and quantisation, with one more for those left over when it takes four or more at a time. They round
    differently: with SmolLM2 on x86, a single token in F16 moves logits by up to 0.03, one to three left over in
    Q4_K_M by up to 0.9. Filled up to multiples of 2 (F16) and 8 (Q4_K_M) they are bit for bit the same; Q4_0, Q4_1 and
    Q8_0 need no filling. 1 where no number helps (a GPU, a mixture of experts): then rounding depends on the batch.

    The first token of a sequence is in all batches here: it has the largest activations, and attends to nothing else.

    Raises:
        ComponentError: memory is short.
    """
    if not model.can_rewind:
        return 1  # what fills up a batch could not be taken back
    context = Context(model, cells=256, n_batch=32, n_threads=n_threads)
    try:
        ids = [place * 37 % model.n_vocab for place in range(1, _LONG + 1)]
        reference = _logits(context, ids)
        for number in _TRIED:
            sizes = (number, 3 * number) if 3 * number < _LONG else (number,)
            if all(np.array_equal(_logits(context, ids[:size]), reference[:size]) for size in sizes):
                return number
    except DecodeError:
        return 1  # the requests will say so
    finally:
        context.close()
    return 1


def _logits(context: Context, ids: Sequence[int]) -> NDArray[np.float32]:
    """Logits (tokens, n_vocab) after each of ``ids``, evaluated as one batch."""
    context.clear()
    context.decode(ids, 0, outputs=slice(None))
    return np.stack([context.logits(index) for index in range(len(ids))])
