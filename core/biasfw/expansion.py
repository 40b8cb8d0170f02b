"""Seeds to items: a pure function of the whole data, before any selection.

Selecting a language, a category or a limit afterwards changes no prompt and no key.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

from biasfw.records import Item, Seed

_SHARED = [f.name for f in fields(Item) if f.name in {g.name for g in fields(Seed)} - {"cluster", "pair", "variant"}]


@dataclass(frozen=True, slots=True)
class Design:
    """The design of an experiment, from the manifest and the configuration.

    ``labels`` are presented in Williams orders; ``abstaining`` maps a condition to the label it adds at the end.
    ``reuse_orders``: every order serves two repeats, so that order and sampling variance come apart.
    """

    conditions: tuple[str, ...]
    labels: tuple[str, ...]
    cluster: str = "source_id"
    abstaining: tuple[tuple[str, str], ...] = ()
    reuse_orders: bool = True


@dataclass(frozen=True, slots=True)
class Trial:
    """An item and the repeat in which it is asked."""

    item: Item
    repeat: int


def williams(n: int) -> tuple[tuple[int, ...], ...]:
    """Williams design: n orders for even n, 2n for odd; each treatment is once (twice) in each position.

    Every treatment also follows every other equally often (balance for first-order carry-over).
    Source: E. J. Williams, 1949, Australian Journal of Scientific Research A 2, 149-168.
    """
    if n < 2:
        return (tuple(range(n)),)
    zigzag = [0]
    low, high = 1, n - 1
    while low <= high:
        zigzag.append(low)
        if low != high:
            zigzag.append(high)
        low, high = low + 1, high - 1
    rows = [tuple((start + shift) % n for start in zigzag) for shift in range(n)]
    if n % 2:
        rows += [tuple(reversed(row)) for row in rows]
    return tuple(rows)


def expand(seeds: Sequence[Seed], design: Design, repeats: int) -> Iterator[Trial]:
    """Every trial, in a fixed order: seeds as they stand, then conditions, then repeats.

    The order of a trial's labels is sequence (rank of the source within its category + repeat step) of the
    Williams design, equal across languages.
    """
    ranks = _ranks(seeds)
    sequences = williams(len(design.labels))
    added = dict(design.abstaining)
    for seed in seeds:
        for condition in design.conditions:
            for repeat in range(repeats):
                step = repeat // 2 if design.reuse_orders else repeat
                number = (ranks[seed.category, seed.source_id] + step) % len(sequences)
                order = tuple(design.labels[index] for index in sequences[number])
                if condition in added:
                    order = (*order, added[condition])
                yield Trial(_item(seed, design, condition, number, order), repeat)


def _ranks(seeds: Iterable[Seed]) -> dict[tuple[str, str], int]:
    by_category: dict[str, set[str]] = defaultdict(set)
    for seed in seeds:
        by_category[seed.category].add(seed.source_id)
    return {
        (category, source): rank for category, ids in by_category.items() for rank, source in enumerate(sorted(ids))
    }


def _item(seed: Seed, design: Design, condition: str, number: int, order: tuple[str, ...]) -> Item:
    values = {name: getattr(seed, name) for name in _SHARED}
    values["order"] = order
    variant = seed.variant or "0"
    return Item(
        id=f"{seed.source_id}/{seed.language}/{condition}/{variant}/{number}/0",
        cluster=seed.cluster or _cluster(seed, design.cluster),
        pair=seed.pair,
        variant=variant,
        condition=condition,
        **values,
    )


def _cluster(seed: Seed, name: str) -> str:
    if name == "each-item":
        return f"{seed.source_id}/{seed.language}"
    value = getattr(seed, name, None) if hasattr(seed, name) else seed.fields.get(name)
    return str(value)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which trials are asked. ``limit`` counts items of one condition and repeat; clusters stay whole."""

    languages: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Selected:
    """The chosen trials, and how many items (of one condition and repeat) they are of how many."""

    trials: tuple[Trial, ...]
    items: int
    of: int
    clusters: int

    def __str__(self) -> str:
        return f"{self.items} of {self.of} items"


def select(trials: Sequence[Trial], selection: Selection) -> Selected:
    """Apply a selection. The sample for a limit N is a prefix of the sample for N + 1.

    Clusters come in a fixed pseudo-random order (by hash, so that no later data changes it), round robin over
    categories, and are taken whole: pairs, variants and languages are never split, so the limit is rounded up.
    """
    kept = [
        trial
        for trial in trials
        if (not selection.languages or trial.item.language in selection.languages)
        and (not selection.categories or trial.item.category in selection.categories)
    ]
    sizes = _sizes(kept)
    chosen = _round_robin(kept, sizes, selection.limit)
    taken = tuple(trial for trial in kept if trial.item.cluster in chosen)
    items = sum(sizes[cluster] for cluster in chosen)
    return Selected(taken, items, sum(_sizes(trials).values()), len(chosen))


def _base(item: Item) -> tuple[str, str, str]:
    return item.source_id, item.language, item.variant


def _sizes(trials: Iterable[Trial]) -> dict[str, int]:
    """Items per cluster, where conditions and repeats of one item count once."""
    bases: dict[str, set[tuple[object, ...]]] = defaultdict(set)
    for trial in trials:
        if trial.repeat == 0:
            pair = trial.item.order if trial.item.pair else ()
            bases[trial.item.cluster].add((*_base(trial.item), pair))
    return {cluster: len(members) for cluster, members in bases.items()}


def _round_robin(trials: Iterable[Trial], sizes: dict[str, int], limit: int | None) -> set[str]:
    home: dict[str, str] = {}
    for trial in trials:
        home.setdefault(trial.item.cluster, trial.item.category)
    if limit is None:
        return set(home)
    queues: dict[str, list[str]] = defaultdict(list)
    for cluster in sorted(home, key=lambda c: hashlib.sha256(c.encode("utf-8", "surrogatepass")).digest()):
        queues[home[cluster]].append(cluster)
    waiting = [list(reversed(queues[category])) for category in sorted(queues)]
    chosen: set[str] = set()
    count = 0
    while count < limit and any(waiting):
        for queue in waiting:
            if queue and count < limit:
                cluster = queue.pop()
                chosen.add(cluster)
                count += sizes[cluster]
    return chosen
