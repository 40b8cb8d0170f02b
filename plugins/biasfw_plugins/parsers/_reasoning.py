"""Reasoning blocks: what a model thought before its answer never counts as the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable

from biasfw_plugins.parsers._text import fold

# Models that mark channels think in all of them but the last one.
_CHANNEL = r"<\|channel\|>\s?(?:(?P<final>final)|[a-z]{1,20})\b[^<>\n]{0,40}<\|message\|>"


class Reasoning:
    """Removes blocks such as ``<think>...</think>``, given the names of the tags."""

    def __init__(self, tags: Iterable[str]) -> None:
        names = "|".join(re.escape(fold(tag)) for tag in sorted(set(tags), key=len, reverse=True))
        opens, closes = r"(?:(?:begin|start)_(?:of_)?|\w{1,12}:)?", r"(?P<close>/|end_(?:of_)?)?"
        inside = rf"\|?\s?{closes}\s?{opens}(?:{names})\b[^<>\[\]◁▷\n]{{0,60}}"
        self._angled = re.compile(rf"[<◁]{inside}[>▷]|{_CHANNEL}", re.IGNORECASE)
        # "[thinking]" alone is a stage direction: square brackets count only where the block is closed.
        self._square = re.compile(rf"[<◁\[]{inside}[>▷\]]|{_CHANNEL}", re.IGNORECASE)
        self._closes_square = re.compile(rf"\[/(?:{names})\]", re.IGNORECASE)

    def remove(self, text: str) -> tuple[str, bool, bool]:
        """Return what is left of normalised text, whether anything was removed, and whether a block stays open.

        A closing tag without an opening one ends a block that began before the text: only what follows it counts.
        """
        if "<" not in text and "◁" not in text and "[/" not in text:
            return text, False, False
        square = "[/" in text and self._closes_square.search(text) is not None
        kept: list[str] = []
        inside = removed = False
        last = 0
        for tag in (self._square if square else self._angled).finditer(text):
            removed = True
            if not (tag["close"] or tag["final"]):
                if not inside:
                    kept.append(text[last : tag.start()])
                inside = True
                continue
            if not inside:
                kept.clear()
            inside = False
            last = tag.end()
        if not inside:
            kept.append(text[last:])
        return "\n".join(kept), removed, inside
