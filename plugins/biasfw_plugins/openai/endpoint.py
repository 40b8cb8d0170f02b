"""Where to ask and with which key: the address is checked, the key is read from the environment and never shown."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

from biasfw import ComponentError, UsageError

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_KEY = "OPENAI_API_KEY"
HIDDEN = "[key]"
_LEAST_SECRET = 8  # characters: "EMPTY" and the like are no secret, and may stand in an answer
_USUAL_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``place`` is host (and port, if unusual) and path: what the server is known by. ``key`` is None where none is."""

    url: str
    place: str
    local: bool
    encrypted: bool
    key_name: str | None = None
    key: str | None = field(default=None, repr=False)

    def hide(self, text: str) -> str:
        """``text`` without the key, whatever a server repeats."""
        if self.key is None or len(self.key) < _LEAST_SECRET:
            return text
        return text.replace(self.key, HIDDEN)


def find_endpoint(options: Mapping[str, Any]) -> Endpoint:
    """The endpoint that ``options`` name.

    Raises:
        UsageError: the address cannot be used; its value is not repeated, it may hold a password.
        ComponentError: the variable named for the key holds none.
    """
    url = str(options.get("base_url") or DEFAULT_URL).rstrip("/")
    parts, port = _split(url)
    host = parts.hostname or ""
    name = f"[{host}]" if ":" in host else host
    place = name + ("" if port in (None, _USUAL_PORTS[parts.scheme]) else f":{port}") + parts.path
    key_name = options.get("api_key_env") or (DEFAULT_KEY if place == urlsplit(DEFAULT_URL).netloc + "/v1" else None)
    return Endpoint(
        f"{parts.scheme}://{parts.netloc}{parts.path}", place, _is_local(host), parts.scheme == "https", key_name,
        _key(key_name) if key_name else None,
    )  # fmt: skip


def _split(url: str) -> tuple[SplitResult, int | None]:
    wrong = 'backend openai: the option "base_url"'
    if any(ord(character) <= 0x20 or ord(character) == 0x7F for character in url):
        raise UsageError(f"{wrong} holds a space or a control character; give an address such as {DEFAULT_URL}")
    try:
        parts, port = urlsplit(url), urlsplit(url).port
    except ValueError:
        raise UsageError(f"{wrong} is no address; give one such as {DEFAULT_URL}") from None
    if "@" in parts.netloc:
        raise UsageError(
            f"{wrong} holds a user name or a password, which would end up in files; "
            "give the key with -B api_key_env=NAME, the name of an environment variable"
        )
    if parts.scheme not in _USUAL_PORTS or not parts.hostname:
        raise UsageError(f"{wrong} must begin with https:// or http:// and a host, such as http://127.0.0.1:8000/v1")
    if parts.query or parts.fragment:
        raise UsageError(f'{wrong} holds "?" or "#"; give it without, up to what comes before /chat/completions')
    return parts, port


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _key(name: str) -> str:
    key = os.environ.get(name, "").strip()
    if not key:
        raise ComponentError(
            f"the environment variable {name} holds no key for the server; set it, or name another one with "
            "-B api_key_env=NAME"
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ComponentError(f"the key in {name} holds characters that no header may have; check how it was set")
    return key
