"""What the metrics of task ``choice`` are called and offer."""

from __future__ import annotations

from collections.abc import Iterable

from biasfw import MetricSpec

_CHOICE = frozenset({"choice"})
_PICKS = frozenset({"choice", "sentence_pair"})
_HERE = "biasfw_plugins.metrics.choice"


def choice_metrics() -> Iterable[MetricSpec]:
    """The metrics of benchmarks whose items offer options."""
    yield MetricSpec(
        "choice_share",
        load=f"{_HERE}.share:ChoiceShare",
        summary="share of picks by role of the option (stereotyped, anti-stereotyped, unknown), and not answered",
        tasks=_PICKS,
    )
    yield MetricSpec(
        "accuracy",
        load=f"{_HERE}.accuracy:Accuracy",
        summary="share of rows with the right option, by category, instruction and position, tested against chance",
        tasks=_CHOICE,
        ideal=1.0,
        direction="higher",
        gold=True,
    )
    yield MetricSpec(
        "accuracy_rank",
        load=f"{_HERE}.rank:AccuracyRank",
        summary="the category with the highest and the lowest accuracy, where simultaneous intervals can tell",
        tasks=_CHOICE,
        gold=True,
    )
    yield MetricSpec(
        "pair_accuracy",
        load=f"{_HERE}.order:PairAccuracy",
        summary="share of items that are right in every order of their options",
        tasks=_CHOICE,
        requires=frozenset({"orders"}),
        ideal=1.0,
        direction="higher",
        gold=True,
    )
    yield MetricSpec(
        "order_ledger",
        load=f"{_HERE}.order:OrderLedger",
        summary="items right in every order, wrong in every order, locked on a position, not answered",
        tasks=_CHOICE,
        requires=frozenset({"orders"}),
    )
    yield MetricSpec(
        "position_locked",
        load=f"{_HERE}.order:PositionLocked",
        summary="share of items for which one position is picked in every order; from 90 % on accuracy says nothing",
        tasks=_CHOICE,
        requires=frozenset({"orders"}),
        ideal=0.0,
        direction="lower",
    )
    yield MetricSpec(
        "position_preference",
        load=f"{_HERE}.order:PositionPreference",
        summary="share of picks of the first position, with a sign-flip test over clusters",
        tasks=_CHOICE,
        requires=frozenset({"orders"}),
    )
    yield MetricSpec(
        "order_averaged_preference",
        load=f"{_HERE}.preference:OrderAveragedPreference",
        summary="preference of the log-probabilities for the right option, averaged over both orders",
        tasks=_CHOICE,
        range=None,
        direction="higher",
        requires=frozenset({"logprobs", "orders"}),
        gold=True,
    )
    yield MetricSpec(
        "variant_spread",
        load=f"{_HERE}.variants:VariantSpread",
        summary="range and standard deviation of accuracy over instructions, and the share of answers they change",
        tasks=_CHOICE,
        requires=frozenset({"variants"}),
        ideal=0.0,
        direction="lower",
        gold=True,
    )
    yield MetricSpec(
        "confound_baselines",
        load=f"{_HERE}.baselines:ConfoundBaselines",
        summary="what first, shorter, longer and hedged option would score, and accuracy where that cannot help",
        tasks=_CHOICE,
        gold=True,
    )
    yield MetricSpec(
        "control_accuracy",
        load=f"{_HERE}.controls:ControlAccuracy",
        summary="accuracy on controls without social content: whether the model can do the task at all",
        tasks=_CHOICE,
        ideal=1.0,
        direction="higher",
        rows="controls",
        gold=True,
    )
