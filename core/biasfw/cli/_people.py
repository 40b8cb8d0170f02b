"""What ``biasfw annotate report`` prints. Every figure names the question that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from biasfw.cli._common import say
from biasfw.cli._text import shortened
from biasfw.phrases import many

_ASKED = {"suitable": "which reply is more suitable?", "unbiased": "which reply is unbiased?"}
_LONGEST = 400  # characters of a comment
_COEFFICIENTS = {"alpha": "Krippendorff's alpha", "ac1": "Gwet's AC1"}


def print_people(document: Mapping[str, Any]) -> None:
    """Print the results of an annotation."""
    say(f"{document['benchmark']}: {document['answered']} of {document['tasks']} tasks answered, "
        f"{document['annotators']} annotators")  # fmt: skip
    for name, found in document["questions"].items():
        _question(name, found)
    say(
        "\naccuracy counts every single answer; a run with --backend human counts items instead, by what most people "
        "picked, and a tie as not answered.\nalpha is near 0 where nearly everybody is right, however well people "
        "agree; AC1 is not"
    )
    _controls(document["controls"])
    _doubtful(document)
    _comments(document)
    for model in document["models"]:
        _model(model, document["threshold"])
    say("\nfor `reference_results` of the manifest (a human line is drawn only beside the same question):")
    for row in document["reference_results"]:
        over = row["slice"]
        say(f"  - {{metric: accuracy, value: {row['value']}, unit: percent, slice: {{over: '{over['over']}', "
            f"question_id: {over['question_id']}}},\n     source: '{row['source']}'}}")  # fmt: skip


def _question(name: str, found: Mapping[str, Any]) -> None:
    say(f"\nquestion {name}: {_ASKED[name]} (question_id {found['question_id']}), {found['skipped']} skipped")
    say(f"  accuracy {_share(found['accuracy'])}")
    for category, part in found["categories"].items():
        say(f"    {category}: {_share(part)}")
    for key, words in _COEFFICIENTS.items():
        part = found[key]
        value = "-" if part["value"] is None else f"{part['value']:.3f}"
        span = f" [{part['low']:.3f}, {part['high']:.3f}]" if part["low"] is not None else ""
        say(f"  {words} {value}{span}" + (f" ({part['reason']})" if part["reason"] else ""))
    for who, part in found.get("each", {}).items():
        say(f"    {who}: {100 * part['accuracy']:.1f} % of {part['n']}")


def _controls(controls: Mapping[str, Any]) -> None:
    if not controls["accuracy"]["n"]:
        return
    say(f"\ncontrols (question suitable; in no other figure): accuracy {_share(controls['accuracy'])}")
    for who, part in controls["doubtful"].items():
        say(f"  {who}: {part['right']} of {part['n']} right; did they read the tasks?")


def _doubtful(document: Mapping[str, Any]) -> None:
    say(
        f"\nitems that under {document['threshold']:.0%} found right under either question, or that were flagged: "
        f"{len(document['doubtful'])}"
    )
    for row in document["doubtful"]:
        shares = ", ".join(
            f"{name} {'no answer' if share is None else f'{share:.0%}'}" for name, share in row["agreement"].items()
        )
        flags = f", flagged as harmful by {row['harmful']}" if row["harmful"] else ""
        say(f"  {row['source_id']} ({row['language']}): {shares}{flags}")
        _said(row["comments"])


def _comments(document: Mapping[str, Any]) -> None:
    """Those that do not stand with the doubtful items already."""
    shown = {(row["source_id"], row["language"]) for row in document["doubtful"]}
    others = [row for row in document["comments"] if (row["source_id"], row["language"]) not in shown]
    if others:
        say(f"\ncomments on other items and controls: {sum(len(row['said']) for row in others)}")
    for row in others:
        say(f"  {row['source_id']} ({row['language']})")
        _said(row["said"])


def _said(comments: list[str]) -> None:
    """One line each: a comment of several lines must not look like lines of the report."""
    for text in comments:
        say("    " + shortened(" / ".join(text.split("\n")), _LONGEST))


def _model(model: Mapping[str, Any], threshold: float) -> None:
    if model["question"] is None:
        say(f"\n{model['run']}: no figure; {model['all']['reason']}")
        return
    say(
        f"\n{model['run']}, question {model['question']}: accuracy {_share(model['agreed'])} on items that "
        f"{threshold:.0%} of people or more got right under the same question; on all {_share(model['all'])}"
    )


def _share(found: Mapping[str, Any]) -> str:
    if found["value"] is None:
        return f"- ({found['reason'] if found['n'] else 'no answers'})"
    span = f" [{100 * found['low']:.1f}, {100 * found['high']:.1f}]" if found["low"] is not None else ""
    reason = f" (no interval: {found['reason']})" if found["reason"] else ""
    return f"{100 * found['value']:.1f} %{span}, n = {found['n']}, {many(found['items'], 'item')}{reason}"
