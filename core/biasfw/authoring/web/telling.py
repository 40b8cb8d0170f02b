"""Drafts, versions and tries as the page gets them."""

from __future__ import annotations

import difflib
from typing import Any

from biasfw.authoring.controls import BELOW_CHANCE, NO_CONTROLS
from biasfw.authoring.drafts import MAIN, TEXTS, Draft, Version
from biasfw.authoring.rules import as_row
from biasfw.authoring.trying import NO_LOGPROBS, Tried

_ISLAND, _EXCERPT = 4, 60  # characters
_CODES = {BELOW_CHANCE: "below_chance", NO_CONTROLS: "no_controls", NO_LOGPROBS: "no_logprobs"}  # strings of the page


def line(draft: Draft) -> dict[str, Any]:
    """A draft in the list."""
    tries = draft.tried(role="target", version=draft.current.number)
    return {
        "item": draft.name, "category": draft.category, "status": draft.status, "edits": draft.edits,
        "excerpt": (draft.current.texts or {}).get("context", "")[:_EXCERPT],
        "version": draft.current.number, "verdict": tries[-1]["verdict"] if tries else None, "flags": len(draft.flags),
    }  # fmt: skip


def version_told(draft: Draft, version: Version, before: Version | None) -> dict[str, Any]:
    """A version in the history: what changed, and what models said."""
    tries = [t for t in draft.tries if t["version"] == version.number and t["arm"] == MAIN]
    changes = {}
    if before is not None and before.texts is not None and version.texts is not None:
        old, new = before.texts, version.texts
        changes = {
            name: diff(old.get(name, ""), new.get(name, "")) for name in TEXTS if old.get(name, "") != new.get(name, "")
        }
    return {
        "number": version.number, "by": version.by, "day": version.day, "withdrawn": version.texts is None,
        "diff": changes, "tries": [{"verdict": t["verdict"], "role": t["target"]["role"],
                                    "model": t["target"]["model"] or t["target"]["backend"]} for t in tries],
    }  # fmt: skip


def diff(old: str, new: str) -> list[list[str]]:
    """Parts of both texts: [same|gone|new, text]. A few equal characters between two changes are no island."""
    parts: list[list[str]] = []
    before = after = ""
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        at_an_end = a == 0 or b == len(old)
        if tag == "equal" and (at_an_end or b - a >= _ISLAND):
            parts += [[word, text] for word, text in (("gone", before), ("new", after)) if text]
            parts.append(["same", old[a:b]])
            before = after = ""
        else:
            before, after = before + old[a:b], after + new[c:d]
    return parts + [[word, text] for word, text in (("gone", before), ("new", after)) if text]


def reviews_told(draft: Draft) -> list[dict[str, Any]]:
    """The last review of the newest version by each reviewer."""
    last = {r["by"]: r for r in draft.reviews if r["version"] == draft.current.number}
    return [{name: r.get(name) for name in ("by", "member", "ok", "reason")} for r in last.values()]


def tried_told(tried: Tried) -> dict[str, Any]:
    """A try: verdict, picks and the chance of a random picker."""
    verdict = tried.verdict
    rows = [{**as_row(each), "margin": each.margin()} for each in tried.asked]
    return {
        "version": tried.version, "model": tried.model, "verdict": verdict.word, "margin": verdict.margin,
        "wins": dict(verdict.wins), "answered": verdict.answered, "asked": verdict.asked, "picks": rows,
        "chance": tried.chance, "over_tries": tried.chance_over_tries, "tries": tried.tries,
        "warnings": [{"code": _CODES.get(text, ""), "text": text} for text in tried.warnings],
    }  # fmt: skip
