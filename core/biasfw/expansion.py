"""Seeds to items: a pure function of the whole data, before any selection.

Selecting a language, a category or a limit afterwards changes no prompt and no key.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from biasfw.records import Item, Seed

_SHARED = [f.name for f in fields(Item) if f.name in {g.name for g in fields(Seed)} - {"cluster", "pair", "variant"}]
NO_VARIANT = "0"


@dataclass(frozen=True, slots=True)
class Design:
    """The design of an experiment, from the manifest and the configuration.

    Task ``labels``: the labels are presented in Williams orders, one per item; ``abstaining`` maps a condition to the
    label it adds at the end; with ``reuse_orders`` every order serves two repeats, so that order and sampling variance
    come apart. Task ``choice``: each item is asked with every instruction (``variants``) and with its options in every
    order of ``orders``, after ``shots`` solved examples. Rows that bring a variant or an order keep theirs.
    """

    conditions: tuple[str, ...]
    labels: tuple[str, ...] = ()
    cluster: str = "source_id"
    abstaining: tuple[tuple[str, str], ...] = ()
    reuse_orders: bool = True
    orders: Literal["williams", "rotations", "as_given"] = "williams"
    variants: tuple[str, ...] = (NO_VARIANT,)
    shots: int = 0


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
    """Every trial, in a fixed order: seeds as they stand, then conditions, variants, orders, repeats."""
    return _with_labels(seeds, design, repeats) if design.labels else _with_options(seeds, design, repeats)


def _with_labels(seeds: Sequence[Seed], design: Design, repeats: int) -> Iterator[Trial]:
    """Labels in Williams orders, equal across languages and variants.

    The order of a trial is sequence (rank of the source within its category + repeat step) of the design.
    """
    ranks = _ranks(seeds)
    sequences = williams(len(design.labels))
    added = dict(design.abstaining)
    for seed in seeds:
        for condition in design.conditions:
            for variant in _variants(seed, design):
                items: dict[int, Item] = {}  # repeats beyond the number of orders share their items
                for repeat in range(repeats):
                    step = repeat // 2 if design.reuse_orders else repeat
                    number = (ranks[seed.category, seed.source_id] + step) % len(sequences)
                    if number not in items:
                        order = tuple(design.labels[index] for index in sequences[number])
                        if condition in added:
                            order = (*order, added[condition])
                        items[number] = _item(seed, design, condition, variant, str(number), order)
                    yield Trial(items[number], repeat)


def _with_options(seeds: Sequence[Seed], design: Design, repeats: int) -> Iterator[Trial]:
    """The orders of one item, condition and variant make a pair."""
    for seed in seeds:
        keys = tuple(choice.key for choice in seed.choices)
        rank = {key: str(index) for index, key in enumerate(keys)}
        separator = "" if len(keys) <= 10 else "-"
        for condition in design.conditions:
            for variant in _variants(seed, design):
                for order in _orders(seed, keys, design):
                    number = separator.join(rank[key] for key in order)
                    item = _item(seed, design, condition, variant, number, order)
                    for repeat in range(repeats):
                        yield Trial(item, repeat)


def _variants(seed: Seed, design: Design) -> tuple[str, ...]:
    return (seed.variant,) if seed.variant else design.variants


def _orders(seed: Seed, keys: tuple[str, ...], design: Design) -> Iterator[tuple[str, ...]]:
    if seed.order or design.orders == "as_given":
        yield seed.order or keys
        return
    for shift in range(len(keys)):
        yield (*keys[shift:], *keys[:shift])


def _ranks(seeds: Iterable[Seed]) -> dict[tuple[str, str], int]:
    by_category: dict[str, set[str]] = defaultdict(set)
    for seed in seeds:
        by_category[seed.category].add(seed.source_id)
    return {
        (category, source): rank for category, ids in by_category.items() for rank, source in enumerate(sorted(ids))
    }


def _item(seed: Seed, design: Design, condition: str, variant: str, number: str, order: tuple[str, ...]) -> Item:
    values = {name: getattr(seed, name) for name in _SHARED}
    values["order"] = order
    shots = 0 if design.labels else design.shots
    pair = seed.pair
    if pair is None and not design.labels and design.orders != "as_given":
        pair = f"{seed.source_id}/{seed.language}/{condition}/{variant}"
    return Item(
        id=f"{seed.source_id}/{seed.language}/{condition}/{variant}/{number}/{shots}",
        cluster=seed.cluster or _cluster(seed, design.cluster),
        pair=pair,
        variant=variant,
        condition=condition,
        shot=shots,
        **values,
    )


def _cluster(seed: Seed, name: str) -> str:
    if name == "each-item":
        return f"{seed.source_id}/{seed.language}"
    value = getattr(seed, name, None) if hasattr(seed, name) else seed.fields.get(name)
    return str(value)


def examples(seeds: Sequence[Seed], count: int) -> dict[str, tuple[Item, ...]]:
    """The first ``count`` solved examples of each language, as items without condition and instruction.

    The right option stands at each position in turn, so that the examples show no position to prefer.
    """
    found: dict[str, list[Item]] = defaultdict(list)
    for seed in seeds:
        known = found[seed.language]
        if len(known) < count:
            keys = [choice.key for choice in seed.choices]
            right = keys.index(seed.gold or keys[0])
            shift = (right - len(known)) % len(keys)
            order = (*keys[shift:], *keys[:shift])
            design = Design(conditions=("",), orders="as_given")
            known.append(_item(seed, design, "", NO_VARIANT, "", order))
    return {language: tuple(items) for language, items in found.items()}


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
    of_clusters: int = 0

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
    return Selected(taken, items, sum((every := _sizes(trials)).values()), len(chosen), len(every))


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
