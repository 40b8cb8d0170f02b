"""Which responses people label: whole source prompts, drawn at random within language x category.

A source prompt is one cluster in one language: with it come all its responses (conditions, repeats, wordings). Strata
get prompts in proportion to their size, at least one each (Cochran 1977, Sampling Techniques, chapter 5). Within a
stratum the prompts with the least sha256 of seed and name are drawn: a simple random sample that any machine repeats,
and that a larger draw with the same seed contains.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from biasfw.codec import encode
from biasfw.errors import UsageError
from biasfw.keys import sha256_json
from biasfw.verdicts import Row

UNCLEAR, REFUSED, NONE = "unclear", "refused", "none"
RESERVED = {
    UNCLEAR: "it cannot be told",
    REFUSED: "the model declines to answer",
    NONE: "the text answers, but names none of the others",
}
_KEPT = 16  # hex digits of the keys of all responses: enough to tell them apart
Unit = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Stratum:
    """``drawn`` of ``prompts`` source prompts; each was drawn with probability ``inclusion``."""

    language: str
    category: str
    prompts: int
    drawn: int
    inclusion: float
    responses: int  # of all its prompts


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """One response to label. ``id`` names it on the sheet; ``text_sha256`` is of the text as the sheet shows it."""

    id: str
    key: str
    language: str
    category: str
    prompt: str
    inclusion: float
    text_sha256: str
    order: tuple[str, ...] = ()  # the options as they were presented, where people read letters


@dataclass(frozen=True, slots=True)
class Draw:
    """A draw as labels/<name>.json keeps it. ``name`` ends in a hash of all else, so that no draw can be made up.

    ``labels`` are what people may write: key -> names. ``population`` are the beginnings of the keys of all responses
    that were there: an estimate is one of them, whatever the run has gained since.
    """

    name: str
    seed: int
    asked: int
    slots: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]
    strata: tuple[Stratum, ...]
    rows: tuple[DrawnRow, ...]
    population: tuple[str, ...] = ()
    letters: tuple[str, ...] = ()  # the labels that stand for the options of an item, in the places of its ``order``
    left_out: tuple[str, ...] = ()  # categories that were not drawn from: controls
    schema_version: int = field(default=1)

    @property
    def prompts(self) -> int:
        """How many source prompts were drawn."""
        return sum(stratum.drawn for stratum in self.strata)

    def known(self) -> frozenset[str]:
        """The beginnings of the keys that were there, for ``beginning(key)``."""
        return frozenset(self.population)

    def sealed(self) -> Draw:
        """This draw under the name that its content gives it."""
        return replace(self, name=f"draw-{sha256_json(encode(replace(self, name='')))[:8]}")


def beginning(key: str) -> str:
    """What a draw keeps of a key."""
    return key[:_KEPT]


def draw_units(rows: Sequence[Row], n: int, seed: int) -> tuple[tuple[Stratum, ...], dict[Unit, list[Row]]]:
    """The strata, and the drawn source prompts with their responses, in a random order within each language.

    People work from the top: who stops early has then labelled a random part.

    Raises:
        UsageError: there are fewer prompts than ``n``, or more strata.
    """
    units: dict[Unit, list[Row]] = defaultdict(list)
    for row in rows:
        if row.answered:
            units[row.language, row.category, row.cluster].append(row)
    strata: dict[tuple[str, str], list[Unit]] = defaultdict(list)
    for unit in units:
        strata[unit[:2]].append(unit)
    if not units:
        raise UsageError("the run has no responses yet; run it first")
    if n > len(units):
        raise UsageError(f"the run has answers to {len(units)} source prompts; draw at most that with -n")
    if n < len(strata):
        raise UsageError(
            f"the prompts lie in {len(strata)} strata (language x category), of which each needs one; "
            f"draw at least {len(strata)} with -n"
        )
    sizes = _allocate({name: len(members) for name, members in strata.items()}, n)
    drawn: list[Unit] = []
    found = []
    for name, members in sorted(strata.items()):
        chosen = sorted(members, key=lambda unit: sha256_json([seed, *unit]))[: sizes[name]]
        drawn += chosen
        responses = sum(len(units[unit]) for unit in members)
        found.append(Stratum(*name, len(members), len(chosen), len(chosen) / len(members), responses))
    shuffled = sorted(drawn, key=lambda unit: (unit[0], sha256_json([seed, "order", *unit])))
    return tuple(found), {unit: units[unit] for unit in shuffled}


def _allocate(sizes: Mapping[tuple[str, str], int], n: int) -> dict[tuple[str, str], int]:
    """In proportion to size by largest remainders, at least one and at most all of each."""
    total = sum(sizes.values())
    quota = {name: n * size / total for name, size in sizes.items()}
    found = {name: max(1, int(quota[name])) for name in sizes}
    order = sorted(sizes)
    while sum(found.values()) > n:  # the ones took more than their share
        most = max((name for name in order if found[name] > 1), key=lambda name: found[name] - quota[name])
        found[most] -= 1
    while sum(found.values()) < n:
        least = max((name for name in order if found[name] < sizes[name]), key=lambda name: quota[name] - found[name])
        found[least] += 1
    return found
