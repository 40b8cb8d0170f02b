"""Hostile bundles are refused in words: paths, links, names, sizes, templates, YAML."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from biasfw import UsageError
from biasfw.conformance import check
from biasfw.plugins import Plugins
from biasfw.validating import validate

Rows = Callable[[str], list[dict[str, Any]]]
Write = Callable[..., Path]


def errors(folder: Path, plugins: Plugins) -> list[str]:
    found = validate(folder, plugins)[0].findings
    return [str(finding).removeprefix(f"{folder}/") for finding in found if finding.level == "error"]


def test_a_link_may_not_lead_out_of_the_folder(write: Write, installed: Plugins, tmp_path: Path) -> None:
    folder = write()
    outside = tmp_path / "secret.jsonl"
    outside.write_text('{"password": "x"}\n', encoding="utf-8")
    (folder / "items" / "sw.jsonl").unlink()
    (folder / "items" / "sw.jsonl").symlink_to(outside)
    (line,) = errors(folder, installed)
    assert "/splits/own/files/1: data file 'items/sw.jsonl' leaves the bundle's folder; keep it inside" in line
    assert "password" not in line


def test_a_loop_of_links_and_a_name_that_is_too_long(write: Write, installed: Plugins) -> None:
    folder = write(("items/en.jsonl, ", f"{'x' * 300}.jsonl, "))
    (folder / "items" / "sw.jsonl").unlink()
    (folder / "items" / "sw.jsonl").symlink_to(folder / "items" / "sw.jsonl")
    found = errors(folder, installed)
    assert len(found) == 2
    assert all("does not exist; write it, or mend the path" in line for line in found)


@pytest.mark.parametrize(
    "name", ["/etc/passwd.jsonl", "a/../../b.jsonl", "c:\\\\x.jsonl", "items/../../x.jsonl", " .jsonl"]
)
def test_paths_that_are_no_paths_in_the_folder(write: Write, installed: Plugins, name: str) -> None:
    (line, *_) = errors(write(("items/sw.jsonl", f'"{name}"')), installed)
    assert "does not fit; expected a path of a" in line


@pytest.mark.parametrize("name", ["\0", "x" * 5000, "\ud800"])
def test_what_is_no_name_of_a_file(installed: Plugins, name: str) -> None:
    with pytest.raises(UsageError, match=r"no name of a file|no such file"):
        validate(Path(name), installed)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ ''.__class__.__mro__ }}", "__mro__"),
        ("{% for a in context %}{% for b in context %}{{ b }}{% endfor %}", "endfor"),
        ("{{ context * 1000000000 }}", "arithmetic is not allowed"),
        ("{% include '/etc/passwd' %}", "{% include %} is not allowed"),
        ("{{ cycler.__init__ }}", "__init__"),
        ("{{ lipsum }}", "'lipsum' is undefined"),
        ("{{ gold }}", "'gold' is undefined"),
    ],
)
def test_templates(write: Write, installed: Plugins, template: str, words: str) -> None:
    folder = write(("        {{ context }}\n", f"        {template}\n"))
    assert any("/templates/question/en/user" in line and words in line for line in errors(folder, installed))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("name: neighbours", "name: !!python/object/apply:os.system [id]", "the tag"),
        ("name: neighbours", "name: &a neighbours", "the anchor &a"),
        ("name: neighbours", "name: neighbours\nname: others", "for a second time"),
        ("default_mode: generate", "default_mode: generate\nmodel: evil.gguf", 'unknown property "model"'),
        ("default_mode: generate", "default_mode: generate\nbackend: openai", 'unknown property "backend"'),
        ("parser: choice", "parser: ../../evil", "does not fit"),
    ],
)  # fmt: skip
def test_manifests(write: Write, installed: Plugins, old: str, new: str, words: str) -> None:
    assert any(words in line for line in errors(write((old, new)), installed))


def test_a_deep_manifest_ends_in_words(write: Write, installed: Plugins) -> None:
    folder = write(("default_mode: generate", "default_mode: generate\ndeep: " + "[" * 4000 + "]" * 4000))
    (line,) = errors(folder, installed)
    assert "nesting" in line


def test_a_long_line_and_what_stands_behind_it(write: Write, rows: Rows, installed: Plugins) -> None:
    en = rows("en")
    huge = json.dumps({**en[0], "source_id": "huge", "context": "x" * (50 * 2**20)})
    wrong = {**en[7], "gold": "nobody"}
    found = errors(write(en=[*en[:3], huge, *en[3:7], wrong]), installed)
    assert found[0].startswith("items/en.jsonl:4:1: error: ")
    assert "the line is longer than 8 MiB" in found[0]
    assert found[1].startswith("items/en.jsonl:9:")
    assert "gold 'nobody'" in found[1]


def test_a_file_that_nobody_may_read(write: Write, installed: Plugins) -> None:
    folder = write()
    if os.geteuid() == 0:
        (folder / "items" / "sw.jsonl").unlink()
        (folder / "items" / "sw.jsonl").mkdir()
        assert "does not exist" in errors(folder, installed)[0]
        return
    (folder / "items" / "sw.jsonl").chmod(0)
    assert "cannot be read" in errors(folder, installed)[0]


JUDGES = """judges:
  m: {judge: llm, role: a, options: {base_url: "http://169.254.169.254/", api_key: "sk-123"}}
  p: {judge: panel, members: [{name: x, judge: nosuch}, {name: y, judge: rules}]}
"""


@pytest.mark.parametrize("more", ["", "nonsense: 1\n"])
@pytest.mark.parametrize("look", [validate, lambda folder, plugins: check(str(folder), plugins)])
def test_judges_that_nobody_offers_and_addresses_are_told(
    write: Write, installed: Plugins, more: str, look: Callable[..., Any]
) -> None:
    folder = write(("redistribution: allowed\n", f"redistribution: allowed\n{JUDGES}{more}"))
    found = {each.problem.pointer: each.problem.message for each in look(folder, installed)[0].findings}
    assert "base_url" in found["/judges/m/options"]
    assert "nosuch" in found["/judges/p/members/0/judge"]
    assert ("/nonsense" in found) == bool(more)


@pytest.mark.parametrize(
    ("bad", "begins"),
    [
        ("{{ a }} {{ a | attr('x') }}", "attr('x')"),
        ("{{ a }} {{ a.b('x') }}", "b('x')"),
        ("{{ a }} {% include 'x' %}", "include"),
        ("{{ a }} {{ _b }}", "_b"),
        ("{{ a }} {% for x in a.b() %}{% endfor %}", "for x in"),
    ],
)
def test_what_a_template_may_not_is_told_where_it_stands(
    write: Write, installed: Plugins, bad: str, begins: str
) -> None:
    folder = write()
    path = folder / "benchmark.yaml"
    lines = path.read_text(encoding="utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if line.endswith("|-"))
    indent = len(lines[at + 1]) - len(lines[at + 1].lstrip())
    lines[at + 2 : at + 2] = [" " * indent + f"xx {bad}"]
    path.write_text("\n".join(lines), encoding="utf-8")
    (line, *_) = errors(folder, installed)
    column = lines[at + 2].index(begins) + 1
    assert line.startswith(f"benchmark.yaml:{at + 3}:{column}: error: /templates/")
    assert "line 2 of the template: " in line


def test_what_turns_the_direction_of_a_text_is_told(write: Write, installed: Plugins) -> None:
    folder = write(("title: Who", 'title: "\\u202eWho'), ("a good neighbour\n", 'a good neighbour"\n'))
    (found,) = (each for each in validate(folder, installed)[0].findings if each.problem.pointer == "/title")
    assert (found.level, "U+202E is in the text" in found.problem.message) == ("warning", True)
