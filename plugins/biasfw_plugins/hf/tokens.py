"""A tokeniser of transformers, with what the backend needs of it: plain text, one BOS, exact continuations."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from typing import Any

_ANCHOR = "a"  # what any tokeniser has; text is decoded after it, since many drop a space at the beginning
_BREAK = "\n"
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # how SentencePiece writes a byte that is in no other token
_LONGEST_CHARACTER = 4  # bytes in UTF-8


def _byte_letters() -> dict[str, int]:
    """How byte-level BPE writes bytes: printable ones as themselves, the rest in order from U+0100 on (GPT-2)."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + place): byte for place, byte in enumerate(others)}


def valid(text: str) -> str:
    """``text`` with lone surrogates, which no tokeniser takes, replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class Tokeniser:
    """Text to token ids and back.

    ``beginning`` are the ids that the tokeniser puts before every text (mostly one BOS, or nothing).
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        plain = self.encode(_ANCHOR, special=False)
        whole: list[int] = tokenizer(_ANCHOR)["input_ids"]
        at = next((at for at in range(len(whole)) if plain and whole[at : at + len(plain)] == plain), 0)
        self.beginning = tuple(whole[:at])
        self.bos: int | None = tokenizer.bos_token_id
        self.eos: int | None = tokenizer.eos_token_id
        self._control = frozenset(tokenizer.all_special_ids)
        self._anchor = plain if self._decode(plain) == _ANCHOR else []
        self._break = self.encode(_BREAK, special=False)
        decoder = getattr(getattr(tokenizer, "backend_tokenizer", None), "decoder", None)
        self._letters = _byte_letters() if "ByteLevel" in repr(decoder) else {}

    def __len__(self) -> int:
        return len(self._tokenizer)

    @property
    def template(self) -> str | None:
        """The chat template, where there is one."""
        if not getattr(self._tokenizer, "chat_template", None):
            return None
        source: str = self._tokenizer.get_chat_template()
        return source

    def encode(self, text: str, *, special: bool) -> list[int]:
        """Token ids of ``text``, nothing added; ``special``: names of control tokens become these tokens."""
        ids: list[int] = self._tokenizer(
            valid(text), add_special_tokens=False, split_special_tokens=not special, verbose=False
        )["input_ids"]
        return list(ids)

    def encode_inside(self, text: str, *, special: bool) -> list[int]:
        """Token ids of ``text`` as what follows other text, without the space that some put before a beginning."""
        ids = self.encode(_BREAK + text, special=special)
        count = len(self._break)
        return ids[count:] if count and ids[:count] == self._break else self.encode(text, special=special)

    def is_control(self, token: int) -> bool:
        """Whether ``token`` is a control token: never text."""
        return token in self._control

    def decode(self, ids: Sequence[int]) -> str:
        """The text of generated ``ids`` as it continues another text; control tokens are left out."""
        return self._decode([*self._anchor, *ids])[len(_ANCHOR) if self._anchor else 0 :]

    def decode_whole(self, ids: Sequence[int]) -> str:
        """As ``decode``, without the beginning of a character at the end."""
        words: list[str] = self._tokenizer.convert_ids_to_tokens(ids[-_LONGEST_CHARACTER:])
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        decoder.decode(b"".join(map(self._bytes, words)))
        begun = len(decoder.getstate()[0])
        if not begun:
            return self.decode(ids)
        if all(_BYTE.fullmatch(word) for word in words[-begun:]):
            return self.decode(ids[:-begun])
        return self.decode(ids).removesuffix("\ufffd")

    def _bytes(self, word: str) -> bytes:
        if match := _BYTE.fullmatch(word):
            return bytes([int(match[1], 16)])
        if self._letters and all(letter in self._letters for letter in word):
            return bytes(self._letters[letter] for letter in word)
        return word.encode()

    def _decode(self, ids: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text

    def render(self, template: str, turns: Sequence[dict[str, str]], *, opening: bool, **variables: Any) -> str:
        """``turns`` through a chat template in the sandbox of transformers; ``opening``: up to the assistant's turn."""
        text: str = self._tokenizer.apply_chat_template(
            list(turns), chat_template=template, tokenize=False, add_generation_prompt=opening, **variables
        )
        return text
