"""Writes the reference pages under docs/ from schemas, hooks and commands: ``python -m biasfw.manual docs``.

A test holds the pages and what they are made from equal, so that neither can change alone.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import click

from biasfw import hookspecs, schemas, specs
from biasfw.wording import expected

Schema = Mapping[str, Any]
MADE = "<!-- Made by `python -m biasfw.manual docs`; change the {source} instead. -->"
_PAGES = {
    "manifest.md": (
        "The manifest of a benchmark",
        (("benchmark", "`benchmark.yaml`"), ("item", "A row of an items file")),
    ),
    "files.md": (
        "Other files",
        (("config", "A configuration (`biasfw run --config FILE.yaml`)"), ("judge", "A judge (`--judge FILE.yaml`)"),
         ("language-pack", "A language pack (`TAG.yaml`)")),
    ),
}  # fmt: skip


def pages() -> dict[str, str]:
    """File name -> text of every page."""
    made = {name: _reference(title, parts) for name, (title, parts) in _PAGES.items()}
    return {**made, "hooks.md": _hooks(), "commands.md": _commands()}


def write(folder: Path) -> None:
    """Write every page into ``folder``."""
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


def _reference(title: str, parts: Sequence[tuple[str, str]]) -> str:
    lines = [f"# {title}", "", MADE.format(source="schema"), ""]
    for name, heading in parts:
        schema = schemas.schema(name)
        lines += [f"## {heading}", "", schema.get("description", ""), ""]
        if name == "benchmark":
            lines += ["`biasfw validate FOLDER` tells every mistake with file, line and column.", ""]
        rows = list(_rows(schema, schema, ""))
        lines += ["| key | what | needed | |", "| --- | --- | --- | --- |", *rows, ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _rows(schema: Schema, whole: Schema, path: str, depth: int = 0) -> Iterator[str]:
    """A line for every property below ``path``, in the order of the schema."""
    required = set(schema.get("required", ()))
    for branch in schema.get("allOf", ()):
        condition = branch.get("if", {}).get("properties", {})
        for name in branch.get("then", {}).get("required", ()):
            said = " and ".join(f"`{key}: {value.get('const')}`" for key, value in condition.items())
            if name not in required:
                required.add(name)
                schema = {**schema, "_with": {**schema.get("_with", {}), name: said}}
            elif name in schema.get("_with", {}):
                both = f"{schema['_with'][name]} or {said}"
                schema = {**schema, "_with": {**schema["_with"], name: both}}
    for name, each in schema.get("properties", {}).items():
        found, said = _resolved(each, whole)
        where = f"{path}.{name}" if path else name
        needed = schema.get("_with", {}).get(name, "yes") if name in required else ""
        yield _row(where, found, said, needed)
        yield from _inner(found, whole, where, depth)


def _inner(schema: Schema, whole: Schema, path: str, depth: int) -> Iterator[str]:
    if depth > 8:
        return
    if "properties" in schema:
        yield from _rows(schema, whole, path, depth + 1)
    for keyword, mark in (("items", "[]"), ("additionalProperties", ".NAME")):
        below = schema.get(keyword)
        if isinstance(below, dict) and (below.keys() & {"$ref", "properties", "description", "items", "oneOf"}):
            found, said = _resolved(below, whole)
            if found.keys() & {"properties", "additionalProperties", "oneOf", "items"}:
                if said:
                    yield _row(f"{path}{mark}", found, said, "")
                yield from _inner(found, whole, f"{path}{mark}", depth + 1)
    for branch in schema.get("oneOf", ()):
        found, said = _resolved(branch, whole)
        if "properties" in found:
            yield _row(path, found, f"Either: {said}", "")
            yield from _rows(found, whole, path, depth + 1)


def _resolved(schema: Schema, whole: Schema) -> tuple[Schema, str]:
    """What a ``$ref`` points to, and the nearest description."""
    said = schema.get("description", "")
    while "$ref" in schema:
        reference = schema["$ref"]
        name, _, inner = reference.partition("#")
        home: Any = whole
        if name:
            home = next(each for each in map(schemas.schema, schemas.names()) if each["$id"] == name)
        for part in inner.strip("/").split("/") if inner.strip("/") else ():
            home = home[part]
        schema = home
        said = said or schema.get("description", "")
    return schema, said


def _row(path: str, schema: Schema, said: str, needed: str) -> str:
    what = "a mapping" if schema.get("type") == "object" else _short(schema)
    return f"| `{path}` | {_cell(what)} | {needed} | {_cell(said)} |"


def _short(schema: Schema) -> str:
    if "pattern" in schema:
        return "a text"
    if schema.get("type") == "array":
        return "a list"
    if "oneOf" in schema or "anyOf" in schema:
        return "one of several forms"
    return expected(schema)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _hooks() -> str:
    lines = [
        "# Hooks", "", MADE.format(source="docstring"), "",
        "A plugin is a module that an entry point of the group `biasfw` names. It sets `biasfw_api = "
        f"{hookspecs.API_VERSION}` and marks its hooks with `@hookimpl`. A hook takes any of the arguments that it "
        "has, or none, and yields specs: what there is, as data, without importing it. `load` says where the class is; "
        "what the class must do stands in `core/biasfw/contracts.py`. Import only names of `biasfw.__all__`.", "",
    ]  # fmt: skip
    for name, hook in vars(hookspecs).items():
        if not name.startswith("biasfw_"):
            continue
        text, _, example = dedent(inspect.getdoc(hook) or "").partition("\n\n>>> ")
        arguments = list(inspect.signature(hook).parameters)
        lines += [f"## {name}", "", text.strip().replace("``", "`"), ""]
        if arguments:
            lines += [f"Arguments: {', '.join(f'`{argument}`' for argument in arguments)}.", ""]
        code = "\n".join(re.sub(r"^(>>> |\.\.\. ?)", "", line) for line in f">>> {example}".splitlines())
        lines += ["```python", code, "```", ""]
    lines += ["## Specs", ""]
    for name in specs.__dict__:
        spec = getattr(specs, name)
        if isinstance(spec, type) and issubclass(spec, specs.ComponentSpec):
            own = [field.name for field in dataclasses.fields(spec) if field.name in spec.__annotations__]
            said = " ".join(dedent(inspect.getdoc(spec) or "").split())
            fields = f" Its own fields: {', '.join(f'`{field}`' for field in own)}." if own else ""
            lines += [f"**{name}**: {said.replace('``', '`')}{fields}", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _commands() -> str:
    from biasfw.cli import builtin  # noqa: PLC0415 - only to write pages

    lines = ["# Commands", "", MADE.format(source="command"), "", "`biasfw COMMAND --help` prints the same.", ""]
    for name, command in builtin().items():
        lines += list(_command(f"biasfw {name}", command))
    return "\n".join(lines).rstrip("\n") + "\n"


def _command(path: str, command: click.Command) -> Iterator[str]:
    usage = " ".join(p.make_metavar(click.Context(command)) for p in command.params if isinstance(p, click.Argument))
    yield from (f"## {path} {usage}".rstrip(), "", " ".join((command.help or "").split()).replace("<", "&lt;"), "")
    if command.epilog:
        yield from (f"`{command.epilog.removeprefix('Example:').strip()}`", "")
    rows = []
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            names = ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts))
            rows.append(f"| {names} | {_cell(parameter.help or '')} |")
    if rows:
        yield from ("| option | |", "| --- | --- |", *rows, "")
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _command(f"{path} {name}", below)


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
