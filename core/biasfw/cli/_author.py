"""What the commands of a workbench share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from biasfw.cli._common import say
from biasfw.errors import UsageError

if TYPE_CHECKING:
    from biasfw.authoring.bench import Workbench

F = TypeVar("F", bound=Callable[..., Any])


@click.group(
    "author",
    help="Write a benchmark in a workbench: drafts by people, tried against a model, reviewed, frozen into a bundle.",
    epilog="Example:  biasfw author init my-bench --task choice --language ja",
)
def command() -> None:
    """The commands of a workbench, in the order of the work."""


def folder_argument(function: F) -> F:
    """``DIR``, the workbench."""
    return click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))(function)


def by_option(function: F) -> F:
    """``--by``, the pseudonym."""
    option = click.option("--by", metavar="PSEUDONYM", required=True, help="Who does it (biasfw author join).")
    return option(function)


def bench_in(folder: Path) -> Workbench:
    """The workbench, imported late, as every command is; what is wrong with its log is told first."""
    from biasfw.authoring.bench import open_bench  # noqa: PLC0415

    bench = open_bench(folder)
    tell_problems(bench.problems())
    return bench


def confirm(text: str, otherwise: str) -> bool:
    """Ask for a yes; where nobody can answer, ``otherwise`` says what to give.

    Raises:
        UsageError: there is no terminal.
    """
    try:
        return click.confirm(text, default=False, err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise UsageError(f"there is no terminal to ask at ({text}); {otherwise}") from None


def tell_problems(found: Iterable[str]) -> None:
    """What is wrong with a log, on standard error."""
    for text in found:
        say(f"warning: {text}", err=True)
