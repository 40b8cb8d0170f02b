"""Examples on disk are the tests of the schemas: tests/examples/<schema>/{valid,invalid}.

A valid example is the value itself, as JSON or YAML. An invalid one is {"fails_at": JSON pointer, "instance": value},
or, for long values, {"fails_at", "base": a valid example, "set": {pointer: value}, "remove": [pointers]}.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from biasfw import crosscheck, schemas
from biasfw.yamlfile import load_yaml

EXAMPLES = Path(__file__).parents[1] / "examples"
VALID = sorted(EXAMPLES.glob("*/valid/*"))
INVALID = sorted(EXAMPLES.glob("*/invalid/*"))


def name_of(path: Path) -> str:
    return path.relative_to(EXAMPLES).as_posix()


def read(path: Path) -> Any:
    return load_yaml(path).value if path.suffix == ".yaml" else json.loads(path.read_text(encoding="utf-8"))


def parent(value: Any, pointer: str) -> tuple[Any, Any]:
    """The list or mapping that holds what ``pointer`` points to, and its index or key there."""
    *way, last = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    for part in way:
        value = value[int(part) if isinstance(value, list) else part]
    return value, int(last) if isinstance(value, list) else last


def instance_of(path: Path) -> tuple[Any, str]:
    case = read(path)
    if "instance" in case:
        return case["instance"], case["fails_at"]
    value = read(path.parents[1] / case["base"])
    for pointer, new in case.get("set", {}).items():
        holder, key = parent(value, pointer)
        if isinstance(holder, list) and key == len(holder):
            holder.append(new)
        else:
            holder[key] = new
    for pointer in case.get("remove", ()):
        holder, key = parent(value, pointer)
        del holder[key]
    return value, case["fails_at"]


@pytest.mark.parametrize("name", schemas.names())
def test_every_schema_has_examples_of_both_kinds(name: str) -> None:
    assert list((EXAMPLES / name / "valid").iterdir())
    assert list((EXAMPLES / name / "invalid").iterdir())


def test_every_folder_of_examples_has_a_schema() -> None:
    assert {folder.name for folder in EXAMPLES.iterdir()} == set(schemas.names())


@pytest.mark.parametrize("path", VALID, ids=name_of)
def test_valid_examples_are_accepted(path: Path) -> None:
    schema, value = path.parts[-3], read(path)
    assert [str(problem) for problem in schemas.problems(schema, value)] == []
    assert schemas.valid(schema)(value)


@pytest.mark.parametrize("path", INVALID, ids=name_of)
def test_invalid_examples_fail_where_they_say(path: Path) -> None:
    schema = path.parts[-3]
    value, fails_at = instance_of(path)
    found = schemas.problems(schema, value)
    assert [problem.pointer for problem in found] == [fails_at], [str(problem) for problem in found]
    assert not schemas.valid(schema)(value)
    assert len(found[0].message.splitlines()) == 1


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("benchmark/valid/*.yaml")), ids=name_of)
def test_valid_manifests_refer_to_nothing_that_is_missing(path: Path) -> None:
    assert [str(problem) for problem in crosscheck.problems(load_yaml(path))] == []
