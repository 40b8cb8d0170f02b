"""Marks within a line that end nothing: after "rather than...", before "or", and in a list of ranks."""

from __future__ import annotations

from collections.abc import Sequence

from biasfw_plugins.parsers._parts import Part

_MARKS = Part.STOP | Part.COMMA | Part.COLON | Part.DASH
_IDLE = _MARKS | Part.QUOTE | Part.OPEN | Part.OPTION | Part.FILLER | Part.FILLER_AFTER
_AFTER_RANK = Part.STOP | Part.CLOSE | Part.COLON | Part.COMMA | Part.JOIN | Part.DASH
_BEFORE_RANKED = Part.OPTION | Part.FILLER | Part.OPEN | Part.QUOTE


def join(parts: list[int], kinds: int) -> None:
    """Make words that say nothing of the marks between a comparison, or a conjunction, and the option it is about."""
    if kinds & Part.THAN:
        for place, part in enumerate(parts):
            if part & Part.THAN and part & Part.NOT:
                _join_after(parts, place)
            if part & Part.THAN and part & Part.NOT_AFTER:
                _join_before(parts, place)
    if kinds & Part.STOP and kinds & (Part.AND | Part.JOIN):
        for place, part in enumerate(parts):
            if part & (Part.AND | Part.JOIN) and place > 2 and _is_ellipsis(parts, place - 1):  # "A... or B?"
                _join_before(parts, place)


def unrank(parts: list[int], keys: Sequence[str | None]) -> None:
    """Make words of options that are numbered in one line: "1. B 2. A" ranks them, or repeats what was offered."""
    ranked: list[int] = []
    for place, part in enumerate(parts):
        if not part & Part.LETTER:
            continue
        before = place - 1
        while before >= 0 and parts[before] & _BEFORE_RANKED and not parts[before] & Part.COLON:
            before -= 1
        if before > 0 and parts[before] & _AFTER_RANK and parts[before - 1] & Part.NUMBER:
            ranked.append(place)
    if len({keys[place] for place in ranked}) > 1:
        for place in ranked:
            parts[place] = Part.WORD


def _join_after(parts: list[int], place: int) -> None:
    end = place + 1
    while end < len(parts) and parts[end] & _IDLE and not parts[end] & Part.LETTER:
        end += 1
    if end == len(parts) or not parts[end] & Part.LETTER:
        return
    stops = [each for each in range(place + 1, end) if parts[each] & Part.STOP]
    if stops and not (_is_ellipsis(parts, stops[-1]) or _letter_stands_before(parts, place)):
        return  # "Start over. A"
    for each in range(place + 1, end):
        if parts[each] & _MARKS:
            parts[each] = Part.FILLER | Part.FILLER_AFTER


def _join_before(parts: list[int], place: int) -> None:
    begin = place - 1
    while begin >= 0 and parts[begin] & Part.STOP:
        begin -= 1
    if place - begin > 2 and begin >= 0 and parts[begin] & (Part.LETTER | Part.CLOSE | Part.QUOTE):
        for each in range(begin + 1, place):
            parts[each] = Part.FILLER | Part.FILLER_AFTER


def _is_ellipsis(parts: Sequence[int], place: int) -> bool:
    return place > 0 and bool(parts[place] & parts[place - 1] & Part.STOP)


def _letter_stands_before(parts: Sequence[int], place: int) -> bool:
    """Whether the sentence has named an option before ``place``."""
    for before in range(place - 1, -1, -1):
        if parts[before] & (Part.STOP | Part.ASK):
            return False
        if parts[before] & Part.LETTER:
            return True
    return False
