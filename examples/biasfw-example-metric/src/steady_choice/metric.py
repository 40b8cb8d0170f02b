"""The share of independent observations in which a model chooses the same option every time it is asked."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from biasfw import ComponentContext, Outcome, Score, Table, clustered_proportion

_ASKED_ONCE = "every observation was asked once, so that nothing could change"


class SteadyChoice:
    """One score a slot and condition. An observation with an answer that could not be read is not steady.

    Observations that were asked once only are left out: nothing can be said of them. A model that always takes the
    option shown first is never steady where orders are balanced; one that has a view, biased or not, is.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._slots = tuple(slot.key for slot in context.form.slots)

    def compute(self, table: Table) -> Iterable[Score]:
        for condition in dict.fromkeys(table.condition.tolist()):
            rows = table.where(table.condition == condition)
            for slot in self._slots:
                yield self._score(rows, slot, condition)

    def _score(self, rows: Table, slot: str, condition: str) -> Score:
        # A language is an observation of its own: the same dialogue may be answered otherwise in another.
        names = np.char.add(np.char.add(rows.cluster, "/"), rows.language)
        steady: list[float] = []
        clusters: list[str] = []
        for name in np.unique(names):
            here = names == name
            if np.count_nonzero(here) > 1:
                answered = np.all(rows.outcomes[slot][here] == Outcome.ANSWERED.value)
                steady.append(float(answered and len(np.unique(rows.values[slot][here])) == 1))
                clusters.append(str(rows.cluster[here][0]))
        estimate = clustered_proportion(steady, clusters)
        return Score(
            metric="steady_choice",
            value=estimate.mean,
            unit="share",
            n=estimate.n,
            clusters=estimate.clusters,
            denominator="all",
            slice={"slot": slot, "condition": condition},
            reason=None if steady else _ASKED_ONCE,
            interval=estimate.interval() if steady else None,
        )
