"""The body of a request, and what this server does not take: learned once, kept, and said in the run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from biasfw import Message, Request, UsageError, request_seed
from biasfw_plugins.openai.failures import Refusal

# What biasfw sets, or what would change the meaning of an answer: not to be given with -B extra_body.
_OWN = {
    *(
        "model",
        "messages",
        "prompt",
        "max_tokens",
        "max_completion_tokens",
        "temperature",
        "top_p",
        "seed",
        "stop",
        "n",
    ),
    *("best_of", "stream", "echo", "suffix", "logprobs", "top_logprobs", "tools", "functions"),
}
_MAY_GO = ("seed", "top_p", "stop", "temperature")  # can be left out; the first named here goes first
_FEWER_LOGPROBS = 5  # what servers allow that do not allow 20
_UNSUPPORTED = re.compile(
    r"unsupported|unrecogni[sz]ed|unknown|unexpected|not (be )?(support|permit|allow|recogni[sz]|accept|valid)|"
    r"n.t support|forbid|invalid|deprecat|only (the )?default|cannot (both )?be|must be|at most|less than or equal|"
    r"maximum|too (large|high)",
    re.I,
)
_TOO_MUCH = re.compile(r"too (large|high|big)|at most|less than or equal|exceed|maximum", re.I)
_NO_SYSTEM = re.compile(r"system.{0,40}role|role.{0,40}system|roles must alternate", re.I | re.S)


class Parameters:
    """Builds bodies in the shape that the server is known to take."""

    def __init__(self, model: str, options: Mapping[str, Any]) -> None:
        """Raises UsageError if ``extra_body`` sets what biasfw sets itself."""
        self._model = model
        self._extra = dict(options.get("extra_body") or {})
        taken = sorted(_OWN & set(self._extra))
        if taken:
            raise UsageError(
                f"backend openai: extra_body may not hold {', '.join(taken)}: biasfw sets or refuses it itself; "
                "--temperature, --top-p, --max-tokens and --seed say how text is drawn"
            )
        self._limit_name = "max_tokens"
        self._logprobs = int(options.get("top_logprobs", 20))
        self._dropped: set[str] = set()
        self._fold = False
        self._notes: dict[str, str] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What had to be changed so far."""
        return tuple(self._notes.values())

    def flags(self, request: Request, body: Mapping[str, Any]) -> tuple[str, ...]:
        """What ``body`` lacks of what ``request`` asks for; stored with its response."""
        asked = self._sampling(request)
        flags = [f"dropped_{name}" for name in _MAY_GO if name in asked and name not in body]
        if any(turn.role == "system" for turn in request.messages) and not _has_system(body):
            flags.append("system_folded")
        return tuple(flags)

    def body(self, request: Request) -> dict[str, Any]:
        """The JSON body for ``request``: of /chat/completions, or of /completions where it has a prompt."""
        chat = request.prompt is None
        limit = self._limit_name if chat else "max_tokens"
        body: dict[str, Any] = {"model": self._model}
        if chat:
            turns = _folded(request.messages) if self._fold else request.messages
            body["messages"] = [{"role": turn.role, "content": turn.content} for turn in turns]
        else:
            body["prompt"] = request.prompt
        body[limit] = 1 if request.choices else request.sampling.max_tokens
        body |= {name: value for name, value in self._sampling(request).items() if name not in self._dropped}
        if request.choices:
            body |= {"logprobs": True, "top_logprobs": self._logprobs} if chat else {"logprobs": self._logprobs}
        return body | self._extra

    def learn(self, refusal: Refusal, body: Mapping[str, Any], request: Request) -> bool:
        """Change the shape of bodies by what the server refused; whether ``request`` is worth asking again."""
        if self.body(request) != body:
            return True  # learned from another request while this one was under way
        if self._learn_system(refusal, body):
            return True
        words = f"{refusal.code or ''} {refusal.message}"
        named = _named(refusal, body) if _UNSUPPORTED.search(words) else set()
        if named & {"max_tokens", "max_completion_tokens"}:
            return not _TOO_MUCH.search(words) and self._rename_limit(named)
        if "top_logprobs" in named or (request.prompt is not None and "logprobs" in named):
            return self._fewer_logprobs()
        return self._drop(named, request)

    def _sampling(self, request: Request) -> dict[str, Any]:
        if request.choices:  # the distribution itself is wanted, neither sharpened nor cut
            return {"temperature": 1.0, "top_p": 1.0}
        sampling = request.sampling
        drawn = {"temperature": sampling.temperature, "top_p": sampling.top_p}
        seed = {"seed": request_seed(request) & 0x7FFFFFFF}  # some servers take 31 bits only
        return {**drawn, **seed, **({"stop": list(sampling.stop)} if sampling.stop else {})}

    def _learn_system(self, refusal: Refusal, body: Mapping[str, Any]) -> bool:
        place = refusal.parameter or ""
        if self._fold or not _has_system(body):
            return False
        if not _NO_SYSTEM.search(refusal.message) and not (place.startswith("messages") and place.endswith("role")):
            return False
        self._fold = True
        self._notes["system"] = "the server refuses a system role: system text is put before the first user turn"
        return True

    def _rename_limit(self, named: set[str]) -> bool:
        if self._limit_name == "max_tokens" and "max_tokens" in named:
            self._limit_name = "max_completion_tokens"
            self._notes["limit"] = "the server refuses max_tokens: the limit is sent as max_completion_tokens"
            return True
        return False

    def _drop(self, named: set[str], request: Request) -> bool:
        name = next((each for each in _MAY_GO if each in named), None)
        if name is not None:
            self._dropped.add(name)
            self._notes[name] = _dropped_note(name, request)
        return name is not None

    def _fewer_logprobs(self) -> bool:
        if self._logprobs <= _FEWER_LOGPROBS:
            return False
        self._notes["logprobs"] = f"the server refuses top_logprobs={self._logprobs}: {_FEWER_LOGPROBS} are asked for"
        self._logprobs = _FEWER_LOGPROBS
        return True


def _named(refusal: Refusal, body: Mapping[str, Any]) -> set[str]:
    """The parameters of ``body`` that the refusal is about: the one it names, else those in its words."""
    if refusal.parameter in body:
        return {str(refusal.parameter)}
    return {name for name in body if re.search(rf"(?<![A-Za-z_]){re.escape(name)}(?![A-Za-z_])", refusal.message)}


def _dropped_note(name: str, request: Request) -> str:
    value = {"temperature": request.sampling.temperature, "top_p": request.sampling.top_p}.get(name)
    if request.choices or value is None:
        what = {"seed": "answers cannot be repeated", "stop": "texts are cut after they are there"}.get(name)
        return f"the server refuses {name}: it is left out" + (f", and {what}" if what else "")
    return f"the server refuses {name}={value:g}: the model draws with the server's own {name}"


def _has_system(body: Mapping[str, Any]) -> bool:
    return any(turn["role"] == "system" for turn in body.get("messages", ()))


def _folded(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages with the system text before the first user turn."""
    system = "\n\n".join(turn.content for turn in messages if turn.role == "system")
    rest = [turn for turn in messages if turn.role != "system"]
    place = next((index for index, turn in enumerate(rest) if turn.role == "user"), None)
    if not system:
        return tuple(rest)
    if place is None:
        return (Message("user", system), *rest)
    rest[place] = Message("user", f"{system}\n\n{rest[place].content}")
    return tuple(rest)
