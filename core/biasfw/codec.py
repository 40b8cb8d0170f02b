"""Records to JSON and back. Fields that hold their default are left out; what is read is checked field by field.

The functions that do it are put together once per class, from its type hints.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, cast

from biasfw.errors import DataError
from biasfw.phrases import found_in_words, shorten

T = TypeVar("T")
Convert = Callable[[Any], Any]


class _MismatchError(Exception):
    """A value is not of the type of its field; ``path`` grows on the way out."""

    def __init__(self, expected: str, value: Any) -> None:
        super().__init__(f"expected {expected}, found {found_in_words(value)}")
        self.path: list[str] = []


_type: Callable[[Any], Any] = type  # a class as a key of the cache


def encode(record: Any) -> dict[str, Any]:
    """A record as a dict that JSON can hold; fields equal to their default and unstored fields are left out.

    Raises:
        DataError: a field holds something that JSON has no place for.
    """
    result: dict[str, Any] = {}
    cls: Any = type(record)
    for name, default, make in _stored(cls):
        value = getattr(record, name)
        if value is not default and value != (make() if make else default):
            result[name] = _writer(_type(value))(value)
    return result


def decode(cls: type[T], data: Mapping[str, Any]) -> T:
    """The record of class ``cls`` that ``encode`` made ``data`` from.

    Raises:
        DataError: an unknown or a missing field or a value of another type; names class and field.
    """
    record: Any = cls
    try:
        return cast("T", _decoder(record)(data))
    except _MismatchError as error:
        where = ".".join([cls.__name__, *error.path])
        raise DataError(f"{where}: {error}") from None


def dumps(record: Any) -> str:
    """One line of JSON, without a line end, for a record or a plain value.

    Text is written as it is, or wholly in escapes where it holds a lone surrogate, so that the line is always UTF-8.

    Raises:
        DataError: a number is not finite, or something that JSON has no place for.
    """
    plain = encode(record) if dataclasses.is_dataclass(record) else record
    try:
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        if not text.isascii():
            text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(plain, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        hint = "use null, with a reason, for a number that is not finite" if "float" in f"{error}" else "use plain data"
        raise DataError(f"{type(record).__name__}: cannot be written as JSON ({error}); {hint}") from None
    return text


@cache
def _stored(cls: type) -> tuple[tuple[str, Any, Callable[[], Any] | None], ...]:
    """(name, default, default factory) of every stored field; MISSING, which equals nothing, where it is required."""
    return tuple(
        (field.name, field.default, None if field.default_factory is dataclasses.MISSING else field.default_factory)
        for field in dataclasses.fields(cls)
        if field.metadata.get("stored", True)
    )


@cache
def _writer(cls: type) -> Convert:
    """What turns a value of this class into plain data."""
    if issubclass(cls, StrEnum):
        return lambda value: value.value
    if cls is type(None) or issubclass(cls, (str, int, float)):
        return lambda value: value
    if issubclass(cls, Mapping):
        return lambda value: {_key(key): _writer(_type(each))(each) for key, each in value.items()}
    if issubclass(cls, (list, tuple)):
        return lambda value: [_writer(_type(each))(each) for each in value]
    if dataclasses.is_dataclass(cls):
        return encode
    return _refuse


def _refuse(value: Any) -> Any:
    raise DataError(f"{type(value).__name__} cannot be written as JSON; use texts, numbers, lists and mappings")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise DataError(f"the key {shorten(key)} cannot be written as JSON; keys are texts")
    return key.value if isinstance(key, StrEnum) else key


@cache
def _decoder(cls: type) -> Convert:
    hints = typing.get_type_hints(cls)
    converters = {name: _converter(hints[name]) for name, _, _ in _stored(cls)}
    required = {name for name, default, make in _stored(cls) if default is dataclasses.MISSING and make is None}

    def convert(data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise _MismatchError(f"the fields of a {cls.__name__}", data)
        values = {}
        name = ""
        try:
            for name, value in data.items():
                values[name] = converters[name](value)
        except _MismatchError as error:
            error.path.insert(0, name)
            raise
        except KeyError:
            known = ", ".join(converters)
            raise DataError(f"{cls.__name__}: unknown field {shorten(name)}; its fields are {known}") from None
        if not required <= values.keys():
            absent = next(each for each in converters if each in required and each not in values)
            raise DataError(f'{cls.__name__}: the field "{absent}" is missing')
        return cls(**values)

    return convert


def _converter(hint: Any) -> Convert:
    """The function that checks a JSON value against a type hint of a record and turns it into that type."""
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _one_of({each.value: each for each in hint})
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _decoder(hint)
    convert = _generic(typing.get_origin(hint), typing.get_args(hint))
    if convert is None:
        raise TypeError(f"records cannot have a field of type {hint}")
    return convert


def _generic(origin: Any, arguments: tuple[Any, ...]) -> Convert | None:
    if origin in (types.UnionType, typing.Union) and len(arguments) == 2 and arguments[1] is type(None):
        return _optional(_converter(arguments[0]))
    if origin is typing.Literal:
        return _one_of({each: each for each in arguments})
    if origin is tuple and arguments[-1] is Ellipsis:
        return _tuple(_converter(arguments[0]))
    if origin is tuple:
        return _fixed([_converter(each) for each in arguments])
    if origin is Mapping:
        return _mapping(_converter(arguments[1]))
    return None


def _text(value: Any) -> Any:
    if type(value) is not str:
        raise _MismatchError("a text", value)
    return value


def _integer(value: Any) -> Any:
    if type(value) is not int:
        raise _MismatchError("a whole number", value)
    return value


def _float(value: Any) -> Any:
    if type(value) is float:
        return value
    if type(value) is not int or abs(value) > 2**1000:
        raise _MismatchError("a number", value)
    return float(value)


def _bool(value: Any) -> Any:
    if type(value) is not bool:
        raise _MismatchError("true or false", value)
    return value


_SIMPLE: dict[Any, Convert] = {str: _text, int: _integer, float: _float, bool: _bool, Any: lambda value: value}


def _optional(convert: Convert) -> Convert:
    def optional(value: Any) -> Any:
        return None if value is None else convert(value)

    return optional


def _one_of(members: Mapping[str, Any]) -> Convert:
    def one_of(value: Any) -> Any:
        if type(value) is not str or value not in members:
            raise _MismatchError(f"one of {', '.join(members)}", value)
        return members[value]

    return one_of


def _tuple(convert: Convert) -> Convert:
    def many(value: Any) -> Any:
        if type(value) is not list and type(value) is not tuple:
            raise _MismatchError("a list", value)
        result = []
        try:
            for each in value:
                result.append(convert(each))
        except _MismatchError as error:
            error.path.insert(0, str(len(result)))
            raise
        return tuple(result)

    return many


def _fixed(converters: list[Convert]) -> Convert:
    def fixed(value: Any) -> Any:
        if not isinstance(value, (list, tuple)) or len(value) != len(converters):
            raise _MismatchError(f"a list of {len(converters)}", value)
        return tuple(convert(each) for convert, each in zip(converters, value, strict=True))

    return fixed


def _mapping(convert: Convert) -> Convert:
    def mapping(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _MismatchError("a mapping", value)
        result = {}
        key = ""
        try:
            for key, each in value.items():
                result[_text(key)] = convert(each)
        except _MismatchError as error:
            error.path.insert(0, str(key))
            raise
        return result

    return mapping
