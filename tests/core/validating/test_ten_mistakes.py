"""Ten mistakes in one bundle give ten messages at their places, in one call: no mistake hides another."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from biasfw import schemas
from biasfw.cli import app
from biasfw.conformance import check
from biasfw.plugins import Plugins
from biasfw.sources import source_of
from biasfw.validating import validate
from biasfw.yamlfile import load_yaml

Place = Callable[..., tuple[int, int]]
Rows = Callable[[str], list[dict[str, Any]]]
Write = Callable[..., Path]


@pytest.fixture
def spoilt(write: Write, rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The bundle with ten mistakes; the fetched file of its official split is another than the one pinned."""
    monkeypatch.setenv("BIASFW_CACHE", str(tmp_path / "cache"))
    en = rows("en")
    en[2]["gold"] = "fiar"
    en[5]["source_id"] = "n-1"
    folder: Path = write(
        ("interpretation:\n", "interpretaton:\n"),
        ("cluster: source_id", "cluster: [source_id]"),
        ("{en: [Noise], sw: [Kelele]}", "{en: [Noise]}"),
        ("        {{ context }}\n", "        {{ contxt }}\n"),
        ("{{ option.text }}\n        {% endfor %}Jibu:", "{{ option.text() }}\n        {% endfor %}Jibu:"),
        ("parser: choice", "parser: choise"),
        ("items/sw.jsonl]", "../sw.jsonl]"),
        en=en,
    )
    source = source_of(load_yaml(folder / "benchmark.yaml").value, "official")
    assert source
    source.folder.mkdir(parents=True)
    (source.folder / "data.jsonl").write_text("abcd", encoding="utf-8")
    return folder


def expected(folder: Path, place_of: Place) -> list[tuple[str, int, int, str]]:
    """File, line, column and a part of the message of every mistake, in the order of the files."""
    manifest, items = folder / "benchmark.yaml", folder / "items" / "en.jsonl"
    in_manifest = [
        ("interpretaton", "", 'unknown property "interpretaton"; did you mean "interpretation"?'),
        ("{en: [Noise]}", "", "no text for language 'sw', which the benchmark names"),
        ("../sw.jsonl", "", '"../sw.jsonl" does not fit; expected a path of a'),
        ("a" * 64, "", "data.jsonl is another than this; fetch it again"),
        ("[source_id]", "", "expected a text, found a list"),
        ("contxt", "", "'contxt' is undefined: no item in en has such a field; did you mean \"context\"?"),
        ("text() }}\n        {% endfor %}Jibu:", "", "line 2 of the template: a call is not allowed in a template"),
        ("choise", "", "unknown parser 'choise'; did you mean choice?"),
    ]
    found = [(str(manifest), *place_of(manifest, text, after=after), part) for text, after, part in in_manifest]
    found.append((str(items), *place_of(items, '"fiar"'), "gold 'fiar' is none of its options; it has: fair, unfair"))
    line = items.read_text(encoding="utf-8").splitlines()[5]
    found.append((str(items), 6, line.index('"n-1"') + 1, "source_id 'n-1' (en) also stands in line 2"))
    return found


@pytest.mark.parametrize("command", ["validate", "check"])
def test_ten_mistakes_are_told_in_one_call(spoilt: Path, place_of: Place, installed: Plugins, command: str) -> None:
    reports = validate(spoilt, installed) if command == "validate" else check(str(spoilt), installed)
    found = [finding.problem for finding in reports[0].findings if finding.level == "error"]
    wanted = expected(spoilt, place_of)
    assert len(wanted) == 10
    assert [(each.file, each.line, each.column) for each in found] == [each[:3] for each in wanted]
    for problem, (*_, part) in zip(found, wanted, strict=True):
        assert part in problem.message
    assert not [finding for finding in reports[0].findings if finding.level == "warning"]


def test_they_come_as_json_too(spoilt: Path) -> None:
    done = CliRunner().invoke(app, ["validate", str(spoilt), "--json"])
    document = json.loads(done.stdout)
    assert (done.exit_code, document["ok"], document["errors"]) == (1, False, 10)
    pointers = [each["pointer"] for each in document["checked"][0]["problems"]]
    assert pointers == [
        "/interpretaton",
        "/categories/0/names",
        "/splits/own/files/1",
        "/splits/official/source/files/0/sha256",
        "/cluster",
        "/templates/question/en/user",
        "/templates/question/sw/user",
        "/protocols/generate/parser",
        "/gold",
        "/source_id",
    ]


def test_a_manifest_holds_no_regular_expression() -> None:
    """So none can be slow: patterns in the schema are ours, and phrases of language packs are literal."""

    def fields(value: object) -> set[str]:
        if isinstance(value, dict):
            own = set(value.get("properties", {}))
            return own.union(*map(fields, value.values()))
        return set().union(*map(fields, value)) if isinstance(value, list) else set()

    for name in ("benchmark", "language-pack", "item"):
        assert not [field for field in fields(schemas.schema(name)) if "regex" in field or "pattern" in field]


def test_the_bundle_is_sound_before(write: Write, installed: Plugins) -> None:
    (report, *_) = check(str(write()), installed)
    assert [str(finding) for finding in report.findings] == []
    assert "split own: 2 scores of reference models are as declared" in report.facts


@pytest.mark.parametrize(
    "edit",
    [
        ("{kind: human, native: true,", "{kind: human, native: perhaps,"),
        ("  generate: {conditions: [reply], parser: choice}", "  generate: {conditions: reply, parser: choice}"),
        ("  reply: {template: question}", "  reply: {template: 7}"),
        ("orders: {over: choices, design: rotations}", "orders: {over: choice, design: rotations}"),
        ("default_split: own", "default_split: [own]"),
        ("task: choice", "task: chioce"),
        ("licence: CC0-1.0", "licence: [CC0-1.0]"),
    ],
)
def test_a_wrong_part_of_the_manifest_hides_no_other_mistake(
    write: Write, rows: Rows, installed: Plugins, edit: tuple[str, str]
) -> None:
    """A category without its name in one language, and an id that stands twice, are told beside any of these."""
    en = rows("en")
    en[5]["source_id"] = "n-1"
    folder = write(edit, ("{en: [Noise], sw: [Kelele]}", "{sw: [Kelele]}"), en=en)
    (report, *_) = validate(folder, installed)
    found = [finding.problem for finding in report.findings if finding.level == "error"]
    assert any("source_id 'n-1' (en) also stands in line 2" in each.message for each in found)
    assert any("no text for language 'en'" in each.message for each in found)
    assert len(found) == 3, [str(each) for each in found]
