"""The pages under docs/ say what schemas, hooks and commands say; nothing is missing from them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from biasfw import hookspecs, manual, schemas
from biasfw.cli import builtin

ROOT = Path(__file__).resolve().parents[2]
WAY = "run: python -m biasfw.manual docs"


@pytest.fixture(scope="module")
def made() -> Mapping[str, str]:
    return manual.pages()


def read(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["manifest.md", "files.md", "hooks.md", "commands.md"])
def test_pages_are_up_to_date(made: Mapping[str, str], name: str) -> None:
    assert read(name) == made[name], WAY


def fields(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for each in schema.values():
            yield from fields(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from fields(each)


@pytest.mark.parametrize(
    ("page", "schema"),
    [
        ("manifest.md", "benchmark"),
        ("manifest.md", "item"),
        ("files.md", "config"),
        ("files.md", "judge"),
        ("files.md", "language-pack"),
    ],
)
def test_every_field_of_a_schema_is_there(page: str, schema: str) -> None:
    """Told from the schema itself, not by what makes the page."""
    text = read(page)
    missing = {name for name in fields(schemas.schema(schema)) if f"`{name}`" not in text and f".{name}`" not in text}
    assert missing == set(), WAY


def test_every_property_has_a_description() -> None:
    def properties(schema: Any, path: str) -> Iterator[tuple[str, Any]]:
        if isinstance(schema, dict):
            for name, each in schema.get("properties", {}).items():
                yield f"{path}.{name}", each
            for key, each in schema.items():
                if key not in ("if", "then", "else"):
                    yield from properties(each, f"{path}.{key}")

    for name in ("benchmark", "item", "config", "judge", "language-pack"):
        for path, each in properties(schemas.schema(name), name):
            assert "description" in each or "$ref" in each, path


def test_every_hook_is_documented_with_its_example() -> None:
    text = read("hooks.md")
    hooks = [name for name in vars(hookspecs) if name.startswith("biasfw_")]
    assert len(hooks) >= 12
    for name in hooks:
        assert f"## {name}\n" in text, WAY
        assert f"def {name}(" in text, WAY


def options(command: click.Command, path: str) -> Iterator[tuple[str, str]]:
    yield path, ""
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            for option in (*parameter.opts, *parameter.secondary_opts):
                yield path, option
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from options(below, f"{path} {name}")


def test_every_command_and_option_is_there() -> None:
    parts = {part.partition("\n")[0]: part for part in read("commands.md").split("\n## ")[1:]}
    sections = {said[0]: part for head, part in parts.items() if (said := re.match(r"biasfw( [a-z-]+)*", head))}
    found = 0
    for name, command in builtin().items():
        for path, option in options(command, f"biasfw {name}"):
            assert path in sections, (path, WAY)
            assert not option or f"`{option}`" in sections[path], (path, option, WAY)
            found += 1
    assert found > 60


def test_every_option_says_what_it_does() -> None:
    for name, command in builtin().items():
        assert command.help, name
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert parameter.help, (name, parameter.name)


def test_the_checklist_asks_for_what_counts() -> None:
    text = read("review-checklist.md").casefold()
    for word in ("native", "harm", "consent", "licence", "pseudonym", "contested", "attested", "canary", "warning"):
        assert word in text


def test_pages_link_to_what_exists() -> None:
    for page in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for part in text.split("](")[1:]:
            target = part.partition(")")[0].partition("#")[0]
            if target and "://" not in target:
                assert (ROOT / target).exists(), (page, target)
