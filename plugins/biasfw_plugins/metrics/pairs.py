"""The first two slots together: their table, and the second given the first."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from biasfw import ComponentContext, Score, Table
from biasfw_plugins.metrics._view import DENOMINATORS, View
from biasfw_plugins.metrics._views import Views


class LabelPairs:
    """The table of the first two slots: slice ``{"slot": "one|other", "label": "a|b"}``, one score per cell.

    Denominators and bounds as for ``label_share``; a row counts if both slots are answered. Reference: a uniform
    choice of two different labels, 1/(L (L - 1)).
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form

    def compute(self, table: Table) -> Iterable[Score]:
        size = len(self._form.groups)
        reference = 1 / (size * (size - 1)) if size > 1 else None
        for view in Views(table, self._form).of_pairs():
            for denominator in DENOMINATORS:
                for place, label in enumerate(view.labels):
                    estimate = view.estimate(view.sums[:, place], denominator)
                    first, second = label.split("|")
                    yield view.score(
                        "label_pairs",
                        estimate.mean if view.total else None,
                        denominator,
                        slice={"label": label},
                        bounds=view.bounds(float(view.sums[:, place].sum()), denominator),
                        interval=estimate.interval() if view.total else None,
                        reference=reference if first != second else None,
                        family=view.family("label_pairs", view.slot),
                    )


class LabelShareGivenFirst:
    """The share of each label in the second slot, where both slots are answered.

    Reference: what a uniform choice among the labels left over by the first slot would give, (1 - m)/(L - 1) for the
    share m of the label in the first slot.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form

    def compute(self, table: Table) -> Iterable[Score]:
        for view in Views(table, self._form).of_pairs():
            yield from self._scores(view)

    def _scores(self, view: View) -> Iterable[Score]:
        groups = tuple(label.key for label in self._form.groups)
        pairs = [label.split("|") for label in view.labels]
        for label in groups:
            in_first = np.array([first == label for first, _ in pairs], dtype=np.bool_)
            in_second = np.array([second == label for _, second in pairs], dtype=np.bool_)
            sums = view.sums[:, in_second].sum(axis=1)
            estimate = view.estimate(sums, "answered")
            first_share = float(view.shares[in_first].sum())
            defined = view.total > 0 and len(groups) > 1
            yield view.score(
                "label_share_given_first",
                estimate.mean if defined else None,
                "answered",
                slice={"label": label},
                bounds=view.bounds(float(sums.sum()), "answered"),
                interval=estimate.interval() if defined else None,
                reference=(1 - first_share) / (len(groups) - 1) if defined else None,
                family=view.family("label_share_given_first", view.slot),
            )
