"""What went wrong, in one line, and what follows from it: ask again, record it, or end the run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from biasfw import ResponseError
from biasfw_plugins.openai.endpoint import Endpoint
from biasfw_plugins.openai.waits import stated_wait

LONGEST_WAIT = 600.0  # seconds a server may ask to wait; beyond, the run ends and can go on later
_SHOWN = 300  # characters of a server's message
_OVERLOADED = {429, 503, 529}
_AGAIN = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
_NO_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "access_terminated", "billing_not_active"}
_FILTERED = re.compile(
    r"content_?filter|content management policy|content_policy|ResponsibleAIPolicy|\bflagged\b", re.I
)
_TOO_LONG = re.compile(
    r"context_length_exceeded|context (length|window|size)|maximum .{0,30}\btokens\b.{0,40}(exceed|request)"
    r"|(prompt|input) is too long|too many (input )?tokens|string_above_max_length",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A bad request as the server worded it: ``parameter`` where it names one."""

    message: str
    parameter: str | None = None
    code: str | None = None


class NoAnswerError(Exception):
    """A try that brought no answer."""

    def __init__(
        self, kind: str, message: str, *, then: str = "record", wait: float | None = None,
        refusal: Refusal | None = None, overloaded: bool = False,
    ) -> None:  # fmt: skip
        """``then``: ``again``, ``record``, ``never`` (recorded; asking again cannot help) or ``stop`` (the run)."""
        super().__init__(message)
        self.kind = kind
        self.then = then
        self.wait = wait
        self.refusal = refusal
        self.overloaded = overloaded

    @property
    def error(self) -> ResponseError:
        """What is stored."""
        return ResponseError(self.kind, str(self), permanent=self.then == "never")


def shown(text: str, endpoint: Endpoint) -> str:
    """The start of a server's text in one line that can do nothing on a terminal, without the key."""
    line = " ".join("".join(c if c.isprintable() else " " for c in endpoint.hide(text)[: _SHOWN * 8]).split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "..."


def from_status(status: int, headers: Mapping[str, str], body: str, endpoint: Endpoint, model: str) -> NoAnswerError:
    """The failure behind an HTTP status that is not 2xx."""
    refusal = _refusal(body)
    said = shown(refusal.message, endpoint) or "(no message)"
    text = f"the server answered {status}: {said}"
    words = f"{refusal.code or ''} {refusal.message}"
    if 300 <= status < 400:
        return NoAnswerError("redirect", f"{text}; give the address it leads to as -B base_url=...", then="stop")
    if status in (400, 403, 422) and _FILTERED.search(words):
        return NoAnswerError("content_filter", text, then="never")
    if status in (400, 413, 422) and _TOO_LONG.search(words):
        return NoAnswerError("context_too_small", text, then="never")
    if status in (401, 402, 403, 404, 405) or (status == 429 and refusal.code in _NO_QUOTA):
        return NoAnswerError("refused", f"{text}; {_way_out(status, words, endpoint, model)}", then="stop")
    if status in _AGAIN or status >= 500:
        return _for_now(status, text, headers)
    return NoAnswerError("bad_request", text, refusal=refusal if status in (400, 422) else None)


def _for_now(status: int, text: str, headers: Mapping[str, str]) -> NoAnswerError:
    """A failure that may pass."""
    kind = "rate_limit" if status == 429 else "server_error"
    wait = stated_wait(headers)
    if wait is not None and wait > LONGEST_WAIT:
        later = f"it asks to wait {wait:.0f} s; run the same command then, nothing is asked twice"
        return NoAnswerError(kind, f"{text}; {later}", then="stop")
    again = headers.get("x-should-retry") != "false" and status not in (501, 505)
    return NoAnswerError(kind, text, then="again" if again else "record", wait=wait, overloaded=status in _OVERLOADED)


def from_body(status: int, headers: Mapping[str, str], body: str, endpoint: Endpoint) -> NoAnswerError:
    """The failure behind a body that should be an answer and is none."""
    kind = shown(headers.get("content-type", "no content type"), endpoint)
    text = f"the server answered {status} with {kind} that is no answer: {shown(body, endpoint) or '(empty)'}"
    if "json" in kind:  # cut on its way
        return NoAnswerError("not_an_answer", text, then="again")
    return NoAnswerError("not_an_answer", f"{text}; is -B base_url right? It usually ends in /v1")


def _way_out(status: int, words: str, endpoint: Endpoint, model: str) -> str:
    if status == 404 and re.search(r"\bmodel\b", words, re.I):
        return f"this server has no model {model!r}, or the key may not use it; give --model NAME"
    if status in (404, 405):
        return f"nothing answers at {endpoint.place}; is -B base_url right? It usually ends in /v1"
    if status in (402, 429):
        return "the account has no credit left; the same command goes on later"
    if endpoint.key_name is None:
        return "no key was sent; name the environment variable that holds it with -B api_key_env=NAME"
    return f"check the key in {endpoint.key_name}"


def _refusal(body: str) -> Refusal:
    """Message, parameter and code out of the error bodies that are about (OpenAI's, FastAPI's, plain text)."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return Refusal(body)
    return refusal_of(value) or Refusal(body)


def refusal_of(value: Any) -> Refusal | None:
    """What an error object says; None if it is none."""
    if not isinstance(value, dict):
        return None
    error = value.get("error", value)
    if isinstance(error, str):
        return Refusal(error)
    if not isinstance(error, dict):
        return None
    details = error.get("detail")
    if isinstance(details, list) and details and isinstance(details[0], dict):  # FastAPI names a place
        place = details[0].get("loc")
        name = place[1] if isinstance(place, list) and len(place) > 1 else None
        return Refusal(str(details[0].get("msg", "")), _text(name), _text(details[0].get("type")))
    message = next((error[name] for name in ("message", "detail", "msg") if isinstance(error.get(name), str)), None)
    if message is None:
        return None
    code = _text(error.get("code")) or _text(error.get("type"))
    return Refusal(message, _text(error.get("param")), code)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
