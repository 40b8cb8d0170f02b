"""The least that arithmetic and memory of this machine allow: measured with plain libraries, then divided.

Arithmetic: a token takes 2 floating point operations for each weight that it is multiplied with (attention over the
tokens before it comes on top: it is left out, so the floor is a little too low). Bytes: a step of generation reads all
weights once, however many sequences it continues. llama.cpp multiplies quantised weights as integers of 8 bits, which
may be faster than the product of float32 that is measured here.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from _common import whole_process

_TRIES = 5
_SIZE = 1536  # rows and columns of the matrices that are multiplied
_STREAM = 1 << 26  # numbers that are read: 256 MiB, more than any cache holds


def _best(action: Callable[[], Any]) -> float:
    """The least seconds of several tries, after one to warm up."""
    action()
    seconds = []
    for _ in range(_TRIES):
        begun = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def peak_flops(dtype: str, threads: int) -> float:
    """Floating point operations a second of a large product of matrices, by PyTorch (numpy if it is not there)."""
    try:
        import torch  # noqa: PLC0415 - loads seconds long, and only here
    except ImportError:
        one, other = (np.ones((_SIZE, _SIZE), dtype=np.float32) for _ in range(2))
        return 2 * _SIZE**3 / _best(lambda: one @ other)
    torch.set_num_threads(threads)
    kind = getattr(torch, dtype)
    first, second = (torch.randn(_SIZE, _SIZE, dtype=torch.float32).to(kind) for _ in range(2))
    return 2 * _SIZE**3 / _best(lambda: first @ second)


def bandwidth(threads: int) -> float:
    """Bytes a second that ``threads`` together read from memory, each its own part, by numpy."""
    parts = np.array_split(np.ones(_STREAM, dtype=np.float32), threads)
    with ThreadPoolExecutor(threads) as pool:
        return _STREAM * 4 / _best(lambda: list(pool.map(lambda part: float(np.dot(part, part)), parts)))


@dataclass(frozen=True, slots=True)
class Floor:
    """What work takes at least on this machine."""

    flops: float  # a second
    bytes: float  # a second

    @classmethod
    def measured(cls, dtype: str, threads: int) -> Floor:
        """Of this machine, now; in a process of its own, so that no other library of threads joins this one."""
        alone = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
        ended = whole_process([sys.executable, __file__, dtype, str(threads)], environment=alone)
        return cls(*json.loads(ended.output))

    def __str__(self) -> str:
        return f"{self.flops / 1e9:.0f} GFLOP/s in a large product, {self.bytes / 1e9:.1f} GB/s read from memory"

    def arithmetic(self, weights: Weights, tokens: float, logits: float) -> float:
        """Seconds to compute ``tokens``, and logits after so many of them."""
        return 2 * (weights.body * tokens + weights.head * logits) / self.flops

    def reading(self, weights: Weights, steps: float) -> float:
        """Seconds to read all weights ``steps`` times."""
        return weights.size * steps / self.bytes


def distinct(sequences: Iterable[Sequence[int]]) -> int:
    """How many tokens there are to compute if every beginning that sequences share is computed once."""
    ordered = sorted(map(tuple, sequences))
    return sum(map(len, ordered)) - sum(_common(one, other) for one, other in pairwise(ordered))


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))


@dataclass(frozen=True, slots=True)
class Weights:
    """How many numbers each token is multiplied with: in the layers, and for its logits. ``size``: all, in bytes."""

    body: int
    head: int
    size: int = 0

    @classmethod
    def of_gguf(cls, model: Any, size: int) -> Weights:
        """Of a model that llama.cpp has loaded; an embedding that is also the head is one table."""
        architecture = model.metadata["general.architecture"]
        head = model.n_vocab * int(model.metadata[f"{architecture}.embedding_length"])
        return cls(model.n_params - head, head, size)


if __name__ == "__main__":  # of Floor.measured
    if len(sys.argv) != 3:
        sys.exit("usage: floor.py DTYPE THREADS; prints operations and bytes a second")
    print(json.dumps([peak_flops(sys.argv[1], int(sys.argv[2])), bandwidth(int(sys.argv[2]))]))
