"""The YAML loader: JSON's types only, exact positions, and no trick of YAML."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from biasfw import DataError, yamlfile
from biasfw.document import Document
from biasfw.yamlfile import load_yaml, parse_yaml

TEXT = st.text(alphabet=st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=8)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
SYNTAX = st.lists(
    st.sampled_from(
        ["{", "}", "[", "]", ": ", "- ", "\n", "  ", "\t", "'", '"', "#", "&a", "*a", "!x", "|", "---", "%"]
    )
    | st.text(alphabet=st.characters(exclude_categories=()), max_size=2),
    max_size=20,
).map("".join)


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both parsers: the one in C, and the one used where libyaml is missing."""
    name = str(request.param)
    if not hasattr(yaml, name):
        pytest.skip("this PyYAML was built without libyaml")
    monkeypatch.setattr(yamlfile, "_PARSER", getattr(yaml, name))
    return name


def plain(text: str) -> Any:
    return parse_yaml(f"x: {text}\n", "f.yaml").value["x"]


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("7", 7),
        ("-3", -3),
        ("0.5", 0.5),
        ("1.0", 1.0),
        ("0.000001", 0.000001),
        ("1e-6", 0.000001),
        ("2.5E+3", 2500.0),
        # Everything else is a text, as it stands.
        *(
            (text, text)
            for text in ("no", "No", "yes", "on", "off", "y", "True", "NULL", "0x1F", "0o17", "007", "1_000")
        ),
        *((text, text) for text in ("1.10", "1.2.3", "0.50", ".5", "5.", "+1", "-0", "1:30", "12:30:45", "2026-01-31")),
        ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
        ('"7"', "7"),
        ("'true'", "true"),
        ("<<", "<<"),
    ],
)
def test_only_what_json_has_is_more_than_a_text(text: str, value: object) -> None:
    found = plain(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.usefixtures("parser")
def test_keys_are_texts() -> None:
    assert parse_yaml("no: 1\n1.10: 2\ntrue: 3\n5: 4\n", "f").value == {"no": 1, "1.10": 2, "true": 3, "5": 4}


@pytest.mark.usefixtures("parser")
def test_every_value_and_key_has_its_place() -> None:
    document = parse_yaml(
        "# a note\nname: x\nlabels:\n  - {key: a, names: {한: [b]}}\n  - c/d: |\n      text\n", "f.yaml"
    )
    assert document.positions["/name"] == (2, 7)
    assert document.positions["/labels"] == (4, 3)
    assert document.positions["/labels/0/key"] == (4, 11)
    assert document.positions["/labels/0/names/한/0"] == (4, 26)
    assert document.positions["/labels/1/c~1d"] == (5, 10)
    assert document.keys["/labels"] == (3, 1)
    assert document.keys["/labels/0/names"] == (4, 14)
    assert document.where("/labels/1/c~1d") == "f.yaml:5:10"
    assert document.where("/labels/7/nothing") == "f.yaml:4:3"  # the nearest that is there
    assert document.where("/nothing") == "f.yaml:2:1"


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("a: &x 1\nb: *x\n", "1:4", "anchor &x"),
        ("a: [*x]\n", "1:5", "alias *x"),
        ("a: !!python/object/apply:os.system [x]", "1:4", "tag"),
        ("a: !!str 1", "1:4", "tag"),
        ("! a", "1:1", "tag"),
        ("a: 1\nb:\n  c: 1\n  c: 2\n", "4:3", 'the key "c" for a second time (first in line 3)'),
        ("{a: 1, a: 1}", "1:8", 'the key "a" for a second time'),
        ("\u00e9: 1\ne\u0301: 2", "2:1", "for a second time"),  # equal after NFC
        ("a: 1\n---\nb: 2\n", "2:1", "second document"),
        ("%YAML 1.1\n---\na: 1\n", "1:1", "directive"),
        ("? [a]\n: b\n", "1:3", "as a key"),
        ("a: .nan", "1:4", "the number .nan"),
        ("a: -.inf", "1:4", "the number -.inf"),
        ("a: 1e999", "1:4", "1e999"),
        (f"a: {'9' * 500}", "1:4", "500 digits"),
        ("", "1:1", "empty"),
        ("# nothing\n", "1:1", "empty"),
        ("a: x\u0085y", "1:5", "U+0085"),
        ("a: |\n  x\u2028y", "2:4", "U+2028"),
        ("a: x\x07y", "1:5", "U+0007"),
        ("- " * 60 + "x", "1:101", "nesting deeper than 50"),
        ("a: \ud800", "1:4", ""),
        ('a: "\\ud83d\\ude00"', "1:", "write the character itself"),
        ("a: b: c", "1:5", 'put a text that contains ": " in quotes'),
        ("a: [1,\n2\nb: 1", "3:2", "brackets"),
        ("a:\n\t- 1", "2:1", "not tabs"),
    ],
)
def test_tricks_and_slips_are_refused_with_their_place(text: str, place: str, what: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_yaml(text, "f.yaml")
    message = str(caught.value)
    assert message.startswith(f"f.yaml:{place}")
    assert what in message
    assert len(message.splitlines()) == 1
    assert len(message) < 300


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "a: " + "[[" * 30 + "]]" * 30])
def test_deep_nesting_ends_in_an_error(text: str) -> None:
    with pytest.raises(DataError, match=r"f\.yaml:1:\d+: .*nesting"):
        parse_yaml(text, "f.yaml")


def test_a_billion_laughs_are_never_expanded() -> None:
    lines = ["a0: &a0 [ha, ha]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 10)]
    with pytest.raises(DataError, match="f:1:5: the anchor &a0"):
        parse_yaml("\n".join(lines), "f")


def test_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yamlfile, "SIZE_LIMIT", 10)
    path = tmp_path / "big.yaml"
    path.write_text("name: long enough\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"big\.yaml: larger than"):
        load_yaml(path)
    with pytest.raises(DataError, match="big: more than"):
        parse_yaml("name: long enough\n", "big")


def test_a_file_with_a_mark_and_crlf_reads_as_without(tmp_path: Path) -> None:
    path = tmp_path / "windows.yaml"
    path.write_bytes("\ufeffname: 名前\r\nlist:\r\n  - a\r\n".encode())
    document = load_yaml(path)
    assert document.value == {"name": "名前", "list": ["a"]}
    assert document.where("/list/0") == f"{path}:3:5"
    assert document.positions["/name"] == (1, 7)


def test_another_encoding_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "old.yaml"
    path.write_bytes("name: x\ntitle: 日本".encode("cp932"))
    with pytest.raises(DataError, match=r"old\.yaml:2:8: byte 16 of the file \(0x93\) is not UTF-8"):
        load_yaml(path)


def leaves(value: Any, pointer: str = "") -> Iterator[str]:
    from biasfw.document import child  # noqa: PLC0415

    yield pointer
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in entries:
        yield from leaves(each, child(pointer, key))


@given(JSON_VALUES)
def test_json_is_yaml_and_every_part_has_a_place(value: Any) -> None:
    text = json.dumps(value)
    try:
        document = parse_yaml(text, "f")
    except DataError as error:
        assert "for a second time" in str(error)  # noqa: PT017 - keys that are equal after NFC
        return
    assert document.value == value
    assert set(document.positions) == set(leaves(value))


@given(SYNTAX)
def test_whatever_comes_is_a_document_or_one_line(text: str) -> None:
    try:
        assert isinstance(parse_yaml(text, "f"), Document)
    except DataError as error:
        assert str(error).startswith("f:")  # noqa: PT017
        assert len(str(error).splitlines()) == 1  # noqa: PT017
