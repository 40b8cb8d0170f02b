"""`validate` on a table of somebody's own: every wrong row, at its field; exit codes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasfw.cli import app
from biasfw.conformance import check
from biasfw.newbenchmark import TASKS, NewBenchmark, write_benchmark
from biasfw.plugins import Plugins


def said(path: Path, *options: str) -> list[str]:
    done = CliRunner().invoke(app, ["validate", str(path), *options])
    return [line.replace(f"{path}:", "") for line in done.stdout.splitlines() if line.startswith(f"{path}:")]


def test_values_are_told_at_their_fields(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('id,text,gold,more\n1,"a, b",a,x\n2,"a\nb",c,x\n3,c,,x\n4,c,  ,x\n', encoding="utf-8")
    found = said(path, "--values", "gold=a,b")
    assert [each.partition(": error: /gold: ")[0] for each in found] == ["4:4", "5:5", "6:5"]
    assert found[1].endswith('expected one of "a", "b", found an empty cell; nothing is taken for another value')


def test_an_empty_cell_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("id,gold\n1,a\n2,  \n", encoding="utf-8")
    wanted = ['3:3: error: /gold: the field "gold" is empty; write what belongs there']
    assert said(path, "--column", "gold") == wanted
    assert said(path, "--column", "gold", "--values", "gold=a,b") == wanted


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("before", ["", "sep={}\n"])
def test_tables_with_semicolons_and_tabs_are_read_as_such(tmp_path: Path, separator: str, before: str) -> None:
    path = tmp_path / "x.csv"
    text = before.format(separator) + "id,a\n1,x\n1,y\n2\n".replace(",", separator)
    path.write_text(text, encoding="utf-8")
    lines = 3 + bool(before)
    first, second = said(path)
    assert first.startswith(f"{lines}:1: error: /id: id '1' also stands in line {lines - 1}")
    assert second.startswith(f"{lines + 1}:1: error: 1 field where the header has 2; put a text that holds a ")


@pytest.mark.parametrize("text", ["id,a\n1,x\n2,yy\n", "id,a\n1,x\n2,y\n", "id,a\n1,\u65e5\n"])
@pytest.mark.parametrize("encoding", ["utf-16", "UTF16", "utf-16-le", "utf-32"])
def test_a_file_in_utf8_is_not_read_as_wide_characters(tmp_path: Path, text: str, encoding: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    assert said(path, "--encoding", encoding) == [
        f"1:1: error: the file is UTF-8, not {encoding}; leave out --encoding"
    ]
    path.write_text(text, encoding=encoding)
    assert said(path, "--encoding", encoding) == []


def test_marks_of_utf16_and_utf32_are_told_apart(tmp_path: Path) -> None:
    for encoding in ("utf-16", "utf-32"):
        for name, way in (("x.csv", f", or give --encoding {encoding}"), ("x.jsonl", ""), ("x.yaml", "")):
            (tmp_path / name).write_text("id,a\n1,x\n", encoding=encoding)
            found = said(tmp_path / name)
            assert found == [f"1:1: error: the file is {encoding.upper()}; save it as UTF-8{way}"]


def test_a_file_without_rows_is_wrong(tmp_path: Path) -> None:
    for name, text in (("x.csv", "id,a\n"), ("x.jsonl", "\n \n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert said(tmp_path / name) == ["1:1: error: the file holds no rows; write one for everything in it"]


def test_an_empty_id_is_no_id(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("gold,id\na,1\na,\n", encoding="utf-8")
    assert said(path) == ["3:3: error: /id: id is empty; give every row its own"]


def test_a_row_with_too_many_fields_hides_no_other(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("id,gold\n1\n2,a,b\n3,c\n", encoding="utf-8")
    found = said(path, "--values", "gold=a")
    assert [each.partition(": error")[0] for each in found] == ["2:1", "3:1", "4:3"]
    assert "1 field where the header has 2" in found[0]


@pytest.mark.parametrize("command", ["validate", "check"])
def test_exit_codes_are_0_1_and_2(tmp_path: Path, command: str) -> None:
    write_benchmark(NewBenchmark("fine"), tmp_path, ("en",))
    folder = tmp_path / "fine"

    def code(path: Path) -> int:
        options = ["--quick"] if command == "check" else []
        return CliRunner().invoke(app, [command, str(path), *options]).exit_code

    assert code(folder) == 0
    manifest = folder / "benchmark.yaml"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("task: choice", "task: chioce"), encoding="utf-8")
    assert code(folder) == 1
    done = CliRunner().invoke(app, [command, str(tmp_path / "nowhere")])
    assert getattr(done.exception, "exit_code", None) == 2


@pytest.mark.parametrize("task", TASKS)
def test_one_of_a_thing_is_said_in_the_singular(tmp_path: Path, installed: Plugins, task: str) -> None:
    write_benchmark(NewBenchmark("fine", task=task), tmp_path, ("en",))
    folder = tmp_path / "fine"
    items = folder / "items.jsonl"
    items.write_text(items.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    reports = check(str(folder), installed)
    lines = [*reports[0].facts, *(finding.problem.message for finding in reports[0].findings)]
    assert any("1 item (" in line for line in lines)
    wrong = [
        line
        for line in lines
        if re.search(r"(?<![\d.,] of )\b1 (items|prompts|rows|answers|clusters|pairs|scores)\b", line)
    ]
    assert wrong == []
