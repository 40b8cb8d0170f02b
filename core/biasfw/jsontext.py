"""Where the parts of a JSON text are, and what is wrong with one that a lenient parser accepts.

Slower than the json module and without recursion: used only when there is something to say.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from biasfw.document import MAX_DEPTH, child
from biasfw.phrases import shorten

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
        (?P<string> "[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*" )
      | (?P<mark> [\[\]{},:] )
      | (?P<word> [^\s"\[\]{},:]+ )
      | (?P<end> $ )
    )""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_CURLY = "“”„‟‘’«»＂"  # quotes that are not those of JSON
_MAX_DIGITS = 4000  # int() refuses more than 4300


class JsonFlaw(ValueError):  # noqa: N818 - it is caught and turned into a DataError
    """What is wrong and the way out; ``offset`` is the character, from 0."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(slots=True)
class Places:
    """Offsets, in characters from 0, of values and of keys, by JSON pointer."""

    values: dict[str, int] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)


def locate(text: str) -> Places:
    """The place of every value of ``text``; what is no token of JSON ends the search.

    Raises:
        JsonFlaw: nesting deeper than MAX_DEPTH, a key twice in one object, a number that is not finite or too long.
    """
    places = Places()
    stack: list[tuple[str, dict[str, int] | int]] = []  # (pointer, keys seen or index) of what is open
    pointer, at = "", 0
    while (token := _TOKEN.match(text, at)) and token.lastgroup != "end":
        at = token.end()
        start = token.start(token.lastgroup or 0)
        mark = token["mark"]
        if mark in ("{", "["):
            if len(stack) >= MAX_DEPTH:
                raise JsonFlaw(start, f"nesting deeper than {MAX_DEPTH} levels is not allowed; flatten the data")
            places.values.setdefault(pointer, start)
            stack.append((pointer, {} if mark == "{" else 0))
            if mark == "[":
                pointer = child(pointer, 0)
        elif mark in ("}", "]"):
            if not stack:
                break
            pointer = stack.pop()[0]
        elif mark == ",":
            pointer = _next(stack, pointer)
        elif mark is None and stack and isinstance(seen := stack[-1][1], dict) and pointer == stack[-1][0]:
            pointer = _key(token["string"], token["word"] or "", start, pointer, seen)
            places.keys[pointer] = start
        elif mark is None:
            places.values[pointer] = start
            _check_word(token["word"], start)
    return places


def _next(stack: list[tuple[str, dict[str, int] | int]], pointer: str) -> str:
    """The pointer after a comma: the next element of a list, or of an object the object itself, until its key."""
    if not stack:
        return pointer
    base, state = stack[-1]
    if isinstance(state, dict):
        return base
    stack[-1] = (base, state + 1)
    return child(base, state + 1)


def _unquoted(word: str) -> str:
    """What is said of a key that does not begin with a double quote."""
    if word[:1] and word[0] in _CURLY:
        return f'the quote {word[0]} is typographic, as word processors write it; write straight double quotes (")'
    return "a key is not in double quotes; write one JSON object a line"


def _key(literal: str | None, word: str, start: int, pointer: str, seen: dict[str, int]) -> str:
    if literal is None:
        raise JsonFlaw(start, _unquoted(word))
    try:
        key = json.loads(literal)
    except ValueError:
        raise JsonFlaw(start, "not a JSON text; check the backslashes") from None
    if key in seen:
        raise JsonFlaw(start, f"the key {shorten(key)} stands twice in one object; remove one")
    seen[key] = start
    return child(pointer, key)


def _check_word(word: str | None, start: int) -> None:
    if word is None or word in ("true", "false", "null"):
        return
    if word[0] in _CURLY:
        raise JsonFlaw(start, _unquoted(word))
    if word in ("NaN", "Infinity", "-Infinity"):
        raise JsonFlaw(start, f"{word} is not JSON; write null or a finite number")
    if _NUMBER.fullmatch(word):
        if len(word) > _MAX_DIGITS:
            raise JsonFlaw(start, f"a number of {len(word)} digits is too long; write it as a text")
        if float(word) in (float("inf"), float("-inf")):
            raise JsonFlaw(start, f"the number {shorten(word)} is too large for a float; write it as a text")
