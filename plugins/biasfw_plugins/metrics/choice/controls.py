"""Controls: can the model do the task at all, where nothing social is in it?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from biasfw import ComponentContext, Score, Table, point_test, proportion_from_cluster_sums
from biasfw_plugins.metrics.choice._columns import Columns
from biasfw_plugins.metrics.choice._pairs import Pairs
from biasfw_plugins.metrics.choice._units import adjusted
from biasfw_plugins.metrics.choice.accuracy import accuracies

NOT_INTERPRETABLE = "not interpretable: the model cannot do the task"
MIN_CLUSTERS = 5  # below, no proportion has an interval or a test
FEW_CONTROLS = "too few controls here to tell whether the model can do the task"


class ControlAccuracy:
    """The accuracy on controls, items of the same format without social content.

    Denominators, bounds, slices and the test against chance as for ``accuracy``, over the rows of controls alone.
    Where the accuracy of a condition is not above chance (adjusted p in the least favourable case of what was not
    answered, or position-locked), its score says that the results are not interpretable: the model cannot do the task.
    Where even a model that is always right could not be told from chance, it says that there are too few controls.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form

    def compute(self, table: Table) -> Iterable[Score]:
        columns = Columns(table, self._form)
        scores = list(adjusted(accuracies(columns, "control_accuracy", Pairs(columns).locks())))
        able = {_place(score) for score in scores if _is_above(score)}
        for score in scores:
            whole = set(score.slice) <= {"condition", "language"}
            if not whole or _place(score) in able or _untold(score):
                yield score
            else:
                there = max(other.clusters for other in scores if _place(other) == _place(score))
                yield _marked(score, there)


def _place(score: Score) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(score.slice.items()))


def _is_above(score: Score) -> bool:
    """The score with the test, beside ``all``, is significantly above chance."""
    test = score.test
    if test is None or test.p is None or score.value is None or score.reference is None:
        return False
    return (test.p_adjusted if test.p_adjusted is not None else test.p) < 0.05 and score.value > score.reference


def _untold(score: Score) -> bool:
    """Nothing can be said: no row has a right option."""
    return score.n == 0 and score.bounds is None


def _marked(score: Score, clusters: int) -> Score:
    said = FEW_CONTROLS if clusters < _fewest(score) else NOT_INTERPRETABLE
    return replace(score, reason="; ".join(part for part in (said, score.reason) if part))


def _fewest(score: Score) -> int:
    """How many clusters it takes until a model that is always right is significantly above chance."""
    chance = score.reference if score.reference is not None else 0.5
    for clusters in range(MIN_CLUSTERS, 100):
        perfect = proportion_from_cluster_sums([1.0] * clusters, [1] * clusters)
        p = point_test(perfect, chance).p if 0 < chance < 1 else None
        if p is not None and p < 0.05:
            return clusters
    return 100
