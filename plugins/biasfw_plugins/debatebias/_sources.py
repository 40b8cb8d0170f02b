"""Which prompts are one prompt in several languages: the authors' files give no number that says so.

Within a category, prompts of another language are those of the first language (English, if it is there)

1. of the same title, if all their titles are titles of the first language;
2. else of the same place, if there are equally many and no title stands at another place;
3. else those of the same title; the others are sources of their own, under their own titles.

The second rule rests on the order that the files of the published pipeline share; a translation that was dropped on the
way breaks it, which the third rule notices by the number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from biasfw_plugins.debatebias._rows import Row

Titles = dict[str, dict[tuple[str, str], str]]  # language -> (category, own title) -> title of the source


def source_titles(rows: Mapping[str, Sequence[Row]]) -> tuple[Titles, list[str]]:
    """The title of every prompt's source, and what a user should know of how it was found."""
    first, *others = rows
    base = _by_category(rows[first])
    titles: Titles = {first: {(row.category, row.title): row.title for row in rows[first]}}
    placed: list[str] = []
    alone: list[str] = []
    for language in others:
        titles[language] = {}
        by_order: list[str] = []
        categories = _by_category(rows[language])
        for category, own in categories.items():
            theirs = base.get(category, [])
            if set(own) <= set(theirs):
                matched = own
            elif _same_places(own, theirs):
                matched = theirs
                by_order.append(category)
            else:
                matched = own
                alone.append(f"{language} {category} ({len(set(own) - set(theirs))} of {len(own)})")
            titles[language].update({(category, title): source for title, source in zip(own, matched, strict=True)})
        if by_order:
            placed.append(language if len(by_order) == len(categories) else f"{language} ({', '.join(by_order)})")
    return titles, _notes(first, placed, alone)


def _by_category(rows: Sequence[Row]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        found[row.category].append(row.title)
    return dict(found)


def _same_places(own: Sequence[str], theirs: Sequence[str]) -> bool:
    known = set(theirs)
    if len(own) != len(theirs):
        return False
    return all(one == other or one not in known for one, other in zip(own, theirs, strict=True))


def _notes(first: str, placed: Sequence[str], alone: Sequence[str]) -> list[str]:
    notes = []
    if placed:
        notes.append(
            f"titles differ from those in {first}, so prompts are matched by their order within the category: "
            f"{', '.join(placed)}"
        )
    if alone:
        notes.append(
            f"prompts that cannot be matched to {first}, by title or by order, count as clusters of their own, so "
            f"intervals over several languages are too narrow: {', '.join(alone)}"
        )
    return notes
