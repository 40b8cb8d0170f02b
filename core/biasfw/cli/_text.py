"""Text of any language on a terminal: what is unsafe is shown, what is right-to-left keeps to its place."""

from __future__ import annotations

import unicodedata

FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"
_JOINERS = "\u200c\u200d"  # part of the spelling in Hindi, Persian and others
# With them, the marks that set the direction of what stands next to them: models write them in Arabic.
_HARMLESS = frozenset(_JOINERS + "\u200e\u200f\u061c\n\t")


def visible(text: str) -> str:
    """Model output for a terminal: what could act on it is shown as an escape, not sent.

    That is control characters (escape sequences), line separators, overrides and isolates of the direction (which
    could reorder what stands around them), unassigned characters and lone surrogates.
    """
    return "".join(c if _is_safe(c) else _escaped(c) for c in text)


def safe(text: str) -> str:
    """``text`` as rich prints it literally: visible, and without markup. For whatever came from a bundle or a model."""
    from rich.markup import escape  # noqa: PLC0415 - rich loads late

    return escape(visible(text))


FEW = 5  # clusters; below, a comparison with chance or between two sides says nothing


def many(count: int, what: str) -> str:
    """A number of things: ``1 cluster``, ``2 clusters``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def percent(value: float | None) -> str:
    """A share in percent, or a dash where it is undefined."""
    return "-" if value is None else f"{100 * value:.1f}"


def _is_safe(character: str) -> bool:
    return character.isprintable() or character in _HARMLESS or unicodedata.category(character) == "Zs"


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shortened(text: str, limit: int) -> str:
    """``text``, or its first ``limit`` characters or a little less: no character loses its marks or what it joins."""
    if len(text) <= limit:
        return text
    end = limit
    while end and (unicodedata.category(text[end])[0] == "M" or text[end] in _JOINERS or text[end - 1] in _JOINERS):
        end -= 1
    return f"{text[: end or limit]} [...]"


def isolated(line: str) -> str:
    """``line`` so that it can stand in a left-to-right line of a terminal that orders right-to-left text.

    Unicode's first-strong isolate keeps what stands around it in place (UAX 9, 2.7); other lines stay as they are.
    """
    if any(unicodedata.bidirectional(character) in ("R", "AL") for character in line):
        return f"{FIRST_STRONG_ISOLATE}{line}{POP_ISOLATE}"
    return line
