"""What an answer is wrapped in: JSON, tags, LaTeX boxes, turns of a chat template. What they set apart gets a mark."""

from __future__ import annotations

import re
from functools import lru_cache

import regex

from biasfw_plugins.parsers._marks import MARK, prepare
from biasfw_plugins.parsers._parts import Part
from biasfw_plugins.parsers._text import TOKENS
from biasfw_plugins.parsers._tokens import Tokens

_BOXED = re.compile(r"\\(?:boxed|fbox)\s{0,3}\{")
_NEAR = 80  # characters between two boxes in one sentence
_SENTENCE_END = re.compile(r"[.!?。！？।۔؟\n]")
_FENCE = re.compile(r"^[^\S\n]*```[\w+-]{2,12}[^\S\n]*$", re.MULTILINE)

_BEGINS = re.compile(
    r"\s{0,9}(?:<\|?(?:im_start|start_header_id|start|start_of_turn|begin_of_text|bos|s|user|system)\|?>|\[INST\])"
)
_SPECIAL = re.compile(rf"(?:\s|{TOKENS.pattern})*+", re.IGNORECASE)
_ASSISTANT = re.compile(
    r"<\|im_start\|>\s?assistant|<\|start_header_id\|>\s?assistant\s?<\|end_header_id\|>|<start_of_turn>\s?model"
    r"|<\|start\|>\s?assistant|<\|assistant\|>|\[/INST\]"
)
_TURN_ENDS = re.compile(
    r"<\|(?:eot_id|eom_id|im_end|endoftext|end_of_text|end_of_turn|end_of_sentence|end▁of▁sentence|end|eos|return)\|>"
    r"|</s>|<(?:end_of_turn|eos)>|\[INST\]"
)

_QUOTES = "\"'“”„«»"
_OBJECT = re.compile(rf"\{{\s{{0,40}}[{_QUOTES}][^{_QUOTES}\n]{{0,60}}(?:[{_QUOTES}]\s{{0,9}}(?::|\Z)|\Z)")
_PAIR = re.compile(
    rf"[{_QUOTES}](?P<key>[^{_QUOTES}\n]{{1,60}})[{_QUOTES}]\s{{0,9}}:\s{{0,9}}"
    r"""(?:"(?P<double>(?:[^"\\]|\\.)*+)|'(?P<single>(?:[^'\\]|\\.)*+)|[“„«](?P<curly>[^”»]*+)"""
    r"""|\[(?P<list>[^\]]*+)|(?P<plain>[^\s,{}\[\]"']++))""",
    re.DOTALL,
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")

_TAG = regex.compile(r"<(?P<close>/?)\s?(?P<name>[\p{L}_][\p{L}\p{M}\p{N}_-]{0,30})(?:\s[^<>\n]{0,80})?/?>")
_FORMATS = frozenset(
    {"b", "i", "u", "s", "q", "a", "em", "strong", "span", "code", "sub", "sup", "font", "mark", "small"}
)
_BLOCKS = frozenset(
    {"br", "p", "div", "li", "ul", "ol", "pre", "tr", "td", "th", "table", "hr", "h1", "h2", "h3", "h4"}
)


def mark_boxes(text: str) -> str:
    r"""``text`` as the model wrote it, with a mark before what stands in a LaTeX box such as ``\boxed{B}``."""
    if MARK in text:
        text = text.replace(MARK, " ")
    if "box" not in text:
        return text
    kept: list[str] = []
    last = 0
    for box in _BOXED.finditer(text):
        # Of several boxes in one sentence none is set apart: "\\boxed{A} or \\boxed{B}".
        alone = not last or box.start() - last > _NEAR or _SENTENCE_END.search(text, last, box.start())
        kept += [text[last : box.start()], f"\n{MARK}{{" if alone else "{"]
        last = box.end()
    return "".join((*kept, text[last:]))


def one_turn(text: str) -> str:
    """The answer alone, where a text holds the turns of a chat: not the prompt before it, nor what comes after."""
    if "<" not in text and "[" not in text:
        return text
    if _BEGINS.match(text):
        assistant = _ASSISTANT.search(text)
        text = text[assistant.end() :] if assistant else text
    begin = _SPECIAL.match(text)
    end = _TURN_ENDS.search(text, begin.end() if begin else 0)
    return TOKENS.sub("\n", text[: end.start()] if end else text)


class Wrappers:
    """Opens JSON objects and tags; ``slots`` are names of fields that hold the answer, besides the words for one."""

    def __init__(self, tokens: Tokens, slots: frozenset[str]) -> None:
        self._tokens, self._slots = tokens, slots
        self._rank = lru_cache(maxsize=1024)(self._rank_once)

    def open(self, text: str) -> str:
        """Normalised text with a mark before the value of each field or tag that holds the answer."""
        if "```" in text:
            text = _FENCE.sub("", text)
        if "{" in text:
            text = self._objects(text)
        if "<" in text:
            text = _TAG.sub(lambda tag: self._tag(tag, text), text)
        return text

    def _rank_once(self, name: str) -> int:
        """2: a name of the answer; 1: a word for an option; 0: anything else ("reason", "rejected", "reply_a")."""
        if name in self._slots:
            return 2
        parts = self._tokens.of(prepare(_CAMEL.sub(" ", name))).parts
        if not all(
            part & (Part.ANSWER | Part.OPTION | Part.BETTER | Part.CHOSEN | Part.FILLER | Part.LINK) for part in parts
        ):
            return 0
        return 2 if any(part & Part.ANSWER for part in parts) else int(any(part & Part.OPTION for part in parts))

    def _objects(self, text: str) -> str:
        starts = [match.start() for match in _OBJECT.finditer(text)]
        if not starts:
            return text
        kept = [text[: starts[0]]]
        for start, following in zip(starts, [*starts[1:], len(text)], strict=True):
            chunk = text[start:following]
            end = chunk.rfind("}") + 1 or len(chunk)
            kept += ["\n", self._values(chunk[:end]), "\n", chunk[end:]]
        return "".join(kept)

    def _values(self, chunk: str) -> str:
        ranked: dict[int, dict[str, None]] = {}
        for pair in _PAIR.finditer(chunk):
            value = next((group for group in pair.groups()[1:] if group is not None), "")
            ranked.setdefault(self._rank(pair["key"].strip()), {})[" ".join(value.split())] = None
        best = max(ranked, default=0)
        return f"{MARK}{' / '.join(ranked[best])}" if best else ""

    def _tag(self, tag: regex.Match[str], text: str) -> str:
        name = tag["name"]
        small = name.casefold()
        after = text[tag.end() : tag.end() + 1]
        opens_word = name == small and after.isascii() and after.isalnum()  # "the <b>right one": not closed
        if small in _FORMATS and (len(name) > 1 or tag["close"] or f"</{name}>" in text or opens_word):
            return " "
        if tag["close"] or small in _BLOCKS:
            return "\n"
        if len(name) == 1:  # "<B>", "<A or B>"
            return f"({tag[0][1:-1]})"
        return f"\n{MARK}" if self._rank(name) else f"\n{name}: "
