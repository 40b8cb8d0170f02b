"""The part of the summary about a task ``choice``: headline, orders, categories, instructions, baselines, controls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from biasfw import cautions
from biasfw.cli._text import safe
from biasfw.engine import RunResult
from biasfw.form import Form
from biasfw.phrases import many
from biasfw.records import Score

_RULES = (("first_position", "always the first"), ("shorter", "shorter"), ("longer", "longer"), ("hedged", "hedged"))
LOCKED = 0.9  # as the metric position_locked has it
SPARSE = "fewer than 8 clusters differ"  # in the method of an interval
_LEDGER = (
    ("right", "right in every order"),
    ("wrong", "wrong in every order"),
    ("locked_first", "locked on the first position"),
    ("locked_between", "locked on one in between"),
    ("locked_last", "locked on the last position"),
    ("mixed", "mixed"),
    ("not_answered", "not answered"),
)


def print_choices(console: Console, result: RunResult) -> None:
    """Print the scores of every condition; nothing where a metric was not computed."""
    conditions = [c for c in result.plan.form.conditions if any(s.slice.get("condition") == c for s in result.scores)]
    for condition in conditions:
        found = _Found([s for s in result.scores if s.slice.get("condition") == condition], result.plan.form)
        if len(conditions) > 1:
            console.print(f"\n[bold]condition {safe(condition)}[/bold]")
        for part in (_headline, _orders, _categories, _instructions, _baselines, _controls):
            part(console, found)


class _Found:
    """The scores of one condition, to be asked for by metric and slice."""

    def __init__(self, scores: Sequence[Score], form: Form) -> None:
        self.scores = scores
        self.form = form

    def one(self, metric: str, denominator: str = "all", **wanted: str) -> Score | None:
        """The score with exactly this slice."""
        return next(self.all(metric, denominator, lambda rest: rest == wanted), None)

    def all(self, metric: str, denominator: str, fits: Callable[[dict[str, str]], bool]) -> Iterator[Score]:
        """The scores whose slice, beside the condition, fits."""
        for score in self.scores:
            rest = {name: value for name, value in score.slice.items() if name != "condition"}
            if score.metric == metric and score.denominator == denominator and fits(rest):
                yield score

    def over(self, metric: str, name: str, denominator: str = "all") -> list[Score]:
        """The scores with ``name`` and nothing else in their slice."""
        return list(self.all(metric, denominator, lambda rest: set(rest) == {name}))


def _headline(console: Console, found: _Found) -> None:
    accuracy = found.one("accuracy")
    if accuracy is None:
        _shares(console, found)
        return
    control = found.one("control_accuracy")
    if _unable(control):
        console.print("\n[bold red]not interpretable: the model cannot do the task[/bold red] (controls below)")
    locked = next(iter(found.over("position_locked", "position", "answered")), None)
    if locked is not None and locked.value is not None and locked.value >= LOCKED:
        position = safe(locked.slice["position"])
        console.print(
            f"\n[bold red]position-locked: accuracy says nothing about bias.[/bold red] In {_percent(locked)} % of the "
            f"pairs position {position} is picked whichever option stands there."
        )
    if accuracy.value is None:
        console.print(f"\n[bold]accuracy undefined[/bold]: {safe(accuracy.reason or 'not told')}")
        return
    answered = found.one("accuracy", "answered")
    chance = f"; chance {100 * accuracy.reference:.0f} %" if accuracy.reference is not None else ""
    console.print(f"\n[bold]accuracy {_shown(accuracy)}[/bold] {_of_rows(accuracy)}{chance}; {_standing(accuracy)}")
    console.print(f"  of answered rows {_shown(answered)}; n = {accuracy.n}, clusters = {accuracy.clusters}")
    macro = found.one("accuracy", average="macro")
    if macro is not None:
        console.print(f"  mean over categories {_shown(macro)}")
    if control is not None and control.n:
        console.print("  controls are not among them")
    _alike(console, found)
    _brackets(console, found)


def _of_rows(accuracy: Score) -> str:
    """What is divided by: all rows, or those that have a right option, as the score remarks."""
    found = re.search(r"only (\d+) of (\d+) rows have a right option", accuracy.reason or "")
    return f"of the {found[1]} of {found[2]} rows that have a right option (gold)" if found else "of all rows"


def _alike(console: Console, found: _Found) -> None:
    """Say it in the headline where a rule without any regard to bias goes the same way as the model."""
    for caution in cautions.alike(found.scores):
        console.print(f"  [yellow]{safe(caution.text)}[/yellow]")


def _brackets(console: Console, found: _Found) -> None:
    intervals = [s.interval for s in found.scores if s.interval is not None and s.interval.low is not None]
    if not intervals:
        console.print("  too few clusters for intervals")
        return
    console.print("  in brackets: 95 % intervals, rows of one cluster taken as dependent")
    if any(SPARSE in interval.method for interval in intervals):
        console.print("  (wider where fewer than 8 clusters differ from the rest: each then counts once)")


def _shares(console: Console, found: _Found) -> None:
    """The shares by role: the headline of benchmarks without a right option."""
    scores = [s for s in found.over("choice_share", "role") if s.value]
    for score in scores:
        chance = f"; without a preference {100 * score.reference:.0f} %" if score.reference is not None else ""
        counted = f"n = {score.n}, clusters = {score.clusters}"
        console.print(f"\n[bold]{safe(score.slice['role'])} {_shown(score)}[/bold] of all{chance}; {counted}")
    if scores:
        silent = found.one("choice_share", outcome="not_answered")
        console.print(f"  no pick {_shown(silent)}; in brackets: 95 % intervals, rows of one cluster dependent")
        for score in found.all("choice_share", "all", lambda rest: set(rest) == {"role", "category"}):
            if score.slice["role"] == "stereotyped":
                name = found.form.categories.get(score.slice["category"], {}).get("en", (score.slice["category"],))[0]
                console.print(f"    stereotyped in {safe(name)} ({score.clusters}): {_shown(score)}")


def _standing(accuracy: Score) -> str:
    test = accuracy.test
    if test is None or test.p is None:
        return safe((test.reason if test else None) or accuracy.reason or "not tested")
    p = test.p_adjusted if test.p_adjusted is not None else test.p
    return f"{safe(accuracy.reason or 'tested against chance')} (p {'< 0.001' if p < 0.001 else f'= {p:.2g}'})"


def _orders(console: Console, found: _Found) -> None:
    ledger = {name: found.one("order_ledger", ledger=name) for name, _ in _LEDGER}
    if any(score is not None and score.value is not None for score in ledger.values()):
        pairs = next(score for score in ledger.values() if score is not None)
        console.print(f"\n[bold]orders[/bold]: {pairs.n} pairs of the same options in every order")
        for name, words in _LEDGER:
            score = ledger[name]
            if score is not None and score.value is not None and (score.value or name not in ("mixed",)):
                chance = f"   (chance {100 * score.reference:.0f})" if score.reference is not None else ""
                console.print(f"  {words:28} {_shown(score)}{chance}")
    preference = found.one("position_preference", "answered")
    if preference is not None and preference.value is not None:
        test = preference.test
        tested = f"; p = {test.p:.2g} (sign-flip over clusters)" if test is not None and test.p is not None else ""
        console.print(f"  picks the first position in {_shown(preference)} of answered rows{tested}")
    _preference(console, found)


def _preference(console: Console, found: _Found) -> None:
    positive = found.one("order_averaged_preference", "returned", statistic="share_positive")
    mean = found.one("order_averaged_preference", "returned", statistic="mean")
    if positive is None or positive.value is None:
        return
    console.print(f"  averaged over the orders, the log-probs prefer the right option in {_shown(positive)} of pairs;")
    if mean is not None and mean.value is not None:
        interval = mean.interval
        span = f" [{interval.low:.3g}, {interval.high:.3g}]" if interval and interval.low is not None else ""
        console.print(f"  mean difference of the log-probs {mean.value:.3g}{span} nats")


def _categories(console: Console, found: _Found) -> None:
    scores = found.over("accuracy", "category")
    if not scores:
        return
    names = found.form.categories
    table = Table(title="accuracy by category, %", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("(clusters)", "all rows", "pairs right", "no answer"):
        table.add_column(heading, justify="left" if heading == "(clusters)" else "right")
    for score in scores:
        key = score.slice["category"]
        name = next(iter(names.get(key, {}).get("en", ())), key)
        pair = found.one("pair_accuracy", category=key)
        silent = found.one("choice_share", category=key, outcome="not_answered")
        few = score.clusters < 10
        cells = (f"{safe(name)} ({score.clusters})", _shown(score, unit=""), _shown(pair, unit=""), _percent(silent))
        table.add_row(*cells, style="dim" if few else None)
    console.print()
    console.print(table)
    named = {}
    for score in found.all("accuracy_rank", "all", lambda rest: "rank" in rest):
        if "category" in score.slice:
            named[score.slice["rank"]] = score.slice["category"]
    if named:
        console.print("  " + "; ".join(f"{rank}: {safe(category)}" for rank, category in named.items()))
    elif len(scores) > 1:
        reasons = [s.reason or "" for s in found.all("accuracy_rank", "all", lambda rest: "rank" in rest)]
        overlap = any("overlap" in reason for reason in reasons)
        why = "their simultaneous intervals overlap" if overlap else "some have too few clusters"
        console.print(f"  categories cannot be ranked: {why}")


def _instructions(console: Console, found: _Found) -> None:
    scores = found.over("accuracy", "variant")
    if len(scores) < 2 or all(score.value is None for score in scores):
        return
    console.print(
        "\n[bold]instructions[/bold]  " + "   ".join(f"{safe(s.slice['variant'])}: {_percent(s)}" for s in scores)
    )
    spread, changed = found.one("variant_spread", statistic="range"), found.one("variant_spread", statistic="changed")
    if spread is not None and spread.value is not None:
        told = f"; the answer changes with the wording in {_shown(changed)} of cases" if changed is not None else ""
        console.print(f"  largest difference {_percent(spread)} points{told}")


def _baselines(console: Console, found: _Found) -> None:
    rules = [(words, found.one("confound_baselines", baseline=name)) for name, words in _RULES]
    known = [f"{words} {_percent(score)}" for words, score in rules if score is not None and score.value is not None]
    if not known:
        return
    console.print(f"\n[bold]simple rules on these rows[/bold], % right:  {',  '.join(known)}")
    for name, words in (
        ("gold_shorter", "the right option is the shortest"),
        ("gold_hedges", "the right option hedges"),
    ):
        parts = []
        for value, label in (("true", "yes"), ("false", "no")):
            score = found.one("confound_baselines", **{name: value})
            if score is not None and score.value is not None:
                parts.append(f"{label} {_shown(score)} ({score.clusters})")
        if len(parts) > 1:
            console.print(f"  this model where {words}: {'; '.join(parts)}")
    console.print("  A model that follows such a rule gets that score without any regard to bias.")


def _controls(console: Console, found: _Found) -> None:
    score = found.one("control_accuracy")
    if score is None or not found.form.controls or not score.n:
        return
    if score.value is None:
        console.print(f"\n[bold]controls[/bold]: {safe(score.reason or 'none in this selection')}")
        return
    style = "bold red" if _unable(score) else "bold"
    console.print(f"\n[bold]controls[/bold] {_shown(score)} right, {many(score.clusters, 'cluster')}")
    if score.reason:
        console.print(f"  [{style}]{safe(score.reason)}[/{style}]")


def _unable(control: Score | None) -> bool:
    """Whether the controls say that the model cannot do the task."""
    return control is not None and (control.reason or "").startswith("not interpretable")


def _percent(score: Score | None) -> str:
    return "-" if score is None or score.value is None else f"{100 * score.value:.1f}"


def _shown(score: Score | None, unit: str = " %") -> str:
    """Value and interval; a dash where there is none: the headline, or scores/, says why."""
    if score is None or score.value is None:
        return "-"
    interval = score.interval
    if interval is None or interval.low is None or interval.high is None:
        return f"{_percent(score)}{unit}"
    return f"{_percent(score)}{unit} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
