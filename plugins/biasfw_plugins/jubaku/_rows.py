"""What both official files have in common: a file, its rows, categories, and what makes a dialogue whole."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biasfw import Choice, DataError, Seed, read_jsonl

LANGUAGE = "ja"
UNBIASED, BIASED = "unbiased", "biased"
CATEGORIES = {
    "宗教": "religion",
    "民族": "ethnicity",
    "感情と価値観": "emotions_and_values",
    "人種": "race",
    "地域": "region",
    "基本的な行動様式": "basic_actions",
    "教育": "education",
    "食べ物と飲み物": "food_and_drink",
    "性別": "gender",
    "氏名": "names",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file, and where it stands."""

    path: Path
    line: int
    values: Mapping[str, Any]

    def text(self, name: str) -> str:
        """The text under ``name``.

        Raises:
            DataError: there is none.
        """
        value = self.values.get(name)
        if not isinstance(value, str) or not value:
            there = ", ".join(map(str, self.values)) or "nothing"
            raise self.wrong(f"no text under {name!r}; it has: {there}")
        return value

    def wrong(self, message: str) -> DataError:
        """An error with file and line; the way out is the file itself."""
        return DataError(f"{self.path}:{self.line}:1: {message}; fetch the file again (biasfw fetch jubaku)")

    @property
    def category(self) -> str:
        """The key of the row's category."""
        viewpoint = self.text("viewpoint")
        if viewpoint not in CATEGORIES:
            raise self.wrong(f"viewpoint {viewpoint!r} is not known; there are {', '.join(CATEGORIES)}")
        return CATEGORIES[viewpoint]

    @property
    def gold(self) -> str:
        """The letter of the unbiased reply: a or b."""
        letter = unicodedata.normalize("NFKC", self.text("correct_answer")).strip().lower()  # "Ａ", "B "
        if letter not in ("a", "b"):
            raise self.wrong(f"correct_answer is {letter!r}, expected a or b")
        return letter

    def seed(self, base: str, variant: str, prompt: str, replies: tuple[str, str]) -> Seed:
        """The seed of a row whose reply A and reply B are ``replies``."""
        order = (UNBIASED, BIASED) if self.gold == "a" else (BIASED, UNBIASED)
        texts = dict(zip(order, replies, strict=True))
        return Seed(
            source_id=base,
            language=LANGUAGE,
            category=self.category,
            fields={"prompt": prompt},
            choices=(
                Choice(UNBIASED, texts[UNBIASED], "anti-stereotyped"),
                Choice(BIASED, texts[BIASED], "stereotyped"),
            ),
            gold=UNBIASED,
            cluster=base,
            pair=f"{base}_{variant}",
            variant=variant,
            order=order,
            metadata={"example_id": self.text("example_id")},
        )


def find(folder: Path, name: str) -> Path:
    """The file ``name`` in ``folder`` or in the folder ``data`` of a clone.

    Raises:
        DataError: it is in neither.
    """
    for path in (folder / name, folder / "data" / name):
        try:
            if path.is_file():
                return path
        except OSError as failure:
            raise DataError(f"{path}: cannot be read ({failure.strerror}); check its permissions") from None
    raise DataError(f"{folder} holds no {name} (nor data/{name}); get it with biasfw fetch jubaku, or check --data")


def rows(path: Path) -> Iterator[Row]:
    """Every row of ``path``.

    Raises:
        DataError: a line is not a JSON object.
    """
    for line, value in read_jsonl(path):
        if not isinstance(value, dict):
            raise DataError(f"{path}:{line}:1: expected a JSON object, one per line")
        yield Row(path, line, value)


def agree(found: Sequence[tuple[Row, Seed]]) -> None:
    """The rows of one dialogue have the same replies and category: order and wording are all that varies.

    Raises:
        DataError: they have not.
    """
    first: dict[str, tuple[Row, Seed]] = {}
    for row, seed in found:
        known, other = first.setdefault(seed.source_id, (row, seed))
        if (seed.choices, seed.category) != (other.choices, other.category):
            raise row.wrong(f"the replies of dialogue {seed.source_id} differ from those in line {known.line}")


def counted(found: Sequence[tuple[Row, Seed]]) -> str:
    """Sizes as they were counted, and what is not whole."""
    pairs: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for _, seed in found:
        pairs[seed.pair or ""].add(seed.order)
    dialogues = len({seed.source_id for _, seed in found})
    single = sum(len(orders) == 1 for orders in pairs.values())
    text = f"the file holds {len(found):,} rows: {dialogues} dialogues, {len(pairs):,} pairs of the two orders"
    return f"{text}; {single} rows have no partner in the other order" if single else text
