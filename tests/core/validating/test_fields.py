"""Fields that templates use and items lack: `validate` and `check` name the line, or the cell, of the item."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from biasfw.conformance import check
from biasfw.newbenchmark import NewBenchmark, write_benchmark
from biasfw.plugins import Plugins
from biasfw.validating import validate

Rows = Callable[[str], list[dict[str, Any]]]
Write = Callable[..., Path]


def findings(command: str, folder: Path, plugins: Plugins, level: str = "error") -> list[str]:
    reports = validate(folder, plugins) if command == "validate" else check(str(folder), plugins)
    named = [str(each) for each in reports[0].findings if each.level == level]
    return [each.replace(f"{folder}/", "") for each in named]


def renamed(row: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if name == old else name: value for name, value in row.items()}


@pytest.mark.parametrize("command", ["validate", "check"])
def test_a_misspelt_and_a_missing_field_are_told_at_their_lines(
    write: Write, rows: Rows, installed: Plugins, command: str
) -> None:
    en = rows("en")
    en[2] = renamed(en[2], "context", "contxt")
    del en[4]["context"]
    folder = write(en=en)
    column = json.dumps(en[2], ensure_ascii=False).index('"contxt"') + 1
    assert findings(command, folder, installed) == [
        f'items/en.jsonl:3:{column}: error: /contxt: "contxt" is not a name for this; did you mean "context"? '
        "template 'question' uses it",
        "items/en.jsonl:5:1: error: /context: the field \"context\" is missing, which template 'question' uses; "
        "write it",
    ]


def test_one_file_alone_is_told_the_same(write: Write, rows: Rows, installed: Plugins) -> None:
    en = rows("en")
    del en[4]["context"]
    folder = write(en=en)
    found = findings("validate", folder / "items" / "en.jsonl", installed)
    assert [each.partition(": error")[0] for each in found] == [f"{folder}/items/en.jsonl:5:1"]


def test_an_item_with_another_mistake_is_told_this_too(write: Write, rows: Rows, installed: Plugins) -> None:
    en = rows("en")
    en[4]["gold"] = "nobody"
    del en[4]["context"]
    found = findings("validate", write(en=en), installed)
    assert len(found) == 2
    assert all(each.startswith("items/en.jsonl:5:") for each in found)


def test_a_field_that_no_item_has_is_told_at_the_template_with_the_first_item(
    write: Write, rows: Rows, installed: Plugins
) -> None:
    en = [renamed(row, "context", "contxt") for row in rows("en")]
    (found,) = findings("validate", write(en=en), installed)
    assert found.startswith("benchmark.yaml:")
    assert found.endswith('did you mean "contxt"? (first item: ' + found.rpartition("(first item: ")[2])
    assert "items/en.jsonl:1:1" in found


def test_a_split_whose_items_all_lack_what_those_of_another_have(write: Write, rows: Rows, installed: Plugins) -> None:
    edit = ("  official:\n", "  bare: {files: [items/bare.jsonl]}\n  official:\n")
    folder = write(edit)
    row = {name: value for name, value in rows("en")[0].items() if name != "context"}
    (folder / "items" / "bare.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert [each.partition(": error")[0] for each in findings("validate", folder, installed)] == [
        "items/bare.jsonl:1:1"
    ]


@pytest.mark.parametrize("command", ["validate", "check"])
@pytest.mark.parametrize("emptied", [(4,), tuple(range(2, 10))])
def test_an_empty_cell_is_told_with_sheet_and_cell(
    tmp_path: Path, installed: Plugins, command: str, emptied: tuple[int, ...]
) -> None:
    write_benchmark(NewBenchmark("tried", sheet=True), tmp_path, ("en",))
    folder = tmp_path / "tried"
    book = openpyxl.load_workbook(folder / "items.xlsx")
    letter = next(cell.column_letter for cell in book["items"][1] if cell.value == "situation")
    for row in emptied:
        book["items"][f"{letter}{row}"].value = None
    book.save(folder / "items.xlsx")
    assert findings(command, folder, installed) == [
        f"items.xlsx: sheet items, cell {letter}{row}: error: /situation: "
        "the field \"situation\" is empty, which template 'question' uses; write it"
        for row in emptied
    ]


@pytest.mark.parametrize("command", ["validate", "check"])
def test_an_empty_field_of_a_csv_file_is_told_at_its_column(
    write: Write, rows: Rows, installed: Plugins, command: str
) -> None:
    names = ["source_id", "language", "category", "context", "choice_fair (anti-stereotyped)",
             "choice_unfair (stereotyped)", "gold", "target", "stereotype", "harm", "attested"]  # fmt: skip
    text = io.StringIO()
    made = csv.writer(text, lineterminator="\n")
    made.writerow(names)
    for place, row in enumerate(rows("en")):
        cells = [row.get(name, "") for name in names]
        cells[4], cells[5] = (choice["text"] for choice in row["choices"])
        cells[3] = "" if place == 1 else row["context"]
        made.writerow(cells)
    folder = write(("items/en.jsonl", "items/en.csv"))
    (folder / "items" / "en.csv").write_text(text.getvalue(), encoding="utf-8")
    line = text.getvalue().splitlines()[2]
    (found,) = findings(command, folder, installed)
    assert found.startswith(f'items/en.csv:3:{line.index(",,") + 2}: error: /context: the field "context" is empty')


def test_a_prompt_that_cannot_be_made_of_one_item_is_told_at_the_item(
    write: Write, rows: Rows, installed: Plugins
) -> None:
    en = rows("en")
    en[3]["context"] = {"a": "mapping"}
    (found,) = findings("check", write(en=en), installed)
    assert found.startswith("items/en.jsonl:4:1: error: ")
    assert found.endswith("(under 'reply')")


def test_a_language_that_the_benchmark_does_not_have_is_told_once(write: Write, rows: Rows, installed: Plugins) -> None:
    en = rows("en")
    en[3]["language"] = "fr"
    (found,) = findings("check", write(en=en), installed)
    assert "language 'fr' is not among the manifest's languages" in found


def test_a_misspelt_name_that_no_prompt_uses_is_doubted(write: Write, rows: Rows, installed: Plugins) -> None:
    en = [renamed(row, "stereotype", "sterotype") for row in rows("en")]
    folder = write(en=en)
    assert findings("validate", folder, installed) == []
    (found,) = findings("validate", folder, installed, "warning")
    assert 'unknown property "sterotype": no prompt uses it; did you mean "stereotype"?' in found
    assert found.startswith("items/en.jsonl:1:")


def test_solved_examples_are_looked_at_too(write: Write, rows: Rows, installed: Plugins) -> None:
    folder = write(("default_split: own\n", "default_split: own\nshots: {file: items/shots.jsonl}\n"))
    assert [each for each in findings("validate", folder, installed) if "'items/shots.jsonl'" in each]
    first, second, third = rows("en")[:3]
    del first["gold"], second["context"]
    third["category"] = "nise"
    lines = [json.dumps(row) for row in (first, second, third, rows("en")[3])]
    (folder / "items" / "shots.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = findings("validate", folder, installed)
    assert [each.partition(": error")[0] for each in found] == [
        "items/shots.jsonl:1:1",
        "items/shots.jsonl:2:1",
        f"items/shots.jsonl:3:{lines[2].index(chr(34) + 'nise') + 1}",
    ]


def test_every_wrong_cell_of_a_row_is_told(tmp_path: Path, installed: Plugins) -> None:
    write_benchmark(NewBenchmark("tried", sheet=True), tmp_path, ("en",))
    folder = tmp_path / "tried"
    book = openpyxl.load_workbook(folder / "items.xlsx")
    page = book["items"]
    letters = {str(cell.value).partition(" ")[0]: cell.column_letter for cell in page[1]}
    page[f"{letters['contested']}3"].value = "perhaps"
    page[f"{letters['gold']}3"].value = "fiar"
    page[f"{letters['harm']}3"].value = 7
    page[f"{letters['source_id']}4"].value = None
    page[f"{letters['category']}4"].value = "nothing"
    page[f"{letters['choice_biased']}5"].value = None
    book.save(folder / "items.xlsx")
    cells = [each.partition("cell ")[2].partition(":")[0] for each in findings("validate", folder, installed)]
    wanted = [("gold", 3), ("harm", 3), ("contested", 3), ("source_id", 4), ("category", 4), ("choice_biased", 5)]
    assert sorted(cells) == sorted(f"{letters[name]}{row}" for name, row in wanted)


def test_a_line_with_null_is_no_item(write: Write, rows: Rows, installed: Plugins) -> None:
    (found,) = findings("validate", write(en=[*rows("en"), "null"]), installed)
    assert found.startswith("items/en.jsonl:9:1: error: ")


def test_a_pair_without_its_sentences_is_told_once(tmp_path: Path, installed: Plugins) -> None:
    write_benchmark(NewBenchmark("tried", task="sentence_pair"), tmp_path, ("en",))
    items = tmp_path / "tried" / "items.jsonl"
    lines = [json.loads(line) for line in items.read_text(encoding="utf-8").splitlines()]
    lines[1]["choices"] = []
    items.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    (found,) = findings("validate", tmp_path / "tried", installed)
    assert "a sentence pair has two sentences (choices), this one has 0" in found
