"""Runs that pick by place in the list, whatever group stands there: every group then gets its even share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from biasfw import cautions
from biasfw.codec import decode
from biasfw.errors import DataError
from biasfw.records import Score
from biasfw.storedrun import Record, StoredRun

LOCKED = 0.9  # of the pairs that are answered in every order, or of the picks; as the metric position_locked has it


@dataclass(frozen=True, slots=True)
class Place:
    """A position that takes most picks of a slot under a condition; ``locked``: nine in ten, as for pairs of options.

    ``share``: of all picks. ``scoring``: of likelihoods, ``raw`` or ``calibrated``; else "".
    """

    condition: str
    slot: str
    scoring: str
    share: float
    text: str

    @property
    def locked(self) -> bool:
        """Whether shares of this slot say nothing about the groups."""
        return self.share >= LOCKED


def places_of(document: Record) -> list[Place]:
    """The places that take most picks, as a document of ``scores/`` tells it."""
    return list(_places(row for row in document["scores"] if row["metric"] == "position_rate"))


def _places(rows: Iterable[Record]) -> Iterator[Place]:
    for row in rows:
        try:
            score = decode(Score, row)
        except DataError:  # a damaged file must not take the page down
            continue
        for caution in cautions.positions([score]):
            where = caution.where
            yield Place(where["condition"], where["slot"], where.get("scoring", ""), row["value"], caution.text)


def places_in(run: StoredRun, judge: str) -> list[Place]:
    """The same of the last scores of a run, those of the whole benchmark before those of a part.

    Raw likelihoods count beside calibrated ones: calibrating takes the position out, and leaves an even share of
    nothing where the position was all there was.
    """
    documents = [each for each in run.scores() if each["judge"] == judge]
    last = run.whole(judge) or (documents[-1] if documents else None)
    return places_of(last) if last is not None else []
