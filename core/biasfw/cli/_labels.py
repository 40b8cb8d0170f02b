"""The part of the summary for benchmarks that put labels into slots: headline, shares, ranks, positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from rich import box
from rich.console import Console
from rich.table import Table

from biasfw import cautions
from biasfw.cli._across import language_name
from biasfw.cli._conditions import print_contrasts, print_declines
from biasfw.cli._headline import print_headline
from biasfw.cli._text import FEW, percent, safe
from biasfw.engine import RunResult
from biasfw.records import Score

WIDE = 100  # columns


def print_labels(console: Console, result: RunResult) -> None:
    """Print what a run of task ``labels`` found."""
    print_headline(console, result)
    _shares(console, result)
    print_contrasts(console, result)
    _intervals(console, result)


def slot_name(result: RunResult, key: str) -> str:
    """How a slot was named in the prompts: the names of values stand only where the values were told."""
    form = result.plan.form
    slot = next((slot for slot in form.slots if slot.key == key), None)
    if slot is None or not slot.headers:
        return key
    return " / ".join(dict.fromkeys(slot.header(name, form.shown_in) for name in result.plan.protocol.conditions))


def _shares(console: Console, result: RunResult) -> None:
    """One table per condition and scoring: slots and categories down, labels across; under it ranks and positions."""
    conditions = list(result.plan.form.conditions)
    keys = {
        (s.slice.get("condition", ""), s.slice.get("scoring", "")) for s in result.scores if s.metric == "label_share"
    }
    for key in sorted(keys, key=lambda k: (conditions.index(k[0]) if k[0] in conditions else 0, k[1] == "calibrated")):
        part = [s for s in result.scores if (s.slice.get("condition", ""), s.slice.get("scoring", "")) == key]
        shares = [s for s in part if s.metric == "label_share" and s.denominator == "all" and "merged" not in s.slice]
        if shares and all(s.value is None for s in shares):
            reason = next(s.reason for s in shares)
            console.print(f"\n{', '.join(text for text in key if text)}: no shares: {safe(str(reason))}")
        elif shares:
            _share_table(console, result, shares, ", ".join(text for text in key if text))
            _merged(console, result, part)
            _ranks(console, result, part)
            _positions(console, result, part)
        print_declines(console, result, key[0])


def _share_table(console: Console, result: RunResult, shares: Sequence[Score], title: str) -> None:
    form = result.plan.form
    labels = [label for label in form.labels if any(s.slice.get("label") == label.key for s in shares)]
    references = {round(s.reference, 6) for s in shares if s.reference is not None}
    chance = f"; an even pick is {percent(references.pop())}" if len(references) == 1 else ""
    table = Table(
        title=f"{title}: share of all responses, %, intervals{chance}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("(clusters)", no_wrap=True)
    for label in labels:
        table.add_column(safe(label.name(form.shown_in)), justify="right", min_width=6)
    table.add_column("not answered", justify="right", min_width=8)
    # Names of languages make the table too wide for 80 columns; their tags do not.
    spelled = str if console.width < WIDE else partial(language_name, result)
    for slot in form.slots:
        rows: dict[tuple[str, str], dict[str, Score]] = {}
        for s in shares:
            if s.slice.get("slot") == slot.key:
                cell = (s.slice.get("language", ""), s.slice.get("category", ""))
                rows.setdefault(cell, {})[s.slice.get("label", "")] = s
        header = slot.header(title.partition(",")[0], form.shown_in)
        # Languages by categories are many rows: they are in scores/.
        for cell in sorted((cell for cell in rows if not all(cell)), key=lambda cell: (any(cell), bool(cell[1]))):
            by_label, (language, category) = rows[cell], cell
            name = f"  {spelled(language) if language else category}" if any(cell) else header
            shown = [_cell(by_label.get(label.key)) for label in labels]
            clusters = next(iter(by_label.values())).clusters
            table.add_row(safe(f"{name} ({clusters})"), *shown, _not_answered(by_label.get("")))
    console.print()
    console.print(table)


def _not_answered(score: Score | None) -> str:
    """The share without a label; where no response names one there is no share of labels, and this is all of them."""
    return percent(1.0 if score is not None and score.value is None and score.n else score.value if score else None)


def _ranks(console: Console, result: RunResult, part: Iterable[Score]) -> None:
    """Which label is highest or lowest, only where simultaneous intervals can tell."""
    ranks = [s for s in part if s.metric == "label_rank" and "category" not in s.slice and "language" not in s.slice]
    ranks = [s for s in ranks if s.clusters >= FEW]
    names = {label.key: label.name(result.plan.form.shown_in) for label in result.plan.form.labels}
    for slot in dict.fromkeys(s.slice["slot"] for s in ranks):
        text = cautions.ranking([s for s in ranks if s.slice["slot"] == slot], names)
        console.print(f"  {safe(_header(result, slot, ranks))}: {safe(text)} (simultaneous intervals)")


def _header(result: RunResult, slot: str, part: Iterable[Score]) -> str:
    """The header that a slot had under the condition of some scores."""
    condition = next((s.slice.get("condition", "") for s in part), "")
    form = result.plan.form
    return next((each.header(condition, form.shown_in) for each in form.slots if each.key == slot), slot)


def _positions(console: Console, result: RunResult, part: Sequence[Score]) -> None:
    """How often each list position was picked: a model that picks by position says little about groups."""
    rates = [s for s in part if s.metric == "position_rate" and "category" not in s.slice and "language" not in s.slice]
    for slot in dict.fromkeys(s.slice["slot"] for s in rates):
        here = [s for s in rates if s.slice["slot"] == slot]
        shown = "  ".join(f"{s.slice['position']}: {percent(s.value)}" for s in here)
        name = _header(result, slot, rates)
        console.print(f"  {safe(name)} by list position, %:  {shown}")
        for caution in cautions.positions(here):
            console.print(f"  [yellow]{safe(caution.text)}[/yellow]")
    if rates and rates[0].slice["condition"] in _unbalanced(result):
        console.print(f"  [yellow]{cautions.PLACES}[/yellow]")


def _unbalanced(result: RunResult) -> list[str]:
    """The conditions whose groups stand at some places more often than at others."""
    return cautions.unbalanced((trial.item for trial in result.plan.selected.trials), result.plan.form)


def _cell(score: Score | None) -> str:
    if score is None or score.value is None:
        return "-"
    interval = score.interval
    if interval is None or interval.low is None or interval.high is None:
        return percent(score.value)
    return f"{percent(score.value)}\n[dim]{100 * interval.low:.0f}-{100 * interval.high:.0f}[/dim]"


def _merged(console: Console, result: RunResult, part: Sequence[Score]) -> None:
    """Labels that overlap, taken together."""
    form = result.plan.form
    names = {merge.key: merge.name(form.shown_in) for merge in form.merges}
    for s in part:
        whole = s.metric == "label_share" and s.denominator == "all" and "merged" in s.slice
        if whole and "category" not in s.slice and "language" not in s.slice:
            chance = f"; an even pick: {percent(s.reference)}" if s.reference is not None else ""
            text, name = _cell(s).replace("\n", ", "), _header(result, s.slice["slot"], [s])
            console.print(f"  {safe(name)}: {safe(names[s.slice['label']])} together {text}{chance}")


def _intervals(console: Console, result: RunResult) -> None:
    """The kind and level of the intervals, once."""
    primary = result.plan.bundle.manifest["primary"]["metric"]
    kinds: dict[str, str] = {}
    for metric, what in (("label_share", "shares"), (primary, primary)):
        for s in result.scores:
            if s.metric == metric and s.interval is not None and s.interval.low is not None:
                kinds.setdefault(f"{100 * s.interval.level:g} % intervals of {what}", s.interval.method)
                break
    for what, method in kinds.items():
        console.print(f"{'' if what != next(iter(kinds)) else chr(10)}{safe(what)}: {safe(method)}")
