"""Splits: what one says for itself in the manifest, and official files that a reader reads from --data."""

from __future__ import annotations

import json
import shutil
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from biasfw import DataError, ReaderSpec, RunConfig, RunResult, Seed, UsageError, bundles, hookimpl
from biasfw.crosscheck import problems
from biasfw.engine import run
from biasfw.plugins import Plugins
from biasfw.rescoring import score
from biasfw.schemas import problems as schema_problems
from biasfw.yamlfile import load_yaml, parse_yaml

MANIFEST = Path(__file__).parents[1] / "examples" / "benchmark" / "valid" / "full.yaml"
TEXT = "{0} {{ label_list }} {% if x %} %s $name, of "
SEEDS = [
    Seed(f"q{number}", language, "morning", fields={"text": TEXT})
    for language in ("en", "pt-BR")
    for number in range(6)
]


class Lines:
    """Yields ``SEEDS`` whatever the folder holds."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.options = options
        self.notes = ("the drinks are old",)

    def read(self, folder: Path) -> Iterator[Seed]:
        assert (folder / "drinks.csv").is_file()
        yield from SEEDS


class Named(Lines):
    """Says which files count."""

    def files(self, folder: Path) -> Mapping[str, Path]:
        return {"drinks": folder / "drinks.csv"}


OPTIONS = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"sheet": {"type": "integer"}, "encoding": {"type": "string"}},
}


def with_reader(installed: Plugins, cls: str = "Lines", options: Mapping[str, Any] = OPTIONS) -> Plugins:
    @hookimpl
    def biasfw_readers() -> Iterable[ReaderSpec]:
        yield ReaderSpec("drinks_csv", load=f"{__name__}:{cls}", summary="for tests", options=options)

    found = Plugins()
    found.all += installed.all
    found.add(types.SimpleNamespace(biasfw_api=1, biasfw_readers=biasfw_readers), "drinks")
    # The file is imported under a name of its own; make that name importable for the spec.
    module = sys.modules.setdefault(__name__, types.ModuleType(__name__))
    module.Lines, module.Named = Lines, Named  # type: ignore[attr-defined]
    return found


@pytest.fixture
def plugins(installed: Plugins) -> Plugins:
    return with_reader(installed)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bundle whose default is the official split, and beside it the official files."""
    bundle = tmp_path / "drinks"
    bundle.mkdir()
    text = MANIFEST.read_text(encoding="utf-8").replace("default_split: own", "default_split: official")
    (bundle / "benchmark.yaml").write_text(text, encoding="utf-8")
    data = tmp_path / "data"
    data.mkdir()
    (data / "drinks.csv").write_text("a,b\n", encoding="utf-8")
    return bundle


def config(folder: Path, **changes: Any) -> RunConfig:
    values = {
        "benchmark": str(folder), "backend": "reference", "model": "first", "data": str(folder.parent / "data"),
        "runs": str(folder.parent / "runs"),
    }  # fmt: skip
    return RunConfig(**{**values, **changes})


def requests(result: RunResult) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (result.directory / "requests.jsonl").read_bytes().splitlines()]


def test_what_a_split_says_goes_before_what_the_benchmark_says(folder: Path, plugins: Plugins) -> None:
    official, own = bundles.load(folder, "official"), bundles.load(folder, "own")
    assert list(official.manifest["conditions"]) == ["plain"]
    assert official.manifest["protocols"]["choices"] == {
        "conditions": ["plain"], "choices": "ordered_pairs", "terminator": "\n",
    }  # fmt: skip
    assert official.manifest["interpretation"]["unit"] == "one question"
    assert (official.manifest["licence"], official.manifest["redistribution"]) == ("CC-BY-4.0", "attribution")
    assert own.manifest["protocols"]["choices"]["calibrate"] == "open"
    assert list(own.manifest["conditions"]) == ["plain", "open"]
    assert own.manifest["interpretation"]["unit"] == "one prompt"
    assert own.written == official.written
    assert official.digests(plugins) == {"manifest_sha256": official.digests(plugins)["manifest_sha256"]}


def test_the_prompt_of_an_item_reaches_the_model_as_it_is(folder: Path, plugins: Plugins) -> None:
    result = run(config(folder), plugins)
    assert result.status == "complete"
    for request in requests(result):
        user = request["messages"][-1]["content"]
        assert user.startswith(TEXT)
        listed = user.removeprefix(TEXT)
        assert "drinkers" in listed or "Quem bebe" in listed
    systems = {r["messages"][0]["content"] for r in requests(result) if len(r["messages"]) == 2}
    assert systems == {"Answer in one line."}, "the system text is the template's"


def test_line_ends_of_an_item_stay_and_those_of_a_template_go(
    folder: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "benchmark.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"{{ text }}{{ label_list }}"', '"{{ label_list }}{{ text }}"'), encoding="utf-8")
    monkeypatch.setitem(globals(), "SEEDS", [replace(seed, fields={"text": ".\n\n"}) for seed in SEEDS])
    assert all(r["messages"][-1]["content"].endswith(".\n\n") for r in requests(run(config(folder), plugins)))


def test_without_its_calibrating_condition_a_split_is_scored_raw_and_says_so(folder: Path, plugins: Plugins) -> None:
    result = run(config(folder, mode="choices"), plugins)
    assert {s.slice.get("scoring") for s in result.scores} == {"raw"}
    assert {s.slice["condition"] for s in result.scores} == {"plain"}
    said = (
        "all questions have one author",
        "drinks-2:official does not offer the condition open: left out, so shares are raw, not calibrated",
        "the drinks are old",
    )
    assert result.notes[:3] == said
    info = json.loads((result.directory / "run.json").read_bytes())
    assert tuple(info["benchmark"]["notes"]) == said
    assert [str(p) for p in schema_problems("run", info)] == []
    (scores,) = (result.directory / "scores").iterdir()
    assert tuple(json.loads(scores.read_bytes())["notes"]) == said
    asked = run(config(folder, mode="choices", conditions=("plain",)), plugins)
    assert asked.notes[:2] == (said[0], said[2]), "who asks for one condition needs no remark"


def test_the_reader_is_recorded_and_scores_can_be_computed_again(folder: Path, plugins: Plugins) -> None:
    first = run(config(folder, encoding="cp932"), plugins)
    info = json.loads((first.directory / "run.json").read_bytes())
    assert info["protocol"]["reader"] == ["drinks_csv", {"sheet": 2, "encoding": "cp932"}]
    assert {"kind": "reader", "name": "drinks_csv", "distribution": "test", "version": "0"} in info["components"]
    again = score(first.directory, plugins=plugins)
    assert [(s.slice, s.value) for s in again.scores] == [(s.slice, s.value) for s in first.scores]
    assert again.notes == first.notes


def test_a_split_with_files_of_its_own_takes_no_others(folder: Path, plugins: Plugins) -> None:
    path = folder / "benchmark.yaml"
    text = path.read_text(encoding="utf-8").replace("default_split: official", "default_split: own")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"own brings its own items and takes no --data; .* drinks-2:official"):
        run(config(folder), plugins)
    with pytest.raises(UsageError, match="takes no --encoding"):
        run(config(folder, data=None, encoding="cp932"), plugins)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": None}, r"drinks-2:official is not shipped .* --data DIR\); drinks-2:own runs without it"),
        ({"conditions": ("open",)}, r"drinks-2:official has no condition 'open'; it has: plain"),
        ({"names_in": "fr"}, r"names no groups in 'fr'; its languages are: en, pt-BR"),
    ],
)
def test_what_a_split_cannot_do_gets_the_way_out(
    folder: Path, plugins: Plugins, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        run(config(folder, **changes), plugins)
    assert not (folder.parent / "runs").exists()


def test_an_encoding_needs_a_reader_that_takes_one(folder: Path, installed: Plugins) -> None:
    bare = with_reader(installed, options={**OPTIONS, "properties": {"sheet": {"type": "integer"}}})
    with pytest.raises(UsageError, match='reader drinks_csv has no option "encoding"'):
        run(config(folder, encoding="cp932"), bare)


@pytest.mark.parametrize(("name", "words"), [("nowhere", "does not exist"), ("data/drinks.csv", "is a file")])
def test_a_folder_that_is_none_is_named(folder: Path, plugins: Plugins, name: str, words: str) -> None:
    with pytest.raises(DataError, match=f"{name}: the folder given with --data {words}"):
        run(config(folder, data=str(folder.parent / name)), plugins)


def digest(folder: Path, data: Path, plugins: Plugins) -> str:
    return bundles.load(folder, "official", data=data).digests(plugins)["data_sha256"]


def test_the_digest_covers_names_and_contents_wherever_the_folder_lies(folder: Path, plugins: Plugins) -> None:
    data = folder.parent / "data"
    before = digest(folder, data, plugins)
    assert digest(folder, Path(shutil.copytree(data, folder.parent / "elsewhere")), plugins) == before
    (data / "sub").mkdir()
    (data / "sub" / "more.csv").write_text("x", encoding="utf-8")
    more = digest(folder, data, plugins)
    (data / "sub" / "more.csv").rename(data / "sub" / "other.csv")
    renamed = digest(folder, data, plugins)
    (data / "drinks.csv").write_text("a,c\n", encoding="utf-8")
    assert len({before, more, renamed, digest(folder, data, plugins)}) == 4


def test_a_reader_says_which_files_count(folder: Path, installed: Plugins) -> None:
    plugins = with_reader(installed, "Named")
    data = folder.parent / "data"
    before = digest(folder, data, plugins)
    (data / "readme.txt").write_text("x", encoding="utf-8")
    assert digest(folder, data, plugins) == before
    first = run(config(folder), plugins).directory
    (data / "drinks.csv").write_text("a,c\n", encoding="utf-8")
    assert run(config(folder), plugins).directory != first


def french(seed: Seed) -> Seed:
    return replace(seed, language="fr")


def evening(seed: Seed) -> Seed:
    return replace(seed, category="evening")


def alike(seed: Seed) -> Seed:
    return replace(seed, source_id="q1")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (french, r"drinks-2:official finds no items there; 12 items in fr are left out: .*\(it has: en, pt-BR\)"),
        (evening, r"item 'q0' \(en\): category 'evening' is not in the manifest; it has: morning"),
        (alike, r"item 'q1' \(en\) stands there twice"),
    ],
)
def test_what_a_reader_yields_is_checked(
    folder: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch, change: Callable[[Seed], Seed], words: str
) -> None:
    monkeypatch.setitem(globals(), "SEEDS", [change(seed) for seed in SEEDS])
    with pytest.raises(DataError, match=words):
        run(config(folder), plugins)


def test_a_language_without_texts_is_left_out_and_it_is_said(
    folder: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(config(folder), plugins)
    monkeypatch.setitem(globals(), "SEEDS", [*SEEDS, *map(french, SEEDS[:6])])
    result = run(config(folder), plugins)
    assert result.total == 12
    assert "6 items in fr are left out: drinks-2 has no texts in it (it has: en, pt-BR)" in result.notes
    assert requests(result) == requests(whole), "a further language changes no prompt and no key"


def test_groups_can_be_named_in_one_language(folder: Path, plugins: Plugins) -> None:
    native = run(config(folder, mode="choices"), plugins)
    english = run(config(folder, mode="choices", names_in="en"), plugins)
    assert native.directory != english.directory
    for request in requests(english):
        assert "drinkers, " in request["messages"][-1]["content"]
        assert ", and " in request["messages"][-1]["content"]
        assert all(choice["text"].endswith("drinkers\n") for choice in request["choices"])
    portuguese = [r for r in requests(native) if "pt-BR" in r["item_id"]]
    assert all("Quem bebe" in r["messages"][-1]["content"] for r in portuguese)
    headers = {r["choices"][0]["text"].partition(":")[0] for r in requests(english) if "pt-BR" in r["item_id"]}
    assert headers == {"MODERNO"}, "headers stay in the language of the prompt"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("  plain: {template: question, user", "  plian: {template: question, user", "no condition is named 'plian'"),
        ("  plain: {template: question, user", "  plain: {template: qestion, user", "no template is named 'qestion'"),
        ("  plain: {template: question, user", "  open: {template: question, user", "mode generate asks under plain"),
        ("abstention: {key: nobody", "x: {key: nobody", "it offers an abstention"),
    ],
)
def test_what_a_split_names_must_be_there(old: str, new: str, words: str) -> None:
    text = MANIFEST.read_text(encoding="utf-8")
    assert text.count(old) == 1
    found = [str(problem) for problem in problems(parse_yaml(text.replace(old, new), "b.yaml"))]
    assert any(words in each and each.startswith("b.yaml:") for each in found), found
    assert not problems(load_yaml(MANIFEST))
