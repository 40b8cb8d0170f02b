"""A model as a function from token ids to logits, with a cache; whatever it calls its arguments."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasfw_plugins.hf.runtime import muted, torch, transformers

if TYPE_CHECKING:
    from torch import Tensor
    from torch import device as Device  # noqa: N812


@dataclass
class Rows:
    """Token sequences that are computed side by side: ``mask`` (rows, width so far) is 0 where there is padding."""

    mask: Tensor
    cache: Any = None
    ids: Tensor | None = None  # all ids so far, where the model keeps no cache

    def select(self, indices: Sequence[int]) -> None:
        """Keep the rows ``indices``, in that order; a row may be taken more than once."""
        chosen = torch.tensor(list(indices), device=self.mask.device)
        self.mask = self.mask[chosen]
        if self.cache is not None:
            self.cache.reorder_cache(chosen)
        if self.ids is not None:
            self.ids = self.ids[chosen]

    def cut(self, width: int) -> None:
        """Keep the first ``width`` columns, fewer than there are or all."""
        if self.cache is not None and width < self.mask.shape[1]:
            self.cache.crop(width - self.mask.shape[1])  # negative: so many fewer, in every version of the library
        self.mask = self.mask[:, :width]
        if self.ids is not None:
            self.ids = self.ids[:, :width]

    @classmethod
    def empty(cls, count: int, device: Device) -> Rows:
        """``count`` rows without a token, and without a cache."""
        return cls(torch.zeros((count, 0), dtype=torch.long, device=device))


class Network:
    """``caches``: the model can go on from a cache. ``recurrent``: it keeps a state that padding would spoil.

    ``gaps``: padding may stand between tokens. It must not where some layers see a window of the last tokens, in which
    it would take up room, nor where positions cannot be told to the model. ``shares``: computing what sequences share
    once, and copying it, saves time: computing is what a CPU lacks; a GPU rather lacks large batches.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        known = inspect.signature(model.forward).parameters
        self._cache_argument = next((name for name in ("cache", "past_key_values") if name in known), None)
        self._takes_positions = "position_ids" in known
        self._takes_keep = "logits_to_keep" in known
        self.device = model.get_input_embeddings().weight.device
        layers = transformers.DynamicCache(config=model.config).layers
        self.recurrent = bool(getattr(model, "_is_stateful", False)) or any(hasattr(x, "conv_states") for x in layers)
        self.caches = self._cache_argument is not None
        self.gaps = self._takes_positions and not any(getattr(layer, "is_sliding", False) for layer in layers)
        self.shares = self.caches and self.gaps and not self.recurrent and self.device.type == "cpu"
        self.vocabulary = int(model.get_input_embeddings().weight.shape[0])

    def start(self, sequences: Sequence[Sequence[int]], *, keep: int) -> tuple[Rows, Tensor]:
        """Compute ``sequences``, padded on the left; logits (rows, keep, vocabulary) after the last ``keep`` tokens."""
        rows = Rows.empty(len(sequences), self.device)
        if self.caches:
            rows.cache = transformers.DynamicCache(config=self._model.config)
        else:
            rows.ids = rows.mask
        return rows, self.append(rows, sequences, keep=keep)

    def append(self, rows: Rows, sequences: Sequence[Sequence[int]], *, keep: int) -> Tensor:
        """Continue every row by a sequence, padded on the left (needs ``gaps`` if rows hold tokens already).

        Logits (rows, keep, vocabulary) are those after the last ``keep`` tokens.
        """
        width = max(map(len, sequences))
        padded = [[0] * (width - len(sequence)) + list(sequence) for sequence in sequences]
        filled = [[0] * (width - len(sequence)) + [1] * len(sequence) for sequence in sequences]
        return self._advance(rows, padded, filled, keep)

    def extend(self, rows: Rows, sequences: Sequence[Sequence[int]], *, skip: int = 0) -> Tensor:
        """Continue every row by a sequence, padded on the right; logits (rows, width - skip, vocabulary) after each.

        ``skip``: for how many tokens of the new ones no logits are wanted.
        """
        width = max(map(len, sequences))
        padded = [list(sequence) + [0] * (width - len(sequence)) for sequence in sequences]
        filled = [[1] * len(sequence) + [0] * (width - len(sequence)) for sequence in sequences]
        return self._advance(rows, padded, filled, width - skip)

    def _advance(self, rows: Rows, padded: list[list[int]], filled: list[list[int]], keep: int) -> Tensor:
        ids = torch.tensor(padded, device=self.device)
        width = ids.shape[1]
        rows.mask = torch.cat([rows.mask, torch.tensor(filled, device=self.device)], dim=1)
        mask = rows.mask
        if rows.ids is not None:
            rows.ids = ids = torch.cat([rows.ids, ids], dim=1)
        arguments: dict[str, Any] = {"input_ids": ids, "use_cache": rows.cache is not None}
        if not bool(mask.all()):  # without padding the plain causal mask is faster, and some models know no other
            arguments["attention_mask"] = mask
        if self._takes_positions:
            arguments["position_ids"] = (mask.cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        if rows.cache is not None:
            arguments[str(self._cache_argument)] = rows.cache
        if self._takes_keep:
            arguments["logits_to_keep"] = keep
        with torch.inference_mode(), muted():
            logits: Tensor = self._model(**arguments).logits
        return logits[:, -min(keep, width) :].float()
