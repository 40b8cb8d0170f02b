"""Records to JSON and back, whatever they hold."""

from __future__ import annotations

import dataclasses
import json
import re
import types
import typing
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasfw import DataError, records, schemas
from biasfw.codec import decode, dumps, encode
from biasfw.records import ChoiceScore, Identity, Judgement, Outcome, Reading, Request, Response, Sampling, Score

CLASSES = [value for value in vars(records).values() if dataclasses.is_dataclass(value)]

# Half of a surrogate pair is data; two halves beside each other are one character in JSON.
TEXTS = st.text(
    alphabet=st.sampled_from('\ud835\udc00\u2028\u0085\0\n\r😀ب한\\"{') | st.characters(exclude_categories=()),
    max_size=6,
).filter(lambda text: not re.search("[\ud800-\udbff][\udc00-\udfff]", text))
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
SIMPLE: Mapping[Any, st.SearchStrategy[Any]] = {
    str: TEXTS,
    int: st.integers(),
    float: FLOATS,
    bool: st.booleans(),
    Any: JSON_VALUES,
    type(None): st.none(),
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Everything that a field with this type hint may hold."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in SIMPLE:
        return SIMPLE[hint]
    if origin in (types.UnionType, typing.Union):
        return st.one_of(*map(values, arguments))
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin is tuple and arguments[-1] is Ellipsis:
        return st.lists(values(arguments[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values, arguments))
    if origin is Mapping:
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=3)
    if issubclass(hint, StrEnum):
        return st.sampled_from(list(hint))
    return st.builds(hint, **{field.name: values(typing.get_type_hints(hint)[field.name]) for field in stored(hint)})


def stored(cls: Any) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(cls) if field.metadata.get("stored", True)]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@given(data=st.data())
def test_what_was_encoded_is_decoded(cls: Any, data: st.DataObject) -> None:
    record = data.draw(values(cls))
    plain = encode(record)
    assert decode(cls, plain) == record
    line = dumps(record)
    assert "\n" not in line
    assert json.loads(line.encode("utf-8")) == plain
    assert decode(cls, json.loads(line)) == record


def test_what_holds_its_default_is_left_out() -> None:
    assert encode(Response("k")) == {"key": "k"}
    assert encode(Response("k", text="")) == {"key": "k", "text": ""}  # empty is not null
    assert encode(ChoiceScore("a", None, 0, 0)) == {"key": "a", "sum": None, "tokens": 0, "bytes": 0}
    assert encode(Sampling(seed=0, temperature=0.0, max_tokens=3)) == {"max_tokens": 3}


def test_what_is_not_stored_is_neither_written_nor_read() -> None:
    request = Request("k", "i", Sampling(), references={"first": "secret"})
    assert "secret" not in dumps(request)
    with pytest.raises(DataError, match='Request: unknown field "references"; its fields are key, item_id, '):
        decode(Request, {"key": "k", "item_id": "i", "sampling": {}, "references": {}})


def test_types_come_back() -> None:
    judgement = decode(
        Judgement, {"key": "k", "response_key": "r", "slots": {"s": {"outcome": "answered", "value": "a"}}}
    )
    assert judgement.slots == {"s": Reading(Outcome.ANSWERED, "a")}
    assert isinstance(judgement.slots["s"].outcome, Outcome)
    assert type(encode(judgement)["slots"]["s"]["outcome"]) is str
    score = decode(Score, json.loads(dumps(Score("m", 1, "share", 1, 1, "all", bounds=(0, 1)))))
    assert score.bounds == (0.0, 1.0)
    assert type(score.value) is float


JUDGED = {"key": "k", "response_key": "r"}
SCORED = {"metric": "m", "value": 1, "unit": "u", "n": 1, "clusters": 1, "denominator": "all"}


@pytest.mark.parametrize(
    ("cls", "data", "message"),
    [
        (Response, {"key": "k", "txt": 1}, 'Response: unknown field "txt"; its fields are key, text, '),
        (Response, {"text": "x"}, 'Response: the field "key" is missing'),
        (Response, {"key": 1}, "Response.key: expected a text, found the number 1"),
        (Response, {"key": "k", "text": ["x"]}, "Response.text: expected a text, found a list"),
        (Response, {"key": "k", "prompt_tokens": True}, "Response.prompt_tokens: expected a whole number, found true"),
        (
            Response,
            {"key": "k", "prompt_tokens": 1.0},
            "Response.prompt_tokens: expected a whole number, found the num",
        ),
        (Response, {"key": "k", "seconds": False}, "Response.seconds: expected a number, found false"),
        (Response, {"key": "k", "seconds": 10**400}, "Response.seconds: expected a number"),
        (Response, {"key": "k", "flags": "x"}, 'Response.flags: expected a list, found the text "x"'),
        (Response, {"key": "k", "flags": ["x", 1]}, "Response.flags.1: expected a text, found the number 1"),
        (Response, {"key": "k", "error": {"kind": "x"}}, 'ResponseError: the field "message" is missing'),
        (Response, {"key": "k", "error": "x"}, "Response.error: expected the fields of a ResponseError, found"),
        (Response, ["k"], "Response: expected the fields of a Response, found a list"),
        (
            Judgement,
            {**JUDGED, "slots": {"s": {"outcome": "good"}}},
            "Judgement.slots.s.outcome: expected one of answered",
        ),
        (Judgement, {**JUDGED, "slots": []}, "Judgement.slots: expected a mapping, found a list"),
        (Score, {**SCORED, "bounds": [1]}, "Score.bounds: expected a list of 2, found a list"),
        (
            Score,
            {**SCORED, "direction": "up"},
            'Score.direction: expected one of higher, lower, toward-ideal, none, found the text "up"',
        ),
    ],
)
def test_what_does_not_fit_names_class_and_field(cls: Any, data: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        decode(cls, data)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"a": "é\u2028😀"}, '{"a":"é\u2028😀"}'),
        ({"a": "é\ud835"}, '{"a":"\\u00e9\\ud835"}'),
        ({"\udc00": 1}, '{"\\udc00":1}'),
        ({"a": "x\0\n"}, '{"a":"x\\u0000\\n"}'),
        ([1.5, None, True], "[1.5,null,true]"),
    ],
)
def test_a_line_is_always_utf_8(value: Any, line: str) -> None:
    assert dumps(value) == line
    assert json.loads(dumps(value).encode("utf-8")) == value


@pytest.mark.parametrize(
    "record",
    [
        Response("k", seconds=float("nan")),
        Response("k", seconds=float("-inf")),
        Identity("m", "f", details={"a": {1, 2}}),
        Identity("m", "f", details={"a": object()}),
        Identity("m", "f", details={"a": {1: 2}}),
        {"a": float("inf")},
        {"a": {1}},
    ],
)
def test_what_json_has_no_place_for_is_an_error(record: Any) -> None:
    with pytest.raises(DataError, match="cannot be written as JSON"):
        dumps(record)


def test_what_is_encoded_fits_its_schema() -> None:
    key = "0" * 64
    reading = {"s": Reading(Outcome.NO_MAJORITY)}
    cases: list[tuple[str, Any]] = [
        (
            "response",
            Response(key, text="x\ud835", choice_logprobs=(ChoiceScore("a", -1.0, 1, 1, (5,)),), flags=("f",)),
        ),
        ("request", Request(key, "i", Sampling(stop=("\n",)), messages=(records.Message("user", ""),), repeat=2)),
        ("judgement", Judgement(key, key, reading, {"s": Outcome.ANSWERED}, {"m": reading}, "why", ("f",))),
        (
            "score",
            Score(
                "m", None, "share", 0, 0, "all", reason="none", interval=records.Interval(None, None, "m", reason="r")
            ),
        ),
    ]
    for name, record in cases:
        assert schemas.problems(name, encode(record)) == []
        assert schemas.valid(name)(json.loads(dumps(record)))
