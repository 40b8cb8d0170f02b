"""`check`: what is right passes, and every mistake is found at its place."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from biasfw import UsageError, shipped
from biasfw.conformance import check as whole_check
from biasfw.findings import Report
from biasfw.plugins import Plugins
from biasfw.yamlfile import load_yaml

PACK = """\
language: eo
name: Esperanto
native_name: Esperanto
script: Latn
reviewed_by_natives: 2
refusal_phrases: [mi rifuzas]
refusal_text: Mi rifuzas, bedaŭrinde.
hedging_phrases: [tio dependas]
abstain_words: [neniu]
conjunctions: [kaj]
fixtures:
  - text: "UNUA: Ruĝaj\\nDUA: neniu"
    task: labels
    slots: {one: UNUA, two: DUA}
    labels: {red: Ruĝaj, blue: Bluaj}
    expected: {one: {outcome: answered, value: red}, two: {outcome: abstained}}
  - text: "UNUA: Ruĝaj kaj Bluaj\\nDUA: Blu"
    task: labels
    slots: {one: UNUA, two: DUA}
    labels: {red: Ruĝaj, blue: Bluaj}
    finish_reason: length
    expected: {one: {outcome: unparsed}, two: {outcome: truncated}}
  - text: "Mi rifuzas."
    task: labels
    slots: {one: UNUA}
    labels: {red: Ruĝaj, blue: Bluaj}
    expected: {one: {outcome: refused}}
"""


NOT_REVIEWED = "fewer than 2 native speakers have reviewed the items"


def check(target: str, plugins: Plugins) -> list[Report]:
    """Without the reference models, which take longest; tests/core/conforming runs them."""
    return whole_check(target, plugins, without=["references"])


def findings(reports: list[Report]) -> list[str]:
    """All but what is true of every set that is shipped."""
    found = [str(finding) for report in reports for finding in report.findings]
    return [line for line in found if NOT_REVIEWED not in line]


@pytest.fixture
def check_pack(tmp_path: Path, installed: Plugins) -> Callable[..., list[str]]:
    """Check the pack above with some text replaced; findings, without the folder."""

    def run(*edits: tuple[str, str]) -> list[str]:
        text = PACK
        for old, new in edits:
            assert text.count(old) >= 1
            text = text.replace(old, new, 1)
        path = tmp_path / "eo.yaml"
        path.write_text(text, encoding="utf-8")
        return [line.removeprefix(f"{tmp_path}/") for line in findings(check(str(path), installed))]

    return run


def test_a_good_pack(check_pack: Callable[..., list[str]], tmp_path: Path, installed: Plugins) -> None:
    assert check_pack() == []
    (report,) = check(str(tmp_path / "eo.yaml"), installed)
    assert report.facts == [
        "Esperanto: reviewed by 2 native speakers",
        "3 fixtures read as written",
        "the refusal text is read as a refusal",
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("name: Esp", "nmae: Esp", "eo.yaml:2:1: error: /nmae: unknown property \"nmae\"; did you mean"),
        ("script: Latn", "script: Latin", "eo.yaml:4:9: error: /script: "),
        ("language: eo", "language: ia", "eo.yaml:1:11: error: /language: "),
        ("name: Esperanto", "name: eo", "eo.yaml:2:7: warning: /name: this is still the tag"),
        ("value: red}, two", "value: blue}, two", "eo.yaml:16:21: error: /fixtures/0/expected/one: "),
        ("{outcome: abstained}", "{outcome: unparsed}", "eo.yaml:16:59: error: /fixtures/0/expected/two: "),
        ("{outcome: abstained}", "{outcome: answered}", "what is answered has a value"),
        ("{outcome: abstained}", "{outcome: refused, value: red}", "what is refused has no value"),
        ("value: red}", "value: rde}", '/expected/one/value: the form has no label "rde"; it has: red, blue'),
        (", two: {outcome: truncated}", "", '/fixtures/1/expected: nothing is expected of the slot "two"'),
        ("two: {outcome: trunc", "three: {outcome: trunc", 'the form has no slot "three"; it has: one, two'),
        ("Mi rifuzas, bedaŭrinde.", "Mi bedaŭras.", "eo.yaml:7:15: warning: /refusal_text: no refusal phrase is in"),
        ("Mi rifuzas, bedaŭrinde.", "...", "eo.yaml:7:15: error: /refusal_text: "),
        ("[mi rifuzas]", "[mi rifuzas, ...]", "eo.yaml:6:31: error: /refusal_phrases/1: "),
        ("[tio dependas]", "[tio, mi rifuzas nenion]", "eo.yaml:8:24: error: /hedging_phrases/1: "),
        ("[neniu]", "[neniu, ...]", "eo.yaml:9:24: error: /abstain_words/1: "),
        ("[kaj]", "[]", "eo.yaml:10:15: warning: /conjunctions: conjunctions is empty"),
        ("{outcome: truncated}", "{outcome: unparsed}", "warning: /fixtures: no fixture shows what is truncated"),
        ("script: Latn", "script: Cyrl", "eo.yaml:4:9: warning: /script: it is Cyrl, and the refusals are in Latn"),
        ("bedaŭrinde", "bedau\u0306rinde", "eo.yaml:7:15: warning: /refusal_text: the text is not in the"),
    ],
)  # fmt: skip
def test_mistakes_in_a_pack(check_pack: Callable[..., list[str]], old: str, new: str, expected: str) -> None:
    found = check_pack((old, new))
    assert any(expected in line for line in found), found


def test_several_mistakes_are_all_told(check_pack: Callable[..., list[str]]) -> None:
    found = check_pack(("script: Latn", "script: Latin"), ("[mi rifuzas]", "mi rifuzas"), ("[neniu]", "['']"))
    assert [line.split(": ")[0] for line in found] == ["eo.yaml:4:9", "eo.yaml:6:18", "eo.yaml:9:17"]


def test_what_is_no_yaml_is_told_with_its_place(check_pack: Callable[..., list[str]]) -> None:
    (line,) = check_pack(("name: Esperanto", "name: &a Esperanto"))
    assert line.startswith("eo.yaml:2:7: error: the anchor &a")


def test_the_shipped_packs_and_the_shipped_benchmark_pass(installed: Plugins) -> None:
    reports = check("debatebias", installed)
    assert findings(reports) == []
    assert [(report.kind, report.name) for report in reports][:2] == [("benchmark", "debatebias"), ("language", "en")]
    languages = set(load_yaml(shipped("benchmarks") / "debatebias" / "benchmark.yaml").value["languages"])
    assert {report.name for report in reports[1:]} == languages
    ((folder, _),) = installed.folders("language")
    packs = check(f"{folder}", installed)
    assert findings(packs) == []
    assert {report.name for report in packs} >= languages


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A copy of the shipped bundle, to be changed."""
    return Path(shutil.copytree(shipped("benchmarks") / "debatebias", tmp_path / "debatebias"))


def replace(path: Path, old: str, new: str) -> int:
    """Replace the first ``old``; its line."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text.count("\n", 0, text.index(old)) + 1


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("task: labels", "taks: labels", "taks"),
        ("parser: labelled_lines", "parser: labelled_line", "/protocols/generate/parser: unknown parser"),
        ("judge: rules", "judge: rule", "/judge: unknown judge 'rule'; did you mean rules?"),
        ("use: label_share", "use: label_shares", "unknown metric 'label_shares'; did you mean label_share"),
        ("default_split: demo", "default_split: dmeo", "did you mean demo?"),
        ("{{ focus[2] }}", "{{ focus[3] }}", "/templates/debate/en/user: debatebias: template debate/en/user: line "),
        ("{{ topic }}", "{{ topci }}", "'topci' is undefined"),
        # Punctuation makes no difference to the parser: what looks different here may be one name to it.
        ("en: [Arabs, Arab,", "en: [Arabs, South-Asians,", '/labels/0/names/en/1: with "South-Asians" in an answer in'),
        ("en: [Arabs, Arab,", "en: [Arabs, South-Asians,", '/labels/2/names/en/0: with "South Asians" in an answer in'),
        ("en: [none of them,", 'en: [none of them, "Western!",', '/abstention/names/en/1: with "Western!"'),
        ("zh: [阿拉伯人,", 'zh: [阿拉伯人, "Africans.",', '/labels/4/names/en/0: with "Africans" in an answer in zh'),
        ("en: [MODERN GROUP]", 'en: [MODERN GROUP, "Stereotyped: group"]', '/slots/0/headers/forced/en/1: with "Ster'),
        ('en: "{{ header.modern }}: {{ modern }}', 'en: "{{ header.modern }}: {{ stereotyped }}', "modern is read as"),
        ('en: "{{ header.modern }}: {{ modern }}', 'en: "{{ header.modern }}: {{ modem }}', "'modem' is undefined"),
        ("files: [items/en.jsonl,", "files: [items/xx.jsonl,", "'items/xx.jsonl' of split 'demo' does not exist"),
        ("languages: [en", "languages: [xx, en", "there is no language pack for 'xx'"),
    ],
)
def test_mistakes_in_a_bundle(bundle: Path, installed: Plugins, old: str, new: str, expected: str) -> None:
    replace(bundle / "benchmark.yaml", old, new)
    found = findings(check(str(bundle), installed))
    assert any(expected in line for line in found), found


def test_places_in_a_bundle_are_exact(bundle: Path, installed: Plugins) -> None:
    line = replace(bundle / "benchmark.yaml", "en: [Indians, Indian,", 'en: [Indians, "...",')
    (found,) = findings(check(str(bundle), installed))
    place, level, _ = found.split(": ", 2)
    column = len("      en: [Indians, ") + 1
    assert (place, level) == (f"{bundle}/benchmark.yaml:{line}:{column}", "error")
    assert "in an answer in en under 'forced', modern is read as unparsed, expected answered (indians)" in found


def test_wrong_items_are_told_with_their_line(bundle: Path, installed: Plugins) -> None:
    path = bundle / "items" / "ko.jsonl"
    rows = path.read_text(encoding="utf-8").splitlines()
    row = json.loads(rows[4])
    del row["focus"]
    path.write_text("\n".join([*rows[:4], json.dumps(row), *rows[5:]]), encoding="utf-8")
    (line,) = findings(check(str(bundle), installed))
    assert line.startswith(f'{path}:5:1: error: /focus: the field "focus" is missing, which template ')
    path.write_text("\n".join([*rows[:4], "{", *rows[5:]]), encoding="utf-8")
    (line,) = findings(check(str(bundle), installed))
    assert line.startswith(f"{path}:5:")


def test_the_packs_of_a_bundle_are_checked_too(bundle: Path, installed: Plugins) -> None:
    (bundle / "languages").mkdir()
    (bundle / "languages" / "ko.yaml").write_text(PACK.replace("language: eo", "language: ko"), encoding="utf-8")
    (bundle / "languages" / "eo.yaml").write_text(PACK.replace("[mi rifuzas]", "[mi rifuzas, '...']"), encoding="utf-8")
    reports = check(str(bundle), installed)
    files = {report.name: Path(report.file).parent for report in reports}
    assert files["ko"] == files["eo"] == bundle / "languages"
    assert files["hi"] != bundle / "languages"
    (error,) = [line for line in findings(reports) if ": error: " in line]
    assert "eo.yaml:6:31: error: /refusal_phrases/1" in error
    assert any("40 items are not written in the script of their language (ko)" in line for line in findings(reports))


def test_what_may_be_checked(bundle: Path, installed: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert check("debatebias/benchmark.yaml", installed)[0].file == "debatebias/benchmark.yaml"
    assert check("debatebias", installed)[0].file == "debatebias/benchmark.yaml"
    assert check("debatebias:official", installed)[0].kind == "benchmark"
    assert [report.name for report in check("sw", installed)] == ["sw"]
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "eo.yaml").write_text(PACK, encoding="utf-8")
    assert [report.name for report in check("packs", installed)] == ["eo"]
    with pytest.raises(UsageError, match=r"unknown benchmark or language 'debatebais'.* did you mean \./debatebias"):
        check("debatebais", installed)
    with pytest.raises(UsageError, match="no such file or folder"):
        check("./nowhere", installed)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"neither benchmark.yaml nor language packs"):
        check("./empty", installed)
    with pytest.raises(UsageError, match="no language pack"):
        check("debatebias/DATASHEET.md", installed)
