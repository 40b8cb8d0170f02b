"""Objections to drafts, in words: who (never a pseudonym), to which draft, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from biasfw.authoring.drafts import Draft
from biasfw.phrases import many

LONGEST = 300  # characters of a reason that are printed
NO_REASON, WITHDRAWN = "(no reason given)", "(the reason was withdrawn)"


def objected(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts that somebody objects to."""
    return [draft for draft in drafts if draft.objections]


def objection_lines(draft: Draft) -> list[str]:
    """One line for each objection."""
    return [f"{draft.name}: {_who(row)}: {quoted(row.get('reason'))}" for row in draft.objections]


def _who(row: Mapping[str, Any]) -> str:
    if row["kind"] == "flag":
        return "flagged as harmful"
    who = "a consulted member of the group" if row["member"] else "a reviewer"
    return f"{who} objected to version {row['version']}"


def quoted(reason: str | None) -> str:
    """A reason as it stands in a datasheet, on one line."""
    text = " ".join((reason or "").split())
    if not text:
        return NO_REASON
    return f'"{text[:LONGEST]}{"…" if len(text) > LONGEST else ""}"'


def summary(drafts: Sequence[Draft], of: int, allowed_by: str | None) -> str:
    """One sentence with the reasons."""
    found = "; ".join(line for draft in objected(drafts) for line in objection_lines(draft))
    return (
        f"People who reviewed them objected to {len(objected(drafts))} of {many(of, 'dialogue')} ({found}); "
        f"{allowed_by} allowed that."
    )
