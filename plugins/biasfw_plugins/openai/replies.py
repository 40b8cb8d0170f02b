"""Reads the JSON of an answer. It comes from outside: every field may be missing, null or of another type."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "eos": "stop",
    "max_tokens": "length",
    "safety": "content_filter",
}


class NoReplyError(Exception):
    """The object is no answer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. ``listed``: the likeliest first tokens with their log-probabilities, null where none were sent."""

    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    flags: tuple[str, ...] = ()
    listed: tuple[tuple[str, float], ...] | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model: str | None = None
    system_fingerprint: str | None = None


def read_reply(body: Any) -> Reply:
    """The answer in ``body``, of /chat/completions or /completions.

    Raises:
        NoReplyError: it has no choices.
    """
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise NoReplyError
    choice, usage = choices[0], body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    message = choice.get("message")
    if isinstance(message, dict):
        text, reasoning, flags = _message(message)
        listed = _chat_logprobs(choice.get("logprobs"))
    elif isinstance(choice.get("text"), str):
        text, reasoning, flags = choice["text"], None, []
        listed = _plain_logprobs(choice.get("logprobs"))
    else:
        raise NoReplyError
    reason = _string(choice.get("finish_reason"))
    if "refusal" in flags and reason in (None, "stop"):
        reason = "refusal"
    return Reply(
        _clean(text), None if reasoning is None else _clean(reasoning), _REASONS.get(reason or "", reason),
        tuple(flags), listed, _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")),
        _string(body.get("model")), _string(body.get("system_fingerprint")),
    )  # fmt: skip


def _message(message: Mapping[str, Any]) -> tuple[str, str | None, list[str]]:
    """Text, reasoning and flags of a chat message."""
    flags = []
    content, thought = message.get("content"), ""
    if isinstance(content, list):  # in parts: text, and what the model thought
        parts = [part for part in content if isinstance(part, dict)]
        thought = "".join(_part(part, "thinking") for part in parts)
        content = "".join(_part(part, "text") for part in parts)
    named = [message.get(name) for name in ("reasoning_content", "reasoning")]
    reasoning = next((text for text in (*named, thought) if isinstance(text, str) and text), None)
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        flags.append("refusal")
        content = content or refusal
    if message.get("tool_calls") or message.get("function_call"):
        flags.append("tool_calls")
    if not isinstance(content, str):
        flags.append("no_content")
        content = ""
    return content, reasoning, flags


def _part(part: Mapping[str, Any], kind: str) -> str:
    value = part.get(kind)
    if isinstance(value, list):
        return "".join(_part(inner, "text") for inner in value if isinstance(inner, dict))
    return value if isinstance(value, str) else ""


def _chat_logprobs(logprobs: Any) -> tuple[tuple[str, float], ...] | None:
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    first = content[0] if isinstance(content, list) and content else None
    top = first.get("top_logprobs") if isinstance(first, dict) else None
    if not isinstance(top, list):
        return None
    return _numbers([(entry.get("token"), entry.get("logprob")) for entry in top if isinstance(entry, dict)])


def _plain_logprobs(logprobs: Any) -> tuple[tuple[str, float], ...] | None:
    top = logprobs.get("top_logprobs") if isinstance(logprobs, dict) else None
    first = top[0] if isinstance(top, list) and top else None
    return _numbers(list(first.items())) if isinstance(first, dict) else None


def _numbers(entries: Sequence[tuple[Any, Any]]) -> tuple[tuple[str, float], ...]:
    return tuple(
        (token, float(value))
        for token, value in entries
        if isinstance(token, str) and isinstance(value, int | float) and not isinstance(value, bool) and _finite(value)
    )


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


def _string(value: Any) -> str | None:
    """A short name, or None."""
    return _clean(value)[:200] if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def _clean(text: str) -> str:
    """Half of a surrogate pair, which JSON can hold and no file can, becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
