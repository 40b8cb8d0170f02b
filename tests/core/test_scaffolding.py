"""What `biasfw new language` writes: valid at once, every field explained, and nobody's file is overwritten."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from biasfw import BiasfwError, UsageError, schemas, tags
from biasfw.conformance import check
from biasfw.plugins import Plugins
from biasfw.scaffolding import language_pack, write_new
from biasfw.yamlfile import parse_yaml


@pytest.mark.parametrize(
    ("tag", "script", "rtl"),
    [
        ("eu", "Latn", False),
        ("pt-BR", "Latn", False),
        ("ur", "Arab", True),
        ("he", "Hebr", True),
        ("zh-TW", "Hant", False),
        ("sr", "Cyrl", False),
        ("sr-Latn", "Latn", False),
        ("am", "Ethi", False),
        ("no", "Latn", False),
    ],
)
def test_a_new_pack_is_valid_and_without_an_error(
    tag: str, script: str, rtl: bool, tmp_path: Path, installed: Plugins
) -> None:
    path = tmp_path / f"{tag}.yaml"
    write_new(path, language_pack(tag, name="X", native_name="Y"))
    pack = parse_yaml(path.read_text(encoding="utf-8"), str(path)).value
    assert (pack["language"], pack["script"], pack["rtl"]) == (tag, script, rtl)
    assert (pack["name"], pack["native_name"], pack["reviewed_by_natives"]) == ("X", "Y", 0)
    (report,) = check(str(path), installed)
    assert [str(finding) for finding in report.findings if finding.level == "error"] == []
    warned = {finding.problem.pointer for finding in report.findings}
    assert warned == {"/refusal_phrases", "/refusal_text", "/abstain_words", "/conjunctions", "/fixtures/0"}


def test_every_field_is_there_and_explained() -> None:
    text = language_pack("eu")
    fields = schemas.schema("language-pack")["properties"]
    assert set(parse_yaml(text, "").value) == set(fields)
    lines = text.splitlines()
    for name, field in fields.items():
        (place,) = [index for index, line in enumerate(lines) if line.startswith(f"{name}:")]
        first = next(index for index in range(place, 0, -1) if not lines[index - 1].startswith("#"))
        comment = " ".join(line.removeprefix("# ") for line in lines[first:place])
        assert comment.startswith(field["description"])
    assert max(map(len, lines)) <= 140
    fixture = schemas.schema("language-pack")["$defs"]["fixture"]
    assert all(re.search(rf"^#   {name} ", text, re.MULTILINE) for name in fixture["properties"])
    outcomes = fixture["properties"]["expected"]["additionalProperties"]["properties"]["outcome"]["enum"]
    assert all(f"outcome: {outcome}" in text for outcome in outcomes)


def test_names_are_data() -> None:
    name = 'N: "quoted" \\ # {{ tag }} ʻŌlelo'
    assert parse_yaml(language_pack("haw", name=name), "").value["name"] == name


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("EU", "did you mean eu"),
        ("pt_br", "did you mean pt-BR"),
        ("zh-hant-tw", "did you mean zh-Hant-TW"),
        ("english", "ISO 639"),
        ("e", "ISO 639"),
        ("../eu", "no language tag"),
        ("eu\n", "no language tag"),
        ("", "no language tag"),
    ],
)
def test_wrong_tags(tag: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as failure:
        language_pack(tag)
    assert "\n" not in str(failure.value)


def test_tags_are_those_of_manifests() -> None:
    assert tags.problem("en-x-foo") is None
    assert tags.problem("de-1996") is None
    assert tags.problem("sr-Latn-RS") is None


@pytest.mark.parametrize("given", [{"name": "a\nb"}, {"native_name": " "}, {"script": "latin"}])
def test_wrong_options(given: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        language_pack("eu", **given)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "eu.yaml"
    write_new(path, "mine")
    with pytest.raises(BiasfwError, match="exists already"):
        write_new(path, "yours")
    assert path.read_text(encoding="utf-8") == "mine"
    with pytest.raises(BiasfwError, match="cannot be written"):
        write_new(path / "below-a-file.yaml", "x")
