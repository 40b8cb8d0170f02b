"""A value read from a file, with the place of every part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Position = tuple[int, int]  # line and column, both counted from 1

MAX_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Document:
    """``value`` as read from ``name``; ``positions`` and ``keys`` map a JSON pointer to (line, column), from 1.

    ``positions`` says where a value begins, ``keys`` where the key of a mapping's entry begins. The pointer of the
    whole document is ``""``. ``origins``: where parts were left out of ``value``, what a pointer was in the file.
    """

    name: str
    value: Any
    positions: Mapping[str, Position] = field(default_factory=dict)
    keys: Mapping[str, Position] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)

    def original(self, pointer: str) -> str:
        """``pointer`` as it is in the file."""
        inner = pointer
        while inner and inner not in self.origins:
            inner = inner.rpartition("/")[0]
        return self.origins.get(inner, inner) + pointer[len(inner) :]

    def position(self, pointer: str, *, key: bool = False) -> Position:
        """Where ``pointer`` begins (its key, if ``key``); of what is not there, the nearest part around it."""
        if key and pointer in self.keys:
            return self.keys[pointer]
        while pointer and pointer not in self.positions:
            pointer = pointer.rpartition("/")[0]
        return self.positions.get(pointer, (1, 1))

    def where(self, pointer: str = "", *, key: bool = False) -> str:
        """``file:line:column`` of ``pointer``, for messages."""
        line, column = self.position(pointer, key=key)
        return f"{self.name}:{line}:{column}"


def child(pointer: str, key: str | int) -> str:
    """The JSON pointer (RFC 6901) of the entry ``key`` of what ``pointer`` points to."""
    if isinstance(key, int):
        return f"{pointer}/{key}"
    if "~" in key or "/" in key:
        key = key.replace("~", "~0").replace("/", "~1")
    return f"{pointer}/{key}"
