"""Reasoning blocks: what a model thought before its answer never counts as the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable

from biasfw_plugins.parsers._text import fold


class Reasoning:
    """Removes blocks such as ``<think>...</think>``, given the names of the tags."""

    def __init__(self, tags: Iterable[str]) -> None:
        names = "|".join(re.escape(fold(tag)) for tag in sorted(set(tags), key=len, reverse=True))
        inside = rf"\|?\s?(?P<close>/?)\s?(?:{names})\b[^<>\[\]◁▷\n]{{0,60}}"
        self._angled = re.compile(rf"[<◁]{inside}[>▷]")
        # "[thinking]" alone is a stage direction: square brackets count only where the block is closed.
        self._square = re.compile(rf"[<◁\[]{inside}[>▷\]]")
        self._closes_square = re.compile(rf"\[/(?:{names})\]")

    def remove(self, folded: str) -> tuple[str, bool, bool]:
        """Return what is left of folded text, whether anything was removed, and whether a block stays open.

        A closing tag without an opening one ends a block that began before the text: only what follows it counts.
        """
        if "<" not in folded and "◁" not in folded and "[/" not in folded:
            return folded, False, False
        square = "[/" in folded and self._closes_square.search(folded) is not None
        kept: list[str] = []
        inside = removed = False
        last = 0
        for tag in (self._square if square else self._angled).finditer(folded):
            removed = True
            if not tag["close"]:
                if not inside:
                    kept.append(folded[last : tag.start()])
                inside = True
                continue
            if not inside:
                kept.clear()
            inside = False
            last = tag.end()
        if not inside:
            kept.append(folded[last:])
        return "\n".join(kept), removed, inside
