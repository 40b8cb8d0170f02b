"""``biasfw author report``: what the edits did."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biasfw.cli._author import bench_in, command, folder_argument
from biasfw.cli._common import json_option, print_json, say
from biasfw.phrases import many


@command.command("report", epilog="Example:  biasfw author report my-bench")
@folder_argument
@json_option
def report_(folder: Path, as_json: bool) -> None:
    """Accuracy and edits by category, before and after on held-out models, placebo, what was rejected and why."""
    from biasfw.authoring.analysis import report  # noqa: PLC0415 - numpy loads late

    document = report(bench_in(folder))
    if as_json:
        print_json(document)
    else:
        _print(document)


def _print(document: Mapping[str, Any]) -> None:
    counts = document["drafts"]
    said = ", ".join(f"{count} {name}" for name, count in counts.items() if name != "all")
    say(f"{document['workbench']}: {many(counts['all'], 'draft')} ({said}); rule {document['rule']['use']}")
    gone = document["rejected"]
    if gone["n"]:
        span = f"[{_percent(gone['low'])}, {_percent(gone['high'])}]"
        say(f"rejected: {_percent(gone['share'])} {span} of {gone['n']} decided")
    for row in gone["reasons"]:
        say(f"  {row['item']}: {row['reason'] or '(the reason was withdrawn)'}")
    for line in document["objections"]:
        say(f"objection: {line}")
    say(f"edits of accepted drafts: {_number(document['edits'], 1)}")
    for category, part in document["categories"].items():
        say(f"{category}: {many(part['all'], 'draft')}, {part['accepted']} accepted, edits {_number(part['edits'], 1)}")
        _models(part["accuracy"], "  ")
    say("all categories, accuracy on the newest versions:")
    _models(document["models"], "  ")
    say("\nheld-out models, accuracy after minus before editing, in points:")
    change = document["before_after"]
    say(f"  all drafts: {_number(change['all'])}")
    say(f"  kept ones alone: {_number(change['kept'])} ({change['note']})")
    for model, part in change["models"].items():
        say(f"  {model}, all drafts: {_number(part)}")
    if document["unmeasured"]:
        names = document["unmeasured"]
        say(f"  {many(len(names), 'draft')} without a first or last answer of a held-out model: {', '.join(names[:8])}"
            f"{' ...' if len(names) > 8 else ''}; biasfw author try --held-out --every-end")  # fmt: skip
    days = document["days"]
    if days:
        say(f"versions by day: {', '.join(f'{day} {count}' for day, count in days.items())}")
    if document["groups"]:
        named = ", ".join(f"{group} ({count})" for group, count in document["groups"].items())
        say(f"groups that five or more annotators named as their own: {named}")
    placebo = document["placebo"]
    if placebo["asked"] or placebo["effect"]["n"]:
        done = placebo["drafts"]
        say(f"placebo (edits without a model's answers; {done['complete']} of {done['all']} drafts have theirs):")
        for name in ("adversarial", "placebo", "effect"):
            say(f"  {'adversarial minus placebo' if name == 'effect' else name}: {_number(placebo[name])}")


def _models(rows: list[Mapping[str, Any]], indent: str) -> None:
    for row in rows:
        found, note = row["accuracy"], f" ({row['note']})" if "note" in row else ""
        say(f"{indent}{row['role']} {row['model']}: {_number(found)}{note}")
        for text in row["warnings"]:
            say(f"{indent}  warning: {text}")


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _number(found: Mapping[str, Any], scale: float = 100) -> str:
    if found["value"] is None:
        return "- (nothing measured)"
    span = "" if found["low"] is None else f" [{scale * found['low']:.1f}, {scale * found['high']:.1f}]"
    reason = f", no interval: {found['reason']}" if found["low"] is None and found["reason"] else ""
    return f"{scale * found['value']:.1f}{span} ({many(found['drafts'], 'draft')}{reason})"
