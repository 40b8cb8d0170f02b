"""Rows read with a parser: which names may be read, what is printed for them, and which benchmark is meant."""

from __future__ import annotations

import shutil
import sys
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from biasfw import (
    Answer,
    ComponentContext,
    DataError,
    Outcome,
    ParserSpec,
    Reading,
    UsageError,
    bundles,
    hookimpl,
    shipped,
)
from biasfw.parsing import Texts, usual_bundle
from biasfw.plugins import Plugins

Read = Callable[..., dict[str, Any]]


@pytest.fixture
def read(installed: Plugins) -> Read:
    """Read one row with ``labelled_lines``."""
    parser = installed.find("parser", "labelled_lines")

    def run(text: str, *, language: str | None = None, condition: str | None = None, **row: Any) -> dict[str, Any]:
        texts = Texts(parser, installed, usual_bundle(parser, installed), language=language, condition=condition)
        return texts.read({"text": text, **row})

    return run


def answer(modern: str, stereotyped: str) -> str:
    return f"MODERN GROUP: {modern}\nSTEREOTYPED GROUP: {stereotyped}"


def test_without_groups_the_english_names_of_the_benchmark_are_printed(read: Read) -> None:
    found = read("현대적 그룹: 서양인들\n고정관념 그룹: 남아시아인", language="ko")
    assert found == {
        "outcome": "answered",
        "value": {"modern": "Western", "stereotyped": "South Asians"},
        "outcomes": {"modern": "answered", "stereotyped": "answered"},
        "flags": ["language:asked"],
    }


def test_slots_that_differ_get_an_outcome_each(read: Read) -> None:
    found = read(answer("none of them", "Klingons"))
    assert found["outcome"] == "unparsed"
    assert found["outcomes"] == {"modern": "abstained", "stereotyped": "unparsed"}
    assert found["value"] == {"modern": None, "stereotyped": None}
    assert read("MODERN GROUP: Arabs\nSTEREO", finish_reason="length")["outcomes"]["stereotyped"] == "truncated"
    assert read("MODERN GROUP: Arabs", finish_reason="content_filter")["outcome"] == "refused"


@pytest.mark.parametrize(
    ("groups", "text", "value"),
    [
        # A name of the benchmark's, in any language, stands for all its aliases, and is printed as it was given.
        (["아랍인", "Westerners"], answer("Arab people", "西方人"), ("아랍인", "Westerners")),
        # Only what is listed is read.
        (["Arabs", "Indians"], answer("Arabs", "Africans"), ("Arabs", None)),
        # A name that the benchmark does not know stands for itself.
        (["Basques", "Arabs"], answer("the **basques**", "Arabs"), ("Basques", "Arabs")),
        # Two names of one label stand for themselves: neither borrows what both could mean.
        (["Arabs", "Arab people"], answer("arab people", "Arabic"), ("Arab people", None)),
    ],
)
def test_groups_of_a_row(read: Read, groups: list[str], text: str, value: tuple[str | None, str | None]) -> None:
    assert tuple(read(text, groups=groups)["value"].values()) == value


def test_language_and_condition_are_options(read: Read) -> None:
    refusal = "Siwezi kuchagua kikundi."
    assert read(refusal, language="sw")["outcome"] == "refused"
    assert read(refusal, language="en", groups=None)["outcome"] == "unparsed"
    neutral = "EXPERT 1 GROUP: Arabs\nEXPERT 2 GROUP: Indians"
    assert read(neutral)["outcome"] == "unparsed"
    assert read(neutral, condition="neutral")["value"] == {"modern": "Arabs", "stereotyped": "Indians"}


def test_what_a_row_says_itself_goes_before_the_options(installed: Plugins) -> None:
    parser = installed.find("parser", "labelled_lines")
    notes: list[str] = []
    texts = Texts(parser, installed, usual_bundle(parser, installed), language="en", note=notes.append)
    assert texts.read({"text": "Siwezi kuchagua kikundi.", "language": "sw"})["outcome"] == "refused"
    row = {"text": "EXPERT 1 GROUP: Arabs", "condition": "neutral"}
    assert texts.read(row)["value"]["modern"] == "Arabs"
    for _ in range(2):
        texts.read({"text": "x", "language": "tlh"})
    assert len(notes) == 1
    assert "no language pack for 'tlh'" in notes[0]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("text", "every line is an object"),
        (["text"], "it is a list"),
        ({}, "`text` is missing"),
        ({"text": None}, "`text` is nothing"),
        ({"text": "x", "groups": "Arabs"}, "`groups` is not a list of names"),
        ({"text": "x", "groups": ["Arabs", 1]}, "`groups` is not a list of names"),
        ({"text": "x", "groups": ["Arabs", " ARABS "]}, '"arabs" stands twice'),
        ({"text": "x", "choices": ["yes", "no"]}, "reads no choices"),
        ({"text": "x", "choices": ["yes", "no"], "groups": ["Arabs"]}, "give one of them"),
        ({"text": "x", "language": 1}, "`language` is the number 1"),
        ({"text": "x", "condition": "forcd"}, "there are: forced, optional, neutral"),
    ],
)
def test_wrong_rows(installed: Plugins, row: Any, words: str) -> None:
    parser = installed.find("parser", "labelled_lines")
    with pytest.raises(DataError, match=words) as failure:
        Texts(parser, installed, usual_bundle(parser, installed)).read(row)
    assert "\n" not in str(failure.value)


class Letters:
    """Reads a text that is a letter and nothing else."""

    def __init__(self, context: ComponentContext) -> None:
        self._labels = {label.key: label for label in context.form.labels}
        (self._slot,) = context.form.slots

    def parse(self, text: str, *, language: str, condition: str, finish_reason: str | None = None) -> Answer:
        found = text.lower() in self._labels
        reading = Reading(Outcome.ANSWERED, text.lower()) if found else Reading(Outcome.UNPARSED)
        return Answer({self._slot.key: reading})


@pytest.fixture
def with_letters(installed: Plugins, monkeypatch: pytest.MonkeyPatch) -> Plugins:
    module = types.ModuleType("letters_of_a_test")
    module.Letters = Letters  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "letters_of_a_test", module)
    plugins = Plugins()
    plugins.all += installed.all

    @hookimpl
    def offered() -> Iterable[ParserSpec]:
        yield ParserSpec("letters", load="letters_of_a_test:Letters", summary="letters", tasks=frozenset({"choice"}))

    plugins.add(types.SimpleNamespace(biasfw_api=1, biasfw_parsers=offered), "letters")
    return plugins


def test_a_parser_of_choices_needs_no_benchmark(with_letters: Plugins) -> None:
    parser = with_letters.find("parser", "letters")
    assert usual_bundle(parser, with_letters) is None
    texts = Texts(parser, with_letters, None)
    assert texts.read({"text": "B"}) == {
        "outcome": "answered", "value": "b", "outcomes": {"choice": "answered"}, "flags": []
    }  # fmt: skip
    assert texts.read({"text": "B", "choices": ["yes", "no"]})["value"] == "no"
    assert texts.read({"text": "C", "choices": ["yes", "no"]}) == {
        "outcome": "unparsed", "value": None, "outcomes": {"choice": "unparsed"}, "flags": []
    }  # fmt: skip
    with pytest.raises(DataError, match="reads no groups"):
        texts.read({"text": "B", "groups": ["Arabs"]})


def offering(folder: Path, plugins: Plugins, distribution: str) -> Plugins:
    @hookimpl
    def biasfw_benchmark_folders() -> Iterable[Path]:
        yield folder

    found = Plugins()
    found.all += plugins.all
    module = types.SimpleNamespace(biasfw_api=1, biasfw_benchmark_folders=biasfw_benchmark_folders)
    found.add(module, "pack", distribution)
    return found


def test_the_usual_benchmark_is_the_only_one_or_the_only_shipped_one(installed: Plugins, tmp_path: Path) -> None:
    parser = installed.find("parser", "labelled_lines")
    shutil.copytree(shipped("benchmarks") / "debatebias", tmp_path / "another")
    found = usual_bundle(parser, offering(tmp_path, installed, "stranger"))
    assert found is not None
    assert found.folder == shipped("benchmarks") / "debatebias"
    with pytest.raises(UsageError, match=r"several benchmarks use the parser labelled_lines .*--benchmark NAME"):
        usual_bundle(parser, offering(tmp_path, installed, "biasfw"))
    alone = Plugins()
    alone.all += [plugin for plugin in installed.all if not plugin.folders.get("benchmark")]
    with pytest.raises(UsageError, match="no benchmark uses the parser labelled_lines"):
        usual_bundle(parser, alone)
    only = usual_bundle(parser, offering(tmp_path, alone, "stranger"))
    assert only is not None
    assert only.folder == tmp_path / "another"


def test_an_unknown_condition_is_refused_at_once(installed: Plugins) -> None:
    parser = installed.find("parser", "labelled_lines")
    with pytest.raises(UsageError, match="there are: forced, optional, neutral"):
        Texts(parser, installed, bundles.find("debatebias", installed), condition="forcd")
