"""A plugin package, as its source lies: pyproject.toml, the module of each entry point, the bundles and packs in it.

Nothing of it is imported: the code of a package that is looked at is not run. `biasfw check` runs what is installed.
"""

from __future__ import annotations

import ast
import difflib
import re
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from biasfw import bundles, hookspecs
from biasfw.errors import DataError
from biasfw.findings import Finding, Level, Report
from biasfw.packcheck import Kit, check_pack
from biasfw.plugins import Plugins
from biasfw.schemas import Problem
from biasfw.textfile import read_text
from biasfw.validating.hookcode import Offer, Specs, own_imports, undefined_names
from biasfw.validating.inspection import inspect

_HOOKS = {
    name: set(hook.__code__.co_varnames[: hook.__code__.co_argcount])
    for name, hook in vars(hookspecs).items()
    if name.startswith("biasfw_")
}
_SKIPPED = {"build", "dist", "node_modules", "__pycache__", "tests"}


def validate_package(folder: Path, kit: Kit) -> list[Report]:
    """Check the package in ``folder``, then every bundle and language pack in it."""
    report, manifests, packs = read_package(folder, kit.plugins)
    return [
        report,
        *(inspect(manifest.parent, kit).report for manifest in manifests),
        *(check_pack(pack, kit) for pack in packs),
    ]


def read_package(folder: Path, plugins: Plugins) -> tuple[Report, list[Path], list[Path]]:
    """The report on the package itself, the manifests in it, and the language packs."""
    report = Report("plugin", folder.name or folder.resolve().name, str(folder / "pyproject.toml"))
    check = _Package(folder, report)
    check.run()
    check.taken(plugins)
    return report, check.find(bundles.MANIFEST), [p for p in check.find("*.yaml") if p.parent.name == "languages"]


def entry_points(folder: Path) -> list[tuple[str, str]]:
    """Name and module of every entry point that the package declares; none if its pyproject.toml cannot be read."""
    try:
        value = tomllib.loads(read_text(folder / "pyproject.toml"))
    except (DataError, tomllib.TOMLDecodeError):
        return []
    entries = value.get("project", {}).get("entry-points", {}).get(hookspecs.PROJECT, {})
    return [(str(name), str(target)) for name, target in entries.items()]


class _Package:
    def __init__(self, folder: Path, report: Report) -> None:
        self._folder, self._report, self._text = folder, report, ""
        self._offers: list[tuple[Path, Offer]] = []

    def find(self, pattern: str) -> list[Path]:
        """Files of the package, without what was built."""
        found = []
        for path in sorted(self._folder.rglob(pattern)):
            parts = path.relative_to(self._folder).parts
            if not any(part in _SKIPPED or part.startswith(".") for part in parts):
                found.append(path)
        return found

    def run(self) -> None:
        path = self._folder / "pyproject.toml"
        try:
            self._text = read_text(path)
            value = tomllib.loads(self._text)
        except DataError as failure:
            self._report.take(failure)
            return
        except tomllib.TOMLDecodeError as failure:
            place = re.search(r"\(at line (\d+), column (\d+)\)", str(failure))
            line, column = (int(place[1]), int(place[2])) if place else (1, 1)
            self._add("error", path, line, column, f"not TOML ({str(failure).split(' (at')[0]}); mend it")
            return
        project = value.get("project", {})
        if not isinstance(project, dict) or not project.get("name"):
            self._add("error", path, 1, 1, 'no [project] with a "name"; write one: it is what people install')
            return
        self._report.name = str(project["name"])
        self._dependency(path, project)
        entries = project.get("entry-points", {}).get(hookspecs.PROJECT, {})
        if not isinstance(entries, dict) or not entries:
            example = f'[project.entry-points.{hookspecs.PROJECT}] with a line name = "module"'
            what = f"no entry point of the group {hookspecs.PROJECT}: nothing would be found; add {example}"
            self._add("error", path, 1, 1, what)
            return
        for name, target in entries.items():
            self._entry(path, str(name), str(target))
        if not self._report.errors:
            self._report.facts.append(f"entry points: {', '.join(entries)}; the modules were read, not run")

    def _add(self, level: Level, path: Path, line: int, column: int, message: str) -> None:
        self._report.findings.append(Finding(level, Problem(str(path), line, column, "", message)))

    def _dependency(self, path: Path, project: dict[str, Any]) -> None:
        needed = [str(each) for each in project.get("dependencies", ())]
        if not any(re.match(r"biasfw\b(?![-_.\w])", each) for each in needed):
            self._add("warning", path, 1, 1, 'biasfw is not among the dependencies; add "biasfw>=0.1"')

    def _entry(self, path: Path, name: str, target: str) -> None:
        key = re.compile(rf'\s*"?{re.escape(name)}"?\s*=')
        line = next((number for number, text in enumerate(self._text.splitlines(), 1) if key.match(text)), 1)
        module = target.partition(":")[0].strip()
        file = self._module(module)
        if file is None:
            what = f"entry point {name!r} names the module {module!r}, which is not in this folder; mend the name"
            self._add("error", path, line, 1, what)
            return
        try:
            tree = ast.parse(read_text(file), filename=str(file))
        except DataError as failure:
            self._report.take(failure)
            return
        except (SyntaxError, ValueError, RecursionError) as failure:
            at = getattr(failure, "lineno", None) or 1, getattr(failure, "offset", None) or 1
            self._add("error", file, *at, f"not Python ({getattr(failure, 'msg', failure)}); mend it")
            return
        package = module if file.name == "__init__.py" else module.rpartition(".")[0]
        specs = Specs(tree, self._module, lambda top: self._module(top) is not None)
        found = [_module_problems(tree), undefined_names(tree), own_imports(tree, package, self._module)]
        for level, at, message in (*chain.from_iterable(found), *specs.mistakes()):
            self._add(level, file, *at, message)
        self._offers += [(file, offer) for offer in specs.offers]

    def taken(self, plugins: Plugins) -> None:
        """Warn of names that another package offers already: neither can then be used by its name alone."""
        for index, (file, offer) in enumerate(self._offers):
            if any((offer.kind, offer.name) == (each.kind, each.name) for _, each in self._offers[:index]):
                what = f"the {offer.kind} {offer.name} is offered twice, so nobody can use it; rename one"
                self._add("error", file, *offer.place, what)
            others = [c.plugin for c in plugins.components(offer.kind) if c.spec.name == offer.name]
            others = [plugin for plugin in others if _canonical(plugin.distribution) != _canonical(self._report.name)]
            if others:
                what = f"there is a {offer.kind} {offer.name} already, of {others[0].origin}"
                mend = f"who uses it has to write {offer.name}@{others[0].distribution}; take another name"
                self._add("warning", file, *offer.place, f"{what}: with both installed, {mend}")

    def _module(self, name: str) -> Path | None:
        parts = name.split(".")
        for root in (self._folder, self._folder / "src", *(p for p in sorted(self._folder.iterdir()) if p.is_dir())):
            for path in (root.joinpath(*parts, "__init__.py"), root.joinpath(*parts[:-1], f"{parts[-1]}.py")):
                if path.is_file() and path.resolve().is_relative_to(self._folder.resolve()):
                    return path
        return None


def _module_problems(tree: ast.Module) -> Iterator[tuple[Level, tuple[int, int], str]]:
    """What would set the plugin aside when it is loaded."""
    api = next((node for node in tree.body if isinstance(node, ast.Assign) and _names(node) == ["biasfw_api"]), None)
    if api is None:
        yield "error", (1, 1), f"it declares no biasfw_api; write biasfw_api = {hookspecs.API_VERSION} near the top"
    elif not isinstance(api.value, ast.Constant) or api.value.value != hookspecs.API_VERSION:
        what = f"this biasfw needs biasfw_api = {hookspecs.API_VERSION}"
        yield "error", (api.lineno, api.col_offset + 1), f"it was written for another API; {what}"
    hooks = 0
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("biasfw_"):
            hooks += 1
            yield from _hook(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from _imports(node)
    if not hooks:
        yield "error", (1, 1), f"it has no hook; write one of {', '.join(_HOOKS)}"


def _hook(node: ast.FunctionDef) -> Iterator[tuple[Level, tuple[int, int], str]]:
    place = node.lineno, node.col_offset + 1
    if node.name not in _HOOKS:
        near = difflib.get_close_matches(node.name, _HOOKS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(_HOOKS)}"
        yield "error", place, f"there is no hook {node.name}; {hint}"
        return
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        if argument.arg not in _HOOKS[node.name]:
            known = ", ".join(sorted(_HOOKS[node.name])) or "none"
            at = argument.lineno, argument.col_offset + 1
            yield "error", at, f"the hook {node.name} has no argument {argument.arg!r}; it has: {known}"
    if not any("hookimpl" in ast.dump(each) for each in node.decorator_list):
        yield "error", place, f"{node.name} is not marked, so it is never called; write @hookimpl above it"


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[Level, tuple[int, int], str]]:
    place = node.lineno, node.col_offset + 1
    module = node.module if isinstance(node, ast.ImportFrom) and not node.level else None
    names = [module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
    for name in names:
        if name.partition(".")[0] == "biasfw_plugins":
            yield "error", place, f"it imports {name}, another plugin; import what it needs from biasfw"
        elif name.startswith("biasfw.") and name != "biasfw.testing":
            yield "warning", place, f"it imports {name}, which is private and may change; import from biasfw"
    if module == "biasfw" and isinstance(node, ast.ImportFrom):
        import biasfw  # noqa: PLC0415 - only its list of names

        for each in node.names:
            if each.name not in (*biasfw.__all__, "*"):
                near = difflib.get_close_matches(each.name, biasfw.__all__, n=1)
                hint = f"did you mean {near[0]}?" if near else "see biasfw.__all__"
                yield "error", place, f"biasfw has no public name {each.name!r}; {hint}"


def _canonical(name: str) -> str:
    """A name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _names(node: ast.Assign) -> list[str]:
    return [target.id for target in node.targets if isinstance(target, ast.Name)]
