"""`validate` tells what would set a plugin aside, or break the first use of it, without running its code."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from biasfw.cli import app
from biasfw.newplugin import KINDS, write_plugin
from biasfw.plugins import Plugins
from biasfw.validating import validate


def told(folder: Path, plugins: Plugins) -> list[str]:
    return [str(finding) for report in validate(folder, plugins) for finding in report.findings]


def changed(tmp_path: Path, old: str, new: str, kind: str = "parser") -> Path:
    write_plugin("my-own", kind, tmp_path)
    file = tmp_path / "my-own" / "src" / "my_own" / "__init__.py"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    return tmp_path / "my-own"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("yield ParserSpec(", "yield ParserSpecc(", "nothing defines the name ParserSpecc; did you mean ParserSpec?"),
        ("summary=", "sumary=", "ParserSpec has no field sumary; did you mean summary?"),
        ("        summary=", "        # summary=", "ParserSpec lacks summary; write it"),
        ("my_own.parser:", "my_own.parsr:", "load names the module my_own.parsr, which is not in this folder"),
        ("my_own.parser:", "my_owm.parser:", "load names the module my_owm.parser, which is neither in this folder"),
        (
            "my_own.parser:MyOwn",
            "my_own.parser:MyOwm",
            "MyOwm, which is not in parser.py; did you mean MyOwn?",
        ),
        ("my_own.parser:MyOwn", "my_own.parser", 'names no class; write "package.module:Class"'),
        ('frozenset({"choice"})', 'frozenset({"chioce"})', "there is no task 'chioce'; did you mean choice?"),
        ('frozenset({"choice"})', '"choice"', "tasks is a text"),
        ("def biasfw_parsers", "def biasfw_metrics", "biasfw_metrics yields a ParserSpec, not a MetricSpec"),
        (
            "from biasfw import",
            "from my_own.optinos import X\nfrom biasfw import",
            "it imports my_own.optinos, which is not",
        ),
        ("from biasfw import", "from .optinos import X\nfrom biasfw import", "it imports my_own.optinos, which is not"),
    ],
)
def test_a_mistake_has_its_place(tmp_path: Path, installed: Plugins, old: str, new: str, words: str) -> None:
    found = told(changed(tmp_path, old, new), installed)
    assert any(words in each and "__init__.py:" in each and ": error: " in each for each in found), found


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_right_is_not_told(tmp_path: Path, installed: Plugins, kind: str) -> None:
    write_plugin("my-own", kind, tmp_path)
    assert told(tmp_path / "my-own", installed) == []


def test_code_that_is_only_unusual_is_not_told(tmp_path: Path, installed: Plugins) -> None:
    text = """
import biasfw
from biasfw import hookimpl, ParserSpec as Spec
biasfw_api = 1
COMMON = {"summary": "s", "load": "json:loads"}
@hookimpl
def biasfw_parsers():
    for name in [n for n in ("p1", "p2") if (kept := n)]:
        yield Spec(name, **COMMON)
    yield biasfw.ParserSpec(kept, "json:loads", "s")
    match COMMON:
        case {"load": load, **rest}:
            yield Spec(load, load, *rest)
    try:
        print(__file__)
    except OSError as failure:
        print(failure, lambda x, *y, **z: (x, y, z))
"""
    write_plugin("my-own", "parser", tmp_path)
    (tmp_path / "my-own" / "src" / "my_own" / "__init__.py").write_text(text, encoding="utf-8")
    assert told(tmp_path / "my-own", installed) == []


def test_a_name_that_is_taken_is_warned_of(tmp_path: Path, installed: Plugins) -> None:
    folder = changed(tmp_path, '        "my_own",', '        "choice",')
    (found,) = told(folder, installed)
    assert "__init__.py:16:9: warning: there is a parser choice already, of biasfw " in found
    assert "has to write choice@biasfw; take another name" in found


@pytest.mark.parametrize("command", ["validate", "check"])
def test_the_package_is_named_wherever_it_is_looked_at_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    write_plugin("my-own", "metric", tmp_path)
    monkeypatch.chdir(tmp_path / "my-own")
    assert CliRunner().invoke(app, [command, "."]).output.startswith("plugin my-own\n")


def test_a_name_that_is_offered_twice_by_one_package(tmp_path: Path, installed: Plugins) -> None:
    again = '    yield ParserSpec("my_own", "my_own.parser:MyOwn", "s")\n    yield ParserSpec('
    (found,) = told(changed(tmp_path, "    yield ParserSpec(", again), installed)
    assert "error: the parser my_own is offered twice" in found
