"""Options of a component: texts of the command line turned into what its schema asks for, checked, defaults added."""

from __future__ import annotations

import copy
import difflib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from biasfw.errors import UsageError
from biasfw.phrases import shorten

_INTEGER = re.compile(r"[-+]?[0-9]{1,300}")
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")
_WORDS = {"true": True, "false": False, "null": None, "none": None}


def check_options(owner: str, option_schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``owner`` ("backend llamacpp"): ``given``, converted and checked, and defaults for the rest.

    A text becomes a number, true, false, null or a list where the schema asks for one ("4", "0.5", "true", "a,b").
    A property with ``"writeOnly": true`` may hold a secret: its value never stands in a message.

    Raises:
        UsageError: an unknown option, a missing one, or a value that the schema does not allow.
    """
    properties: Mapping[str, Any] = option_schema.get("properties", {})
    options = {name: copy.deepcopy(each["default"]) for name, each in properties.items() if "default" in each}
    for name, value in given.items():
        if name in properties:
            options[name] = _convert(value, properties[name])
        elif option_schema.get("additionalProperties", True) is False:
            raise UsageError(f"{owner} has no option {shorten(name)}; {_known(name, properties)}")
        else:
            options[name] = value
    from biasfw import schemas  # noqa: PLC0415 - start-up time

    if not _is_valid(option_schema, options):
        found = schemas.problems(option_schema, options)
        if found:
            raise UsageError(_worded(owner, found[0], properties, options))
    return options


def _is_valid(schema: Mapping[str, Any], value: Any) -> bool:
    import jsonschema_rs  # noqa: PLC0415 - start-up time

    return bool(jsonschema_rs.is_valid(dict(schema), value))


def _known(name: str, properties: Mapping[str, Any]) -> str:
    if not properties:
        return "it has no options; leave it out"
    folded = {each.casefold().replace("-", "_"): each for each in properties}
    near = difflib.get_close_matches(name.casefold().replace("-", "_"), folded, n=1)
    hint = f'did you mean "{folded[near[0]]}"? ' if near else ""
    return f"{hint}The options are {', '.join(sorted(properties))}"


def _worded(owner: str, problem: Any, properties: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    from biasfw import wording  # noqa: PLC0415 - start-up time

    name = problem.pointer.strip("/").split("/")[0].replace("~1", "/").replace("~0", "~")
    if name not in options:  # a missing option, or a rule about several
        absent = re.match(r'the property "(.+?)" is missing', problem.message)
        if absent:
            about = properties.get(absent[1], {}).get("description", "")
            return f'{owner} needs the option "{absent[1]}"; give {absent[1]}=VALUE' + (f": {about}" if about else "")
        return f"{owner}: {problem.message}"
    asked = properties.get(name, {})
    about = f" ({asked['description']})" if "description" in asked and "pattern" not in asked else ""
    if asked.get("writeOnly"):
        return f'{owner}: the value of the option "{name}" is not allowed; expected {wording.expected(asked)}{about}'
    hint = problem.message.partition("; did you")[2]
    hint = f"; did you{hint}" if hint else ""
    value = shorten(options[name])
    return f'{owner}: the option "{name}" is {value}; expected {wording.expected(asked)}{hint}{about}'


def _convert(value: Any, schema: Mapping[str, Any]) -> Any:
    """``value``, or what a text means under ``schema``; a text that fits nothing stays, and then fails the check."""
    if not isinstance(value, str):
        return value
    types = set(_types(schema))
    text = value.strip()
    if text.casefold() in _WORDS and ("null" if _WORDS[text.casefold()] is None else "boolean") in types:
        return _WORDS[text.casefold()]
    if types & {"integer", "number"} and _INTEGER.fullmatch(text):
        return int(text)
    if "number" in types and _NUMBER.fullmatch(text):
        return float(text)
    if "string" not in types and types & {"array", "object"}:
        return _collection(value, schema)
    return value


def _collection(text: str, schema: Mapping[str, Any]) -> Any:
    """A list or mapping written as JSON, or a list as ``a,b``."""
    if text.strip()[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    if "array" not in _types(schema):
        return text
    return [_convert(part.strip(), schema.get("items", {"type": "string"})) for part in text.split(",") if part]


def _types(schema: Mapping[str, Any]) -> Iterator[str]:
    """The types that ``schema`` allows, as far as it says."""
    declared = schema.get("type", [])
    yield from [declared] if isinstance(declared, str) else declared
    for value in [*schema.get("enum", []), *([schema["const"]] if "const" in schema else [])]:
        yield _type_of(value)
    for each in [*schema.get("anyOf", []), *schema.get("oneOf", [])]:
        yield from _types(each)


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return kinds.get(type(value), "object")
