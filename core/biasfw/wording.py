"""Schema errors in words: what is wrong, what was expected, how to mend it.

Imports jsonschema, which takes time to load: only ``schemas`` uses this module, when there is something to word.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from biasfw.document import child
from biasfw.phrases import did_you_mean, found_in_words, listed, shorten

Error = Any  # jsonschema.ValidationError, whose stubs leave every attribute open
Found = tuple[str, bool, str]  # JSON pointer, whether its key is meant, message

_TYPES = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping (key: value)",
    "null": "null",
}


def validator(schema: Mapping[str, Any], shipped: Iterable[Mapping[str, Any]]) -> Draft202012Validator:
    """What finds the mistakes in a value; ``shipped`` are the schemas that ``$ref`` may name by ``$id``."""
    resources = [(each["$id"], DRAFT202012.create_resource(dict(each))) for each in shipped]
    registry: Any = Registry().with_resources(resources)
    return Draft202012Validator(dict(schema), registry=registry)


def find(validator: Draft202012Validator, value: Any) -> list[Found]:
    """Everything that is wrong with ``value``."""
    found = [problem for error in validator.iter_errors(value) for problem in _word(error)]
    return list(dict.fromkeys(found))


def expected(schema: Mapping[str, Any] | bool) -> str:
    """What ``schema`` asks of a value, in a few words: ``a whole number of at least 1``."""
    if isinstance(schema, bool):
        return "nothing" if not schema else "anything"
    if "enum" in schema:
        return f"one of {listed(schema['enum'])}" if len(schema["enum"]) > 1 else _literal(schema["enum"][0])
    if "const" in schema:
        return _literal(schema["const"])
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return " or ".join(dict.fromkeys(expected(each) for each in schema[keyword]))
    if "pattern" in schema:
        return described(schema)
    types = schema.get("type", [])
    words = " or ".join(_TYPES[each] for each in ([types] if isinstance(types, str) else types)) or "another value"
    if types == "array" and "items" in schema:
        words += f", each entry {expected(schema['items'])}"
    return " ".join([words, *_limits(schema)])


def _literal(value: Any) -> str:
    return shorten(value) if isinstance(value, str) else json.dumps(value)


def described(schema: Mapping[str, Any]) -> str:
    """What the schema of a text with a pattern expects: its description, else the pattern."""
    about = schema.get("description", "")
    return _sentence(about) if about else f"a text that matches {schema.get('pattern')}"


def _limits(schema: Mapping[str, Any]) -> list[str]:
    lowest, highest = schema.get("minimum"), schema.get("maximum")
    limits = []
    if lowest is not None and highest is not None:
        limits.append(f"from {lowest} to {highest}")
    elif lowest is not None:
        limits.append(f"of at least {lowest}")
    elif highest is not None:
        limits.append(f"of at most {highest}")
    if "exclusiveMinimum" in schema:
        limits.append(f"greater than {schema['exclusiveMinimum']}")
    if "exclusiveMaximum" in schema:
        limits.append(f"less than {schema['exclusiveMaximum']}")
    return limits


def _pointer(error: Error) -> str:
    pointer = ""
    for part in error.absolute_path:
        pointer = child(pointer, part)
    return pointer


def _word(error: Error) -> Iterator[Found]:
    """The problems that one error of jsonschema stands for."""
    if error.context and error.validator in ("anyOf", "oneOf"):
        yield from _branches(error)
        return
    pointer = _pointer(error)
    if "propertyNames" in error.absolute_schema_path:
        wanted = f"expected {described(error.schema)}"
        yield child(pointer, str(error.instance)), True, f"{shorten(error.instance)} is not a name for this; {wanted}"
        return
    if error.validator == "additionalProperties" and isinstance(error.validator_value, bool):
        yield from _unknown(error, pointer)
        return
    if error.validator == "uniqueItems":
        yield _twice(error, pointer)
        return
    word = _WORDS.get(str(error.validator))
    yield pointer, error.validator is None, word(error) if word else _other(error)


def _unknown(error: Error, pointer: str) -> Iterator[Found]:
    known = error.schema.get("properties", {})
    patterns = error.schema.get("patternProperties", {})
    allowed = Draft202012Validator({"patternProperties": dict.fromkeys(patterns, False)})
    for name in error.instance:
        if name not in known and allowed.is_valid({name: None}):
            absent = [each for each in known if each not in error.instance]
            yield child(pointer, name), True, f"unknown property {shorten(name)}; {did_you_mean(name, absent or known)}"


def _twice(error: Error, pointer: str) -> Found:
    seen: list[str] = []
    for index, entry in enumerate(error.instance):
        text = json.dumps(entry, sort_keys=True)
        if text in seen:
            return child(pointer, index), False, f"{shorten(entry)} stands in the list twice; remove one"
        seen.append(text)
    return pointer, False, "an entry stands in the list twice; remove one"


def _branches(error: Error) -> Iterator[Found]:
    """Of several allowed forms, word the one that the value comes nearest to."""
    branches: dict[Any, list[Error]] = {}
    for each in error.context or ():
        branches.setdefault(each.relative_schema_path[0], []).append(each)
    alive = {key: errors for key, errors in branches.items() if not any(_other_kind(each) for each in errors)}
    if alive:
        nearest = min(alive.values(), key=_distance)
        for each in nearest:
            yield from _word(each)
        return
    wanted = " or ".join(dict.fromkeys(expected(each.schema) for each in error.context or () if _other_kind(each)))
    message = f"expected {wanted}, found {found_in_words(error.instance)}{_mend(error.instance, wanted)}"
    yield _pointer(error), False, message


def _distance(errors: list[Error]) -> tuple[int, int, float, int]:
    """How far a value is from one allowed form: errors only deep inside, or familiar keys, speak for that form."""
    depth = max(len(each.relative_path) for each in errors)
    own = sum(not each.relative_path for each in errors)
    instance, form = errors[0].instance, errors[0].schema
    familiar = 0.0
    if isinstance(instance, dict) and isinstance(form, dict) and not errors[0].relative_path:
        known = form.get("properties", {})
        for name in instance:
            familiar += max((difflib.SequenceMatcher(None, name, each).ratio() for each in known), default=0.0)
    return -depth, own, -familiar, len(errors)


def _other_kind(error: Error) -> bool:
    """Whether a branch was not meant at all: another type, or another fixed value in its place."""
    return not error.relative_path and error.validator in ("type", "enum", "const")


def _type(error: Error) -> str:
    wanted = expected({"type": error.validator_value})
    return f"expected {wanted}, found {found_in_words(error.instance)}{_mend(error.instance, wanted)}"


def _mend(value: Any, wanted: str) -> str:
    """``; the way out`` for a value of the wrong type, where there is an obvious one."""
    if "a text" in wanted and isinstance(value, (bool, int, float)):
        return "; put it in quotes"
    if isinstance(value, str):
        if "true or false" in wanted and value.casefold() in ("true", "false", "yes", "no", "on", "off"):
            return "; write true or false, in small letters and without quotes"
        if "number" in wanted and (number := _as_number(value)) is not None:
            return f"; write {number}, without quotes or trailing zeros"
        if "a list" in wanted:
            return "; write it as a list: [...]"
    return ""


def _as_number(text: str) -> str | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return f"{number:.15g}" if math.isfinite(number) else None


def _enum(error: Error) -> str:
    values = error.validator_value
    texts = [each for each in values if isinstance(each, str)]
    hint = did_you_mean(error.instance, texts) if isinstance(error.instance, str) else ""
    hint = f"; {hint}" if hint.startswith("did you") else ""
    return f"expected {expected({'enum': values})}, found {found_in_words(error.instance)}{hint}"


def _missing(error: Error) -> str:
    name = next((each for each in error.validator_value if error.message.startswith(repr(each))), "")
    described = error.schema.get("properties", {}).get(name, {})
    about = described.get("description", "") if isinstance(described, dict) else ""
    return f'the property "{name}" is missing; add it' + (f" ({_sentence(about)})" if about else "")


def _sentence(text: str) -> str:
    """A description in the middle of a sentence: the first sentence, without its full stop."""
    first = text.split(". ", maxsplit=1)[0].rstrip(".")
    return first[:1].lower() + first[1:] if first[1:2].islower() or first[1:2] == " " else first


def _other(error: Error) -> str:
    about = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    return " ".join(error.message.split()) + (f"; expected: {_sentence(about)}" if about else "")


def _range(error: Error) -> str:
    return f"expected {expected(error.schema)}, found {shorten(error.instance)}"


def _length(error: Error) -> str:
    limit, size = error.validator_value, len(error.instance)
    if isinstance(error.instance, str) and size == 0:
        return "the text is empty; write one"
    kinds = ("character", "characters") if isinstance(error.instance, str) else ("entry", "entries")
    noun = kinds[limit != 1]
    bound = "at least" if str(error.validator).startswith("min") else "at most"
    return f"expected {bound} {limit} {noun}, found {size}"


def _dependent(error: Error) -> str:
    for name, needed in error.validator_value.items():
        absent = [each for each in needed if each not in error.instance]
        if name in error.instance and absent:
            return f'"{name}" needs "{absent[0]}" beside it; add "{absent[0]}"'
    return _other(error)


_WORDS: dict[str, Callable[[Error], str]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda error: f"expected {_literal(error.validator_value)}, found {found_in_words(error.instance)}",
    "required": _missing,
    "pattern": lambda error: f"{shorten(error.instance)} does not fit; expected {described(error.schema)}",
    "minimum": _range,
    "maximum": _range,
    "exclusiveMinimum": _range,
    "exclusiveMaximum": _range,
    "minLength": _length,
    "maxLength": _length,
    "minItems": _length,
    "maxItems": _length,
    "minProperties": _length,
    "maxProperties": _length,
    "dependentRequired": _dependent,
    "None": lambda _: "this property is not allowed here; remove it",
}
