"""Options and output that several commands share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from biasfw.cli._text import visible
from biasfw.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


def json_option(command: F) -> F:
    """``--json``: one object on standard output."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")(command)


def pairs(values: tuple[str, ...], option: str) -> dict[str, str]:
    """``key=value`` options as a mapping.

    Raises:
        UsageError: a value has no ``=``, or a key is given twice.
    """
    found: dict[str, str] = {}
    for text in values:
        key, sign, value = text.partition("=")
        if not sign or not key:
            raise UsageError(f"{option} {text!r} is not KEY=VALUE; write for example {option} n_ctx=2048")
        if key in found:
            raise UsageError(f"{option} {key} is given twice; give it once")
        found[key] = value
    return found


def print_json(value: Any) -> None:
    """One JSON object on standard output; in ASCII where the output's encoding lacks a character (or a surrogate)."""
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, ensure_ascii=True, indent=1, allow_nan=False)
    click.echo(text)


def say(text: str, *, err: bool = False) -> None:
    """Print text that may come from a bundle, a plugin or a model: what could act on a terminal is shown, not sent."""
    click.echo(visible(text), err=err)
