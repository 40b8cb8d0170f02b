"""Backend ``openai``: any server that speaks the OpenAI HTTP interface."""

from __future__ import annotations

from collections.abc import Iterable

from biasfw import BackendSpec, hookimpl

biasfw_api = 1

_TRANSPORT = {"affects_answers": False}

OPTIONS = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "base_url": {
            "type": "string",
            "minLength": 1,
            "maxLength": 2000,
            "default": "https://api.openai.com/v1",
            "description": "Address of the server, up to what comes before /chat/completions. The run is tied to its "
            "host and path.",
            "examples": ["http://127.0.0.1:8000/v1"],
            "writeOnly": True,  # someone may put a password into it; it is refused, and not repeated
            **_TRANSPORT,
        },
        "api_key_env": {
            "type": "string",
            "pattern": "^[A-Z_][A-Z0-9_]*$",
            "maxLength": 200,
            "description": "Name of the environment variable that holds the key, in capitals; never the key itself. "
            "Default: OPENAI_API_KEY for api.openai.com; no key is sent to other servers.",
            "examples": ["DEEPSEEK_API_KEY"],
            "writeOnly": True,  # someone may put the key here
            **_TRANSPORT,
        },
        "concurrency": {
            "type": "integer",
            "minimum": 1,
            "maximum": 512,
            "default": 16,
            "description": "How many requests are under way at once, at most; fewer while the server says that it is "
            "overloaded.",
            "examples": [64],
            **_TRANSPORT,
        },
        "requests_per_minute": {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": 1000000,
            "description": "Send no more requests than this, evenly spaced. Default: as many as the server takes.",
            "examples": [500],
            **_TRANSPORT,
        },
        "timeout": {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": 86400,
            "default": 300,
            "description": "Seconds that one try may take as a whole.",
            "examples": [60],
            **_TRANSPORT,
        },
        "retries": {
            "type": "integer",
            "minimum": 0,
            "maximum": 100,
            "default": 5,
            "description": "How often a request is asked again after a refusal for load, a server error, a timeout or "
            "a broken connection.",
            "examples": [8],
            **_TRANSPORT,
        },
        "top_logprobs": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000,
            "default": 20,
            "description": "How many of the likeliest first tokens to ask for when options are scored by their letter.",
            "examples": [5],
        },
        "extra_body": {
            "type": "object",
            "description": "More fields for the body of each request, as JSON: settings that only this server has.",
            "examples": [{"top_k": 0}],
        },
        "price_in": {
            "type": "number",
            "minimum": 0,
            "description": "Price of a million prompt tokens; with both prices --dry-run and the run tell the cost.",
            "examples": [0.15],
            **_TRANSPORT,
        },
        "price_out": {
            "type": "number",
            "minimum": 0,
            "description": "Price of a million completion tokens.",
            "examples": [0.6],
            **_TRANSPORT,
        },
    },
}


@hookimpl
def biasfw_backends() -> Iterable[BackendSpec]:
    """Offer the backend."""
    yield BackendSpec(
        "openai",
        load="biasfw_plugins.openai.backend:OpenAI",
        summary="any server with the OpenAI HTTP interface: free text, and options scored by their letter where the "
        "server gives log-probabilities",
        extra="openai",
        capabilities=frozenset({"generate", "first_token"}),
        options=OPTIONS,
    )
