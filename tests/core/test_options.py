"""Options of components: texts of the command line become what the schema asks for, or one line that says why not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from biasfw import UsageError
from biasfw.schemas import check_options

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "required": ["path"],
    "additionalProperties": False,
    "properties": {
        "path": {"type": "string", "minLength": 1, "description": "where the file is"},
        "n_ctx": {"type": "integer", "minimum": 1, "description": "context in tokens"},
        "n_threads": {"type": ["integer", "null"], "default": None},
        "temperature": {"type": "number", "default": 0.7},
        "mmap": {"type": "boolean", "default": True},
        "device": {"enum": ["cpu", "cuda", 0], "default": "cpu"},
        "stop": {"type": "array", "items": {"type": "string"}, "default": ["x"]},
        "ids": {"type": "array", "items": {"type": "integer"}},
        "extra": {"type": "object"},
        "size": {"anyOf": [{"type": "integer"}, {"const": "auto"}], "default": "auto"},
        "key_name": {"type": "string", "pattern": "^[A-Z_][A-Z0-9_]*$", "writeOnly": True, "description": "a variable"},
    },
}
DEFAULTS = {"n_threads": None, "temperature": 0.7, "mmap": True, "device": "cpu", "stop": ["x"], "size": "auto"}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("n_ctx", "4", 4),
        ("n_ctx", " 4 ", 4),
        ("n_ctx", 4, 4),
        ("n_threads", "null", None),
        ("n_threads", "8", 8),
        ("temperature", "0.50", 0.5),
        ("temperature", "1e-3", 0.001),
        ("temperature", "1", 1),
        ("mmap", "False", False),
        ("device", "cuda", "cuda"),
        ("device", "0", 0),
        ("path", "4", "4"),
        ("path", "true", "true"),
        ("stop", "a,b", ["a", "b"]),
        ("stop", '["a,b"]', ["a,b"]),
        ("ids", "1, 2", [1, 2]),
        ("extra", '{"a": 1}', {"a": 1}),
        ("size", "7", 7),
        ("size", "auto", "auto"),
    ],
)
def test_texts_become_what_the_schema_asks_for(name: str, text: object, value: object) -> None:
    options = check_options("backend x", OPTIONS, {"path": "p", name: text})
    assert options == {**DEFAULTS, "path": "p", name: value}
    assert type(options[name]) is type(value)


def test_defaults_are_never_shared() -> None:
    check_options("backend x", OPTIONS, {"path": "p"})["stop"].append("y")
    assert check_options("backend x", OPTIONS, {"path": "p"})["stop"] == ["x"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"path": "p", "nctx": "4"}, 'backend x has no option "nctx"; did you mean "n_ctx"? The options are device, '),
        ({"path": "p", "N-CTX": "4"}, 'did you mean "n_ctx"?'),
        ({"path": "p", "zzz": "4"}, 'backend x has no option "zzz"; The options are device, extra, ids, key_name, '),
        ({}, 'backend x needs the option "path"; give path=VALUE: where the file is'),
        ({"path": "p", "n_ctx": "0"}, 'option "n_ctx" is 0; expected a whole number of at least 1 (context in tokens)'),
        ({"path": "p", "n_ctx": "many"}, 'option "n_ctx" is "many"; expected a whole number of at least 1'),
        ({"path": "p", "n_ctx": "4.5"}, 'option "n_ctx" is "4.5"; expected a whole number'),
        ({"path": "p", "temperature": "nan"}, 'option "temperature" is "nan"; expected a number'),
        ({"path": "p", "mmap": "yes"}, 'option "mmap" is "yes"; expected true or false'),
        ({"path": "p", "device": "cud"}, 'expected one of cpu, cuda, 0; did you mean "cuda"?'),
        ({"path": "p", "ids": "1,x"}, "expected a list, each entry a whole number"),
        ({"path": "p", "extra": "{"}, "expected a mapping"),
        ({"path": "p", "size": "big"}, 'option "size" is "big"; expected a whole number or "auto"'),
    ],
)
def test_a_wrong_option_names_what_is_expected(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_options("backend x", OPTIONS, given)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_secret_is_never_echoed() -> None:
    with pytest.raises(UsageError, match="key_name") as caught:
        check_options("backend x", OPTIONS, {"path": "p", "key_name": "sk-very-secret"})
    assert "secret" not in str(caught.value)
    assert "expected a variable" in str(caught.value)


def test_a_component_without_options_says_so() -> None:
    none = {"type": "object", "properties": {}, "additionalProperties": False}
    assert check_options("judge rules", none, {}) == {}
    with pytest.raises(UsageError, match='judge rules has no option "x"; it has no options; leave it out'):
        check_options("judge rules", none, {"x": "1"})
