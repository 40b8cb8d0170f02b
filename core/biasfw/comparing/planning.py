"""Before a run: what difference could be seen with so many clusters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from biasfw.comparing.columns import columns
from biasfw.comparing.measure import Shared
from biasfw.errors import UsageError
from biasfw.paired import MIN_TESTED, Detectable, detectable
from biasfw.phrases import many
from biasfw.plugins import Plugins
from biasfw.stats import MIN_CLUSTERS
from biasfw.storedrun import common_judge, open_run

_MOST = 0.25  # the greatest variance that shares can have: every cluster wholly right or wrong, half of them each


@dataclass(frozen=True, slots=True)
class Planned:
    """The minimum detectable differences, and what was taken for the variance of clusters."""

    detectable: Detectable
    variance: float
    basis: str


def plan(clusters: int, run: Path | None, plugins: Plugins, *, judge: str | None = None) -> Planned:
    """What ``clusters`` would show: from the variance of the clusters of ``run``, else from the greatest possible.

    For task ``labels`` the variance is that of the label whose share varies most.

    Raises:
        UsageError: fewer than 6 clusters; or the run was not judged.
    """
    if clusters < MIN_TESTED:
        raise UsageError(f"--plan is at least {MIN_TESTED}: no test of fewer clusters can show a difference")
    if run is None:
        basis = "as if rows of a cluster were all alike and half of the clusters right: the worst case"
        return Planned(detectable(_MOST, clusters), _MOST, basis)
    stored = open_run(run, plugins)
    name = common_judge([stored], judge)
    if name is None:
        raise UsageError(f"{run} was not judged yet; run: biasfw judge {run}")
    controls = stored.bundle.manifest.get("controls", {}).get("categories", ())
    asked = tuple(each for each in stored.asked if stored.items[each.item].get("category") not in controls)
    found = columns(stored, stored, Shared(asked, asked), (name, name))
    codes = np.unique(found.cluster.astype(str), return_inverse=True)[1]
    sizes = np.bincount(codes)
    if len(sizes) < MIN_CLUSTERS:
        raise UsageError(
            f"{run} has {many(len(sizes), 'cluster')}, too few to tell how much they vary; plan without a run"
        )
    if stored.bundle.manifest["task"] != "labels":
        hits = [(found.a.values["choice"] == found.target) & (found.target != "")]
    else:
        hits = [column == label for column in found.a.values.values() for label in set(column.tolist()) if label]
    variance = max(
        (float(np.var(np.bincount(codes, weights=hit.astype(float)) / sizes, ddof=1)) for hit in hits), default=0.0
    )
    if not variance:
        raise UsageError(
            f"all clusters of {run} are alike, so they tell nothing of how much others vary; plan without it"
        )
    basis = "; ".join((f"clusters vary as in {run} (variance {variance:.3f})", *stored.flaws))
    return Planned(detectable(variance, clusters), variance, basis)
