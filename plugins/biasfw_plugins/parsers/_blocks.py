"""From the headers in a text to one reading of the slots: what each header is filled with, and which ones count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from biasfw_plugins.parsers._headers import Headers, Hit
from biasfw_plugins.parsers._names import NAMED, UNREAD, Names, Value
from biasfw_plugins.parsers._text import words

_LONGEST_VALUE = 1000  # characters
_BLANK_LINES = 2  # between a header and its value


@dataclass(frozen=True, slots=True)
class Fill:
    """What a header is filled with. ``text``: the words read, in folded text. ``open``: the text ends with them."""

    hit: Hit
    value: Value
    text: str
    open: bool

    @property
    def slot(self) -> str:
        """The slot the header names."""
        return self.hit.header.slot


Block = dict[str, Fill]  # slot -> fill: headers that belong together


class Blocks:
    """Reads the headers of a text with their values."""

    def __init__(self, headers: Headers, names: Names) -> None:
        self._headers, self._names = headers, names

    def find(self, text: str, *, last: bool) -> list[Block]:
        """The filled-in headers of folded text, in order; a new block begins where a slot recurs."""
        blocks: list[Block] = []
        before: Fill | None = None
        for fill in self._fills(text, self._hits(text, last=last)):
            block = blocks[-1] if blocks else None
            if block is None or (fill.slot in block and not self._again(text, before, fill)):
                blocks.append({fill.slot: fill})
            elif fill.slot in block:
                block[fill.slot] = Fill(fill.hit, NAMED, fill.text, fill.open)
            else:
                block[fill.slot] = fill
            before = fill
        return blocks

    def _again(self, text: str, before: Fill | None, fill: Fill) -> bool:
        """Whether ``fill`` names another label for the slot named in the line before: two names in one slot."""
        if before is None or before.slot != fill.slot or not (before.value.filled and fill.value.filled):
            return False
        between = text[before.hit.end : fill.hit.start]
        return before.value != fill.value and between.count("\n") == 1

    def _hits(self, text: str, *, last: bool) -> list[Hit]:
        """The headers that stand free, and those that directly follow the name after another header."""
        hits: list[Hit] = []
        for hit in self._headers.find(text, last=last):
            if hit.free or (hits and self._names.is_name(text[hits[-1].end : hit.start])):
                hits.append(hit)
        return hits

    def _fills(self, text: str, hits: Sequence[Hit]) -> Iterator[Fill]:
        empty = False  # the header before has no value of its own, so a name on the next line could be its
        for index, hit in enumerate(hits):
            following = hits[index + 1].start if index + 1 < len(hits) else len(text)
            line_end = text.find("\n", hit.end, following)
            stop = following if line_end < 0 else line_end
            inline = text[hit.end : min(stop, hit.end + _LONGEST_VALUE)]
            if words(inline):
                value = self._names.read(inline, header_follows=stop == following < len(text))
                yield Fill(hit, value, inline, stop == len(text))
                empty = False
                continue
            fill = None if empty or line_end < 0 else self._next_line(text, hit, line_end, following)
            empty = fill is None
            yield fill or Fill(hit, UNREAD, "", stop == len(text))

    def _next_line(self, text: str, hit: Hit, line_end: int, following: int) -> Fill | None:
        """The value on the first line after the header's own that is not blank, unless a header stands there."""
        start = line_end + 1
        for _ in range(_BLANK_LINES + 1):
            stop = text.find("\n", start)
            stop = len(text) if stop < 0 else stop
            if following <= stop and following < len(text):
                return None
            line = text[start : min(stop, start + _LONGEST_VALUE)]
            if words(line):
                value = self._names.read(line)
                another = self._names.read(_line(text, stop + 1, following))
                if value.filled and another.filled and another != value:
                    value = NAMED
                return Fill(hit, value, line if value.filled or value.named else "", stop == len(text))
            start = stop + 1
        return None


def _line(text: str, start: int, end: int) -> str:
    stop = text.find("\n", start, end)
    return text[start : min(end if stop < 0 else stop, start + _LONGEST_VALUE)]


def choose(blocks: Sequence[Block], slots: int, names: Names, *, last: bool) -> Block:
    """The block that counts: complete before partly filled, with the headers asked for before bare keys.

    Of the last complete one, no value counts in whose place a later block names something else.
    """
    best: Block = {}
    best_rank, place = (0, False), 0
    for index, block in reversed(list(enumerate(blocks))) if last else enumerate(blocks):
        filled = sum(fill.value.filled for fill in block.values())
        exact = filled > 0 and any(fill.hit.header.exact for fill in block.values())
        rank = (2 if exact else 1 if filled else 0, filled == slots)
        if not best or rank > best_rank:
            best, best_rank, place = block, rank, index
    return _taken_back(best, blocks[place + 1 :], names) if last and best_rank[0] else best


def _taken_back(chosen: Block, later: Sequence[Block], names: Names) -> Block:
    """The chosen block without the values that later blocks contradict; those with a gap say nothing: "[name]"."""
    exact = any(fill.hit.header.exact for fill in chosen.values())
    left = dict(chosen)
    for block in later:
        if not all(fill.value.filled or fill.value.named for fill in block.values()):
            continue
        for slot, fill in block.items():
            before = chosen.get(slot)
            if before is None or not before.value.filled or fill.hit.header.exact < exact:
                continue
            if fill.value != before.value if fill.value.filled else names.others(fill.text, before.value):
                left[slot] = Fill(fill.hit, NAMED, fill.text, fill.open)
    return left
