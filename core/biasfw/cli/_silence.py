"""The part of the summary for runs that did not go well: what failed, what was not answered, and what to do."""

from __future__ import annotations

from collections import Counter

from rich.console import Console

from biasfw.cli._text import many, safe, shortened
from biasfw.engine import RunResult
from biasfw.records import Outcome

FILLED = (Outcome.ANSWERED, Outcome.ABSTAINED)
NOTEWORTHY = 0.1  # of all slots: from here on an outcome gets its hint
MESSAGE_LIMIT = 200


def print_failures(console: Console, result: RunResult) -> None:
    """Print how many responses failed, why, and whether asking again can help."""
    if not result.failed:
        return
    again = result.failed - result.permanent
    way = "the same command asks them again"
    if not again:
        way = "asking again cannot help"
    elif result.permanent:
        way = f"the same command asks {again} again; for {result.permanent} that cannot help"
    console.print(f"[red]incomplete: {result.failed} of {many(result.total, 'response')} failed; {way}[/red]")
    if result.errors:
        message, count = max(result.errors.items(), key=lambda pair: pair[1])
        console.print(f"  {count} times: {safe(shortened(message, MESSAGE_LIMIT))}")


def mostly_silent(result: RunResult) -> bool:
    """Whether most slots are neither answered nor declined in a way that was offered."""
    counts = _counts(result)
    filled = sum(counts[outcome] for outcome in FILLED)
    return counts.total() > 0 and filled * 2 < counts.total()


def _counts(result: RunResult) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in result.outcomes.values():
        counts.update(row)
    return counts


def print_silence(console: Console, result: RunResult) -> None:
    """Print what became of most slots, and for each outcome what can be done about it."""
    counts = _counts(result)
    total = counts.total()
    missing = [(name, count) for name, count in counts.most_common() if name not in FILLED]
    told = ", ".join(f"{count} {name}" for name, count in missing)
    lost = sum(count for _, count in missing)
    console.print(
        f"\n[bold red]Most slots are not answered: {lost} of {total}[/bold red] ({safe(told)}). "
        "Shares say little about the model."
    )
    for place, (name, count) in enumerate(missing):
        if place == 0 or count >= NOTEWORTHY * total:
            for line in _hints(result, name):
                console.print(f"  {line}")


def _hints(result: RunResult, outcome: str) -> list[str]:
    protocol = result.plan.protocol
    choices = protocol.mode == "generate" and "choices" in result.plan.bundle.manifest["protocols"]
    way = "[bold]--mode choices[/bold]"
    match outcome:
        case Outcome.REFUSED:
            more = [f"{way} scores every answer by its likelihood: there it cannot refuse."] if choices else []
            return ["refused: a finding about the model, not a matter of the answer format.", *more]
        case Outcome.TRUNCATED:
            more = [f"A model that never comes to an answer can be asked by likelihood: {way}."] if choices else []
            return [*_limit(result), *more]
        case Outcome.UNPARSED:
            more = [f"A model that does not keep to the format can be asked by likelihood: {way}."] if choices else []
            return [*_format_kept(result), "unparsed: biasfw parse shows how a text is read, and why.", *more]
        case Outcome.TIED:
            return ["tied: the most likely answers were equally likely, so none was chosen."]
        case Outcome.ERROR:
            return ["error: these requests got no response; see above."]
        case _:
            return []


def _limit(result: RunResult) -> list[str]:
    """After how many tokens answers broke off; where the benchmark says how many, more are another measurement."""
    limit, own = result.plan.protocol.sampling.max_tokens, result.plan.bundle.manifest["protocols"]["generate"]
    broke_off, option = f"truncated: answers broke off after {limit} new tokens", "[bold]--max-tokens[/bold]"
    if own.get("sampling", {}).get("max_tokens") != limit:
        return [f"{broke_off}; give more with {option}."]
    return [
        f"{broke_off}, as many as the benchmark asks for.",
        f"{option} gives more; say so where you compare with results that keep to {limit}.",
    ]


def _format_kept(result: RunResult) -> list[str]:
    lines = []
    for score in result.scores:
        overall = not {"category", "language"} & set(score.slice)
        if score.metric == "format_compliance" and score.denominator == "all" and score.value is not None and overall:
            kept, condition = round(score.value * score.n), safe(score.slice.get("condition", ""))
            lines.append(f"The answer format was kept in {kept} of {many(score.n, 'response')} ({condition}).")
    return lines
