"""Kinds 7 and 10 of the handed cases: what `validate` says of each file, with the right line."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasfw.cli import app
from biasfw.plugins import Plugins
from biasfw.validating import validate
from biasfw.validating.tables import Wishes, fold

Say = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def say(cases: Path) -> Say:
    """Validate a handed file with the options; exit code, and findings without the folder."""

    def run(name: str, *options: str) -> tuple[int, list[str]]:
        done = CliRunner().invoke(app, ["validate", str(cases / "data" / name), *options])
        lines = [line.removeprefix(f"{cases / 'data'}/") for line in done.stdout.splitlines()]
        return done.exit_code, [line for line in lines if line.startswith(name)]

    return run


def test_c51_a_mark_and_crlf_make_no_difference(say: Say) -> None:
    assert say("bom.jsonl", "--column", "example_id") == (0, [])
    assert say("bom_crlf.csv", "--column", "id", "--values", "label=a,b") == (0, [])
    code, (line,) = say("bom_crlf.csv", "--values", "label=a")  # of the field, in the row that has a quoted comma
    assert (code, line.split(" ")[0]) == (1, "bom_crlf.csv:2:30:")


def test_c52_only_the_placeholder_is_one(say: Say) -> None:
    assert say("braces.jsonl") == (0, [])
    code, found = say("braces.jsonl", "--placeholder", "{Demographic List}")
    assert (code, [line.split(" ")[0] for line in found]) == (0, ["braces.jsonl:4:21:", "braces.jsonl:5:21:"])
    assert "stands there 2 times" in found[0]
    assert '"{demographic list}" is not the placeholder {Demographic List} (another spelling)' in found[1]


def test_c53_both_places_of_a_duplicate_are_named(say: Say) -> None:
    code, (line,) = say("duplicate_ids.jsonl")
    assert (code, line.split(": ")[0]) == (1, "duplicate_ids.jsonl:3:16")
    assert "example_id 'x-1' also stands in line 1" in line


def test_c55_shift_jis(say: Say) -> None:
    code, (line,) = say("sjis.csv")
    assert (code, line.split(": ")[0]) == (1, "sjis.csv:1:4")
    assert "byte 4 of the file (0x95) is not UTF-8" in line
    assert "cp932" in line
    assert say("sjis.csv", "--encoding", "cp932", "--column", "文脈", "--values", "正解=a,b") == (0, [])


def test_c56_half_a_symbol_is_kept_and_told(say: Say) -> None:
    code, (line,) = say("lone_surrogate.jsonl")
    assert (code, line.split(": ")[0]) == (0, "lone_surrogate.jsonl:1:91")
    assert "warning: /response_a: half a surrogate pair (U+D835): kept as it is" in line


def test_c58_labels_are_folded_and_nothing_falls_back(say: Say) -> None:
    code, found = say("labels_mixed.jsonl", "--values", "correct_answer=a,b")
    assert code == 1
    assert [line.split(":")[1] for line in found] == ["4", "5", "6", "7"]
    assert all("error: /correct_answer: expected one of" in line for line in found)
    assert [fold(text) for text in ("B", " b ", "Ｂ")] == ["b"] * 3
    code, (line,) = say("answer_typo.jsonl", "--values", "model_output=@ans0,@ans1,@ans2")
    assert (code, line.split(": ")[0]) == (1, "answer_typo.jsonl:1:153")
    assert 'found the text "The one who gets aid"; nothing is taken for another value' in line


def test_c59_a_missing_column_is_named(say: Say) -> None:
    assert say("missing_column.csv") == (0, [])
    code, (line,) = say("missing_column.csv", "--column", "viewpoint")
    assert (code, line.split(" ")[0]) == (1, "missing_column.csv:1:1:")
    assert 'the column "viewpoint" is missing' in line


@pytest.mark.parametrize(
    ("case", "place", "words"),
    [
        ("broken_import", "3:1", "biasfw has no public name 'a_name_that_was_removed'"),
        (
            "unknown_hook_argument",
            "8:1",
            "there is no hook biasfw_register_benchmarks; did you mean biasfw_benchmark_f",
        ),
        ("collision_one", "1:1", "it declares no biasfw_api"),
    ],
)
def test_plugin_cases(cases: Path, installed: Plugins, tmp_path: Path, case: str, place: str, words: str) -> None:
    """C73 to C75, before anything is installed: the modules are read, never run."""
    (module,) = (cases / "plugins" / case).glob("*.py")
    text = module.read_text(encoding="utf-8")
    if case != "collision_one":
        text = "biasfw_api = 1\n\n" + text
    (tmp_path / module.name).write_text(text, encoding="utf-8")
    lines = ["[project]", 'name = "it"', 'dependencies = ["biasfw"]', "[project.entry-points.biasfw]"]
    (tmp_path / "pyproject.toml").write_text("\n".join([*lines, f'it = "{module.stem}"']), encoding="utf-8")
    (report,) = validate(tmp_path, installed)
    found = [str(finding) for finding in report.findings]
    assert any(line.startswith(f"{tmp_path / module.name}:") and words in line for line in found), found
    if case != "unknown_hook_argument":
        assert any(f"{module.name}:{place}: " in line and words in line for line in found), found


def test_an_argument_of_the_future_is_named(installed: Plugins, tmp_path: Path) -> None:
    text = "from biasfw import hookimpl\n\nbiasfw_api = 1\n\n\n@hookimpl\n"
    text += "def biasfw_metrics(an_argument_of_the_future):\n    return []\n"
    (tmp_path / "future.py").write_text(text, encoding="utf-8")
    lines = '[project]\nname = "it"\n[project.entry-points.biasfw]\nit = "future"\n'
    (tmp_path / "pyproject.toml").write_text(lines, encoding="utf-8")
    (report,) = validate(tmp_path, installed)
    first, second = (str(finding) for finding in report.findings)
    assert f"{tmp_path / 'future.py'}:7:20: error: the hook biasfw_metrics has no argument" in first
    assert "warning: biasfw is not among the dependencies" in second


def test_other_files_in_the_wild(tmp_path: Path, installed: Plugins) -> None:
    """NaN, NUL, NFD, U+2028 inside a text, a key that stands twice, a field that one row lacks."""
    rows = [
        b'{"id": "caf\xc3\xa9", "text": "one"}',
        '{"id": "2", "text": "line\u2028still the same line"}'.encode(),
        b'{"id": "3", "text": NaN}',
        b'{"id": "4", "text": "nul\\u0000"}',
        f'{{"id": "{unicodedata.normalize("NFD", "café")}", "text": "five"}}'.encode(),
        b'{"id": "6", "text": "a", "text": "b"}',
        b'{"id": "7", "txet": "a"}',
        b"[]",
        b'{"id": "9", "text": "\xff"}',
        *(f'{{"id": "x{n}", "text": "t"}}'.encode() for n in range(20)),
        b'{"id": "x0", "text": "t"}',
    ]
    path = tmp_path / "wild.jsonl"
    path.write_bytes(b"\n".join(rows) + b"\n")
    (report,) = validate(path, installed)
    errors = {finding.problem.line: finding.problem for finding in report.findings if finding.level == "error"}
    told = {line: problem.message for line, problem in errors.items()}
    assert sorted(told) == [3, 4, 5, 6, 7, 8, 9, 30]
    assert "NaN is not JSON" in told[3]
    assert "the text holds U+0000" in told[4]
    assert "also stands in line 1, in another form of Unicode" in told[5]
    assert (errors[6].column, "stands twice" in told[6]) == (26, True)
    assert 'the field "text" is missing; did you mean "txet"?' in told[7]
    assert "expected a JSON object" in told[8]
    assert "is not UTF-8" in told[9]
    assert "'x0' also stands in line 10" in told[30]
    assert [finding.problem.line for finding in report.findings if finding.level == "warning"] == [5]


def test_an_unbalanced_placeholder(tmp_path: Path, installed: Plugins) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"id": 1, "p": "about {Topic"}\n{"id": 2, "p": "about {Topic}"}\n', encoding="utf-8")
    (report,) = validate(path, installed, Wishes(placeholder="{Topic}"))
    (finding,) = report.findings
    assert (finding.level, finding.problem.line) == ("warning", 1)
    assert '"{Topic" is not the placeholder {Topic} (unbalanced)' in finding.problem.message
