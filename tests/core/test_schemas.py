"""Schemas: problems worded for people, with their places; schema and dataclass equal."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from biasfw import DataError, Outcome, records, schemas
from biasfw.schemas import Problem, check, problems
from biasfw.yamlfile import parse_yaml

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 1, "description": "What it is called. More about it."},
        "key": {"type": "string", "pattern": "^[a-z]+$", "description": "Small letters."},
        "kind": {"enum": ["human", "machine", "mixed"]},
        "count": {"type": "integer", "minimum": 1},
        "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        "native": {"type": "boolean"},
        "sure": {"const": True},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
        "names": {
            "type": "object",
            "propertyNames": {"pattern": "^[a-z]{2}$", "description": "A language tag: en, ko."},
            "additionalProperties": {"type": "string"},
        },
        "text_or_list": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "split": {"oneOf": [{"$ref": "#/$defs/files"}, {"$ref": "#/$defs/reader"}]},
        "old": {"dependentRequired": {"from": ["to"]}, "maxProperties": 2},
    },
    "$defs": {
        "files": {
            "type": "object",
            "required": ["files"],
            "properties": {"files": {"type": "array", "items": {"type": "string"}}},
            "additionalProperties": False,
        },
        "reader": {
            "type": "object",
            "required": ["reader"],
            "properties": {"reader": {"type": "string"}, "options": {"type": "object"}},
            "additionalProperties": False,
        },
    },
}


def worded(text: str) -> list[str]:
    document = parse_yaml(text, "f.yaml")
    return [str(problem) for problem in problems(SCHEMA, document.value, document)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nam: x", '1:1: /nam: unknown property "nam"; did you mean "name"?'),
        ("zzzz: x\nname: y", '1:1: /zzzz: unknown property "zzzz"; known here: count, '),
        ("knd: human\nname: y", '1:1: /knd: unknown property "knd"; did you mean "kind"?'),
        ("Text-Or-List: a\nname: y", 'unknown property "Text-Or-List"; did you mean "text_or_list"?'),
        ("count: 1", '1:1: the property "name" is missing; add it (what it is called)'),
        ("name: ''", "1:7: /name: the text is empty; write one"),
        ("name: 3", "1:7: /name: expected a text, found the number 3; put it in quotes"),
        ("name: [a]", "1:7: /name: expected a text, found a list"),
        ("name: x\nkey: Ab", '2:6: /key: "Ab" does not fit; expected small letters'),
        (
            "name: x\nkind: humen",
            'expected one of human, machine, mixed, found the text "humen"; did you mean "human"?',
        ),
        ("name: x\ncount: 0", "2:8: /count: expected a whole number of at least 1, found 0"),
        ("name: x\ncount: 1.5", "expected a whole number, found the number 1.5"),
        ("name: x\nshare: 0", "expected a number of at most 1 greater than 0, found 0"),
        ("name: x\nshare: 0.50", 'found the text "0.50"; write 0.5, without quotes or trailing zeros'),
        ("name: x\nnative: yes", 'expected true or false, found the text "yes"; write true or false, in small letters'),
        ("name: x\nsure: false", "2:7: /sure: expected true, found false"),
        ("name: x\ntags: []", "2:7: /tags: expected at least 1 entry, found 0"),
        ("name: x\ntags: a", 'expected a list, found the text "a"; write it as a list: [...]'),
        ("name: x\ntags: [a, b, a]", '2:14: /tags/2: "a" stands in the list twice; remove one'),
        (
            "name: x\nnames: {english: x}",
            '2:9: /names/english: "english" is not a name for this; expected a language tag',
        ),
        ("name: x\ntext_or_list: {a: b}", "expected a text or a list, each entry a text, found a mapping"),
        (
            "name: x\ntext_or_list: [a, 1]",
            "2:19: /text_or_list/1: expected a text, found the number 1; put it in quotes",
        ),
        ("name: x\nsplit: {files: [1]}", "2:17: /split/files/0: expected a text, found the number 1"),
        ("name: x\nsplit: {reader: a, optons: {}}", 'unknown property "optons"; did you mean "options"?'),
        ("name: x\nsplit: {raeder: a}", 'unknown property "raeder"; did you mean "reader"?'),
        ("name: x\nsplit: 3", "expected a mapping (key: value), found the number 3"),
        ("name: x\nold: {from: 1}", '"from" needs "to" beside it; add "to"'),
        ("name: x\nold: {a: 1, b: 1, c: 1}", "expected at most 2 entries, found 3"),
        ("- name", "1:1: expected a mapping (key: value), found a list"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_the_way_out(text: str, message: str) -> None:
    found = worded(text)
    assert any(message in each for each in found), found
    assert all(each.startswith("f.yaml:") and len(each.splitlines()) == 1 for each in found)


def test_problems_come_in_the_order_of_the_file() -> None:
    found = worded("tags: []\ncount: 0\nkind: x\n")
    assert [each.split(":")[1:3] for each in found] == [["1", "1"], ["1", "7"], ["2", "8"], ["3", "7"]]
    assert worded("name: x\nsplit: {reader: r}") == []


def test_a_value_without_positions_is_named_by_its_pointer() -> None:
    found = problems(SCHEMA, {"name": 3}, "options")
    assert found == [Problem("options", 0, 0, "/name", "expected a text, found the number 3; put it in quotes")]
    assert str(found[0]) == "options: /name: expected a text, found the number 3; put it in quotes"


def test_a_row_of_a_file_gets_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text('{}\n{"source_id": "1", "language": "EN", "category": "m"}\n', encoding="utf-8")
    row = json.loads(path.read_text(encoding="utf-8").splitlines()[1])
    assert [str(each) for each in problems("item", row, path, 2)] == [
        f'{path}:2:32: /language: "EN" does not fit; expected a language tag (BCP 47): en, ko, pcm, zh-Hans, pt-BR'
    ]


def test_check_words_the_first_problem_and_counts_the_rest() -> None:
    with pytest.raises(DataError) as caught:
        check("config", parse_yaml("limit: 0\nbakend: reference\n", "c.yaml"))
    assert (
        str(caught.value) == "c.yaml:1:8: /limit: expected a whole number or null of at least 1, found 0 (and 1 more)"
    )
    check("config", parse_yaml("backend: reference\n", "c.yaml"))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), ("a",), {1: 2}])
def test_what_json_has_not_is_not_valid(value: object) -> None:
    assert not schemas.valid("response")({"key": "a" * 64, "seconds": value})


@pytest.mark.parametrize("name", schemas.names())
def test_every_schema_is_one_and_says_what_each_property_is(name: str) -> None:
    schema = schemas.schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:biasfw:schema:{name}:1"
    assert schema["title"]
    for where, part in walk(schema, name):
        step = where.split("/")[-1]
        properties = part.get("properties", {})
        if step not in OPEN:
            assert not properties or part.get("additionalProperties") is False, f"{where} lets any property pass"
        for key, each in properties.items():
            described = {**schema.get("$defs", {}).get(each.get("$ref", "").rpartition("/")[2], {}), **each}
            assert described.get("description") or step == "if", f"{where}/{key} is not described"


# Rows of items hold template fields beside the fixed ones; run.json's two may grow; the others only add a condition.
OPEN = ("item", "config", "protocol", "if", "then")


def walk(schema: Any, where: str) -> typing.Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, dict):
        if isinstance(schema.get("properties", {}), dict):
            yield where, schema
        for key, each in schema.items():
            yield from walk(each, f"{where}/{key}")


CLASSES: Mapping[str, type] = {
    "stored-item": records.Item,
    "stored-item#choice": records.Choice,
    "item#choice": records.Choice,
    "request": records.Request,
    "request#message": records.Message,
    "request#sampling": records.Sampling,
    "request#choice": records.ChoiceText,
    "response": records.Response,
    "response#choice_score": records.ChoiceScore,
    "response#error": records.ResponseError,
    "judgement": records.Judgement,
    "judgement#reading": records.Reading,
    "score": records.Score,
    "score#interval": records.Interval,
    "score#test": records.Test,
    "run#identity": records.Identity,
}


def part_of(name: str) -> dict[str, Any]:
    schema, _, definition = name.partition("#")
    part: dict[str, Any] = schemas.schema(schema)["$defs"][definition] if definition else schemas.schema(schema)
    return part


def stored(cls: Any) -> tuple[dataclasses.Field[Any], ...]:
    return tuple(field for field in dataclasses.fields(cls) if field.metadata.get("stored", True))


def required(cls: Any) -> list[str]:
    missing = dataclasses.MISSING
    return [field.name for field in stored(cls) if field.default is missing and field.default_factory is missing]


@pytest.mark.parametrize(("name", "cls"), CLASSES.items())
def test_schema_and_dataclass_are_equal(name: str, cls: Any) -> None:
    part = part_of(name)
    assert list(part["properties"]) == [field.name for field in stored(cls)]
    assert sorted(part.get("required", [])) == sorted(required(cls))
    assert part["additionalProperties"] is False
    hints = typing.get_type_hints(cls)
    for field in stored(cls):
        allowed = kinds(part["properties"][field.name], schemas.schema(name.partition("#")[0]))
        if (name, field.name) == ("score", "denominator"):  # the records leave the fixed names to the schema
            assert allowed == {"=all", "=returned", "=answered"}
        else:
            assert allowed == kinds_of_hint(hints[field.name]), f"{name}: {field.name}"


def kinds(schema: dict[str, Any], root: dict[str, Any]) -> set[str]:
    """The JSON types, or the values, that a schema allows."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return set().union(*(kinds(each, root) for each in schema["anyOf"]))
    if "enum" in schema:
        return {f"={each}" for each in schema["enum"]}
    types = schema["type"]
    return {types} if isinstance(types, str) else set(types)


def kinds_of_hint(hint: Any) -> set[str]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return {f"={each}" for each in arguments}
    if type(None) in arguments:
        found = set().union(*(kinds_of_hint(each) for each in arguments if each is not type(None)))
        return {*found, "=None" if any(each.startswith("=") for each in found) else "null"}
    if hint is Outcome:
        return {f"={each.value}" for each in Outcome}
    simple = {str: "string", int: "integer", float: "number", bool: "boolean", tuple: "array"}
    return {simple.get(origin or hint, "object")}


def test_a_row_of_items_has_the_fields_of_a_seed() -> None:
    schema = schemas.schema("item")
    assert list(schema["properties"]) == [field.name for field in stored(records.Seed) if field.name != "fields"]
    assert schema["required"] == required(records.Seed)
    assert schemas.valid("item")({"source_id": "1", "language": "en", "category": "m", "topic": "x"})


def test_outcomes_are_those_of_the_records() -> None:
    for name in ("judgement", "run"):
        assert schemas.schema(name)["$defs"]["outcome"]["enum"] == [each.value for each in Outcome]


def test_the_configuration_file_has_the_fields_of_a_run() -> None:
    from biasfw.config import RunConfig  # noqa: PLC0415

    assert list(schemas.schema("config")["properties"]) == [field.name for field in dataclasses.fields(RunConfig)]


@pytest.mark.parametrize(
    "property_name",
    [
        "backend",
        "model",
        "address",
        "base_url",
        "key",
        "api_key",
        "plugin",
        "path",
        "trust_remote_code",
        "judge",
        "seed",
    ],
)
def test_a_preset_can_choose_what_is_asked_and_nothing_else(property_name: str) -> None:
    assert property_name not in schemas.schema("benchmark")["$defs"]["preset"]["properties"]


def test_nothing_heavy_is_loaded_before_it_is_needed() -> None:
    script = (
        "import sys; from biasfw import schemas, options, codec; schemas.valid('config')({}); "
        "print([name for name in ('jsonschema', 'referencing', 'jinja2', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
