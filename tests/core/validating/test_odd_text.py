"""Characters that nothing can hold are told at their place by `validate`, and refused in the same words by a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from biasfw import DataError, bundles
from biasfw.conformance import check
from biasfw.newbenchmark import NewBenchmark, write_benchmark
from biasfw.plugins import Plugins
from biasfw.validating import validate

HALF = "\ud835"
Spoil = Callable[[dict[str, Any]], Any]


def named(row: dict[str, Any], **changed: Any) -> None:
    row.update(changed)


def key(row: dict[str, Any], text: str) -> None:
    row["choices"][0]["key"] = text


NAMES: list[tuple[Spoil, str]] = [
    (lambda row: named(row, source_id=f"a{HALF}"), "/source_id"),
    (lambda row: named(row, language=f"en{HALF}"), "/language"),
    (lambda row: named(row, category=HALF), "/category"),
    (lambda row: named(row, gold=f"fair{HALF}"), "/gold"),
    (lambda row: key(row, f"fair{HALF}"), "/choices/0/key"),
    (lambda row: named(row, **{f"x{HALF}": "a"}), f"/x{HALF}"),
    (lambda row: named(row, metadata={f"m{HALF}": 1}), f"/metadata/m{HALF}"),
]
TEXTS: list[tuple[Spoil, str]] = [
    (lambda row: named(row, situation="a\0b"), "/situation"),
    (lambda row: named(row, source_id="a\x1b[2J"), "/source_id"),
    (lambda row: named(row, stereotype="a\x1b]0;x\x07"), "/stereotype"),
    (lambda row: named(row, metadata={"a": ["\ufffd"]}), "/metadata/a/0"),
]


def spoilt(tmp_path: Path, spoil: Spoil) -> Path:
    write_benchmark(NewBenchmark("busan"), tmp_path, ("en",))
    file = tmp_path / "busan" / "items.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    spoil(rows[1])
    rows[3]["category"] = "nowhere"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return tmp_path / "busan"


@pytest.mark.parametrize(("spoil", "pointer"), NAMES + TEXTS)
def test_what_no_text_may_hold(tmp_path: Path, installed: Plugins, spoil: Spoil, pointer: str) -> None:
    folder = spoilt(tmp_path, spoil)
    found = [each.problem for each in validate(folder, installed)[0].findings if each.level == "error"]
    (told,) = (each for each in found if each.line == 2 and each.pointer == pointer)
    assert told.file == f"{folder / 'items.jsonl'}"
    assert told.column > 1
    assert any(each.line == 4 and "category 'nowhere' is not in the manifest" in each.message for each in found)
    assert told in [each.problem for each in check(str(folder), installed)[0].findings]
    with pytest.raises(DataError) as refused:
        bundles.load(folder).read(installed)
    assert str(refused.value) == str(told)


def test_half_a_pair_in_a_text_is_kept_and_told(tmp_path: Path, installed: Plugins) -> None:
    folder = spoilt(tmp_path, lambda row: named(row, situation=f"a{HALF}b"))
    found = [each for each in validate(folder, installed)[0].findings if each.problem.line == 2]
    assert [(each.level, each.problem.pointer) for each in found] == [("warning", "/situation")]
