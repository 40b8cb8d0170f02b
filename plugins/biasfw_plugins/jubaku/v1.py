"""Reads jubaku_ver1.jsonl: a dialogue, two replies, a whole prompt in ``instruction``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from biasfw import Seed
from biasfw_plugins.jubaku._rows import Row, agree, counted, find, rows

FILE = "jubaku_ver1.jsonl"


class JubakuV1:
    """``example_id`` is ``{dialogue}_{instruction}_{gold}``; sizes are counted, never assumed.

    Source: github.com/inatoihs/jubaku, data/jubaku_ver1.jsonl.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        del options
        self.notes: list[str] = []

    def files(self, folder: Path) -> Mapping[str, Path]:
        return {FILE: find(folder, FILE)}

    def read(self, folder: Path) -> Iterator[Seed]:
        found = [(row, _seed(row)) for row in rows(find(folder, FILE))]
        agree(found)
        self.notes = [counted(found)]
        return iter([seed for _, seed in found])


def _seed(row: Row) -> Seed:
    parts = row.text("example_id").split("_")
    if len(parts) != 3 or parts[2] != row.gold:
        raise row.wrong(f"example_id {row.text('example_id')!r} is not dialogue_instruction_{row.gold}")
    replies = row.text("response_a"), row.text("response_b")
    prompt = row.text("instruction")
    if not all(part in prompt for part in (row.text("context"), *replies)):
        raise row.wrong("the prompt in `instruction` does not hold the context and both replies")
    return row.seed(parts[0], parts[1], prompt, replies)
