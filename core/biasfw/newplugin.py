"""A new plugin: a pip package with one component that works, its tests, and the entry point that biasfw looks for."""

from __future__ import annotations

import datetime
import keyword
import re
import sys
from pathlib import Path

import biasfw
from biasfw.errors import BiasfwError, UsageError
from biasfw.phrases import shorten
from biasfw.scaffolding import render, write_new

_OPTION = """\
        options={{
            "type": "object",
            "additionalProperties": False,
            "properties": {{{name}: {schema}}},
        }},"""
_ALL_TASKS = 'frozenset({"choice", "labels", "sentence_pair"})'


def _option(name: str, schema: str) -> str:
    return _OPTION.format(name=f'"{name}"', schema=schema)


# kind -> what the example does, further fields of its spec, a command that uses it
_KINDS = {
    "backend": (
        "says the same to everything",
        '        capabilities=frozenset({"generate", "choices"}),\n'
        + _option("text", '{"type": "string", "description": "what it says"}'),
        'biasfw run --benchmark debatebias --backend {module} -B text="Nobody." --limit 4',
    ),
    "parser": (
        "reads an answer that is a single letter",
        '        tasks=frozenset({"choice"}),',
        "biasfw run --benchmark jubaku:demo --backend reference --model random --mode generate --parser {module}",
    ),
    "judge": (
        "takes what was read, but not of very long texts",
        '        tasks=frozenset({"choice", "labels"}),\n'
        + _option("most", '{"type": "integer", "minimum": 1, "default": 2000, "description": "characters"}'),
        "biasfw run --benchmark debatebias --backend reference --model random --judge {module} --limit 4",
    ),
    "metric": (
        "the share of responses that were answered",
        f'        tasks={_ALL_TASKS},\n        ideal=1.0,\n        direction="higher",',
        "biasfw run --benchmark debatebias --backend reference --model random --metric {module} --limit 4",
    ),
    "reader": (
        "items.csv with id, language, category and text",
        _option("encoding", '{"type": "string", "description": "of the file, where it is not UTF-8"}'),
        "biasfw run --benchmark ./A-BENCHMARK --data DIR --dry-run   # a split of it says `reader: {module}`",
    ),
    "reporter": (
        "scores as a table in Markdown",
        '        suffix=".md",\n'
        + _option("digits", '{"type": "integer", "minimum": 0, "default": 3, "description": "after the point"}'),
        "biasfw report runs/A-RUN --reporter {module}",
    ),
}  # fmt: skip
KINDS = tuple(_KINDS)
TESTED_WITH = ("backend",)  # kinds whose tests run biasfw.testing on a component: what biasfw check cannot do alone
LONGEST = 32  # characters of a name: what is written keeps to lines of 120


def write_plugin(name: str, kind: str, output: Path) -> list[Path]:
    """Write the package into a new folder ``name`` of ``output``; return the files.

    Raises:
        UsageError: the name cannot name a package, or there is no such kind.
        BiasfwError: the folder exists, or cannot be written.
    """
    if kind not in _KINDS:
        raise UsageError(f"there is no kind {shorten(kind)} of plugin; write {', '.join(KINDS)}")
    module = module_of(name)
    folder = output / name
    if folder.exists():
        raise BiasfwError(f"{folder} exists already and is left as it is; move it away, or take another name")
    summary, fields, usage = _KINDS[kind]
    values = {
        "name": name,
        "kind": kind,
        "module": module,
        "cls": "".join(part.capitalize() for part in module.split("_")),
        "spec": f"{kind.capitalize()}Spec",
        "summary": summary,
        "fields": fields,
        "usage": usage.format(module=module),
        "biasfw": ".".join(biasfw.__version__.split(".")[:2]),
        "year": datetime.datetime.now(tz=datetime.UTC).year,
    }
    files = {
        "pyproject.toml": "pyproject.toml.j2",
        "README.md": "README.md.j2",
        "LICENSE": "LICENSE.j2",
        ".gitignore": "gitignore.j2",
        ".github/workflows/test.yml": "test.yml.j2",
        f"src/{module}/__init__.py": "init.py.j2",
        f"src/{module}/{kind}.py": f"code/{kind}.py.j2",
        f"tests/test_{module}.py": f"tests/{kind}.py.j2",
    }
    if kind in TESTED_WITH:
        files["tests/conftest.py"] = "tests/conftest.py.j2"
    written = [folder / f"src/{module}/py.typed"]
    write_new(written[0], "")
    for target, template in files.items():
        write_new(folder / target, render(f"plugin/{template}", **values))
        written.append(folder / target)
    return sorted(written)


def module_of(name: str) -> str:
    """The module, component and plugin that the package ``name`` brings.

    Raises:
        UsageError: it cannot name a package.
    """
    module = name.replace("-", "_")
    if not re.fullmatch(r"[a-z]([a-z0-9_-]*[a-z0-9])?", name) or "__" in module or len(name) > LONGEST:
        hint = f"write at most {LONGEST} small letters, digits and single hyphens, beginning with a letter"
        raise UsageError(f"the name {shorten(name)} cannot be used; {hint}")
    taken = module in sys.stdlib_module_names or keyword.iskeyword(module) or module in ("biasfw", "biasfw_plugins")
    if taken:
        raise UsageError(f"the name {shorten(name)} belongs to Python or to biasfw; take another")
    return module
