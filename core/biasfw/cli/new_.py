"""``biasfw new KIND NAME``: files to begin with."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from biasfw.cli import plugins_of
from biasfw.errors import UsageError
from biasfw.languages import pack_files
from biasfw.newbenchmark import TASKS, NewBenchmark, write_benchmark
from biasfw.newplugin import KINDS, module_of, write_plugin
from biasfw.scaffolding import language_pack, write_new


@click.group(
    "new",
    help="Write the beginning of something new: files that are valid at once and say in comments what goes where.",
    epilog="Example:  biasfw new language eu --name Basque --native-name euskara",
)
def command() -> None:
    """What can be begun."""


@command.command(
    "language",
    help="Write TAG.yaml, a language pack to fill in. TAG is a language tag (BCP 47), such as eu or pt-BR.",
    epilog="Example:  biasfw new language eu --name Basque --native-name euskara --output my-benchmark/languages",
)
@click.argument("tag")
@click.option("--output", metavar="DIR", type=click.Path(path_type=Path), default=".", help="Where (default: here).")
@click.option("--name", metavar="NAME", help="The name of the language in English.")
@click.option("--native-name", metavar="NAME", help="The name of the language in the language itself.")
@click.option("--script", metavar="CODE", help="Its script (ISO 15924), if it is not the usual one: Latn, Arab, Deva.")
@click.pass_context
def language(
    ctx: click.Context, tag: str, output: Path, name: str | None, native_name: str | None, script: str | None
) -> None:
    """Write the file, and say what to do with it."""
    text = language_pack(tag, name=name, native_name=native_name, script=script)
    path = output / f"{tag}.yaml"
    write_new(path, text)
    click.echo(f"wrote {path}")
    if tag in pack_files(folder for folder, _ in plugins_of(ctx).folders("language")):
        click.echo(
            f"There is a pack for {tag} already (biasfw list languages); in a benchmark's folder, yours is used."
        )
    click.echo("Next:")
    _steps(
        (f"fill it in: phrases and fixtures in {name or 'the language'}, as its comments say", ""),
        (f"biasfw check {shlex.quote(str(path))}", ""),
        ("put it into the folder languages/ of a benchmark, beside its benchmark.yaml", ""),
        ("once native speakers have read it, write how many they are in reviewed_by_natives", ""),
    )


@command.command(
    "benchmark",
    help="Write the folder NAME, a benchmark that runs at once with invented items, to be replaced by yours. On a "
    "terminal it asks for what is not given. NAME and KEY begin with a letter, and are written in small letters, "
    "digits, hyphens and underscores.",
    epilog='Example:  biasfw new benchmark busan-work --language ko --region "South Korea" --category work --sheet',
)
@click.argument("name")
@click.option("--task", type=click.Choice(TASKS), help="What a model is asked (default: choice).")
@click.option("--language", "languages", metavar="TAG", multiple=True, help="A language, such as eu; repeatable.")
@click.option("--region", metavar="TEXT", help="The region or culture it is about, such as South Korea.")
@click.option("--category", "categories", metavar="KEY", multiple=True, help="A part of it, such as work; repeatable.")
@click.option("--sheet", is_flag=True, help="Items as a workbook (.xlsx) with drop-downs and explanations.")
@click.option("--output", metavar="DIR", type=click.Path(path_type=Path), default=".", help="Where (default: here).")
@click.pass_context
def benchmark(ctx: click.Context, /, name: str, sheet: bool, output: Path, **given: Any) -> None:
    """Ask for what is missing, write the folder, and say what to do with it."""
    if on_terminal():
        given = {key: value or _asked(key) for key, value in given.items()}
    new = NewBenchmark(name, sheet=sheet, **{key: value for key, value in given.items() if value})
    folders = [folder for folder, _ in plugins_of(ctx).folders("language")]
    for path in write_benchmark(new, output, pack_files(folders)):
        click.echo(f"wrote {path}")
    folder = shlex.quote(f"./{output / name}" if not output.is_absolute() else f"{output / name}")
    click.echo("It works as it is. Next:")
    _steps(
        (f"biasfw check {folder}", "what is left to do, and what is wrong"),
        (f"biasfw run --benchmark {folder} --backend reference --model random", "what somebody who guesses would get"),
        (f"write your items into {new.items_file}; replace what is marked TODO in benchmark.yaml and DATASHEET.md", ""),
    )


@command.command(
    "plugin",
    help="Write the folder NAME, a pip package with a component that works, its tests and its entry point. "
    "NAME is written in small letters, digits and hyphens.",
    epilog="Example:  biasfw new plugin biasfw-median --kind metric",
)
@click.argument("name")
@click.option("--kind", type=click.Choice(KINDS), required=True, help="What it brings.")
@click.option("--output", metavar="DIR", type=click.Path(path_type=Path), default=".", help="Where (default: here).")
@click.pass_context
def plugin(ctx: click.Context, name: str, kind: str, output: Path) -> None:
    """Write the package, and say what to do with it."""
    module = module_of(name)
    if homes := [each.plugin.origin for each in plugins_of(ctx).components(kind) if each.spec.name == module]:
        raise UsageError(f"there is a {kind} {module} already, of {homes[0]}; take another name")
    for path in write_plugin(name, kind, output):
        click.echo(f"wrote {path}")
    click.echo("It works as it is. Next:")
    _steps(
        (f'cd {shlex.quote(f"{output / name}")} && pip install -e ".[test]"', ""),
        ("biasfw plugins", "it is found"),
        ("pytest && mypy && ruff check . && ruff format --check .", ""),
        (f"replace what src/{module}/{kind}.py does, and its tests", ""),
    )


def _steps(*steps: tuple[str, str]) -> None:
    """Number what to do next; what each is good for stands in one column."""
    width = max(len(step) for step, why in steps if why) if any(why for _, why in steps) else 0
    for number, (step, why) in enumerate(steps, start=1):
        click.echo(f"  {number}. {step.ljust(width) + '  ' + why if why else step}")


def on_terminal() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty()


_QUESTIONS = {
    "task": "Task (choice: which of two replies; labels: groups are put into places; sentence_pair: which of two "
    "sentences is likelier)",
    "languages": "Languages, as tags such as en, ko, eu, with spaces between them",
    "region": "Region or culture, such as South Korea",
    "categories": "Categories, such as work food, with spaces between them",
}


def _asked(key: str) -> str | tuple[str, ...]:
    """The answer to a question, or the default."""
    default = getattr(NewBenchmark("x"), key)
    if key == "task":
        return str(click.prompt(_QUESTIONS[key], type=click.Choice(TASKS), default=default, show_choices=False))
    several = isinstance(default, tuple)
    given = str(click.prompt(_QUESTIONS[key], default=" ".join(default) if several else default))
    return tuple(given.replace(",", " ").split()) if several else given
