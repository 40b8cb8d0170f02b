"""Prompt templates of bundles: jinja2 in a sandbox, cut down to what a prompt needs. Bundles are hostile.

Allowed are output, ``if`` with comparisons, ``for`` over lists, fields and their entries, constants, and the filters
``replace``, ``join``, ``trim`` and ``length``. Values are data: braces, percent and dollar signs in them stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NoReturn

import jinja2
from jinja2 import meta, nodes
from jinja2.runtime import LoopContext, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from biasfw.errors import DataError
from biasfw.phrases import listed, shorten

SIZE_LIMIT = 2**20  # characters of a template, of a text in the making, and of what is rendered
STEP_LIMIT = 10_000  # rounds of all loops of one rendering together

_ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Getattr, nodes.Getitem, nodes.Const, nodes.List,
    nodes.Tuple, nodes.If, nodes.For, nodes.Compare, nodes.Operand, nodes.Not, nodes.And, nodes.Or, nodes.Filter,
    nodes.Scope,
)  # fmt: skip
_REFUSED: Mapping[str, str] = {
    "Call": "a call",
    "Assign": "{% set %}",
    "AssignBlock": "{% set %}",
    "Concat": "joining texts with ~",
    "CondExpr": "an if inside an output",
    "Test": "a test with `is`",
    "Slice": "a slice",
    "Dict": "a mapping",
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow", "Neg", "Pos"), "arithmetic"),
    **{name: f"{{% {name.lower()} %}}" for name in ("Include", "Import", "Extends", "Block", "Macro", "With")},
    "FromImport": "{% import %}",
    "CallBlock": "{% call %}",
    "FilterBlock": "{% filter %}",
    "ScopedEvalContextModifier": "{% autoescape %}",
}
_FILTERS = {"replace": (2, 2), "join": (0, 1), "trim": (0, 0), "length": (0, 0)}  # name -> fewest, most arguments
_LOOP = frozenset({"first", "last", "index", "index0", "length"})
_RESERVED = frozenset({"self", "super", "caller", "varargs", "kwargs"})
_EACH = "_each"  # wraps what a loop goes over; no template can name it
_STEPS = "_steps"


class _RefusalError(Exception):
    """A value that a template cannot work with; says what to do."""


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled template. ``variables`` are the names of the fields it uses."""

    where: str
    variables: frozenset[str]
    _code: jinja2.Template = field(repr=False)

    def render(self, variables: Mapping[str, Any]) -> str:
        """The text for one item.

        Raises:
            DataError: a field is missing or cannot be written as text, or the text grows beyond 1 MiB.
        """
        parts = []
        size = 0
        try:
            for part in self._code.generate({**variables, _STEPS: [0]}):
                size += len(part)
                if size > SIZE_LIMIT:
                    raise DataError(f"{self.where}: the text is longer than 1 MiB; shorten the fields or the loops")
                parts.append(part)
        except jinja2.UndefinedError as error:
            hint = f"; the names here are {listed(sorted(variables))}" if "is undefined" in str(error) else ""
            self._fail(error, f"{error}{hint}")
        except (_RefusalError, jinja2.TemplateError) as error:
            self._fail(error, f"{error}")
        except (TypeError, ValueError) as error:
            self._fail(error, f"{error}; compare values of one kind")
        return "".join(parts)

    def _fail(self, error: Exception, message: str) -> NoReturn:
        line = _line(error.__traceback__)
        place = f"{self.where}: line {line}" if line else self.where
        raise DataError(f"{place}: {' '.join(message.split())}") from None


def compile_template(text: str, where: str) -> Template:
    """Compile ``text``; ``where`` names it in messages ("benchmark.yaml: template debate/en/user").

    Raises:
        DataError: it is not a template or uses something that is not allowed; with its line.
    """
    if len(text) > SIZE_LIMIT:
        raise DataError(f"{where}: the template is longer than 1 MiB; shorten it")
    try:
        tree = _ENVIRONMENT.parse(text)
        for node in _walk(tree):
            _check(node, where)
        variables = frozenset(meta.find_undeclared_variables(tree))
        for loop in tree.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, _EACH, [], [], None, None, lineno=loop.lineno)
        code = _ENVIRONMENT.compile(tree)
        return Template(where, variables, jinja2.Template.from_code(_ENVIRONMENT, code, {}))
    except jinja2.TemplateSyntaxError as error:
        raise DataError(f"{where}: line {error.lineno}: {error.message}; check the braces and tags") from None
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        raise DataError(f"{where}: the template is nested too deeply; simplify it") from None


_compiled: dict[tuple[str, str], Template] = {}


def compiled(text: str, where: str) -> Template:
    """A compiled template; compiled once per text, since a bundle renders thousands of items with one frame."""
    key = (text, where)
    if key not in _compiled:
        _compiled[key] = compile_template(text, where)
    return _compiled[key]


def _walk(node: nodes.Node) -> Iterator[nodes.Node]:
    """The tree, without recursion."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.iter_child_nodes())


def _check(node: nodes.Node, where: str) -> None:
    """Refuse what the allowlist does not hold."""
    place = f"{where}: line {node.lineno}"
    kind = type(node).__name__
    if not isinstance(node, _ALLOWED):
        raise DataError(f"{place}: {_REFUSED.get(kind, kind)} is not allowed in a template; write plain fields instead")
    name = node.name if isinstance(node, nodes.Name) else node.attr if isinstance(node, nodes.Getattr) else ""
    if name.startswith("_") or (isinstance(node, nodes.Name) and name in _RESERVED):
        raise DataError(f"{place}: the name {shorten(name)} is not allowed in a template; rename the field")
    if isinstance(node, nodes.Filter):
        _check_filter(node, place)
    elif isinstance(node, nodes.For):
        _check_loop(node, place)
    elif isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name) and node.node.name == "loop":
        if node.attr not in _LOOP:
            raise DataError(f"{place}: loop.{node.attr} is not allowed; there are {listed(sorted(_LOOP))}")
    elif isinstance(node, nodes.Getitem) and not isinstance(node.arg, (nodes.Const, nodes.Name, nodes.Getattr)):
        raise DataError(f"{place}: only a number, a text or a field is allowed in [...]; write it out")


def _check_filter(node: nodes.Filter, place: str) -> None:
    if node.name not in _FILTERS:
        raise DataError(f"{place}: the filter {shorten(node.name)} is not allowed; there are {listed(_FILTERS)}")
    fewest, most = _FILTERS[node.name]
    if not fewest <= len(node.args) <= most or node.kwargs or node.dyn_args or node.dyn_kwargs:
        usage = {"replace": 'replace("old", "new")', "join": 'join(", ")'}.get(node.name, node.name)
        raise DataError(f"{place}: the filter {node.name} is used as {usage}")


def _check_loop(node: nodes.For, place: str) -> None:
    if not isinstance(node.target, nodes.Name) or node.target.name == "loop":
        raise DataError(f"{place}: a loop has one variable, not named loop; write {{% for name in field %}}")
    if not isinstance(node.iter, (nodes.Name, nodes.Getattr, nodes.Getitem)):
        raise DataError(f"{place}: a loop goes over a field; write {{% for name in field %}}")
    if node.recursive:
        raise DataError(f"{place}: a recursive loop is not allowed; leave the word out")


def _replace(value: Any, old: Any, new: Any) -> str:
    text, sought, put = _text(value), _text(old), _text(new)
    if not sought:
        raise _RefusalError("replace needs a text to look for; write one")
    _check_size(len(text) + text.count(sought) * max(len(put) - len(sought), 0))
    return text.replace(sought, put)


def _join(value: Any, separator: Any = "") -> str:
    if not isinstance(value, (list, tuple)):
        raise _RefusalError(f"join needs a list, not {_kind(value)}; leave it out")
    texts, between = [_text(each) for each in value], _text(separator)
    _check_size(sum(map(len, texts)) + len(between) * len(texts))
    return between.join(texts)


def _length(value: Any) -> int:
    if isinstance(value, Undefined):
        str(value)  # raises, with the name
    if not isinstance(value, (str, list, tuple, Mapping)):
        raise _RefusalError(f"length needs a text or a list, not {_kind(value)}; leave it out")
    return len(value)


@jinja2.pass_context
def _each(context: jinja2.runtime.Context, value: Any) -> Iterator[Any]:
    if isinstance(value, Undefined):
        str(value)
    if not isinstance(value, (list, tuple)):
        raise _RefusalError(f"a loop needs a list, not {_kind(value)}; leave the loop out")
    steps: list[int] = context[_STEPS]
    return _counted(value, steps)


def _counted(value: list[Any] | tuple[Any, ...], steps: list[int]) -> Iterator[Any]:
    for each in value:
        steps[0] += 1
        if steps[0] > STEP_LIMIT:
            raise _RefusalError(f"more than {STEP_LIMIT} rounds of its loops; simplify them")
        yield each


def _text(value: Any) -> str:
    """What is written for a value: texts and numbers only, so that no list or null slips into a prompt."""
    if isinstance(value, Undefined):
        str(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        hint = (
            'pick an entry with [0] or write | join(", ")' if isinstance(value, (list, tuple)) else "use a text field"
        )
        raise _RefusalError(f"{_kind(value)} cannot be written into a prompt; {hint}")
    return str(value)


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, Mapping):
        return "a mapping"
    return "a number" if isinstance(value, (int, float)) else "a text" if isinstance(value, str) else "this"


def _check_size(size: int) -> None:
    if size > SIZE_LIMIT:
        raise _RefusalError("a text grows beyond 1 MiB; shorten it")


def _line(trace: TracebackType | None) -> int:
    """The line of the template in which an exception was raised; jinja2 puts it into the traceback."""
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


class _Environment(ImmutableSandboxedEnvironment):
    """A sandbox in which attributes are entries of mappings and nothing else, and nothing can be called."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, LoopContext) and attribute in _LOOP:
            return getattr(obj, attribute)
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, Undefined):
            str(obj)
        if isinstance(obj, Mapping) and isinstance(argument, str) and argument in obj:
            return obj[argument]
        if isinstance(obj, (list, tuple)) and type(argument) is int and 0 <= argument < len(obj):
            return obj[argument]
        return self.undefined(f"{_kind(obj)} has no entry {shorten(argument)}")

    def is_safe_callable(self, obj: Any) -> bool:  # noqa: ARG002
        return False


def _environment() -> _Environment:
    environment = _Environment(
        undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True, optimized=False, finalize=_text
    )
    environment.globals.clear()
    environment.tests.clear()
    environment.filters.clear()
    filters: dict[str, Callable[..., Any]] = {"replace": _replace, "join": _join, "length": _length, _EACH: _each}
    environment.filters.update(filters, trim=lambda value: _text(value).strip())
    return environment


_ENVIRONMENT = _environment()
