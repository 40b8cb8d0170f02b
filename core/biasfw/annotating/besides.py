"""Models beside people: how a run does on the items that people agree on, under the question that it was asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biasfw.plugins import Plugins
from biasfw.runview import view_run
from biasfw.stats import clustered_proportion


def model_on_agreed(
    run: Path,
    agreed: Mapping[str, Mapping[tuple[str, str], float]],
    question_ids: Mapping[str, str],
    threshold: float,
    plugins: Plugins | None,
) -> dict[str, Any]:
    """The accuracy of a run on the items that enough people found right, clustered by item.

    ``agreed`` is question -> (source_id, language) -> share. People and model must have been asked the same question:
    the run's ``question_id`` says which, and for a run of another one both figures are null with the reason.
    """
    view = view_run(run, plugins)
    asked = str(view.manifest["question_id"])
    question = next((name for name, own in question_ids.items() if own == asked), None)
    document: dict[str, Any] = {"run": str(run), "judge": view.judges[0], "question": question, "question_id": asked}
    if question is None:
        known = " and ".join(question_ids.values())
        reason = f"the model was asked {asked}, people were asked {known}; only the same question can be compared"
        nothing = {"value": None, "low": None, "high": None, "n": 0, "items": 0, "reason": reason}
        return {**document, "all": nothing, "agreed": nothing}
    slot = view.form.slots[0].key
    kept: list[tuple[float, str]] = []
    everything: list[tuple[float, str]] = []
    with view.rows() as rows:
        for row in rows:
            share = agreed[question].get((row.item.source_id, row.item.language))
            verdict = row.judgements.get(view.judges[0])
            if share is None or row.item.gold is None:
                continue
            value = verdict.slots[slot].value if verdict is not None else None
            one = (float(value == row.item.gold), row.item.source_id)
            everything.append(one)
            if share >= threshold:
                kept.append(one)
    for name, found in (("all", everything), ("agreed", kept)):
        estimate = clustered_proportion([v for v, _ in found], [c for _, c in found])
        document[name] = {
            "value": estimate.mean, "low": estimate.low, "high": estimate.high, "n": estimate.n,
            "items": estimate.clusters, "reason": estimate.reason,
        }  # fmt: skip
    return document
