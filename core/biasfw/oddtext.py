"""Characters that no text of an item may hold, and none of its names: the same for who reads and for who validates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from biasfw.document import child

IN_KEY = "the name of a field holds"
SURROGATE = re.compile("[\ud800-\udfff]")
ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd\ud800-\udfff]")
# Whose texts are names: they are compared, stand in files and in keys.
_NAMES = re.compile(r"/(source_id|language|category|variant|gold|order/\d+|choices/\d+/(key|role))")


ACTING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def acting(text: str) -> str:
    """What is said of a text with a character that acts on what stands around it; "" of others."""
    found = ACTING.search(text)
    if found is None:
        return ""
    code = f"U+{ord(found[0]):04X}"
    if found[0] < "\xa0":
        return f"the control character {code} is in the text; remove it"
    return f"{code} is in the text, which turns the direction of what follows; remove it"


class Odd(NamedTuple):
    """What is wrong with a text, or with a key (``is_key``)."""

    pointer: str
    message: str
    is_key: bool = False
    grade: Literal["broken", "wrong", "doubtful"] = "wrong"  # broken: the item cannot even be compared with others


def odd(value: Any, pointer: str = "") -> Iterator[Odd]:
    """Every text and key in an item that holds what it must not."""
    if isinstance(value, str):
        if found := ODD.search(value):
            yield _of_text(pointer, found[0])
    elif isinstance(value, dict):
        for key, each in value.items():
            below = child(pointer, key)
            if found := ODD.search(key):
                grade: Literal["broken", "wrong"] = "broken" if SURROGATE.search(key) else "wrong"
                yield Odd(below, f"{IN_KEY} {_code(found[0])}; remove it", is_key=True, grade=grade)
            yield from odd(each, below)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from odd(each, child(pointer, index))


def _of_text(pointer: str, character: str) -> Odd:
    code = _code(character)
    if SURROGATE.match(character):
        if _NAMES.fullmatch(pointer):
            what = f"a name holds {code}, which no file can hold; write the symbol, or remove it"
            return Odd(pointer, what, grade="broken")
        what = f"{code}: kept as it is, but no model can be given it; write the symbol"
        return Odd(pointer, what, grade="doubtful")
    if character == "\ufffd":
        return Odd(pointer, f"{code} stands for a character that was lost; write the text again")
    return Odd(pointer, f"{code} is in the text; remove it")


def _code(character: str) -> str:
    code = f"U+{ord(character):04X}"
    if SURROGATE.match(character):
        return f"half a surrogate pair ({code})"
    return code if character == "\ufffd" else f"the control character {code}"
