"""Items without a right option (gold), where the metrics of their benchmark compare with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from biasfw.document import Document
from biasfw.errors import BiasfwError
from biasfw.findings import Finding, Report
from biasfw.packcheck import Kit
from biasfw.phrases import listed, many
from biasfw.specs import MetricSpec
from biasfw.validating.items import Items, Told

Manifest = Mapping[str, Any]
_LACKS = "is empty", "is missing"


class _Metric(NamedTuple):
    place: int  # in the manifest
    spec: MetricSpec


def check_golds(report: Report, document: Document | None, manifest: Manifest, items: Items, kit: Kit) -> None:
    """Add every item that lacks the right option; once at the metric if no item of the split has one.

    With ``gold: some`` in the manifest it is only said how many have one. ``document``: of the manifest, if it is what
    is looked at.
    """
    comparing = list(_comparing(manifest, kit))
    there = [*items.good, *items.flawed]
    if not comparing or not there or ("fields" in items.unsure and not any(told.seed.gold for told in there)):
        return
    controls = manifest.get("controls", {}).get("categories", ())
    lacking = [(told, uses) for told in there if not told.seed.gold and (uses := _uses(told, comparing, controls))]
    if not lacking:
        return
    if manifest.get("gold") == "some":
        count = f"{len(there) - len(lacking)} of {many(len(there), 'item')}"
        report.facts.append(
            f"{count} have a right option (gold); {_names(comparing)} leave{_s(comparing)} out the rest"
        )
    elif len(lacking) == len(there) and document is not None:
        what = f"no item has a right option (gold), which {comparing[0].spec.name} compares with"
        pointer = f"/metrics/{comparing[0].place}/use"
        report.add("error", document, pointer, f"{what}; write gold in the items, or remove the metric")
    else:
        for told, uses in lacking:
            what = f"the right option (gold) {_LACKS[not _has_cell(told)]}, which {_names(uses)} compare{_s(uses)} with"
            way = "name it, or write `gold: some` in benchmark.yaml if some items have none"
            report.findings.append(Finding("error", told.place("/gold", f"{what}; {way}")))


def _comparing(manifest: Manifest, kit: Kit) -> Iterator[_Metric]:
    if manifest.get("task") != "choice":
        return
    for index, metric in enumerate(manifest.get("metrics", ())):
        try:
            spec = kit.plugins.find("metric", metric["use"]).spec
        except BiasfwError:
            continue  # told where it is named
        if isinstance(spec, MetricSpec) and spec.gold:
            yield _Metric(index, spec)


def _uses(told: Told, comparing: Sequence[_Metric], controls: Sequence[str]) -> list[_Metric]:
    """The metrics that get an item."""
    rows = "controls" if told.seed.category in controls else "items"
    return [metric for metric in comparing if metric.spec.rows in (rows, "all")]


def _names(metrics: Sequence[_Metric]) -> str:
    return listed(metric.spec.name for metric in metrics)


def _s(metrics: Sequence[_Metric]) -> str:
    return "s" if len(metrics) == 1 else ""


def _has_cell(told: Told) -> bool:
    own, whole = told.place("/gold", ""), told.place("", "")
    return (own.line, own.column) != (whole.line, whole.column)
