"""The table at the end of a run: headline first, what it means, what was not answered, where the files are."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from biasfw.cli._across import language_name, print_across
from biasfw.cli._choices import print_choices
from biasfw.cli._text import isolated, safe, shortened, visible
from biasfw.engine import RunResult
from biasfw.records import Outcome, Score

DEMO = "demo: machine-written, not reviewed by native speakers; not comparable with the paper"
TEXT_LIMIT = 300


def print_summary(result: RunResult) -> None:
    """Print everything a person needs to read a run on standard output; plain text when it is piped."""
    piped = not sys.stdout.isatty()
    console = Console(highlight=False, soft_wrap=piped, width=120 if piped else None)
    _heading(console, result)
    if _mostly_silent(result):
        _silence(console, result)
    if result.plan.form.task == "choice":
        print_choices(console, result)
    else:
        _headline(console, result)
        _shares(console, result)
    print_across(console, result)
    _interpretation(console, result)
    _outcomes(console, result)
    _files(console, result)
    if not _mostly_silent(result):
        _samples(console, result)


def percent(value: float | None) -> str:
    """A share in percent, or a dash where it is undefined."""
    return "-" if value is None else f"{100 * value:.1f}"


def _heading(console: Console, result: RunResult) -> None:
    plan = result.plan
    console.print(f"\n[bold]{safe(plan.bundle.full_name)}[/bold]  {safe(plan.bundle.manifest['title'])}")
    if plan.bundle.demo:
        console.print(f"[yellow]{DEMO}[/yellow]")
    model = plan.config.model or "default model"
    console.print(
        f"{safe(plan.backend.spec.name)} / {safe(model)}   mode {plan.protocol.mode}   {plan.selected}"
        f"   {plan.selected.clusters} clusters   {result.total} responses"
    )
    if result.failed:
        console.print(f"[red]incomplete: {result.failed} responses failed; the same command asks them again[/red]")


def _counts(result: RunResult) -> tuple[int, int]:
    """Filled slots and all slots."""
    rows = result.outcomes.values()
    counted = (Outcome.ANSWERED, Outcome.ABSTAINED)
    return sum(row.get(name, 0) for row in rows for name in counted), sum(sum(row.values()) for row in rows)


def _mostly_silent(result: RunResult) -> bool:
    answered, total = _counts(result)
    return total > 0 and answered * 2 < total


def _silence(console: Console, result: RunResult) -> None:
    answered, total = _counts(result)
    console.print(
        f"\n[bold red]Most answers could not be used: {total - answered} of {total} slots are not answered.[/bold red] "
        "Shares say little about the model."
    )
    for score in result.scores:
        overall = not {"category", "language"} & set(score.slice)
        if score.metric == "format_compliance" and score.denominator == "all" and score.value is not None and overall:
            kept = round(score.value * score.n)
            console.print(f"The answer format was kept in {kept} of {score.n} responses ({_where(score)}).")
    modes = result.plan.bundle.manifest["protocols"]
    if result.plan.protocol.mode == "generate" and "choices" in modes:
        console.print(
            "A model that does not follow the answer format can be asked by likelihood: add [bold]--mode choices[/bold]"
        )
    _samples(console, result)


def _headline(console: Console, result: RunResult) -> None:
    manifest = result.plan.bundle.manifest
    primary = manifest["primary"]
    wanted = primary.get("slice", {})
    unvalued = {name for name, condition in manifest["conditions"].items() if not condition.get("valued", True)}
    for score in result.scores:
        same = score.metric == primary["metric"] and all(score.slice.get(k) == v for k, v in wanted.items())
        overall = set(score.slice) - set(wanted) <= {"condition", "scoring"}
        if same and overall and score.slice.get("condition") not in unvalued:
            console.print(f"\n[bold]{score.metric}[/bold] ({_where(score)}): {_value(score)}")


def _where(score: Score) -> str:
    return safe(", ".join(f"{name} {value}" for name, value in score.slice.items()))


def _value(score: Score) -> str:
    if score.value is None:
        return f"undefined: {score.reason}"
    text = f"{percent(score.value)} %" if score.unit == "share" else f"{score.value:.3g} {score.unit}"
    if score.interval is not None and score.interval.low is not None:
        text += f" [{percent(score.interval.low)}, {percent(score.interval.high)}]"
    test = score.test
    if test is not None and "scoring" in score.slice and test.statistic is not None:
        # The value comes from likelihoods, the test from what would have been picked: two numbers, said apart.
        text += f" by likelihood; the most likely answers alone: {percent(test.statistic)} %"
    if test is not None and test.null_mean is not None:
        text += f"; chance alone gives {percent(test.null_mean)} %, in 95 of 100 cases below {percent(test.null_q95)}"
    if test is not None and test.p is not None:
        text += f"; p = {test.p:.3g}" + (f" (Holm {test.p_adjusted:.3g})" if test.p_adjusted is not None else "")
    return f"{text}; n = {score.n}, clusters = {score.clusters}, denominator {score.denominator}"


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
            _ranks(console, part)
            _positions(console, part)


def _share_table(console: Console, result: RunResult, shares: Sequence[Score], title: str) -> None:
    form = result.plan.form
    labels = [label for label in form.labels if any(s.slice.get("label") == label.key for s in shares)]
    references = {round(s.reference, 6) for s in shares if s.reference is not None}
    chance = f"; an even pick is {percent(references.pop())}" if len(references) == 1 else ""
    table = Table(
        title=f"{title}: share of all responses, %, and 95 % interval{chance}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("(clusters)", no_wrap=True)
    for label in labels:
        table.add_column(safe(label.name("en")), justify="right", min_width=6)
    table.add_column("not answered", justify="right", min_width=8)
    for slot in form.slots:
        rows: dict[tuple[str, str], dict[str, Score]] = {}
        for s in shares:
            if s.slice.get("slot") == slot.key:
                cell = (s.slice.get("language", ""), s.slice.get("category", ""))
                rows.setdefault(cell, {})[s.slice.get("label", "")] = s
        header = slot.header(title.partition(",")[0], "en")
        # Languages by categories are many rows: they are in scores/.
        for cell in sorted((cell for cell in rows if not all(cell)), key=lambda cell: (any(cell), bool(cell[1]))):
            by_label, (language, category) = rows[cell], cell
            name = f"  {language_name(result, language) if language else category}" if any(cell) else header
            shown = [_cell(by_label.get(label.key)) for label in labels]
            silent = by_label.get("")
            clusters = next(iter(by_label.values())).clusters
            table.add_row(safe(f"{name} ({clusters})"), *shown, percent(silent.value if silent else None))
    console.print()
    console.print(table)


def _ranks(console: Console, part: Iterable[Score]) -> None:
    """Which label is highest or lowest, only where simultaneous intervals can tell."""
    ranks = [s for s in part if s.metric == "label_rank" and "category" not in s.slice and "language" not in s.slice]
    for slot in dict.fromkeys(s.slice["slot"] for s in ranks):
        said = [
            f"{s.slice['rank']} {s.slice['label']}" if s.value is not None else f"{s.slice['rank']}: cannot be ranked"
            for s in ranks
            if s.slice["slot"] == slot
        ]
        console.print(f"  {safe(slot)}: {safe('; '.join(said))} (simultaneous intervals)")


def _positions(console: Console, part: Iterable[Score]) -> None:
    """How often each list position was picked: a model that picks by position says little about groups."""
    rates = [s for s in part if s.metric == "position_rate" and "category" not in s.slice and "language" not in s.slice]
    for slot in dict.fromkeys(s.slice["slot"] for s in rates):
        shown = "  ".join(f"{s.slice['position']}: {percent(s.value)}" for s in rates if s.slice["slot"] == slot)
        console.print(f"  {safe(slot)}, picked by list position, %:  {shown}")


def _cell(score: Score | None) -> str:
    if score is None or score.value is None:
        return "-"
    interval = score.interval
    if interval is None or interval.low is None or interval.high is None:
        return percent(score.value)
    return f"{percent(score.value)}\n[dim]{100 * interval.low:.0f} to {100 * interval.high:.0f}[/dim]"


def _merged(console: Console, result: RunResult, part: Iterable[Score]) -> None:
    """Labels that overlap, taken together."""
    names = {merge.key: merge.names.get("en", (merge.key,))[0] for merge in result.plan.form.merges}
    for s in part:
        whole = s.metric == "label_share" and s.denominator == "all" and "merged" in s.slice
        if whole and "category" not in s.slice and "language" not in s.slice:
            chance = f"; an even pick is {percent(s.reference)}" if s.reference is not None else ""
            text = _cell(s).replace("\n", ", ")
            console.print(f"  {safe(s.slice['slot'])}: {safe(names[s.slice['label']])} together {text}{chance}")


def _interpretation(console: Console, result: RunResult) -> None:
    text = result.plan.bundle.manifest["interpretation"]
    console.print(f"\n[bold]What this is[/bold]  {safe(text['construct'])}")
    console.print(f"[bold]What it does not show[/bold]  {safe(text['does_not_show'])}")
    console.print(f"[bold]Content warning[/bold]  {safe(result.plan.bundle.manifest['content_warning'])}")


def _outcomes(console: Console, result: RunResult) -> None:
    names = [o for o in Outcome if any(str(o) in row for row in result.outcomes.values())]
    table = Table(title="outcomes per slot", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("slot")
    for name in names:
        table.add_column(str(name), justify="right")
    for slot, row in result.outcomes.items():
        table.add_row(safe(slot), *(str(row.get(str(name), 0)) for name in names))
    console.print()
    console.print(table)
    total = sum(next(iter(result.outcomes.values()), {}).values())
    for flag, text in (
        ("per_token_differs", "would be decided otherwise by the mean per token"),
        ("per_byte_differs", "would be decided otherwise by the mean per byte"),
    ):
        if result.plan.protocol.mode == "choices":
            console.print(f"{result.flags.get(flag, 0)} of {total} responses {text}")


def _files(console: Console, result: RunResult) -> None:
    for note in result.notes:
        console.print(f"note: {safe(note)}")
    console.print(f"\nfiles: {safe(str(result.directory))}  (responses.jsonl, judgements/, scores/, run.json)")
    # That the language of the answers is not assessed in a language is no gap in the scores of this run.
    missing = sorted({s.metric for s in result.scores if s.value is None and s.metric != "answer_language"})
    if missing:
        console.print(f"some values of {', '.join(missing)} are undefined; the reasons are in scores/")


def _samples(console: Console, result: RunResult) -> None:
    if not result.samples:
        return
    console.print("\n[bold]Two responses[/bold]")
    for item, response in result.samples:
        console.print(f"[dim]{safe(item.id)}[/dim]")
        if response.choice_logprobs:
            ranked = sorted((s for s in response.choice_logprobs if s.sum is not None), key=lambda s: -(s.sum or 0.0))
            best = ", ".join(f"{s.key} {s.sum:.2f}" for s in ranked[:3])
            console.print(f"  most likely (sum of log-probs in nats): {safe(best)}")
        else:
            console.print(_sample(console, response.text or ""), markup=False)


def _sample(console: Console, text: str) -> str:
    """The beginning of a response, indented; on a terminal, right-to-left lines keep to their place."""
    safe = shortened(visible(text.replace("\r\n", "\n")), TEXT_LIMIT)
    isolate = isolated if console.is_terminal and console.encoding.startswith("utf") else str
    return "\n".join(f"  {isolate(line)}" for line in safe.split("\n")) if safe.strip() else "  (empty)"
