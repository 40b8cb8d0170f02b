"""Model output in the cells of a sheet: it does nothing to the program that opens it, and comes back unchanged."""

from __future__ import annotations

import re

from biasfw.keys import sha256_text

CELL_LIMIT = 32_000  # characters; spreadsheet programs hold 32,767 in a cell
# What makes a program take a text for a formula, also after spaces and invisible marks.
_FORMULA = frozenset("=+-@|%＝＋－＠")
_IGNORED = " \t\r\n\u00a0\u200b\u200e\u200f\u2060\u3000\ufeff"
_GUARD = "'"
_CONTROLS = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"} | {0x7F: 0x2421}
_ESCAPED = re.compile("_x(?=[0-9A-Fa-f]{4}_)")  # such an escape in an .xlsx file stands for a character


def cell_text(text: str) -> str:
    """``text`` as a sheet shows it: line ends as in the file, control characters as their pictures, cut if too long.

    Writing direction is left alone: a cell is a paragraph of its own, and its marks belong to the text.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)
    plain = plain.encode("utf-8", "replace").decode("utf-8")  # lone surrogates
    if len(plain) > CELL_LIMIT:
        plain = f"{plain[:CELL_LIMIT]}\n[{len(plain) - CELL_LIMIT} more characters]"
    return plain


def guarded(text: str) -> str:
    """A cell that no program takes for a formula: an apostrophe stands before what could be one."""
    return f"{_GUARD}{text}" if text[:1] == _GUARD or text.lstrip(_IGNORED)[:1] in _FORMULA else text


def without_escapes(text: str) -> str:
    """``text`` so that an .xlsx file holds it literally."""
    return _ESCAPED.sub("_x005F_x", text)


def text_hash(text: str) -> str:
    """The sha256 of a cell's text, whatever a program did to its line ends and outer spaces."""
    return sha256_text(text.replace("\r\n", "\n").replace("\r", "\n").strip(_IGNORED))


def is_unedited(cell: str, expected: str) -> bool:
    """Whether ``cell``, as it came back, is the text with the hash ``expected``.

    Programs keep or drop the apostrophe, and decode or keep an escape.
    """
    for text in (cell, cell.replace("_x005F_x", "_x")):
        if expected in (text_hash(text), text_hash(text.removeprefix(_GUARD))):
            return True
    return False
