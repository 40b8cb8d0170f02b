"""Numbers and lines of a comparison on a terminal."""

from __future__ import annotations

import textwrap

from biasfw.comparing.results import Difference
from biasfw.records import Interval

WIDTH = 80


def percent(value: float | None) -> str:
    """A share in percent."""
    return "-" if value is None else f"{100 * value:.1f}"


def points(value: float | None) -> str:
    """A difference in points with its sign."""
    return "-" if value is None else f"{100 * value + 0.0:+.1f}".replace("-0.0", "+0.0")


def span(each: Difference) -> str:
    """The interval that claims are held against."""
    return _limits(each.outer)


def single(each: Difference) -> str:
    """The interval of the difference by itself."""
    return _limits(each.interval)


def _limits(interval: Interval | None) -> str:
    if interval is None or interval.low is None:
        return "(no interval)"
    return f"[{points(interval.low)}, {points(interval.high)}]"


def cut(text: str, width: int) -> str:
    """A name with its count in brackets, cut."""
    return text if len(text) <= width else f"{text[: width - 4]}...)"


def wrapped(text: str, indent: str = "") -> list[str]:
    """Lines of at most ``WIDTH`` columns; what goes on is indented further."""
    return textwrap.wrap(
        " ".join(text.split()), WIDTH, initial_indent=indent, subsequent_indent=" " * len(indent) + "  ",
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip
