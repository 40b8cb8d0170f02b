"""The command line: one module per command, imported only when that command is called."""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path

import click

import biasfw
from biasfw.cli._common import say
from biasfw.cli._usage import refuse_empty, show
from biasfw.errors import BiasfwError
from biasfw.plugins import Component, Plugins, load_class

_COMMANDS = {  # name -> the first line of its help, so that `biasfw --help` imports none of them
    "run": "Run a benchmark against a model.",
    "judge": "Judge the stored responses of a run again.",
    "score": "Compute the scores of a run again.",
    "agreement": "Compare the judges of a run.",
    "labels": "Let people label a part of a run, and correct judges by it.",
    "compare": "Compare runs that were measured alike.",
    "export": "Write a run as a table for other programs.",
    "leaderboard": "Write a page over many runs.",
    "author": "Write a benchmark in a workbench, against a model.",
    "annotate": "Let people answer a benchmark blindly.",
    "report": "Write a report on runs, as one HTML file.",
    "parse": "Read texts with a parser.",
    "validate": "Look for mistakes in a file or folder.",
    "check": "Check a benchmark or a language pack.",
    "new": "Write the beginning of something new.",
    "submit": "Pack a benchmark to send it in.",
    "fetch": "Get the official files of a benchmark.",
    "list": "List benchmarks and components.",
    "show": "Show a benchmark or a component.",
    "plugins": "Show plugins: what each offers, and why one was set aside.",
    "doctor": "Check this installation.",
}


_STORING = ("run", "judge")  # what they have done so far is kept


def builtin() -> dict[str, click.Command]:
    """Our own commands, all imported; for the pages about them."""
    return {name: getattr(import_module(f"biasfw.cli.{name}_"), "command") for name in _COMMANDS}  # noqa: B009


class Commands(click.Group):
    """Subcommands of biasfw and of plugins, loaded on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Our commands in the order of a day's work, then those of plugins."""
        return [*_COMMANDS, *(c.spec.name for c in self._offered(ctx) if c.spec.name not in _COMMANDS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command."""
        if cmd_name in _COMMANDS:
            command: click.Command = getattr(import_module(f"biasfw.cli.{cmd_name}_"), "command")  # noqa: B009
            return command
        for component in self._offered(ctx):
            if component.spec.name == cmd_name:
                return _checked(component)
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        rows = list(_COMMANDS.items())
        rows += [(c.spec.name, f"{c.spec.summary} ({c.plugin.distribution})") for c in self._offered(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with near matches for a misspelt command, and no empty names among the arguments of ours."""
        if args and args[0] not in self.list_commands(ctx) and not args[0].startswith("-"):
            ctx.fail(plugins_of(ctx).unknown("command", args[0], self.list_commands(ctx)))
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and name in _COMMANDS:
            refuse_empty(command, rest)
        return name, command, rest

    def _offered(self, ctx: click.Context) -> list[Component]:
        return plugins_of(ctx).components("command")


def _checked(component: Component) -> click.Command:
    command = load_class(component)
    if not isinstance(command, click.Command):
        raise click.ClickException(f"plugin {component.plugin.name}: {component.spec.load} is no click command")
    return command


def plugins_of(ctx: click.Context) -> Plugins:
    """The plugins of this process, loaded once; those set aside are warned of once."""
    root = ctx.find_root()
    if root.obj is None:
        root.obj = Plugins.installed()
        for plugin in root.obj.failed:
            say(
                f"warning: plugin {plugin.name!r} of {plugin.origin} was set aside: {plugin.error} "
                f"(see: biasfw plugins --traceback)",
                err=True,
            )
        if root.obj.not_installed:
            say(f"warning: {root.obj.no_such_pins()}", err=True)
    loaded: Plugins = root.obj
    return loaded


@click.command(
    cls=Commands,
    epilog="First run, nothing to download:  biasfw run --benchmark debatebias --backend llamacpp --preset quick",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(biasfw.__version__, prog_name="biasfw")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def app(debug: bool) -> None:
    """Measure social bias in large language models, in any language and culture."""
    if debug:
        os.environ["BIASFW_DEBUG"] = "1"


def _called() -> str:
    """The command that was asked for."""
    return next((word for word in sys.argv[1:] if not word.startswith("-")), "")


def _streams() -> None:
    """Where to write: a terminal without UTF-8 gets escapes, not an error; a stream that was closed gets nothing."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - for the whole process
        elif isinstance(stream := getattr(sys, name), TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def main() -> None:
    """Entry point: errors are one line with the way out; exit codes 0 done, 1 error, 2 usage, 3 incomplete."""
    code = 0
    _streams()
    try:
        if "_BIASFW_COMPLETE" in os.environ:
            app.main(prog_name="biasfw")  # answers the shell's question and leaves
        with app.make_context("biasfw", sys.argv[1:]) as context:  # click's own main() takes a closed pipe for an error
            app.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as ended:
        code = ended.exit_code
    except click.ClickException as failure:
        show(failure)
        code = failure.exit_code
    except (KeyboardInterrupt, click.Abort):
        stored = "; what was answered is stored, and the same command goes on from there"
        click.echo(f"stopped{stored if _called() in _STORING else ''}", err=True)
        code = 130
    except BrokenPipeError:  # `biasfw list | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as failure:
        if failure.errno not in (errno.ENOSPC, errno.EBADF, errno.EIO) or os.environ.get("BIASFW_DEBUG"):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        say(f"error: cannot write the result: {failure.strerror}; give an output that can be written", err=True)
        code = 1
    except BiasfwError as failure:
        if os.environ.get("BIASFW_DEBUG"):
            raise
        say(f"error: {' '.join(str(failure).split())}", err=True)
        code = failure.exit_code
    sys.exit(code)
