"""The part of the summary that compares languages: contrasts that can be shown, and the language of the answers."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from biasfw.cli._text import FEW, many, percent, safe
from biasfw.engine import RunResult
from biasfw.records import Score

ALPHA = 0.05


def languages_of(result: RunResult) -> list[str]:
    """The languages of a run, in the benchmark's order."""
    present = {trial.item.language for trial in result.plan.selected.trials}
    declared = [tag for tag in result.plan.form.languages if tag in present]
    return [*declared, *sorted(present.difference(declared))]


def language_name(result: RunResult, tag: str) -> str:
    """The tag with the English name of the language, if there is a pack that knows it."""
    packs = result.plan.packs
    pack = packs.get(tag) or packs.get(tag.partition("-")[0])
    return f"{tag} {pack.name}" if pack else tag


def print_across(console: Console, result: RunResult) -> None:
    """Print what differs between languages; nothing if there is one language or nothing was compared."""
    if len(languages_of(result)) < 2:
        return
    contrasts = [s for s in result.scores if s.metric == "language_contrast" and s.denominator == "all"]
    for condition in dict.fromkeys(s.slice["condition"] for s in contrasts):
        _contrasts(console, result, [s for s in contrasts if s.slice["condition"] == condition])
    rates = [s for s in result.scores if s.metric == "answer_language" and s.denominator == "returned"]
    for condition in dict.fromkeys(s.slice["condition"] for s in rates):
        _answer_languages(console, [s for s in rates if s.slice["condition"] == condition])


def _contrasts(console: Console, result: RunResult, contrasts: Sequence[Score]) -> None:
    """For each slot the differences that the tests can show after Holm."""
    overall = [s for s in contrasts if "category" not in s.slice]
    tested = [s for s in overall if s.test is not None and s.test.p_adjusted is not None]
    first = overall[0].slice
    title = f"\n[bold]across languages[/bold], {safe(first['condition'])}"
    if not tested:
        console.print(f"{title}: not compared ({safe(overall[0].reason or 'nothing was answered')})")
        return
    scoring = f"{tested[0].slice['scoring']} shares" if "scoring" in first else "shares of all responses"
    against = language_name(result, tested[0].slice["against"])
    console.print(
        f"{title}: differences of {safe(scoring)} from {safe(against)}, in points, paired by source; "
        f"Holm over {many(len(tested), 'test')}"
    )
    for slot in result.plan.form.slots:
        shown = [s for s in tested if s.slice["slot"] == slot.key and differs(s)]
        clusters = max((s.clusters for s in tested if s.slice["slot"] == slot.key), default=0)
        header = safe(slot.header(first["condition"], result.plan.form.shown_in))
        console.print(f"  {header}:" + ("" if shown else nothing_shown(clusters)))
        for score in shown:
            console.print(f"    {safe(_difference(result, score))}")
    within = [s for s in contrasts if "category" in s.slice and s.test is not None and s.test.p_adjusted is not None]
    found = sum(differs(s) for s in within)
    if found:
        console.print(f"  within single categories {found} of {len(within)} differ (Holm); they are in scores/")


def nothing_shown(clusters: int) -> str:
    """What is said where no difference is shown: none can be, or there is too little to tell."""
    if clusters < FEW:
        return f" not compared ({many(clusters, 'cluster')}, too few)"
    return f" no difference can be shown ({many(clusters, 'cluster')})"


def differs(score: Score) -> bool:
    """Whether the test can show a difference after Holm."""
    return score.test is not None and score.test.p_adjusted is not None and score.test.p_adjusted < ALPHA


def _difference(result: RunResult, score: Score) -> str:
    form = result.plan.form
    labels = {label.key: label.name(form.shown_in) for label in form.labels}
    name = language_name(result, score.slice["language"])
    text = f"{name}: {labels.get(score.slice['label'], score.slice['label'])} {points(score.value)}"
    return f"{text} ({details(score)})"


def details(score: Score) -> str:
    """What a difference has to be read with: interval, test, and what the missing answers could change."""
    parts = []
    if score.interval is not None and score.interval.low is not None:
        parts.append(f"95 % interval {points(score.interval.low)} to {points(score.interval.high)}")
    if score.test is not None and score.test.p_adjusted is not None:
        parts.append(f"Holm p = {score.test.p_adjusted:.2g}")
    if score.bounds is not None and score.bounds[1] > score.bounds[0]:
        low, high = score.bounds
        parts.append(f"with the missing answers {points(low)} to {points(high)}")
    return "; ".join(parts)


def points(share: float | None) -> str:
    """A difference of shares in points, with its sign."""
    return "-" if share is None else f"{100 * share:+.1f}"


def _answer_languages(console: Console, rates: Sequence[Score]) -> None:
    """How often answers are in the script of the language asked for, and where that was not assessed."""
    known = [f"{s.slice['language']} {percent(s.value)}" for s in rates if s.value is not None]
    unknown = [s.slice["language"] for s in rates if s.value is None]
    parts = [f"in the script of the language asked for, %: {'  '.join(known)}"] if known else []
    if unknown:
        parts.append(f"not assessed: {', '.join(unknown)}")
    console.print(f"  answers, {safe(rates[0].slice['condition'])}, {safe('; '.join(parts))}")
