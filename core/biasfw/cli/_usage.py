"""What is wrong with a command line, in one line: for every command, whatever options it has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import click

from biasfw.cli._common import say
from biasfw.errors import UsageError

_FREE = "TEXT"  # the metavar of options that may be emptied; all others take a name, a path or a number
_NEAR = re.compile(r"\. \(?Did you mean (?:one of: )?(.+?)\?\)?$")  # as click words it

_EXTRA = re.compile(r"unexpected extra arguments? \((\S+?)(?: .*)?\)$")


def refuse_empty(command: click.Command, arguments: Sequence[str]) -> None:
    """Stop at ``--judge ""``, ``--judge=`` or an empty argument: it would be taken as not given, or as this folder.

    Raises:
        UsageError: names the option.
    """
    before = ""
    for argument in arguments:
        name = before if not argument else argument[:-1] if argument.startswith("--") and argument[-1] == "=" else None
        if name is not None and not name.startswith("-"):
            raise UsageError('an argument is empty (""); give a name or a path, or leave it out')
        if name is not None and _options(command, name) != {_FREE}:
            raise UsageError(f"{name} is empty; give a value, or leave the option out")
        if argument == "--":  # what follows are arguments
            return
        before = argument


def _options(command: click.Command, name: str) -> set[str | None]:
    """The metavars of the options called ``name`` in a command and its subcommands."""
    return {each.metavar for each in _all(command) if name in (*each.opts, *each.secondary_opts)}


def _all(command: click.Command) -> Iterator[click.Parameter]:
    yield from command.params
    if isinstance(command, click.Group):
        for each in command.commands.values():
            yield from _all(each)


def _as_option(failure: click.ClickException, said: str) -> str:
    """How a benchmark is named, where it was given without the option for it."""
    context = failure.ctx if isinstance(failure, click.UsageError) else None
    extra = _EXTRA.search(said)
    if extra is None or context is None or not _options(context.command, "--benchmark"):
        return ""
    if any(isinstance(each, click.Argument) for each in context.command.params):  # it may have meant another thing
        return ""
    return f"; a benchmark is given as --benchmark {extra[1]}"


def show(failure: click.ClickException) -> None:
    """Say what click found wrong, and where help is; a command that only holds others shows its help."""
    if isinstance(failure, click.exceptions.NoArgsIsHelpError):
        failure.show()
        return
    said = " ".join(failure.format_message().split()).removesuffix(".")
    said = _NEAR.sub(r"; did you mean \1?", said)
    said += _as_option(failure, said)
    help_ = ""
    if isinstance(failure, click.UsageError):
        help_ = f" (see: {failure.ctx.command_path if failure.ctx else 'biasfw'} --help)"
    say(f"error: {said[:1].lower()}{said[1:]}{help_}", err=True)
