"""The borders: what is public, what plugins may import, and that nothing below the command line prints or exits."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import biasfw
import biasfw_plugins

CORE = Path(biasfw.__file__).parent
PLUGINS = Path(biasfw_plugins.__file__).parent


def imports(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def test_the_lists_of_public_names_are_equal() -> None:
    tree = ast.parse((CORE / "__init__.py").read_text(encoding="utf-8"))
    typed = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("biasfw.")
        for alias in node.names
    }
    assert typed == set(biasfw.__all__) == set(biasfw._HOME)
    for name in biasfw.__all__:
        value = getattr(biasfw, name)
        assert value is getattr(importlib.import_module(biasfw._HOME[name]), name)
        assert name == "API_VERSION" or value.__doc__, f"{name} is public and has no docstring"


def test_a_public_name_that_does_not_exist_is_an_import_error() -> None:
    with pytest.raises(ImportError):
        from biasfw import no_such_name  # noqa: F401, PLC0415


@pytest.mark.parametrize("path", sorted(PLUGINS.rglob("*.py")), ids=lambda path: str(path.relative_to(PLUGINS)))
def test_plugins_import_only_the_public_api(path: Path) -> None:
    own = path.relative_to(PLUGINS).parts[0]
    for module, name in imports(path):
        if module.split(".")[0] == "biasfw":
            assert module == "biasfw", f"{path.name} imports {module}"
            assert not name or name in biasfw.__all__, f"{path.name} imports the private name {name}"
        if module.startswith("biasfw_plugins"):
            assert module.split(".")[1] == own, f"{path.name} imports another plugin: {module}"


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.py")), ids=lambda path: str(path.relative_to(CORE)))
def test_core_imports_no_plugin_and_only_the_command_line_prints_or_exits(path: Path) -> None:
    assert not [module for module, _ in imports(path) if module.startswith("biasfw_plugins")]
    if "cli" in path.relative_to(CORE).parts:
        return
    called = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"print", "exit", "quit"}
    assert ("sys", "exit") not in set(imports(path))


def test_importing_biasfw_is_light() -> None:
    code = (
        "import sys, biasfw, biasfw.plugins\n"
        "biasfw.plugins.Plugins.installed()\n"
        "heavy = set('torch transformers llama_cpp openai numpy scipy jsonschema rich jinja2'.split())\n"
        "heavy &= set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
