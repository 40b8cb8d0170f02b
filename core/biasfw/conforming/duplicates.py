"""Items that are the same, or nearly: counted as independent observations, they make an interval too narrow.

Near duplicates are found as in Broder 1997, On the resemblance of documents: the Jaccard similarity of the sets of
5-character shingles, candidates by MinHash in bands, then compared exactly. Shingles that stand in much of a split (the
words of a frame) are left out first, so that items that share a frame and nothing else are not alike. The work grows
with the number of items, not with its square.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasfw.conforming.shared import by_language, cluster_of, here, measure, one_each, tell, warn_or_err, where
from biasfw.phrases import have, many
from biasfw.validating.items import texts

if TYPE_CHECKING:
    from biasfw.validating.inspection import Inspected, Split
    from biasfw.validating.items import Told

Hashes = NDArray[np.uint64]
NEAR = 0.8  # Jaccard similarity
_WIDTH = 5  # characters of a shingle
_BANDS, _ROWS = 20, 5  # a pair at 0.8 is found with probability 1 - (1 - 0.8**5)**20 = 0.9996
_COMMON = 0.25  # of the items of a language: a shingle in more of them belongs to the frame
_FEW = 5
_MOST = 200  # items of one bucket that are compared with each other


def check(seen: Inspected) -> None:
    """Add the items that are the same or nearly, in one language and in different clusters."""
    for split in here(seen):
        exact: list[tuple[Told, Told]] = []
        near: list[tuple[Told, Told, float]] = []
        for items in by_language(one_each(split, split.told)).values():
            again, once = _exact(split, items)
            exact += again
            near += _near(split, once)
        measure(seen, split, "exact duplicates", len(exact))
        measure(seen, split, "near duplicates", len(near), similarity=NEAR)
        if exact:
            first = exact[0][1]
            where_first = where(exact[0][0], "/source_id", first.place("/source_id", "").file)
            count = f"{many(len(exact), 'item')} {have(len(exact))}"
            what = f"{count} the text of another cluster's item ({where_first} for this one)"
            what += "; they are no independent observations, remove them"
            tell(seen, warn_or_err(split), [again for _, again in exact], "/source_id", what)
        if near:
            other = max(near, key=lambda pair: pair[2])[1]
            file = other.place("/source_id", "").file
            pairs = "; ".join(
                f"{where(a, '/source_id', file)} and {where(b, '/source_id', file)}, {s:.2f}" for a, b, s in near[:5]
            )
            what = f"nearly the same in different clusters: {many(len(near), 'pair')} of items (from {NEAR}): {pairs}"
            tell(seen, "warning", [other], "/source_id", f"{what}; give them one cluster, or change one")
        if not exact and not near:
            seen.report.facts.append(f"split {split.name}: no two clusters have the same or nearly the same text")


def text_of(told: Told) -> str:
    """All that an item shows, for comparison: fields and options, whatever their order."""
    seed = told.seed
    shown = [text for _, text in texts(dict(seed.fields))] + sorted(choice.text for choice in seed.choices)
    return " ".join(unicodedata.normalize("NFKC", " ".join(shown)).casefold().split())


def _exact(split: Split, items: Sequence[Told]) -> tuple[list[tuple[Told, Told]], list[Told]]:
    """Pairs (first, same again) of different clusters, and the items without those again."""
    first: dict[str, Told] = {}
    again, once = [], []
    for told in items:
        known = first.setdefault(text_of(told), told)
        if known is not told and cluster_of(split, known) != cluster_of(split, told):
            again.append((known, told))
        else:
            once.append(told)
    return again, once


def _near(split: Split, items: Sequence[Told]) -> Iterator[tuple[Told, Told, float]]:
    sets = _without_frame([_shingles(text_of(told)) for told in items])
    for a, b in sorted(_candidates(sets)):
        similarity = _jaccard(sets[a], sets[b])
        if similarity >= NEAR and cluster_of(split, items[a]) != cluster_of(split, items[b]):
            yield items[a], items[b], similarity


def _shingles(text: str) -> Hashes:
    """The hashes of all runs of 5 characters, each once, in order; of a shorter text that of the text."""
    codes = np.array([ord(character) for character in text.ljust(_WIDTH)], dtype=np.uint64)
    with np.errstate(over="ignore"):
        found = np.zeros(len(codes) - _WIDTH + 1, dtype=np.uint64)
        for at in range(_WIDTH):  # a polynomial, modulo 2**64
            found = found * np.uint64(0x9E3779B97F4A7C15) + codes[at : at + len(found)]
        found ^= found >> np.uint64(29)
    return np.unique(found)


def _without_frame(sets: Sequence[Hashes]) -> list[Hashes]:
    if not sets:
        return []
    values, counts = np.unique(np.concatenate(sets), return_counts=True)
    common = values[counts > max(_FEW, _COMMON * len(sets))]
    return [np.setdiff1d(each, common, assume_unique=True) for each in sets] if len(common) else list(sets)


def _candidates(sets: Sequence[Hashes]) -> set[tuple[int, int]]:
    """Pairs that fall into one bucket in some band."""
    rng = np.random.default_rng(20260101)
    odd = rng.integers(1, 2**63, size=_BANDS * _ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    shift = rng.integers(0, 2**63, size=_BANDS * _ROWS, dtype=np.uint64)
    buckets: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    for index, found in enumerate(sets):
        if not len(found):
            continue
        with np.errstate(over="ignore"):
            mixed = found[:, None] * odd + shift
            mixed ^= mixed >> np.uint64(32)
            least = mixed.min(axis=0)
        for band in range(_BANDS):
            buckets[band, least[band * _ROWS : (band + 1) * _ROWS].tobytes()].append(index)
    pairs: set[tuple[int, int]] = set()
    for members in buckets.values():
        if len(members) > 1:
            pairs.update(combinations(members[:_MOST], 2))
    return pairs


def _jaccard(one: Hashes, other: Hashes) -> float:
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both / max(len(one) + len(other) - both, 1)
