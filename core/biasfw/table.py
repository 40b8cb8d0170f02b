"""The one column table that every metric gets: numpy arrays, one row per response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Strings = NDArray[np.str_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of a run; ``n`` rows, ``L`` labels in the order of ``labels``, ``K`` choices in ``choice_keys``.

    A benchmark with task ``labels`` has the two or more slots of its form. Task ``choice`` has the slot ``choice``;
    its ``labels`` are the keys of the items' options, which differ from item to item (``order`` says which are there).
    """

    mode: str  # generate, choices
    keys: Strings  # (n,) response keys
    item: Strings
    source: Strings
    cluster: Strings
    pair: Strings  # "" where there is none
    variant: Strings
    condition: Strings
    language: Strings
    category: Strings
    gold: Strings  # "" where there is none
    repeat: Ints
    labels: tuple[str, ...]  # keys of all labels and abstentions, in the manifest's order
    order: Ints  # (n, L): 1-based list position at which label l was presented; 0: not presented
    outcomes: Mapping[str, Strings]  # slot -> (n,) values of Outcome
    values: Mapping[str, Strings]  # slot -> (n,) label key read, "" where none was
    choice_keys: tuple[str, ...] = ()
    logprobs: Floats | None = None  # (n, K) sums in nats, NaN where there is no score; None in generate mode
    # (n,) "asked", or "other:Latn" (script in ISO 15924); "" where it was not told. None: nothing was written.
    answer_language: Strings | None = None
    # Task choice only:
    roles: Mapping[str, Strings] = field(default_factory=dict)  # role -> (n,) key of the option that has it, or ""
    lengths: Ints | None = None  # (n, L): characters of option l as it is shown; 0: not presented
    hedges: Bools | None = None  # (n, L): option l holds a hedging phrase of the language pack

    def __len__(self) -> int:
        return len(self.keys)

    def where(self, rows: Bools) -> Table:
        """The table of the rows for which the boolean array ``rows`` (n,) is true."""
        columns = {name: getattr(self, name)[rows] for name in _ROW_COLUMNS}
        return Table(
            mode=self.mode,
            labels=self.labels,
            choice_keys=self.choice_keys,
            outcomes={slot: column[rows] for slot, column in self.outcomes.items()},
            values={slot: column[rows] for slot, column in self.values.items()},
            logprobs=None if self.logprobs is None else self.logprobs[rows],
            answer_language=None if self.answer_language is None else self.answer_language[rows],
            roles={role: column[rows] for role, column in self.roles.items()},
            lengths=None if self.lengths is None else self.lengths[rows],
            hedges=None if self.hedges is None else self.hedges[rows],
            **columns,
        )


_ROW_COLUMNS = (
    "keys", "item", "source", "cluster", "pair", "variant", "condition", "language", "category", "gold", "repeat",
    "order",
)  # fmt: skip
