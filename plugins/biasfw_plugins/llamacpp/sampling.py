"""Drawing text, one token at a time, from the logits of a model."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasfw import Sampling
from biasfw_plugins.llamacpp.native import Context, Model

_NUCLEUS_GUESS = 1024  # tokens that hold nearly every nucleus; sorting all of a vocabulary takes longer than the model
_GREEDY_BELOW = 1e-5  # where float32 would overflow


class NotFiniteError(Exception):
    """The model computed no usable logits."""


class Picker:
    """Picks tokens: the likeliest at temperature 0, else softmax(logits / temperature) cut to its nucleus.

    The nucleus is the smallest set of likeliest tokens that holds ``top_p`` of the mass (Holtzman et al. 2020, "The
    curious case of neural text degeneration"). Draws come from PCG64 seeded with ``seed``.
    """

    def __init__(self, sampling: Sampling, seed: int) -> None:
        self._temperature = sampling.temperature
        self._top_p = sampling.top_p
        self._random = np.random.Generator(np.random.PCG64(seed))

    def pick(self, logits: NDArray[np.float32]) -> int:
        """The next token, given logits (n_vocab,).

        Raises:
            NotFiniteError: a logit is not a number or the greatest is infinite.
        """
        peak = logits.max()
        if not np.isfinite(peak):
            raise NotFiniteError("the model computed no finite logits; its file may be damaged")
        if self._temperature < _GREEDY_BELOW:
            return int(logits.argmax())
        weights = np.exp((logits - peak) / np.float32(self._temperature))
        if self._top_p >= 1:
            return self._draw(weights)
        nucleus = self._nucleus(weights)
        return int(nucleus[self._draw(weights[nucleus])])

    def _draw(self, weights: NDArray[np.float32]) -> int:
        cumulative = np.cumsum(weights, dtype=np.float64)
        drawn = np.searchsorted(cumulative, self._random.random() * cumulative[-1], side="right")
        return min(int(drawn), len(weights) - 1)

    def _nucleus(self, weights: NDArray[np.float32]) -> NDArray[np.intp]:
        """Indices of the nucleus, the likeliest first (equals in the order of the vocabulary)."""
        wanted = self._top_p * weights.sum(dtype=np.float64)
        count = min(_NUCLEUS_GUESS, len(weights))
        while True:
            least = np.partition(weights, len(weights) - count)[len(weights) - count]
            likely = np.flatnonzero(weights >= least)
            likely = likely[np.argsort(-weights[likely], kind="stable")]
            cumulative = np.cumsum(weights[likely], dtype=np.float64)
            if cumulative[-1] >= wanted or count == len(weights):
                return likely[: int(np.searchsorted(cumulative, wanted, side="left")) + 1]
            count = min(count * 8, len(weights))


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated text: why it ended (``stop``, ``length``), how many tokens it took and what to know about it."""

    text: str
    finish_reason: str
    tokens: int
    flags: tuple[str, ...] = ()


def generate(model: Model, context: Context, prompt: Sequence[int], sampling: Sampling, seed: int) -> Generated:
    """Continue ``prompt`` (at least one token id) until the model ends, a stop string appears or max_tokens is reached.

    Depends on nothing but its arguments: the cache is cleared first.

    Raises:
        DecodeError: llama.cpp refused a batch.
        NotFiniteError: the model computed no usable logits.
    """
    context.clear()
    for begin in range(0, len(prompt), context.n_batch):
        chunk = prompt[begin : begin + context.n_batch]
        context.decode(chunk, begin)
    picker, stops = Picker(sampling, seed), [stop.encode() for stop in sampling.stop if stop]
    longest_stop = max(map(len, stops), default=0)
    written, last = bytearray(), len(chunk) - 1
    for count in range(sampling.max_tokens):
        token = picker.pick(context.logits(last))
        if model.ends(token):
            return _finish(written, "stop", count)
        piece = model.piece(token)
        written += piece
        tail = max(0, len(written) - len(piece) - longest_stop)
        ends = [place for place in (written.find(stop, tail) for stop in stops) if place >= 0]
        if ends:
            return _finish(written[: min(ends)], "stop", count + 1, ("stop_string",))
        if count + 1 < sampling.max_tokens:
            context.decode([token], len(prompt) + count)
            last = 0
    return _finish(written, "length", sampling.max_tokens)


def _finish(written: bytes | bytearray, reason: str, tokens: int, flags: tuple[str, ...] = ()) -> Generated:
    """Decode UTF-8; the beginning of a character at the end is dropped, other invalid bytes become U+FFFD."""
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(written), final=False)
    return Generated(text, reason, tokens, flags)
