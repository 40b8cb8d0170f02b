"""`biasfw new benchmark`: a bundle that is valid, runs at once, says what is left to do, and opens as a workbook."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from click.testing import CliRunner

from biasfw import BiasfwError, ComponentError, RunConfig, UsageError, bundles
from biasfw.cli import app
from biasfw.conformance import check
from biasfw.engine import run
from biasfw.languages import pack_files
from biasfw.newbenchmark import TASKS, NewBenchmark, example_items, write_benchmark
from biasfw.plugins import Plugins
from biasfw.sheets import read_sheet
from biasfw.workbook import columns_of

SHIPPED = ("en", "ko", "sw")


def made(folder: Path, **changes: Any) -> Path:
    write_benchmark(NewBenchmark("tried", **changes), folder, SHIPPED)
    return folder / "tried"


@pytest.mark.parametrize("sheet", [False, True])
@pytest.mark.parametrize("task", TASKS)
def test_it_passes_its_check_and_runs(tmp_path: Path, installed: Plugins, task: str, sheet: bool) -> None:
    folder = made(tmp_path, task=task, sheet=sheet, languages=("eu", "en"), categories=("work", "food"))
    report, *packs = check(str(folder), installed)
    assert [f"{each}" for each in report.findings if each.level == "error"] == []
    assert [each.errors for each in packs] == [0] * len(packs)
    assert "eu" in [each.name for each in packs]
    result = run(RunConfig(str(folder), "reference", "random", runs=str(tmp_path / "runs")), installed)
    assert result.status == "complete"
    assert result.scores
    assert all(set(outcomes) == {"answered"} for outcomes in result.outcomes.values())


@pytest.mark.parametrize(
    ("task", "model", "metric", "about", "value"),
    [
        ("choice", "first", "accuracy", {"condition": "plain"}, 0.5),
        ("choice", "stereotyped", "accuracy", {"condition": "plain"}, 0.0),
        ("choice", "anti-stereotyped", "accuracy", {"condition": "plain"}, 1.0),
        ("choice", "shorter", "accuracy", {"condition": "plain"}, 0.5),
        ("sentence_pair", "stereotyped", "choice_share", {"condition": "plain", "role": "stereotyped"}, 1.0),
    ],
)
def test_models_whose_answers_are_known_score_what_they_must(
    tmp_path: Path, installed: Plugins, task: str, model: str, metric: str, about: dict[str, str], value: float
) -> None:
    config = RunConfig(str(made(tmp_path, task=task)), "reference", model, runs=str(tmp_path / "runs"))
    found = [s.value for s in run(config, installed).scores if s.metric == metric and dict(s.slice) == about]
    assert found
    assert set(found) == {value}


@pytest.mark.parametrize("task", TASKS)
def test_a_sheet_holds_the_items_that_lines_of_json_hold(tmp_path: Path, task: str) -> None:
    new = NewBenchmark("tried", task=task, languages=("ko", "en"), sheet=True)
    items = example_items(new)
    path = made(tmp_path, task=task, languages=("ko", "en"), sheet=True) / "items.xlsx"
    rows = list(read_sheet(path))
    assert [row.flaws for row in rows] == [()] * len(items)
    assert [row.value for row in rows] == items


def test_the_workbook_helps_whoever_fills_it_in(tmp_path: Path) -> None:
    folder = made(tmp_path, sheet=True, languages=("ko", "en"), categories=("work", "food"))
    book = openpyxl.load_workbook(folder / "items.xlsx")
    assert book.sheetnames == ["items", "explanations", "examples", "lists"]
    page, lists = book["items"], book["lists"]
    assert [cell.value for cell in page[1]] == columns_of("choice")
    offered = {}
    for rule in page.data_validations.dataValidation:
        column = str(rule.sqref).split(":")[0].rstrip("0123456789")
        cells = str(rule.formula1).removeprefix("=lists!").replace("$", "")
        listed = [cell.value for [cell] in lists[cells]]
        assert len(listed) > 100, "what is added on the sheet is accepted, as the explanations say"
        offered[page[f"{column}1"].value] = [value for value in listed if value]
    assert offered == {
        "language": ["ko", "en"], "category": ["work", "food"], "gold": ["fair", "biased"], "contested": ["yes", "no"],
    }  # fmt: skip
    explained = [
        row[0].value for row in book["explanations"].iter_rows(min_row=2, max_row=len(columns_of("choice")) + 1)
    ]
    assert explained == columns_of("choice")
    assert {cell.number_format for cell in page[2]} == {"@"}, "cells are texts: 1-2 does not become a date"
    assert not book.properties.lastModifiedBy


def test_a_number_that_the_program_made_is_told_by_the_check(tmp_path: Path, installed: Plugins) -> None:
    folder = made(tmp_path, sheet=True)
    book = openpyxl.load_workbook(folder / "items.xlsx")
    book["items"]["D3"].value = 7
    book.save(folder / "items.xlsx")
    report, *_ = check(str(folder), installed)
    [error] = [f"{each}" for each in report.findings if each.level == "error"]
    assert error.startswith(f"{folder}/items.xlsx: sheet items, cell D3: error: a number (7), not a text")


def test_the_check_says_what_is_left_to_do(tmp_path: Path, installed: Plugins) -> None:
    folder = made(tmp_path, languages=("ko", "en"))
    report, *_ = check(str(folder), installed)
    marks = [each.problem for each in report.findings if "left to do" in each.problem.message]
    lines = {
        path: (folder / path).read_text(encoding="utf-8").splitlines() for path in ("benchmark.yaml", "DATASHEET.md")
    }
    [items] = [mark for mark in marks if Path(mark.file).name == "items.jsonl"]
    marks.remove(items)
    assert "`TODO`" in lines["benchmark.yaml"][1], "the header speaks of the mark, and is none"
    assert len(marks) == sum("TODO" in line and "`TODO`" not in line for text in lines.values() for line in text)
    for mark in marks:
        assert lines[Path(mark.file).name][mark.line - 1][mark.column - 1 :].startswith("TODO")
    assert (items.line, items.pointer) == (1, "/attested")
    assert "16 of 16 items of split main with TODO" in items.message
    assert {each.level for each in report.findings} == {"warning"}
    for name, text in lines.items():
        (folder / name).write_text("\n".join(text).replace("TODO", "Done"), encoding="utf-8")
    path = folder / "items.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("TODO", "said"), encoding="utf-8")
    report, *_ = check(str(folder), installed)
    assert "TODO" not in f"{[each.problem.message for each in report.findings]}"
    assert not [each for each in report.findings if "left to do" in each.problem.message]


@pytest.mark.parametrize("count", [1, 3, 8, 12])
def test_there_are_enough_items_and_no_two_alike(count: int) -> None:
    categories = tuple(f"part-{number}" for number in range(count))
    for task in TASKS:
        items = example_items(NewBenchmark("tried", task=task, categories=categories))
        assert len(items) >= 8
        assert {item["category"] for item in items} == set(categories)
        texts = [json.dumps([item.get("situation"), item.get("choices"), item.get("topic")]) for item in items]
        if task == "choice":
            texts = [item["situation"] for item in items]
        assert len(set(texts)) == len(items)
        assert len({item["source_id"] for item in items}) == len(items)
        assert all("TODO" in item["attested"] for item in items)


def test_neither_reply_gives_itself_away_by_its_length() -> None:
    shorter = [
        len(fair["text"]) < len(biased["text"])
        for item in example_items(NewBenchmark("tried"))
        for fair, biased in [item["choices"]]
    ]
    assert shorter.count(True) == shorter.count(False)


def test_only_languages_without_a_pack_get_one_and_every_canary_is_new(tmp_path: Path) -> None:
    canaries = set()
    for name, languages in (("a", ("en", "ko-KR")), ("b", ("eo", "ar-EG"))):
        write_benchmark(NewBenchmark(name, languages=languages), tmp_path, SHIPPED)
        canaries.add(bundles.load(tmp_path / name).manifest["canary"])
    assert not (tmp_path / "a" / "languages").exists()
    assert sorted(path.name for path in (tmp_path / "b" / "languages").iterdir()) == ["ar-EG.yaml", "eo.yaml"]
    assert len(canaries) == 2


def test_every_shipped_language_has_prompts_of_its_own(tmp_path: Path, installed: Plugins) -> None:
    shipped = pack_files(folder for folder, _ in installed.folders("language"))
    write_benchmark(NewBenchmark("many", languages=(*shipped, "pt-BR")), tmp_path, shipped)
    texts = bundles.load(tmp_path / "many").manifest["templates"]["question"]
    assert len({text["user"] for text in texts.values()}) == len(shipped)
    assert texts["pt-BR"] == texts["en"], "to be put into the language"
    report, *_ = check(str(tmp_path / "many"), installed)
    assert not [f"{each}" for each in report.findings if each.level == "error"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "Big"}, "the name"),
        ({"name": "../up"}, "the name"),
        ({"categories": ("Two Words",)}, "the category"),
        ({"categories": ("a", "a")}, "each named once"),
        ({"languages": ("english",)}, "no language tag"),
        ({"languages": ()}, "one language or several"),
        ({"region": "two\nlines"}, "not one line"),
        ({"task": "essay"}, "no task"),
    ],
)
def test_what_cannot_be_used_is_told_before_anything_is_written(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        write_benchmark(NewBenchmark(**{"name": "tried", **changes}), tmp_path, SHIPPED)
    assert not list(tmp_path.iterdir())


def test_nothing_is_written_over(tmp_path: Path) -> None:
    made(tmp_path)
    with pytest.raises(BiasfwError, match="exists already"):
        made(tmp_path)


def test_a_sheet_without_the_library_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ComponentError, match="biasfw\\[xlsx\\]"):
        made(tmp_path, sheet=True)
    assert not list(tmp_path.iterdir())


def test_on_a_terminal_it_asks_for_what_was_not_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasfw.cli.new_.on_terminal", lambda: True)
    arguments = ["new", "benchmark", "asked", "--output", str(tmp_path), "--region", "Busan"]
    result = CliRunner().invoke(app, arguments, input="sentence_pair\nko, en\nwork food\n")
    assert result.exit_code == 0, result.output
    assert "Region" not in result.output
    manifest = bundles.load(tmp_path / "asked").manifest
    assert (manifest["task"], manifest["languages"], manifest["region"]) == ("sentence_pair", ["ko", "en"], "Busan")
    assert [each["key"] for each in manifest["categories"]] == ["work", "food"]


def test_elsewhere_it_takes_defaults_and_asks_nothing(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["new", "benchmark", "plain", "--output", str(tmp_path)])
    assert result.exit_code == 0, result.output
    manifest = bundles.load(tmp_path / "plain").manifest
    assert (manifest["task"], manifest["languages"], manifest["region"]) == ("choice", ["en"], "international")
    assert f"biasfw check {tmp_path / 'plain'}" in result.output


@pytest.mark.parametrize("task", ["choice", "labels"])
def test_english_in_another_language_is_marked(tmp_path: Path, installed: Plugins, task: str) -> None:
    folder = made(tmp_path, task=task, languages=("tr",), categories=("komsuluk", "is"))
    lines = (folder / "benchmark.yaml").read_text(encoding="utf-8").splitlines()
    for key in ("categories:", "list_style:")[: 1 + (task == "labels")]:
        assert "# TODO: " in lines[lines.index(key) + 1], key
    found = [each.problem for each in check(str(folder), installed)[0].findings]
    assert [each.message for each in found if each.pointer == "/list_style/tr"] == (
        ['", and " is English, and stands in prompts in tr; write it as it is written in that language']
        if task == "labels"
        else []
    )


def test_english_in_english_is_not(tmp_path: Path, installed: Plugins) -> None:
    folder = made(tmp_path, task="labels", languages=("en",))
    lines = (folder / "benchmark.yaml").read_text(encoding="utf-8").splitlines()
    assert not any("TODO" in lines[lines.index(key) + 1] for key in ("categories:", "list_style:"))
    assert not any("is English" in str(each) for each in check(str(folder), installed)[0].findings)


@pytest.mark.parametrize(
    ("given", "near"), [("komşuluk", "komsuluk"), ("İş", "is"), ("Straße", "strasse"), ("ışık hızı", "isik_hizi")]
)
def test_a_key_in_plain_letters_is_proposed(tmp_path: Path, given: str, near: str) -> None:
    with pytest.raises(UsageError, match=f'did you mean "{near}"'):
        made(tmp_path, categories=(given,))
    with pytest.raises(UsageError) as caught:
        made(tmp_path, categories=("仕事",))
    assert "did you mean" not in str(caught.value)


def test_the_count_of_the_examples_is_marked_and_no_word_is_cut(tmp_path: Path, installed: Plugins) -> None:
    folder = made(tmp_path)
    text = (folder / "DATASHEET.md").read_text(encoding="utf-8")
    assert all(line.startswith("TODO") for line in text.splitlines() if "8 items" in line)
    both = text + (folder / "benchmark.yaml").read_text(encoding="utf-8")
    words = set(both.replace('"', " ").replace("\n", " ").split())
    for each in check(str(folder), installed)[0].findings:
        said = each.problem.message.partition("left to do: ")[2].removesuffix("…").split()
        if said and Path(each.problem.file).name != "items.jsonl" and said != ["replace", "this", "line"]:
            assert said[-1] in {word.strip("}'") for word in words} | words, each


def test_a_benchmark_without_a_paper_is_not_said_to_differ_from_it(tmp_path: Path, installed: Plugins) -> None:
    folder = made(tmp_path)
    runs = tmp_path / "runs"
    arguments = ["run", "--benchmark", str(folder), "--backend", "reference", "--model", "random", "--runs", str(runs)]
    shown = CliRunner().invoke(app, arguments)
    [directory] = runs.iterdir()
    page = CliRunner().invoke(app, ["report", str(directory), "-o", str(tmp_path / "page.html")])
    told = CliRunner().invoke(app, ["show", str(folder)])
    assert [each.exit_code for each in (shown, page, told)] == [0, 0, 0], (shown.output, page.output, told.output)
    for text in (shown.output, told.output, (tmp_path / "page.html").read_text(encoding="utf-8")):
        assert "machine-written, not reviewed by native speakers" in text
        assert "the paper" not in text
    assert bundles.load(folder).demo_words == "machine-written, not reviewed by native speakers"
