"""Loading language packs: only what is asked for, nothing overridden in silence."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from biasfw import DataError, LanguagePack, schemas
from biasfw.languages import fixture_form, load_pack, load_packs

PACK = """\
language: {tag}
name: {name}
native_name: Esperanto
script: Latn
reviewed_by_natives: 1
refusal_phrases: [mi rifuzas]
option_letters: {{a: [x, y]}}
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def run(path: str, tag: str = "eo", name: str = "Esperanto", more: str = "") -> Path:
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(PACK.format(tag=tag, name=name) + more, encoding="utf-8")
        return file

    return run


def test_a_pack(write: Write) -> None:
    assert load_pack(write("a/eo.yaml")) == LanguagePack(
        "eo", "Esperanto", "Esperanto", "Latn", 1, refusal_phrases=("mi rifuzas",), option_letters={"a": ("x", "y")}
    )


def test_the_schema_has_the_fields_of_the_record() -> None:
    schema = schemas.schema("language-pack")
    fields = dataclasses.fields(LanguagePack)
    assert list(schema["properties"]) == [field.name for field in fields]
    required = [
        field.name
        for field in fields
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    assert schema["required"] == required
    assert schema["additionalProperties"] is False
    assert all("description" in each for each in schema["properties"].values())


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("refusals: [no]\n", "refusals"),
        ("rtl: sometimes\n", "rtl"),
        ("hedging_phrases: ['']\n", "hedging_phrases"),
        (
            "fixtures: [{text: x, task: labels, slots: {a: A}, labels: {b: B}, expected: {a: {outcome: maybe}}}]\n",
            "maybe",
        ),
    ],
)
def test_what_the_schema_refuses(more: str, message: str, write: Write) -> None:
    path = write("a/eo.yaml", more=more)
    with pytest.raises(DataError, match=message) as error:
        load_pack(path)
    assert str(error.value).startswith(f"{path}:8:")
    assert "\n" not in str(error.value)


def test_the_file_name_is_the_language(write: Write) -> None:
    with pytest.raises(DataError, match=r"ia\.yaml:1:11: .*'eo'.*rename the file to eo\.yaml"):
        load_pack(write("a/ia.yaml"))


def test_only_wanted_packs_are_opened(write: Write) -> None:
    folder = write("a/eo.yaml").parent
    (folder / "xx.yaml").write_text("not a pack", encoding="utf-8")
    assert list(load_packs([folder], ["eo", "de"])) == ["eo"]
    with pytest.raises(DataError, match=r"xx\.yaml"):
        load_packs([folder])


def test_a_regional_language_gets_its_own_pack_or_the_one_of_its_base(write: Write) -> None:
    folder = write("a/pt.yaml", tag="pt").parent
    assert list(load_packs([folder], ["pt-BR", "pt"])) == ["pt"]
    write("a/pt-BR.yaml", tag="pt-BR")
    assert list(load_packs([folder], ["pt-BR", "pt-PT"])) == ["pt-BR", "pt"]


def test_two_packs_for_one_language(write: Write) -> None:
    first, second = write("a/eo.yaml"), write("b/eo.yaml")
    with pytest.raises(DataError, match="two packs") as error:
        load_packs([first.parent, second.parent], ["eo"])
    assert str(first) in str(error.value)
    assert str(second) in str(error.value)
    assert list(load_packs([first.parent, first.parent], ["eo"])) == ["eo"]


def test_a_bundle_may_override(write: Write) -> None:
    shipped, own = write("a/eo.yaml", name="shipped"), write("b/eo.yaml", name="own")
    write("a/ia.yaml", tag="ia")
    packs = load_packs([shipped.parent], ["eo", "ia"], overrides=own.parent)
    assert [pack.name for pack in packs.values()] == ["own", "Esperanto"]


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        load_packs([tmp_path / "nowhere"], ["eo"])


def test_the_form_of_a_fixture(write: Write) -> None:
    fixture = {
        "task": "labels",
        "text": "TEAMO: ruĝa",
        "slots": {"team": {"eo": ["TEAMO"], "en": ["TEAM"]}},
        "labels": {"red": "ruĝa", "blue": ["blua", "blua teamo"]},
        "abstention": {"nobody": "neniu"},
        "expected": {"team": {"outcome": "answered", "value": "red"}},
    }
    form = fixture_form(load_pack(write("a/eo.yaml")), fixture)
    assert form.slots[0].headers == {"": {"eo": ("TEAMO",), "en": ("TEAM",)}}
    assert [(label.key, label.names, label.abstains) for label in form.labels] == [
        ("red", {"eo": ("ruĝa",)}, False),
        ("blue", {"eo": ("blua", "blua teamo")}, False),
        ("nobody", {"eo": ("neniu",)}, True),
    ]
