"""How concentrated the shares of labels are: the largest share and the entropy."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from biasfw import (
    ComponentContext,
    Interval,
    Score,
    Table,
    Test,
    largest_share_limits,
    miller_madow,
    multinomial_null,
    plugin_entropy,
)
from biasfw_plugins.metrics._spread import NULL, PROJECTED, simultaneous_limits
from biasfw_plugins.metrics._view import View
from biasfw_plugins.metrics._views import Views, chosen_slots
from biasfw_plugins.metrics._weights import Floats

_DRAWN = "10,000 multinomial draws at n = clusters, seed 0"
_LIKELIHOOD = "likelihood shares are not drawn, so that a multinomial null does not hold"


class LabelConcentration:
    """The largest share and the normalised entropy of the shares among answered responses.

    Slice ``{"statistic": "largest_share" | "entropy"}``. The test gives the mean and the 95 % quantile under uniform
    choice at n = clusters and a one-sided p (more concentrated than that). The interval of the largest share spans what
    the simultaneous intervals of all shares, which sum to 1, allow (``largest_share_limits``). Entropy is corrected by
    Miller and Madow and null under 30 clusters; that of likelihood shares needs no correction for sampling. Bounds: the
    missing spread as evenly as possible, or all on one label.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form
        self._slots = chosen_slots(context, "label_concentration")

    def compute(self, table: Table) -> Iterable[Score]:
        for view in Views(table, self._form).of_slots(self._slots):
            for statistic in ("largest_share", "entropy"):
                yield _concentration(view, statistic)


def _concentration(view: View, statistic: str) -> Score:
    drawn = view.scoring.name is None
    possible = max(int((view.expected > 0).sum()), 1)
    evaluate = _statistic(statistic, drawn=drawn, clusters=view.clusters, possible=possible)
    value = evaluate(view.shares) if view.total else None
    reason = None
    if view.total and value is None:
        reason = "only one label" if possible < 2 else f"{view.clusters} of at least 30 clusters for an entropy"
    reference = 1 / possible if statistic == "largest_share" else 1.0
    return view.score(
        "label_concentration",
        value,
        "answered",
        slice={"statistic": statistic},
        reason=reason,
        bounds=None if value is None else _extremes(view, evaluate),
        interval=_largest_interval(view) if value is not None and statistic == "largest_share" else None,
        reference=reference,
        test=None if value is None else _concentration_test(view, statistic, value, drawn=drawn),
    )


def _statistic(name: str, *, drawn: bool, clusters: int, possible: int) -> Callable[[Floats], float | None]:
    if name == "largest_share":
        return lambda shares: float(shares.max())
    if drawn:
        return lambda shares: miller_madow(shares, clusters, possible)
    return lambda shares: plugin_entropy(shares, possible)


def _concentration_test(view: View, statistic: str, value: float, *, drawn: bool) -> Test:
    if not drawn:
        return Test(NULL, "none", None, statistic=value, reason=_LIKELIHOOD)
    null = multinomial_null(view.expected.tolist(), view.clusters)
    if statistic == "largest_share":
        found, p, tail = null.largest_share, null.largest_share.p_upper(value), "upper tail"
    elif null.entropy is not None:
        found, p = null.entropy, null.entropy.p_lower(value)
        tail = f"lower tail, 5 % quantile {found.q05:.4f}"
    else:
        return Test(NULL, "none", None, statistic=value, reason="only one label")
    return Test(NULL, f"{_DRAWN}, {tail}", p, statistic=value, null_mean=found.mean, null_q95=found.q95)


def _extremes(view: View, evaluate: Callable[[Floats], float | None]) -> tuple[float, float] | None:
    """The least and greatest value the missing could give: spread evenly, or all on one label.

    Exact for statistics that only grow (or only fall) as shares get more unequal.
    """
    weights = view.sums.sum(axis=0)
    lots = view.missing * np.eye(len(weights))
    candidates = [_filled_up(weights, view.missing), *(weights + lot for lot in lots)]
    values = [evaluate(candidate / candidate.sum()) for candidate in candidates]
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else None


def _filled_up(weights: Floats, water: float) -> Floats:
    """``weights`` after ``water`` has raised the lowest of them to one level."""
    ordered = np.sort(weights)
    for count in range(1, len(ordered) + 1):
        level = (water + ordered[:count].sum()) / count
        if count == len(ordered) or level <= ordered[count]:
            return np.asarray(np.maximum(weights, level))
    return weights


def _largest_interval(view: View) -> Interval:
    spans = simultaneous_limits(view)
    if isinstance(spans, str):
        return Interval(None, None, PROJECTED, reason=spans)
    low, high = largest_share_limits(*spans)
    value = float(view.shares.max())
    return Interval(min(low, value), max(high, value), PROJECTED)
