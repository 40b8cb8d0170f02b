"""Prompts that begin alike: on a CPU what they share is computed once, where that pays."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from biasfw_plugins.hf.network import Network, Rows

if TYPE_CHECKING:
    from torch import Tensor

Tokens = Sequence[int]
_PASS = 64  # tokens that one more pass through the model must save
_FRESH = 16  # times as much: then computing all anew is faster, since a causal mask of all is cheaper than any other


def common(sequences: Sequence[Tokens]) -> int:
    """How many tokens all sequences begin with."""
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*sequences, strict=False)))


def alike(sequences: Sequence[Tokens], least: float = 0.0) -> list[list[int]]:
    """Places of ``sequences`` in groups that begin alike, so that computing each beginning once saves much.

    ``least``: which part of every sequence of a group its beginning must be.
    """
    order = sorted(range(len(sequences)), key=lambda place: tuple(sequences[place]))
    with_next = [*(common([sequences[one], sequences[two]]) for one, two in pairwise(order)), 0]
    groups: list[list[int]] = []
    depth = longest = with_last = 0
    for at, place in enumerate(order):
        joined, length = min(depth, with_last), len(sequences[place])
        if (
            groups
            and len(groups[-1]) * joined > (len(groups[-1]) - 1) * depth  # more is saved than without it
            and 2 * joined >= with_next[at]  # it saves no more beside those that come next
            and joined >= least * max(longest, length)
        ):
            groups[-1].append(place)
            depth, longest = joined, max(longest, length)
        else:
            groups.append([place])
            depth = longest = length
        with_last = with_next[at]
    return groups


def start(network: Network, sequences: Sequence[Tokens], borders: Sequence[int], *, keep: int) -> tuple[Rows, Tensor]:
    """As ``Network.start``, but beginnings that several sequences share are computed once and copied.

    ``borders``: how many tokens of each sequence may be taken for its beginning, fewer than it has; logits after
    these are not wanted.
    """
    split = _split(sequences, borders) if network.shares else None
    if split is None:
        return network.start(sequences, keep=keep)
    groups, depths = split
    rows, _ = network.start([sequences[group[0]][: depths[group[0]]] for group in groups], keep=1)
    owners = {place: row for row, group in enumerate(groups) for place in group}
    rows.select([owners[place] for place in range(len(sequences))])
    rest = [sequence[depth:] for sequence, depth in zip(sequences, depths, strict=True)]
    return rows, network.append(rows, rest, keep=keep)


class Trunk:
    """The beginning that the last prompts shared, computed: a row that is cut back and continued for the next ones."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._tokens: tuple[int, ...] = ()
        self._row: Rows | None = None

    def clear(self) -> None:
        """Free its memory."""
        self._tokens, self._row = (), None

    def rows(self, tokens: Tokens, count: int) -> Rows:
        """``count`` rows that hold ``tokens``; what the last ones shared with them is not computed again."""
        shared = common([self._tokens, tokens])
        row, self._row = self._row, None  # whatever fails below, no half of a row is kept
        if row is None or shared * _FRESH < len(tokens):
            row, _ = self._network.start([tokens], keep=1)
        else:
            row.cut(shared)
            if len(tokens) > shared:
                self._network.append(row, [tokens[shared:]], keep=1)
        self._tokens, self._row = tuple(tokens), row
        made = copy.deepcopy(row)
        made.select([0] * count)
        return made


def _split(sequences: Sequence[Tokens], borders: Sequence[int]) -> tuple[list[list[int]], list[int]] | None:
    """Groups, and after how many tokens each sequence is split; None where computing all of each is as fast.

    Both passes are rectangles, rows x the longest, so that not always the longest beginnings are best.
    """
    beginnings = [sequence[:border] for sequence, border in zip(sequences, borders, strict=True)]
    groups = alike(beginnings)
    deepest = [0] * len(sequences)
    for group in groups:
        shared = common([beginnings[place] for place in group])
        for place in group:
            deepest[place] = shared
    lengths = [len(sequence) for sequence in sequences]
    costs = [(len(lengths) * max(lengths) - _PASS, 0)]
    for depth in {deepest[group[0]] for group in groups if len(group) > 1}:
        widest = max(length - min(most, depth) for length, most in zip(lengths, deepest, strict=True))
        costs.append((len(groups) * depth + len(lengths) * widest, depth))
    _, best = min(costs)
    return (groups, [min(most, best) for most in deepest]) if best else None
