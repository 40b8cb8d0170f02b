"""Prompts as a tree of shared beginnings, cut into batches so that each beginning is computed once, where that pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from biasfw_plugins.hf.sharing import Tokens, common

_PASS = 48  # tokens that are computed in the time that one more pass through the model costs (SmolLM2 on two cores)


@dataclass(frozen=True, slots=True)
class Branch:
    """Prompts (by their places) that are computed side by side after the ``depth`` tokens with which all begin."""

    depth: int
    places: tuple[int, ...]


@dataclass(slots=True)
class _Fork:
    """Where prompts part, after ``depth`` tokens.

    ``pool``: those that are computed from here on; ``done``: branches that are computed from further on.
    """

    depth: int
    pool: list[int] = field(default_factory=list)
    done: list[Branch] = field(default_factory=list)

    def join(self, further: _Fork) -> None:
        """Take in a fork further on: as it is, or as part of the pool, whichever computes fewer tokens."""
        edge = further.depth - self.depth
        saved = len(further.pool) * edge - _PASS
        if not further.done:  # nobody else needs the tokens between both forks
            saved -= edge + _PASS
        if saved > 0:
            self.done.append(Branch(further.depth, tuple(further.pool)))
        else:
            self.pool += further.pool
        self.done += further.done


def branches(sequences: Sequence[Tokens]) -> list[Branch]:
    """All places of ``sequences``, in an order in which each branch shares as much as it can with the one before.

    Whoever keeps the beginning of the last branch, and goes back to what it shares with that of the next one, computes
    every beginning once.
    """
    order = sorted(range(len(sequences)), key=lambda place: tuple(sequences[place]))
    shared = [common([sequences[one], sequences[two]]) for one, two in pairwise(order)]
    stack = [_Fork(0)]
    for place, behind, ahead in zip(order, [0, *shared], [*shared, 0], strict=False):
        _close(stack, behind)
        if ahead > stack[-1].depth:
            stack.append(_Fork(ahead))
        stack[-1].pool.append(place)
    _close(stack, 0)
    (root,) = stack
    return [Branch(0, tuple(root.pool)), *root.done] if root.pool else root.done


def _close(stack: list[_Fork], depth: int) -> None:
    """Go back to the fork at ``depth``: those further on are complete."""
    while stack[-1].depth > depth:
        last = stack.pop()
        if stack[-1].depth < depth:
            stack.append(_Fork(depth))
        stack[-1].join(last)


def portions(branch: Branch, sizes: Sequence[int], budget: int) -> list[list[int]]:
    """The places of ``branch`` in batches of like size (by place), the largest first.

    Padded, each stays within ``budget`` tokens, and no more is filled up than one more pass would cost.
    """
    made: list[list[int]] = []
    widest = filled = 0
    for place in sorted(branch.places, key=lambda place: sizes[place], reverse=True):
        size = sizes[place]
        filled += widest - size
        if not made or (len(made[-1]) + 1) * widest > budget or filled > _PASS:
            made.append([])
            widest, filled = size, 0
        made[-1].append(place)
    return made
