"""A comparison as a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence

from biasfw import __version__, webpage
from biasfw.comparing import words
from biasfw.comparing.results import TABLE, Comparison, Difference, Question, Rank

_FLIPS = 200  # changed answers on the page; all of them are in the file of --flips


def page(found: Comparison) -> str:
    """The page."""

    def named(each: Difference) -> str:
        for axis, kind in (("label", "labels"), ("category", "categories"), ("language", "languages")):
            if axis in each.slice:
                return str(found.names.get(kind, {}).get(each.slice[axis], each.slice[axis]))
        return "all"

    return webpage.render(
        "compare.html", found=found, groups=_groups, named=named, words=words, table=TABLE, limit=_FLIPS,
        ordered=_ordered, program=__version__,
    )  # fmt: skip


def _ordered(ranks: Sequence[Rank]) -> list[Rank]:
    """By condition, the best first, those without a rank last."""
    return sorted(ranks, key=lambda each: (each.condition, each.best is None, each.best or 0, each.worst or 0))


def _groups(question: Question) -> list[tuple[str, list[Difference], str]]:
    """Title, rows and name of the first column of every table of a question."""
    found = []
    for slot in dict.fromkeys(each.slice["slot"] for each in question.labels):
        found.append((f"Shares of labels, {slot}", [x for x in question.labels if x.slice["slot"] == slot], "label"))
    for axis in ("category", "language"):
        rows = [each for each in question.slices if axis in each.slice]
        if rows:
            found.append((f"By {axis}", rows, axis))
    return found
