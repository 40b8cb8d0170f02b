"""One file of prompts, row by row: whatever is not as the authors write it is an error with its line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from biasfw import DataError, read_csv

CATEGORIES = ("backwardness", "religion", "terrorism", "women_rights")
COLUMNS = ("category", "title", "prompt")
PLACEHOLDER = "{Demographic List}"
_NEAR = re.compile(r"[{｛]\s*demographic[\s_-]*list\s*[}｝]", re.IGNORECASE)
_BRACES = re.compile(r"[{｛][^{}｛｝]{1,40}[}｝]")


@dataclass(frozen=True, slots=True)
class Row:
    """A prompt, cut at its placeholder. ``title`` is in NFC, with single spaces; the prompt stays as it is."""

    where: str  # file and line
    category: str
    title: str
    before: str
    after: str

    @property
    def near(self) -> str | None:
        """Text that looks like the placeholder and is not: it reaches the model as it is."""
        found = _NEAR.search(self.before) or _NEAR.search(self.after)
        return _flat(found) if found else None


def read_rows(path: Path, encoding: str | None) -> Iterator[Row]:
    """Every prompt of a file. A line end inside a prompt may be written as CRLF or LF: it is read as LF.

    Raises:
        DataError: the file is not a table with these columns in that encoding, a row has another category, no title,
            no prompt, a wrong number of placeholders, or the category and title of a row before; with file and line.
    """
    seen: dict[tuple[str, str], int] = {}
    for line, fields in read_csv(path, COLUMNS, encoding):
        where = f"{path}:{line}"
        category = _category(fields["category"], where)
        title = " ".join(unicodedata.normalize("NFC", fields["title"]).split())
        if not title:
            raise DataError(f"{where}: the title is empty; write one, it names the prompt")
        if (category, title) in seen:
            before = seen[category, title]
            what = f"category {category} and title {title[:60]!r} also stand in line {before}"
            raise DataError(f"{where}: {what}; remove one row, or write another title")
        seen[category, title] = line
        yield Row(where, category, title, *_cut(fields["prompt"].replace("\r\n", "\n"), where))
    if not seen:
        raise DataError(f"{path}: there is a header line and nothing under it; write one row a prompt")


def _category(text: str, where: str) -> str:
    folded = "_".join(unicodedata.normalize("NFKC", text).casefold().split())
    if folded not in CATEGORIES:
        shown = f"{text[:40]!r}" if text.strip() else "empty"
        raise DataError(f"{where}: the category is {shown}; expected one of {', '.join(CATEGORIES)}")
    return folded


def _cut(prompt: str, where: str) -> tuple[str, str]:
    if not prompt.strip():
        raise DataError(f"{where}: the prompt is empty; write one, or remove the row")
    count = prompt.count(PLACEHOLDER)
    if count != 1:
        what = f"the prompt holds the placeholder {PLACEHOLDER} {count} times, expected exactly once"
        raise DataError(f"{where}: {what}; {_hint(prompt, count)}")
    before, _, after = prompt.partition(PLACEHOLDER)
    return before, after


def _hint(prompt: str, count: int) -> str:
    if count:
        return "keep one"
    found = _NEAR.search(prompt) or _BRACES.search(prompt)
    return f"write it where the list of groups belongs{f', not {_flat(found)}' if found else ''}"


def _flat(found: re.Match[str]) -> str:
    """The text that was found, for one line."""
    return " ".join(found[0].split())
