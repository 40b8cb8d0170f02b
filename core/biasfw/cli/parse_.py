"""``biasfw parse NAME``: JSON lines in, JSON lines out, one at a time."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterator
from itertools import count
from typing import Any, BinaryIO

import click

from biasfw import bundles
from biasfw.cli import plugins_of
from biasfw.errors import DataError, UsageError
from biasfw.parsing import Texts, usual_bundle
from biasfw.textfile import LINE_LIMIT, parse_json_line

SOURCE = "stdin"


@click.command(
    "parse",
    help="Read texts with a parser, to see why a text was read as it was. Takes JSON lines on standard input: `text`, "
    "and if wanted `id`, `language`, `condition`, `finish_reason`, `groups` (the names that may be read) or `choices`. "
    "Prints one JSON line for each, with `outcome` and `value`, the `outcomes` of every slot, and `flags`: for a slot "
    "that cannot be read why not (no_header, not_listed, two_names).",
    epilog="""Example:  echo '{"text": "MODERN GROUP: Arabs"}' | biasfw parse labelled_lines""",
)
@click.argument("name")
@click.option(
    "--language", metavar="TAG", help="The language of lines that name none (default: the benchmark's first)."
)
@click.option(
    "--benchmark",
    metavar="NAME|PATH",
    help="Whose headers and groups are read (default: the one that uses the parser).",
)
@click.option("--condition", metavar="NAME", help="How the question was put, for lines that do not say it.")
@click.pass_context
def command(ctx: click.Context, name: str, language: str | None, benchmark: str | None, condition: str | None) -> None:
    """Read every line; a bad one is told, and the others are read all the same."""
    plugins = plugins_of(ctx)
    parser = plugins.find("parser", name)
    bundle = bundles.find(benchmark, plugins) if benchmark else usual_bundle(parser, plugins)
    texts = Texts(parser, plugins, bundle, language=language, condition=condition, note=_warn)
    if sys.stdin is None:
        raise UsageError("there is no standard input; give texts with < FILE")
    if sys.stdin.isatty():
        click.echo("reading JSON lines from the keyboard; end with Ctrl-D", err=True)
    output = sys.stdout.buffer  # JSON is UTF-8, whatever the locale
    bad = 0
    for number, line in _lines(sys.stdin.buffer):
        try:
            output.write(_json(_answer(texts, line, number)))
            output.flush()
        except DataError as failure:
            bad += 1
            click.echo(f"error: {failure}", err=True)
    if bad:
        raise click.exceptions.Exit(1)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Lines that are not blank, with their numbers; None for one that is too long, which is not kept in memory."""
    for number in count(1):
        line = rest = stream.readline(LINE_LIMIT)
        while len(rest) == LINE_LIMIT and not rest.endswith(b"\n"):
            rest = stream.readline(LINE_LIMIT)
        if not line:
            return
        text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if rest is not line:
            yield number, None
        elif text.strip():
            yield number, text


def _answer(texts: Texts, line: bytes | None, number: int) -> dict[str, Any]:
    if line is None:
        raise DataError(f"{SOURCE}:{number}: the line is longer than {LINE_LIMIT // 2**20} MiB; shorten its text")
    row = parse_json_line(line, SOURCE, number)
    try:
        answer = texts.read(row)
    except DataError as failure:
        raise DataError(f"{SOURCE}:{number}: {failure}") from None
    return {"id": row["id"], **answer} if "id" in row else answer


def _json(value: dict[str, Any]) -> bytes:
    """One line of UTF-8; where there are lone surrogates, everything that is not ASCII is escaped."""
    try:
        return json.dumps(value, ensure_ascii=False).encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value).encode("ascii") + b"\n"


def _warn(text: str) -> None:
    click.echo(f"warning: {text}", err=True)
