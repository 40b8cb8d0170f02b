"""How far the shares of labels are from a uniform choice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

import numpy as np

from biasfw import (
    ComponentContext,
    Interval,
    Score,
    Table,
    Test,
    total_variation,
    total_variation_test,
    variation_limits,
)
from biasfw_plugins.metrics._spread import NULL, PROJECTED, simultaneous_limits
from biasfw_plugins.metrics._view import View, holm_adjusted
from biasfw_plugins.metrics._views import Views, chosen_slots


class LabelUniformity:
    """Total variation distance of the shares among answered responses from uniform choice: 0 to 1 - 1/L.

    The distance is biased upwards in small samples, so that it is to be read beside its null mean and 95 % quantile;
    its interval holds every distance of shares that sum to 1 and lie within their simultaneous intervals
    (``variation_limits``; conservative), and so never leaves 0 to 1 - 1/L. One
    Monte-Carlo test per cell, adjusted by Holm over the slots and cells of a family. In choices mode the value is that
    of the likelihood shares, and the test is made on the picks (the best choice of each response).
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form
        self._slots = chosen_slots(context, "label_uniformity")

    def compute(self, table: Table) -> Iterable[Score]:
        views = Views(table, self._form)

        def family(view: View) -> str:
            return view.family("label_uniformity")

        for name, members in groupby(views.of_slots(self._slots), key=family):
            yield from holm_adjusted([_uniformity(view, views, name) for view in members])


def _uniformity(view: View, views: Views, family: str) -> Score:
    if not view.total:
        return view.score("label_uniformity", None, "answered", ideal=0.0, direction="lower", family=family)
    value = total_variation(view.shares, view.expected)
    return view.score(
        "label_uniformity",
        value,
        "answered",
        bounds=_variation_bounds(view),
        interval=_variation_interval(view, value),
        test=_uniformity_test(view, views),
        ideal=0.0,
        direction="lower",
        family=family,
    )


def _uniformity_test(view: View, views: Views) -> Test:
    expected = view.expected.tolist()
    if view.scoring.name is None:
        return total_variation_test(view.shares, expected, view.clusters, null=NULL)
    picks = views.view(view.scoring, view.cell, view.slot, view.scoring.picks[view.slot], view.expected)
    test = total_variation_test(picks.shares, expected, picks.clusters, null=NULL)
    return replace(test, method=f"{test.method}; of the picks (best choice per response), not of likelihood shares")


def _variation_interval(view: View, value: float) -> Interval:
    spans = simultaneous_limits(view)
    if isinstance(spans, str):
        return Interval(None, None, PROJECTED, reason=spans)
    low, high = variation_limits(*spans, view.expected)
    return Interval(min(low, value), max(high, value), PROJECTED)


def _variation_bounds(view: View) -> tuple[float, float]:
    """The missing filled up what is short of uniform, or all went to one label."""
    weights = view.sums.sum(axis=0)
    size = view.total + view.missing
    least = float(np.maximum(weights - size * view.expected, 0.0).sum()) / size
    lots = view.missing * np.eye(len(weights))
    greatest = max(total_variation((weights + lot) / size, view.expected) for lot in lots)
    return min(least, greatest), greatest
