"""Drawing text, one token at a time, from the logits of a model."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasfw import Sampling
from biasfw_plugins.llamacpp.library import utf8
from biasfw_plugins.llamacpp.native import Model

_LIGHTEST = (1e-3, 1e-5, 0.0)  # weights that hold most nuclei; sorting all of a vocabulary takes longer than the model
_BLOCK = 256
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
        """A place, as likely as its weight; by sums of blocks, since a running sum of all takes eight times longer."""
        sums = np.cumsum(np.add.reduceat(weights, np.arange(0, len(weights), _BLOCK), dtype=np.float64))
        wanted = self._random.random() * sums[-1]
        block = min(int(np.searchsorted(sums, wanted, side="right")), len(sums) - 1)
        inside = np.cumsum(weights[block * _BLOCK : (block + 1) * _BLOCK], dtype=np.float64)
        drawn = np.searchsorted(inside, wanted - (sums[block - 1] if block else 0.0), side="right")
        last = np.searchsorted(inside, inside[-1], side="left")  # the last with a weight, should rounding go beyond
        return block * _BLOCK + int(min(drawn, last))

    def _nucleus(self, weights: NDArray[np.float32]) -> NDArray[np.intp]:
        """Indices of the nucleus, the likeliest first (equals in the order of the vocabulary)."""
        wanted = self._top_p * weights.sum(dtype=np.float64)
        for least in _LIGHTEST:  # weights are relative to the greatest
            likely = np.flatnonzero(weights >= least)
            likely = likely[np.argsort(-weights[likely], kind="stable")]
            cumulative = np.cumsum(weights[likely], dtype=np.float64)
            if cumulative[-1] >= wanted:
                break
        return likely[: int(np.searchsorted(cumulative, wanted, side="left")) + 1]


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated text: why it ended (``stop``, ``length``), how many tokens it took and what to know about it."""

    text: str
    finish_reason: str
    tokens: int
    flags: tuple[str, ...] = ()


class Continuation:
    """A text in the making: takes logits, says which token to evaluate next, until ``result`` is there."""

    def __init__(self, model: Model, sampling: Sampling, seed: int) -> None:
        self._model = model
        self._most = sampling.max_tokens
        self._picker = Picker(sampling, seed)
        self._stops = [utf8(stop) for stop in sampling.stop if stop]
        self._longest_stop = max(map(len, self._stops), default=0)
        self._written = bytearray()
        self._count = 0
        self.result: Generated | None = None if self._most > 0 else Generated("", "length", 0)

    def take(self, logits: NDArray[np.float32]) -> int:
        """Pick the next token, given logits (n_vocab,) after the text so far; sets ``result`` where the text ends.

        It ends when the model ends it, a stop string appears or max_tokens is reached.

        Raises:
            NotFiniteError: the model computed no usable logits.
        """
        token, written = self._picker.pick(logits), self._written
        if self._model.ends(token):
            self.result = _finish(written, "stop", self._count)
            return token
        self._count += 1
        piece = self._model.piece(token)
        written += piece
        tail = max(0, len(written) - len(piece) - self._longest_stop)
        ends = [place for place in (written.find(stop, tail) for stop in self._stops) if place >= 0]
        if ends:
            self.result = _finish(written[: min(ends)], "stop", self._count, ("stop_string",))
        elif self._count == self._most:
            self.result = _finish(written, "length", self._count)
        return token


def _finish(written: bytes | bytearray, reason: str, tokens: int, flags: tuple[str, ...] = ()) -> Generated:
    """Decode UTF-8; the beginning of a character at the end is dropped, other invalid bytes become U+FFFD."""
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(written), final=False)
    return Generated(text, reason, tokens, flags)
