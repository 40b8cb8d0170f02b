"""The table at the end of a run: headline first, what it means, what was not answered, where the files are.

What a task has to say of its own is a module each: ``BODIES``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from rich import box
from rich.console import Console
from rich.table import Table

from biasfw import cautions
from biasfw.cli._across import languages_of, print_across
from biasfw.cli._choices import print_choices
from biasfw.cli._labels import print_labels, slot_name
from biasfw.cli._silence import mostly_silent, print_failures, print_silence
from biasfw.cli._text import isolated, many, safe, shortened, visible
from biasfw.engine import RunResult
from biasfw.juries import Seat
from biasfw.papers import MEMBER_FAILED
from biasfw.records import Outcome, Score
from biasfw.scorefiles import in_words

if TYPE_CHECKING:
    from biasfw.specs import BackendSpec

DEMO = "demo: machine-written, not reviewed by native speakers"  # where the manifest is not at hand
TEXT_LIMIT = 300
NARROWEST = 80
BESIDE = 3  # other scores that are named
BODIES: Mapping[str, Callable[[Console, RunResult], None]] = {
    "labels": print_labels,
    "choice": print_choices,
    "sentence_pair": print_choices,
}


def print_summary(result: RunResult) -> None:
    """Print everything a person needs to read a run on standard output; plain text when it is piped."""
    piped = not sys.stdout.isatty()
    console = Console(highlight=False, soft_wrap=piped, width=120 if piped else None)
    if not piped and console.width < NARROWEST:
        console.width = NARROWEST  # a wrapped table is ugly; a table without its last columns is wrong
    _heading(console, result)
    if mostly_silent(result):
        print_silence(console, result)
        _samples(console, result)
    if body := BODIES.get(result.plan.form.task):
        body(console, result)
    print_across(console, result)
    _asked(console, result)
    _interpretation(console, result)
    _outcomes(console, result)
    _files(console, result)
    if not mostly_silent(result):
        _samples(console, result)


def _heading(console: Console, result: RunResult) -> None:
    plan = result.plan
    console.print(f"\n[bold]{safe(plan.bundle.full_name)}[/bold]  {safe(plan.bundle.manifest['title'])}")
    if plan.bundle.demo:
        console.print(f"[yellow]demo: {plan.bundle.demo_words}[/yellow]")
    console.print(
        f"model: {safe(_model(result))}   backend: {safe(plan.backend.spec.name)}   mode: {plan.protocol.mode}"
    )
    judge = _judge(result)
    if judge:
        console.print(f"judge: {safe(judge)}")
    units = plan.bundle.manifest.get("cluster_name", "clusters")
    conditions, languages = plan.protocol.conditions, languages_of(result)
    parts = [
        f"{plan.selected.clusters} of {plan.selected.of_clusters} {units}",
        f"{many(len(conditions), 'condition')} ({', '.join(conditions)})",
        f"{many(len(languages), 'language')} ({', '.join(languages)})",
        str(plan.selected),
        *([many(plan.protocol.repeats, "repeat")] if plan.protocol.repeats > 1 else []),
        many(result.total, "response"),
    ]
    console.print(f"asked: {safe(', '.join(parts))}")
    print_failures(console, result)


def _judge(result: RunResult) -> str:
    """Who judged, unless it was the parser's word."""
    seat = result.plan.jury
    if not seat.members and seat.binding is None:
        return "" if seat.component.spec.name == "rules" else seat.name
    differs = result.flags.get("judge_disagrees", 0)
    told = f"; differs from what the parser read in {many(differs, 'response')}" if differs else ""
    lost = result.flags.get(MEMBER_FAILED, 0)
    missing = f"; a member failed on {many(lost, 'response')}: the same command asks it again" if lost else ""
    return f"{seat.name}{_members(seat)}{told}{missing}"


def _members(seat: Seat) -> str:
    names = ", ".join(each.name for each in seat.members)
    return f" ({seat.component.spec.name} of {names})" if names else ""


def _asked(console: Console, result: RunResult) -> None:
    """The metrics that were asked for by name, in a plain list: not all of them have a place of their own above."""
    wanted = result.plan.config.metrics
    if not wanted:
        return
    console.print("\n[bold]metrics asked for[/bold] (slices by category and language are in the file of scores)")
    for score in result.scores:
        if score.metric in wanted and not {"category", "language"} & set(score.slice):
            about = ", ".join(f"{name} {text}" for name, text in score.slice.items())
            console.print(f"  {safe(score.metric)} ({safe(about)}): {safe(_plain(score))}")


def _plain(score: Score) -> str:
    if score.value is None:
        return f"undefined: {score.reason}"
    share = score.unit == "share"
    value = f"{100 * score.value:.1f} %" if share else f"{score.value:.3g} {score.unit}"
    interval = score.interval
    if interval is not None and interval.low is not None and interval.high is not None:
        scale = 100 if share else 1
        value += f" [{scale * interval.low:.3g}, {scale * interval.high:.3g}]"
    return f"{value}; n = {score.n}, {many(score.clusters, 'cluster')}, of {score.denominator}"


def _model(result: RunResult) -> str:
    """What was really loaded, with quantisation and dtype; as it was named where nothing was."""
    found = result.identity
    name = str(found.get("model") or result.plan.config.model or "the default")
    parts = [str(found[key]) for key in ("quantisation", "dtype", "architecture") if found.get(key)]
    return (PurePath(name.replace("\\", "/")).name or name) + (f" ({', '.join(parts)})" if parts else "")


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
        table.add_row(safe(slot_name(result, slot)), *(str(row.get(str(name), 0)) for name in names))
    console.print()
    console.print(table)
    if result.plan.protocol.mode == "choices" and not _no_likelihoods(result):
        for line in cautions.otherwise(result.flags, result.outcomes):
            console.print(line)


def _no_likelihoods(result: RunResult) -> bool:
    return "logprobs" in cast("BackendSpec", result.plan.backend.spec).lacks


def _files(console: Console, result: RunResult) -> None:
    for note in result.notes:
        console.print(f"note: {safe(note)}")
    console.print(f"\nfiles: {safe(str(result.directory))}  (responses.jsonl, judgements/, run.json)")
    console.print(f"scores: {safe(result.scores_file)}")
    for file, about in list(result.beside.items())[-BESIDE:]:
        console.print(f"  kept beside it: {safe(file)} ({safe(in_words(about))})")
    if len(result.beside) > BESIDE:
        console.print(f"  and {len(result.beside) - BESIDE} more; run.json says what each is about")
    # That the language of the answers is not assessed in a language is no gap in the scores of this run.
    usual = {"answer_language", "accuracy_rank", "label_rank"}
    usual |= {"format_compliance"} if result.plan.protocol.mode == "choices" else set()
    missing = sorted({s.metric for s in result.scores if s.value is None and s.metric not in usual})
    if missing:
        console.print(f"some values of {', '.join(missing)} are undefined; the file of scores has the reasons")


def _samples(console: Console, result: RunResult) -> None:
    if not result.samples:
        return
    console.print("\n[bold]Two responses[/bold]" if len(result.samples) > 1 else "\n[bold]A response[/bold]")
    for item, response in result.samples:
        console.print(f"[dim]{safe(item.id)}[/dim]")
        if response.choice_logprobs:
            ranked = sorted((s for s in response.choice_logprobs if s.sum is not None), key=lambda s: -(s.sum or 0.0))
            best = ", ".join(s.key if _no_likelihoods(result) else f"{s.key} {s.sum:.2f}" for s in ranked[:3])
            how = "first to last" if _no_likelihoods(result) else "most likely (sum of log-probs in nats)"
            console.print(f"  {how}: {safe(best)}")
        else:
            console.print(_sample(console, response.text or ""), markup=False)


def _sample(console: Console, text: str) -> str:
    """The beginning of a response, indented; on a terminal, right-to-left lines keep to their place."""
    safe = shortened(visible(text.replace("\r\n", "\n")), TEXT_LIMIT)
    isolate = isolated if console.is_terminal and console.encoding.startswith("utf") else str
    return "\n".join(f"  {isolate(line)}" for line in safe.split("\n")) if safe.strip() else "  (empty)"
