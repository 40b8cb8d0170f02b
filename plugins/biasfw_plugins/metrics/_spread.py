"""What the statistics of the spread of shares have in common: their null, and the limits of all shares at once."""

from __future__ import annotations

import numpy as np

from biasfw import simultaneous_level
from biasfw_plugins.metrics._view import View
from biasfw_plugins.metrics._weights import Floats

NULL = "uniform choice among the labels presented, one draw per cluster"
PROJECTED = "projection of simultaneous clustered intervals of all shares (level 1 - .05/L each), which sum to 1"


def simultaneous_limits(view: View) -> tuple[Floats, Floats] | str:
    """The lower and upper limits (k,) of all shares, which hold together with 95 %; or why there are none.

    A label that was never presented cannot be chosen: its share is 0.
    """
    level = simultaneous_level(len(view.labels))
    estimates = [view.estimate(view.sums[:, place], "answered", level) for place in range(len(view.labels))]
    lows = [estimate.low for estimate in estimates if estimate.low is not None]
    highs = [estimate.high for estimate in estimates if estimate.high is not None]
    if len(lows) < len(estimates) or len(highs) < len(estimates):
        return next(estimate.reason for estimate in estimates if estimate.reason) or "no interval"
    possible = (view.expected > 0) | (view.shares > 0)
    return np.where(possible, lows, 0.0), np.where(possible, highs, 0.0)
