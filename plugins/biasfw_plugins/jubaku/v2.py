"""Reads jubaku_ver2.jsonl: whole prompts whose parts stand between three markers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from biasfw import Seed
from biasfw_plugins.jubaku._rows import Row, agree, counted, find, rows

FILE = "jubaku_ver2.jsonl"
# What follows reply B is one last paragraph that asks for the letter.
_PARTS = re.compile(r"\n【文脈】\n(.+?)\n\n【応答A】\n(.+?)\n\n【応答B】\n(.+)\n\n[^\n]+\n*\Z", re.DOTALL)


class JubakuV2:
    """``example_id`` is ``{original_id}_{instruction}_{fwd|rev}``; sizes are counted, never assumed.

    Source: github.com/inatoihs/jubaku, data/jubaku_ver2.jsonl.
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


def parts(prompt: str) -> tuple[str, str, str] | None:
    """Context, reply A and reply B of a prompt; None if the three markers are not there in that order."""
    match = _PARTS.search(prompt)
    return (match[1], match[2], match[3]) if match else None


def _seed(row: Row) -> Seed:
    name = row.text("example_id").split("_")
    swapped = row.values.get("is_swapped")
    order = {False: "fwd", True: "rev"}[swapped] if isinstance(swapped, bool) else None
    base = row.text("original_id")
    if len(name) != 3 or name[0] != base or name[2] != order:
        raise row.wrong(f"example_id {row.text('example_id')!r} is not {base}_instruction_{order}")
    found = parts(row.text("instruction"))
    if found is None:
        raise row.wrong("the prompt in `instruction` lacks the markers 【文脈】, 【応答A】, 【応答B】 in that order")
    _, first, second = found
    return row.seed(base, name[1], row.text("instruction"), (first, second))
