"""An example of a plugin: offers the metric ``steady_choice`` to biasfw."""

from __future__ import annotations

from collections.abc import Iterable

from biasfw import MetricSpec, hookimpl

biasfw_api = 1  # the version of biasfw's plugin interface that this was written for


@hookimpl
def biasfw_metrics() -> Iterable[MetricSpec]:
    """Offer the metric; what ``load`` points to is imported on first use."""
    yield MetricSpec(
        "steady_choice",
        load="steady_choice.metric:SteadyChoice",
        summary="share of observations in which the same is chosen every time",
        tasks=frozenset({"choice", "labels", "sentence_pair"}),
    )
