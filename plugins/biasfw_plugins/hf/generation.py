"""Continuing several prompts at once, each until it ends by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from biasfw import Sampling
from biasfw_plugins.hf.network import Network
from biasfw_plugins.hf.runtime import torch
from biasfw_plugins.hf.sampling import NO_TOKEN, Picker
from biasfw_plugins.hf.sharing import start
from biasfw_plugins.hf.tokens import Tokeniser

NOT_FINITE = "not_finite"


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated text: why it ended (``stop``, ``length``), how many tokens it took and what to know about it.

    ``reason`` is ``not_finite`` if the model computed no usable logits.
    """

    text: str
    reason: str
    tokens: int
    flags: tuple[str, ...] = ()


@dataclass
class Text:
    """One text that is being made. ``ends``: tokens that end it."""

    tokeniser: Tokeniser
    ends: frozenset[int]
    sampling: Sampling
    picker: Picker
    ids: list[int] = field(default_factory=list)

    def take(self, token: int) -> Generated | None:
        """Add a token; the whole text if it has ended with it."""
        if token == NO_TOKEN:
            return Generated("", NOT_FINITE, len(self.ids))
        if token in self.ends:
            return self._finish("stop")
        self.ids.append(token)
        if self._seems_stopped() or len(self.ids) >= self.sampling.max_tokens:
            return self._finish("length")
        return None

    def _seems_stopped(self) -> bool:
        """Whether a stop string stands at the end; every token holds at least a byte, so only the last ones matter."""
        stops = [stop for stop in self.sampling.stop if stop]
        if not stops:
            return False
        tail = self.tokeniser.decode(self.ids[-4 - max(len(stop.encode("utf-8", "replace")) for stop in stops) :])
        return any(stop in tail for stop in stops) and self._cut() is not None

    def _cut(self) -> int | None:
        """Where the first stop string begins."""
        text = self.tokeniser.decode(self.ids)
        return min((place for stop in self.sampling.stop if stop and (place := text.find(stop)) >= 0), default=None)

    def _finish(self, reason: str) -> Generated:
        """The text up to a stop string; the beginning of a character at the end is dropped."""
        cut = self._cut()
        if cut is not None:
            return Generated(self.tokeniser.decode(self.ids)[:cut], "stop", len(self.ids), ("stop_string",))
        return Generated(self.tokeniser.decode_whole(self.ids), reason, len(self.ids))


def generate(
    network: Network, prompts: Sequence[Sequence[int]], texts: Sequence[Text]
) -> Iterator[tuple[int, Generated]]:
    """Continue ``prompts`` (each at least one token id) side by side; yields (index, text) as each ends.

    Texts that have ended leave the batch. What is drawn for a text depends on its own logits and seed alone.
    """
    rows, logits = start(network, prompts, [len(prompt) - 1 for prompt in prompts], keep=1)
    alive = list(range(len(prompts)))
    while True:
        picked = torch.stack([texts[index].picker.pick(logits[row, -1]) for row, index in enumerate(alive)]).tolist()
        going = []
        for row, token in enumerate(picked):
            done = texts[alive[row]].take(token)
            if done is None:
                going.append(row)
            else:
                yield alive[row], done
        if not going:
            return
        if len(going) < len(alive):
            rows.select(going)
            alive = [alive[row] for row in going]
        logits = network.extend(rows, [texts[index].ids[-1:] for index in alive])
