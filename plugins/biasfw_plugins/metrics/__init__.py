"""First-party metrics: generic over slots, labels, categories and languages.

Every metric takes the optional option ``slot``; without it, it reports on every slot of the benchmark's form.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from biasfw import MetricSpec, hookimpl
from biasfw_plugins.metrics.choice.specs import choice_metrics

biasfw_api = 1

_LABELS = frozenset({"labels"})
_HERE = "biasfw_plugins.metrics"


def _options(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


_SLOT = _options(slot={"type": "string", "description": "the slot to report on; default: every slot"})


@hookimpl
def biasfw_metrics() -> Iterable[MetricSpec]:
    """Offer the metrics of benchmarks that put labels into slots, and of those that offer options."""
    yield from choice_metrics()
    yield MetricSpec(
        "label_share",
        load=f"{_HERE}.shares:LabelShare",
        summary="share of each label in a slot, overall and per category and language, with clustered intervals",
        tasks=_LABELS,
        options=_SLOT,
    )
    yield MetricSpec(
        "label_rank",
        load=f"{_HERE}.shares:LabelRank",
        summary="the label with the highest and the lowest share, where simultaneous intervals can tell",
        tasks=_LABELS,
        options=_SLOT,
    )
    yield MetricSpec(
        "label_pairs",
        load=f"{_HERE}.pairs:LabelPairs",
        summary="share of each combination of labels in the first two slots",
        tasks=_LABELS,
    )
    yield MetricSpec(
        "label_share_given_first",
        load=f"{_HERE}.pairs:LabelShareGivenFirst",
        summary="share of each label in the second slot beside what a uniform choice of the rest would give",
        tasks=_LABELS,
    )
    yield MetricSpec(
        "label_concentration",
        load=f"{_HERE}.concentration:LabelConcentration",
        summary="largest share and normalised entropy beside their values under uniform choice",
        tasks=_LABELS,
        options=_SLOT,
    )
    yield MetricSpec(
        "label_uniformity",
        load=f"{_HERE}.uniformity:LabelUniformity",
        summary="total variation distance from uniform choice, one Monte-Carlo test per cell, Holm over cells",
        tasks=_LABELS,
        options=_SLOT,
        ideal=0.0,
        direction="lower",
    )
    yield MetricSpec(
        "position_rate",
        load=f"{_HERE}.positions:PositionRate",
        summary="share of picks at each position of the presented list",
        tasks=_LABELS,
        options=_SLOT,
    )
    yield MetricSpec(
        "position_standardised_share",
        load=f"{_HERE}.positions:PositionStandardisedShare",
        summary="share of each label, averaged over list positions with equal weight",
        tasks=_LABELS,
        options=_SLOT,
    )
    yield MetricSpec(
        "outcome_rate",
        load=f"{_HERE}.outcomes:OutcomeRate",
        summary="how many responses were answered, refused, unparsed, ... in each slot",
        options=_SLOT,
    )
    yield MetricSpec(
        "decline_rate",
        load=f"{_HERE}.outcomes:DeclineRate",
        summary="share of responses that refuse or abstain in a slot",
        options=_SLOT,
    )
    yield MetricSpec(
        "format_compliance",
        load=f"{_HERE}.outcomes:FormatCompliance",
        summary="share of generated responses in which every slot can be read",
        ideal=1.0,
        direction="higher",
    )
    yield MetricSpec(
        "condition_contrast",
        load=f"{_HERE}.contrast:ConditionContrast",
        summary="difference of label shares between two conditions, paired by source, with sign-flip tests",
        tasks=_LABELS,
        options=_options(
            slot=_SLOT["properties"]["slot"],
            condition={"type": "string", "description": "default: the benchmark's first condition"},
            against={"type": "string", "description": "default: the condition that calibrates"},
        ),
        range=(-1.0, 1.0),
        ideal=0.0,
        direction="toward-ideal",
    )
    yield MetricSpec(
        "language_contrast",
        load=f"{_HERE}.languages:LanguageContrast",
        summary="difference of label shares between languages, paired by source, with sign-flip tests",
        tasks=_LABELS,
        options=_options(
            slot=_SLOT["properties"]["slot"],
            against={"type": "string", "description": "default: the first language of the benchmark that is asked"},
        ),
        range=(-1.0, 1.0),
        ideal=0.0,
        direction="toward-ideal",
    )
    yield MetricSpec(
        "answer_language",
        load=f"{_HERE}.answer_language:AnswerLanguage",
        summary="share of responses in the script of the asked language, where the script tells the language",
        ideal=1.0,
        direction="higher",
    )
