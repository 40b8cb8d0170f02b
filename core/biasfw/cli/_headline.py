"""The first numbers of the summary: the benchmark's own measure for every slot, and the category that stands out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from biasfw.cli._text import FEW, many, percent, safe
from biasfw.engine import RunResult
from biasfw.records import Score


def print_headline(console: Console, result: RunResult) -> None:
    """Print the primary metric of the benchmark: its own slot first, then the others; then the most uneven category."""
    manifest = result.plan.bundle.manifest
    primary = manifest["primary"]
    wanted = {name: value for name, value in primary.get("slice", {}).items() if name != "slot"}
    scores = [s for s in result.scores if s.metric == primary["metric"] and _is_about(s, wanted, manifest)]
    own = primary.get("slice", {}).get("slot")
    overall = [s for s in scores if set(s.slice) - set(wanted) <= {"condition", "scoring", "slot"}]
    overall.sort(key=lambda s: s.slice.get("slot") != own)
    if not overall:
        return
    ideal = next((s.ideal for s in overall if s.ideal is not None), None)
    best = f" (ideal: {100 * ideal:g} %)" if ideal is not None and overall[0].unit == "share" else ""
    console.print(f"\n[bold]{safe(primary['metric'])}[/bold]{best}")
    for score in overall:
        console.print(f"  {safe(_where(result, score))}: [bold]{safe(_value(score))}[/bold]")
        for line in _details(score):
            console.print(f"    {safe(line)}")
    if ideal is not None:
        _most_uneven(console, result, [s for s in scores if "category" in s.slice and "language" not in s.slice], ideal)


def _is_about(score: Score, wanted: Mapping[str, str], manifest: Mapping[str, Any]) -> bool:
    condition = manifest["conditions"].get(score.slice.get("condition", ""), {})
    return condition.get("valued", True) and all(score.slice.get(name) == value for name, value in wanted.items())


def _where(result: RunResult, score: Score) -> str:
    form, said = result.plan.form, score.slice
    slot = next((slot for slot in form.slots if slot.key == said.get("slot")), None)
    header = slot.header(said.get("condition", ""), form.shown_in) if slot else said.get("slot", "")
    rest = [value for name, value in said.items() if name not in ("slot", "condition", "scoring")]
    return ", ".join(part for part in (header, said.get("condition"), said.get("scoring"), *rest) if part)


def _value(score: Score) -> str:
    if score.value is None:
        return f"undefined: {score.reason}"
    text = f"{percent(score.value)} %" if score.unit == "share" else f"{score.value:.3g} {score.unit}"
    if score.interval is not None and score.interval.low is not None:
        text += f" [{percent(score.interval.low)}, {percent(score.interval.high)}]"
    return text


def _details(score: Score) -> list[str]:
    """What a value has to be read with: what chance gives, the test, the numbers."""
    lines, test = [], score.test
    picks = test is not None and "scoring" in score.slice and test.statistic is not None
    if test is not None and score.value is not None and score.clusters >= FEW and (chance := _chance(score)):
        # The value comes from likelihoods, the test from what would have been picked: two numbers, said apart.
        alone = f"the most likely answers alone: {percent(test.statistic)} %, where " if picks else ""
        lines.append(f"{alone}{chance}")
    elif test is not None and picks:
        lines.append(f"the most likely answers alone: {percent(test.statistic)} %")
    if picks:
        lines.insert(0, "by likelihood; it is not compared with chance")
    few = ", too few to compare with chance" if score.clusters < FEW and score.value is not None else ""
    lines.append(f"n = {score.n} ({score.denominator}), {many(score.clusters, 'cluster')}{few}")
    return lines


def _chance(score: Score) -> str:
    """What chance alone gives, and the p of what was tested."""
    test = score.test
    if test is None or test.null_mean is None:
        return _p(score).removeprefix("; ")
    high = f", in 95 of 100 cases at most {percent(test.null_q95)} %" if test.null_q95 is not None else ""
    return f"chance alone gives {percent(test.null_mean)} %{high}{_p(score)}"


def _p(score: Score) -> str:
    test = score.test
    if test is None or test.p is None:
        return ""
    return f"; p = {test.p:.2g}" + (f" (Holm {test.p_adjusted:.2g})" if test.p_adjusted is not None else "")


def _most_uneven(console: Console, result: RunResult, scores: list[Score], ideal: float) -> None:
    """The category that is furthest from the ideal, where there are clusters enough to speak of it."""
    known = [s for s in scores if s.value is not None and s.clusters >= FEW]
    if not known:
        return
    most = max(known, key=lambda s: abs((s.value or 0.0) - ideal))
    text = f"{most.slice['category']}, {_where(result, most).removesuffix(', ' + most.slice['category'])}"
    console.print(f"  most uneven: {safe(text)}: [bold]{safe(_value(most))}[/bold]")
    for line in _details(most):
        console.print(f"    {safe(line)}")
