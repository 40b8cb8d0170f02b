"""Whether a model can do the task at all: the controls of a workbench, asked once for each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from biasfw.authoring.asker import Asker
from biasfw.authoring.bench import CONTROLS
from biasfw.authoring.drafts import State
from biasfw.authoring.files import text_digest
from biasfw.authoring.rules import AVERAGED, Asked, as_row, from_row, judge, mean_margin
from biasfw.textfile import read_jsonl

RIGHT = "right"
NO_CONTROLS = "the workbench has no controls: whether the model can do the task is not known"
BELOW_CHANCE = "the model is not above chance on the controls: it cannot do the task, and its picks say nothing"


def control_warnings(asker: Asker) -> list[str]:
    """What every try with this model must carry: it is not above chance on the controls, or there are none."""
    bench = asker.bench
    rows = [dict(row) for _, row in read_jsonl(bench.folder / CONTROLS)] if (bench.folder / CONTROLS).is_file() else []
    if not rows:
        return [NO_CONTROLS]
    rule, asked_about = bench.settings["rule"], text_digest([rows, bench.manifest["instructions"], asker.mode])
    asker.identify(rows)
    known = _known_controls(bench.state(), asker, asked_about)
    if known is None:
        asked = asker.ask(rows, bench.manifest["instructions"])
        passed = passes(rule, asked)
        bench.log.append(
            "controls", target=asker.record(), asked=[as_row(a, source=True) for a in asked], passed=passed,
            controls=asked_about,
        )  # fmt: skip
    else:
        passed = passes(rule, [from_row(row) for row in known["asked"]])
    if passed:
        return []
    return [BELOW_CHANCE]


def _known_controls(state: State, asker: Asker, asked_about: str) -> Mapping[str, Any] | None:
    """The stored answers of this model."""
    row: Mapping[str, Any]
    for row in reversed(state.controls):
        if row.get("controls") == asked_about and row["target"]["fingerprint"] == asker.fingerprint:
            return row
    return None


def passes(rule: Mapping[str, Any], asked: Sequence[Asked]) -> bool:
    """Whether the lower limit of the share of right answers, clustered by control, is above one half.

    Under order-averaged a control is right where its order-averaged log-probability is, if there are any.
    """
    from biasfw.stats import clustered_proportion  # noqa: PLC0415 - numpy loads late

    sources = sorted({str(each.source) for each in asked})
    if rule["use"] == AVERAGED and mean_margin(asked, RIGHT) is not None:
        verdicts = [judge({"use": AVERAGED}, [a for a in asked if a.source == s], RIGHT).word for s in sources]
        values, clusters = [float(word == "fooled") for word in verdicts], sources
    else:
        values, clusters = [float(a.pick == RIGHT) for a in asked], [str(a.source) for a in asked]
    low = clustered_proportion(values, clusters).low
    return low is not None and low > 0.5
