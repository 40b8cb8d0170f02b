"""The part of the summary that compares conditions: contrasts that can be shown, and how often a model declined."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from biasfw.cli._across import details, differs, nothing_shown, points
from biasfw.cli._text import many, percent, safe
from biasfw.engine import RunResult
from biasfw.records import Score


def print_contrasts(console: Console, result: RunResult) -> None:
    """Print what one condition changes against another; nothing if none were compared."""
    found = [s for s in result.scores if s.metric == "condition_contrast" and s.denominator == "all"]
    for pair in dict.fromkeys((s.slice["condition"], s.slice["against"]) for s in found):
        _contrast(console, result, [s for s in found if (s.slice["condition"], s.slice["against"]) == pair])


def _contrast(console: Console, result: RunResult, contrasts: Sequence[Score]) -> None:
    """For each slot the differences that the tests can show after Holm."""
    overall = [s for s in contrasts if not {"category", "language"} & set(s.slice)]
    if not overall:
        return
    said, form = overall[0].slice, result.plan.form
    title = f"\n[bold]{safe(said['condition'])} minus {safe(said['against'])}[/bold]"
    tested = [s for s in overall if s.test is not None and s.test.p_adjusted is not None]
    if not tested:
        console.print(f"{title}: not compared ({safe(overall[0].reason or 'nothing was answered')})")
        return
    shares = f"{said['scoring']} shares" if "scoring" in said else "shares of all responses"
    console.print(
        f"{title}: differences of {safe(shares)}, in points, paired by source; Holm over {many(len(tested), 'test')}"
    )
    names = {label.key: label.name(form.shown_in) for label in form.labels}
    for slot in form.slots:
        here = [s for s in tested if s.slice["slot"] == slot.key]
        shown = [s for s in here if differs(s)]
        clusters = max((s.clusters for s in here), default=0)
        sides = dict.fromkeys(slot.header(said[side], form.shown_in) for side in ("condition", "against"))
        console.print(f"  {safe(' minus '.join(sides))}:" + ("" if shown else nothing_shown(clusters)))
        for s in shown:
            label = s.slice.get("label", "")
            console.print(f"    {safe(names.get(label, label))} {points(s.value)} ({safe(details(s))})")
    within = [s for s in contrasts if s not in overall and s.test is not None and s.test.p_adjusted is not None]
    if some := sum(differs(s) for s in within):
        console.print(f"  within categories or languages {some} of {len(within)} differ (Holm); they are in scores/")


def print_declines(console: Console, result: RunResult, condition: str) -> None:
    """Print how often each slot was declined under a condition that offers to decline."""
    if not result.plan.bundle.manifest["conditions"].get(condition, {}).get("abstention"):
        return
    form = result.plan.form
    for slot in form.slots:
        for s in result.scores:
            about = {"slot": slot.key, "condition": condition}
            if s.metric == "decline_rate" and s.denominator == "all" and s.slice == about and s.value is not None:
                span = s.interval
                known = span is not None and span.low is not None
                interval = f" [{percent(span.low)}, {percent(span.high)}]" if span is not None and known else ""
                console.print(
                    f"  {safe(slot.header(condition, form.shown_in))}: declined {percent(s.value)} %{interval} "
                    f"of {many(s.n, 'response')}"
                )
