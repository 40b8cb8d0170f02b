"""List positions: whether a model picks by where a label stands, and shares with that evened out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from biasfw import ComponentContext, Estimate, Score, Table, proportion_from_cluster_sums
from biasfw_plugins.metrics._view import View
from biasfw_plugins.metrics._views import Views, averaged, chosen_slots
from biasfw_plugins.metrics._weights import Bools, Floats, Ints, Mass


class PositionRate:
    """The share of answered picks at each position of the presented list; slice ``{"position": "1"}``.

    Reference: uniform choice among the labels presented, 1/L. Responses to prompts without a list do not count.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form
        self._slots = chosen_slots(context, "position_rate")

    def compute(self, table: Table) -> Iterable[Score]:
        views = Views(table, self._form)
        places = int(views.positions.max(initial=0))
        if not places:
            return
        for scoring in views.scorings:
            masses = {slot: _by_position(scoring.slots[slot], views.positions, places) for slot in self._slots}
            for cell in views.scored_cells(scoring):
                expected = _position_chances(views.positions[cell.rows], places)
                for slot, mass in masses.items():
                    yield from _position_scores(views.view(scoring, cell, slot, mass, expected))


def _position_scores(view: View) -> Iterator[Score]:
    for place, position in enumerate(view.labels):
        sums = view.sums[:, place]
        estimate = view.estimate(sums, "answered")
        yield view.score(
            "position_rate",
            estimate.mean,
            "answered",
            slice={"position": position},
            bounds=view.bounds(float(sums.sum()), "answered"),
            interval=estimate.interval() if view.total else None,
            reference=float(view.expected[place]),
            family=view.family("position_rate", view.slot),
        )


def _by_position(mass: Mass, positions: Ints, places: int) -> Mass:
    """``mass`` with list positions for labels: ``positions`` (n, k) says where each label stood."""
    labels = tuple(str(place) for place in range(1, places + 1))
    if mass.codes is not None:
        stood = positions[np.arange(len(positions)), np.maximum(mass.codes, 0)]
        codes = np.where(mass.codes >= 0, stood - 1, -1)
        return Mass(labels, codes >= 0, codes=codes)
    dense = mass.dense()
    weights = np.stack([(dense * (positions == place + 1)).sum(axis=1) for place in range(places)], axis=1)
    return Mass(labels, mass.counted & (positions > 0).any(axis=1), weights=weights)


def _position_chances(positions: Ints, places: int) -> Floats:
    """(places,): the chance of each position under a uniform choice among the labels listed in a row, averaged."""
    listed = np.maximum((positions > 0).sum(axis=1), 1)
    return averaged(np.stack([(positions == place + 1).any(axis=1) / listed for place in range(places)], axis=1))


class PositionStandardisedShare:
    """Each label's share at each list position, averaged over the positions with equal weight.

    Denominator: answered responses. Rows are weighted by 1/(L n_p), n_p being the answered rows with the label at
    position p; the interval is the clustered one with these weights. Null where a label never stood at some position.
    Bounds: at every position the missing had none or all chosen the label.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form
        self._slots = chosen_slots(context, "position_standardised_share")

    def compute(self, table: Table) -> Iterable[Score]:
        views = Views(table, self._form)
        dense = {
            (scoring.name, slot): scoring.slots[slot].dense() for scoring in views.scorings for slot in self._slots
        }
        for view in views.of_slots(self._slots):
            rows = view.cell.rows
            mass = view.scoring.slots[view.slot]
            counted = mass.counted[rows]
            seen = _Seen(
                positions=views.positions[rows],
                weights=dense[view.scoring.name, view.slot][rows],
                counted=counted,
                missing=~counted & ~views.declined[view.slot][rows],
                clusters=views.cells.clusters.codes[rows],
            )
            for place in range(len(view.labels)):
                yield _standardised(view, seen, place)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The rows of one view: list positions and weights (r, k); which count, which are missing, their clusters (r,)."""

    positions: Ints
    weights: Floats
    counted: Bools
    missing: Bools
    clusters: Ints


def _standardised(view: View, seen: _Seen, place: int) -> Score:
    """The score of the label in column ``place``."""
    extra, reference = {"label": view.labels[place]}, float(view.expected[place])
    family = view.family("position_standardised_share", view.slot)
    count = int(seen.positions.max(initial=0))
    stood, given = seen.positions[:, place], seen.weights[:, place]
    used = seen.counted & (stood > 0)
    known = np.bincount(stood[used], minlength=count + 1)[1:]
    empty = np.flatnonzero(known == 0) + 1
    if not view.total or not count or len(empty):
        reason = _empty(view, count, empty)
        return view.score(
            "position_standardised_share",
            None,
            "answered",
            slice=extra,
            reason=reason,
            reference=reference,
            family=family,
        )
    weights = 1 / (count * known[stood[used] - 1])
    estimate = _weighted(given[used], weights, seen.clusters[used])
    chosen = np.bincount(stood[used], weights=given[used], minlength=count + 1)[1:]
    absent = np.bincount(stood[seen.missing & (stood > 0)], minlength=count + 1)[1:]
    low, high = ((chosen + extra_weight) / (known + absent) for extra_weight in (0, absent))
    return view.score(
        "position_standardised_share",
        estimate.mean,
        "answered",
        slice=extra,
        bounds=(float(low.mean()), min(1.0, float(high.mean()))),
        interval=estimate.interval(),
        reference=reference,
        family=family,
    )


def _weighted(values: Floats, weights: Floats, clusters: Ints) -> Estimate:
    return proportion_from_cluster_sums(
        np.bincount(clusters, weights=weights * values), np.bincount(clusters, weights=weights), n=len(values)
    )


def _empty(view: View, count: int, empty: Ints) -> str:
    if not view.total:
        return view.nothing
    if not count:
        return "no list was presented"
    return f"never answered with this label at position {', '.join(map(str, empty.tolist()))}"
