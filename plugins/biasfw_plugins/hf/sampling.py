"""Picking the next token of one text from logits, by a seed of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasfw import Sampling
from biasfw_plugins.hf.runtime import torch

if TYPE_CHECKING:
    from torch import Tensor

_NUCLEUS_GUESS = 1024  # tokens that hold nearly every nucleus; sorting all of a vocabulary takes long
_GREEDY_BELOW = 1e-5  # where float32 would overflow
NO_TOKEN = -1  # picked where logits are not finite


class Picker:
    """Picks tokens: the likeliest at temperature 0, else softmax(logits / temperature) cut to its nucleus.

    The nucleus is the smallest set of likeliest tokens that holds ``top_p`` of the mass (Holtzman et al. 2020, "The
    curious case of neural text degeneration"). Draws come from a generator seeded with ``seed``, one number a token,
    so that they do not depend on which other texts are made at the same time.
    """

    def __init__(self, sampling: Sampling, seed: int) -> None:
        self._temperature = sampling.temperature
        self._top_p = sampling.top_p
        self._random = torch.Generator().manual_seed(seed)

    def pick(self, logits: Tensor) -> Tensor:
        """The next token (a scalar on the device of ``logits``), given logits (vocabulary,) in float32.

        It is ``NO_TOKEN`` if a logit is not a number or the greatest is infinite.
        """
        peak = logits.max()
        if not bool(torch.isfinite(peak)):
            return torch.tensor(NO_TOKEN, device=logits.device)
        if self._temperature < _GREEDY_BELOW:
            return logits.argmax()
        weights = torch.exp((logits - peak) / self._temperature)
        return self._draw(weights) if self._top_p >= 1 else self._draw_from_nucleus(weights)

    def _draw(self, weights: Tensor) -> Tensor:
        # Apple's GPUs know no float64.
        exact = torch.float32 if weights.device.type == "mps" else torch.float64
        cumulative = weights.cumsum(0, dtype=exact)
        drawn = torch.rand((), generator=self._random, dtype=torch.float64).item() * cumulative[-1]
        return torch.searchsorted(cumulative, drawn, right=True).clamp(max=len(weights) - 1)

    def _draw_from_nucleus(self, weights: Tensor) -> Tensor:
        nucleus = self._nucleus(weights)
        return nucleus[self._draw(weights[nucleus])]

    def _nucleus(self, weights: Tensor) -> Tensor:
        """Indices of the nucleus, the likeliest first (equals in the order of the vocabulary)."""
        wanted = self._top_p * weights.sum()
        count = min(_NUCLEUS_GUESS, len(weights))
        while True:
            least = weights.topk(count).values[-1]
            likely = torch.nonzero(weights >= least)[:, 0]
            likely = likely[torch.argsort(weights[likely], descending=True, stable=True)]
            cumulative = weights[likely].cumsum(0)
            if count == len(weights) or bool(cumulative[-1] >= wanted):
                return likely[: int(torch.searchsorted(cumulative, wanted)) + 1]
            count = min(count * 8, len(weights))
