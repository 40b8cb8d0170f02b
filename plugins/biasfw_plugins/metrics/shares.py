"""The share of each label in a slot, and which label is highest or lowest where the data can tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from biasfw import ComponentContext, Estimate, Score, Table, simultaneous_level
from biasfw_plugins.metrics._view import DENOMINATORS, FEW_CLUSTERS, Denominator, View, only
from biasfw_plugins.metrics._views import Views, chosen_slots


class LabelShare:
    """Shares of labels, with clustered intervals.

    Denominator ``all`` (primary): every response; those that name no label form a further category, the score with
    ``"outcome": "not_answered"`` in its slice. Denominator ``answered``: only responses that name a label. Bounds:
    the responses whose label is unknown (all outcomes but ``answered`` and an abstention that was offered) had none or
    all chosen the label. Reference: uniform choice among the labels presented. Labels that overlap are also reported
    as one (``"merged": "true"``). Where no response names a label there is no share.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form
        self._slots = chosen_slots(context, "label_share")

    def compute(self, table: Table) -> Iterable[Score]:
        for view in Views(table, self._form).of_slots(self._slots):
            for denominator in DENOMINATORS:
                yield from self._scores(view, denominator)

    def _scores(self, view: View, denominator: Denominator) -> Iterator[Score]:
        family = view.family("label_share", view.slot)
        for extra, members in self._columns(view.labels):
            sums = view.sums[:, members].sum(axis=1)
            estimate = view.estimate(sums, denominator)
            defined = view.total > 0
            yield view.score(
                "label_share",
                estimate.mean if defined else None,
                denominator,
                slice=extra,
                bounds=view.bounds(float(sums.sum()), denominator),
                interval=estimate.interval() if defined else None,
                reference=float(view.expected[members].sum()),
                family=family,
            )
        if denominator == "all":
            rest = view.estimate(view.rows - view.sums.sum(axis=1), denominator)
            yield view.score(
                "label_share",
                rest.mean if view.total else None,
                denominator,
                slice={"outcome": "not_answered"},
                interval=rest.interval() if view.total else None,
                family=family,
            )

    def _columns(self, labels: Sequence[str]) -> Iterator[tuple[dict[str, str], list[int]]]:
        for place, label in enumerate(labels):
            yield {"label": label}, [place]
        for merge in self._form.merges:
            members = [labels.index(label) for label in merge.labels if label in labels]
            if len(members) > 1:  # with one of them left out there is nothing to merge
                yield {"label": merge.key, "merged": "true"}, members


class LabelRank:
    """The highest and the lowest share in each cell, named only if its interval misses those of all other labels.

    The intervals are simultaneous over all labels and cells of a family: level 1 - .05/k. Otherwise the value is null:
    "cannot be ranked". The slice names the label once it is decided. Denominator: all responses. Where nothing stands
    out, the reason ends with the labels whose intervals do not overlap: ``; apart: a > b, c; b > c``.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form
        self._slots = chosen_slots(context, "label_rank")

    def compute(self, table: Table) -> Iterable[Score]:
        views = Views(table, self._form)
        for slot in self._slots:
            for family, members in groupby(views.of_slots([slot]), key=lambda view: view.family("label_rank", slot)):
                yield from self._family(family, list(members))

    def _family(self, family: str, views: Sequence[View]) -> Iterator[Score]:
        level = simultaneous_level(sum(len(view.labels) for view in views))
        for view in views:
            estimates = [view.estimate(view.sums[:, column], "all", level) for column in range(len(view.labels))]
            for rank in ("highest", "lowest"):
                yield _ranked(view, rank, estimates, family)


def _ranked(view: View, rank: str, estimates: Sequence[Estimate], family: str) -> Score:
    place = _standing_out(estimates, highest=rank == "highest")
    if place is None or view.clusters < FEW_CLUSTERS:
        reason = view.nothing if not view.total else f"cannot be ranked: {_why_not(view, estimates)}"
        return view.score("label_rank", None, "all", slice={"rank": rank}, reason=reason, family=family)
    best = estimates[place]
    return view.score(
        "label_rank",
        best.mean,
        "all",
        slice={"rank": rank, "label": view.labels[place]},
        bounds=view.bounds(float(view.sums[:, place].sum()), "all"),
        interval=best.interval(),
        reference=float(view.expected[place]),
        family=family,
    )


def _standing_out(estimates: Sequence[Estimate], *, highest: bool) -> int | None:
    """The place of the one estimate whose interval lies beyond all others; None if there is none."""
    spans = [(estimate.low, estimate.high) for estimate in estimates]
    known = [(low, high) for low, high in spans if low is not None and high is not None]
    if len(known) < 2 or len(known) < len(spans):
        return None
    place = max(range(len(known)), key=lambda one: known[one][0] if highest else -known[one][1])
    low, high = known[place]
    others = [span for one, span in enumerate(known) if one != place]
    clear = all(low > other_high if highest else high < other_low for other_low, other_high in others)
    return place if clear else None


def _why_not(view: View, estimates: Sequence[Estimate]) -> str:
    if view.clusters < FEW_CLUSTERS:
        return only(view.clusters)
    known = [(label, e.low, e.high) for label, e in zip(view.labels, estimates, strict=True)]
    apart = []
    for upper, low, _ in known:
        below = [lower for lower, _, high in known if low is not None and high is not None and high < low]
        apart += [f"{upper} > {', '.join(below)}"] if below else []
    return "; apart: ".join(["the simultaneous intervals overlap", *(["; ".join(apart)] if apart else [])])
