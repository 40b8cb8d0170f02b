"""The code of a plugin's module, read and not run: what would set the plugin aside, and what its hooks offer."""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from biasfw.errors import DataError
from biasfw.findings import Level
from biasfw.newbenchmark import TASKS
from biasfw.plugins import HOOKS
from biasfw.specs import ComponentSpec
from biasfw.textfile import read_text

Place = tuple[int, int]
Mistake = tuple[Level, Place, str]
_SPECS: dict[str, tuple[str, type[ComponentSpec]]] = {
    found.__name__: (kind, found) for kind, (_, found) in HOOKS.items()
}
_OF_MODULES = {"__file__", "__name__", "__path__", "__package__", "__doc__", "__spec__", "__loader__", "__builtins__"}


@dataclass(frozen=True, slots=True)
class Offer:
    """A component that a hook offers under a name that stands there as text."""

    kind: str
    name: str
    place: Place


def undefined_names(tree: ast.Module) -> Iterator[Mistake]:
    """Names that nothing in the module defines: the hook that meets one fails."""
    known = set(dir(builtins)) | _OF_MODULES
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names):
            return
        known |= _bound(node)
    skipped = {
        id(each) for node in ast.walk(tree) for annotation in _annotations(node) for each in ast.walk(annotation)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in known and id(node) not in skipped:
            near = difflib.get_close_matches(node.id, known - set(dir(builtins)), n=1, cutoff=0.7)
            hint = f"did you mean {near[0]}?" if near else "import it, or define it"
            yield "error", _place(node), f"nothing defines the name {node.id}; {hint}"


def _bound(node: ast.AST) -> set[str]:
    """The names that a node binds, in whatever scope."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(each.asname or each.name).partition(".")[0] for each in node.names}
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
    if isinstance(node, ast.alias | ast.keyword):
        return set()
    # Functions, classes, arguments, caught exceptions, patterns and type parameters keep their name in one of these.
    return {found for each in ("name", "arg", "rest") if isinstance(found := getattr(node, each, None), str)}


def _annotations(node: ast.AST) -> list[ast.expr]:
    """What is not evaluated where annotations are postponed."""
    found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    return [each for each in found if isinstance(each, ast.expr)]


class Specs:
    """The specs that the hooks of a module make, where they are made by name and of texts."""

    def __init__(self, tree: ast.Module, module_file: Callable[[str], Path | None], own: Callable[[str], bool]) -> None:
        self._tree, self._file, self._own = tree, module_file, own
        self._names = {
            each.asname or each.name: each.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module == "biasfw"
            for each in node.names
            if each.name in _SPECS
        }
        self.offers: list[Offer] = []

    def mistakes(self) -> Iterator[Mistake]:
        """What is wrong with them; ``offers`` is filled on the way."""
        wanted = {hook: found.__name__ for hook, found in HOOKS.values()}
        for hook in self._tree.body:
            if isinstance(hook, ast.FunctionDef):
                for node in ast.walk(hook):
                    if isinstance(node, ast.Call) and (name := self._spec(node.func)):
                        if hook.name in wanted and wanted[hook.name] != name:
                            what = f"{hook.name} yields a {name}, not a {wanted[hook.name]}"
                            yield "error", _place(node), f"{what}; use the hook of that kind"
                        yield from self._call(node, *_SPECS[name])

    def _spec(self, function: ast.expr) -> str | None:
        if isinstance(function, ast.Name):
            return self._names.get(function.id)
        if (
            isinstance(function, ast.Attribute)
            and isinstance(function.value, ast.Name)
            and function.value.id == "biasfw"
        ):
            return function.attr if function.attr in _SPECS else None
        return None

    def _call(self, node: ast.Call, kind: str, spec: type[ComponentSpec]) -> Iterator[Mistake]:
        known = {each.name: each for each in fields(spec)}
        open_ended = any(isinstance(each, ast.Starred) for each in node.args) or any(
            k.arg is None for k in node.keywords
        )
        given: dict[str, ast.expr] = {}
        if not open_ended:
            if len(node.args) > len(known):
                yield "error", _place(node), f"{spec.__name__} takes {len(known)} values, found {len(node.args)}"
            given = dict(zip(known, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in known:
                near = difflib.get_close_matches(keyword.arg, known, n=1)
                hint = f"did you mean {near[0]}?" if near else f"it has: {', '.join(known)}"
                yield "error", _place(keyword), f"{spec.__name__} has no field {keyword.arg}; {hint}"
            elif keyword.arg is not None:
                given[keyword.arg] = keyword.value
        needed = [n for n, each in known.items() if each.default is MISSING and each.default_factory is MISSING]
        misspelt = any(k.arg not in known for k in node.keywords)
        if (missing := [n for n in needed if n not in given]) and not open_ended and not misspelt:
            yield "error", _place(node), f"{spec.__name__} lacks {', '.join(missing)}; write it"
        if isinstance(name := _text(given.get("name")), str):
            self.offers.append(Offer(kind, name, _place(given["name"])))
        yield from _tasks(given.get("tasks"))
        if isinstance(load := _text(given.get("load")), str):
            yield from ((level, _place(given["load"]), message) for level, message in self._load(load))

    def _load(self, load: str) -> Iterator[tuple[Level, str]]:
        module, _, attribute = load.partition(":")
        if not module or not attribute or not all(part.isidentifier() for part in [*module.split("."), attribute]):
            yield "error", f'load={load!r} names no class; write "package.module:Class"'
            return
        file = self._file(module)
        if file is None:
            top = module.partition(".")[0]
            if self._own(top):
                yield "error", f"load names the module {module}, which is not in this folder; mend the name"
            elif not _installed(top):
                yield "error", f"load names the module {module}, which is neither in this folder nor installed"
            return
        try:
            tree = ast.parse(read_text(file), filename=str(file))
        except (DataError, SyntaxError, ValueError, RecursionError) as failure:
            at = f", line {failure.lineno}" if isinstance(failure, SyntaxError) else ""
            yield "error", f"load names {file.name}, which is not Python{at}; mend it"
            return
        if (names := _top_level(tree)) is not None and attribute not in names:
            near = difflib.get_close_matches(attribute, names, n=1)
            hint = f"did you mean {near[0]}?" if near else "write the class, or mend the name"
            yield "error", f"load names {attribute}, which is not in {file.name}; {hint}"


def _installed(top: str) -> bool:
    """Whether there is a package of this name; it is looked for, not imported."""
    try:
        return find_spec(top) is not None
    except (ImportError, ValueError):
        return False


def _top_level(tree: ast.Module) -> set[str] | None:
    """The names that a module has; None where that cannot be told (``import *``, ``__getattr__``)."""
    names: set[str] = set()
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names):
            return None
        names |= _bound(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return None if "__getattr__" in names else names


def _tasks(value: ast.expr | None) -> Iterator[Mistake]:
    """Tasks that are written out and do not exist."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield "error", _place(value), f"tasks is a text; write frozenset({{{value.value!r}}})"
        return
    inner = value.args[0] if isinstance(value, ast.Call) and len(value.args) == 1 else value
    for each in inner.elts if isinstance(inner, ast.Set | ast.List | ast.Tuple) else ():
        task = _text(each)
        if task is not None and task not in TASKS:
            near = difflib.get_close_matches(task, TASKS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(TASKS)}"
            yield "error", _place(each), f"there is no task {task!r}; {hint}"


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _place(node: Any) -> Place:
    return node.lineno, node.col_offset + 1


def own_imports(tree: ast.Module, package: str, module_file: Callable[[str], Path | None]) -> Iterator[Mistake]:
    """Modules of the package itself that are imported at once, and are not there."""
    for node in tree.body:
        for module in _imported(node, package):
            own = module.partition(".")[0] == package.partition(".")[0] and not module.endswith("version")  # built in
            if own and module_file(module) is None:
                yield "error", _place(node), f"it imports {module}, which is not in this folder; mend the name"


def _imported(node: ast.stmt, package: str) -> Sequence[str]:
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    if not isinstance(node, ast.ImportFrom):
        return ()
    if not node.level:
        return [node.module or ""]
    parts = package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return [".".join([*base, node.module])] if node.module else ()
