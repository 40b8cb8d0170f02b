"""What a GGUF file says about itself that transformers does not pass on."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gguf import LlamaFileType

from biasfw import ComponentError

_TEXT, _ARRAY = 8, 9
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_LIKE_GPT2 = frozenset({"gpt-2", "jais", "mpt", "olmo", "smollm"})  # names of rules that split text as GPT-2 does


@dataclass(frozen=True, slots=True)
class GgufInfo:
    """``quantisation`` as in ``Q4_1``; ``splits_by``: the name of the rule that its tokeniser splits text by."""

    quantisation: str | None
    splits_by: str | None

    def notes(self, dtype: str, tokenizer: Any) -> tuple[str, ...]:
        """What the user should know about a file that was loaded to ``dtype``, with the tokeniser made from it."""
        kind = self.quantisation or "GGUF"
        notes = [f"the {kind} weights were dequantised to {dtype}; llama.cpp computes with other rounding"]
        rule = repr(getattr(getattr(tokenizer, "backend_tokenizer", None), "pre_tokenizer", None))
        if self.splits_by and rule.startswith("ByteLevel(") and self.splits_by not in _LIKE_GPT2:
            notes.append(
                f"transformers splits text by GPT-2's rule where the file asks for {self.splits_by!r}: token ids may "
                "differ from llama.cpp's; for scores to rely on use --backend llamacpp or the original model"
            )
        return tuple(notes)


def read_gguf(path: Path) -> GgufInfo:
    """What the file ``path`` says.

    Raises:
        ComponentError: it is damaged.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            told = dict(_Reader(data).pairs())
    except (OSError, ValueError, LookupError, struct.error) as error:
        raise ComponentError(f"{path} is damaged ({error}); get it again") from error
    rule = told.get("tokenizer.ggml.pre")
    return GgufInfo(_file_type(told.get("general.file_type")), str(rule) if rule is not None else None)


class _Reader:
    """Reads the metadata of GGUF, versions 2 and 3; the library's own reader takes seconds for a vocabulary."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 8  # magic, version

    def pairs(self) -> Iterator[tuple[str, Any]]:
        """Name and value of everything but arrays, which are None."""
        self._number("Q")  # how many tensors there are
        for _ in range(self._number("Q")):
            name = self._text()
            yield name, self._value(self._number("I"))

    def _number(self, form: str) -> Any:
        (value,) = struct.unpack_from("<" + form, self._data, self._at)
        self._at += struct.calcsize("<" + form)
        return value

    def _text(self) -> str:
        length = self._number("Q")
        self._at += length
        if self._at > len(self._data):
            raise ValueError("it ends too soon")
        return self._data[self._at - length : self._at].decode("utf-8", "replace")

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind != _ARRAY:
            return self._number(_NUMBERS[kind])
        inner, count = self._number("I"), self._number("Q")
        if inner in _NUMBERS:
            self._at += count * struct.calcsize("<" + _NUMBERS[inner])
        else:
            for _ in range(count):
                self._value(inner)
        return None


def _file_type(number: Any) -> str | None:
    known = {int(each): each.name for each in LlamaFileType}
    name = known.get(number)
    return name.removeprefix("MOSTLY_").removeprefix("ALL_") if name else None
