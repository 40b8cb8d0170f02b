"""Discovery: one entry point at a time, each isolated; who offers what; names offered twice.

A plugin that cannot be imported, has a hook with an unknown name or argument, or was written for another API
version is set aside with its reason, and everything else goes on working.
"""

from __future__ import annotations

import difflib
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pluggy

from biasfw import hookspecs, specs
from biasfw.errors import ComponentError, UsageError
from biasfw.specs import ComponentSpec

S = TypeVar("S", bound=ComponentSpec)
HOOKS: dict[str, tuple[str, type[ComponentSpec]]] = {
    "backend": ("biasfw_backends", specs.BackendSpec),
    "parser": ("biasfw_parsers", specs.ParserSpec),
    "judge": ("biasfw_judges", specs.JudgeSpec),
    "metric": ("biasfw_metrics", specs.MetricSpec),
    "reader": ("biasfw_readers", specs.ReaderSpec),
    "reporter": ("biasfw_reporters", specs.ReporterSpec),
    "command": ("biasfw_commands", specs.CommandSpec),
}
FOLDERS = {"benchmark": "biasfw_benchmark_folders", "language": "biasfw_language_folders"}
FIRST_PARTY = "biasfw"
_OPTIONS = ("backend", "parser", "judge", "metric", "reporter")  # kinds that a command line names


@dataclass(slots=True)
class Plugin:
    """One entry point: what it is, what it offers, or why it was set aside (``error``, ``details``)."""

    name: str
    distribution: str
    version: str
    module: str
    error: str | None = None
    details: str | None = None  # the traceback
    manager: pluggy.PluginManager | None = None
    offers: dict[str, list[ComponentSpec]] = field(default_factory=dict)
    folders: dict[str, list[Path]] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """Distribution and version, as run.json stores them."""
        return f"{self.distribution} {self.version}"

    def set_aside(self, error: str, details: str | None = None) -> None:
        """Take nothing from this plugin; keep the reason."""
        self.error, self.details, self.manager = " ".join(error.split()), details, None
        self.offers, self.folders = {}, {}

    def guarded(self, action: Callable[[], None]) -> None:
        """Run third-party code; whatever it raises sets the plugin aside. The one broad except of biasfw."""
        try:
            action()
        except KeyboardInterrupt:
            raise
        except BaseException as failure:  # noqa: BLE001 - the plugin boundary
            self.set_aside(_said(failure), traceback.format_exc())

    def notify(self, hook: str, **arguments: Any) -> None:
        """Call a notification hook; a plugin that raises is set aside (the caller reports it once)."""
        if self.manager is not None:
            caller = getattr(self.manager.hook, hook)
            self.guarded(lambda: caller(**arguments))


@dataclass(frozen=True, slots=True)
class Component:
    """A spec together with the plugin that offers it."""

    spec: ComponentSpec
    plugin: Plugin


class Plugins:
    """The plugins of one process. Build it with ``installed()``; tests make an empty one and ``add`` modules."""

    def __init__(self) -> None:
        self.all: list[Plugin] = []
        self.not_installed: list[str] = []  # named by BIASFW_PLUGINS

    @classmethod
    def installed(cls) -> Plugins:
        """Every plugin named by an entry point; the environment variable BIASFW_PLUGINS pins the third-party ones."""
        plugins = cls()
        found = sorted(entry_points(group=hookspecs.PROJECT), key=lambda e: (e.name, _distribution(e)))
        names = {each for e in found for each in (e.name, f"{e.name}@{_distribution(e)}")}
        plugins.not_installed = sorted((_pins() or frozenset()) - names)
        for entry in _unique(found):
            plugin = Plugin(entry.name, _distribution(entry), entry.dist.version if entry.dist else "?", entry.value)
            if not _wanted(plugin):
                continue
            plugins.all.append(plugin)
            rivals = [e for e in found if e.name == entry.name and _distribution(e) != plugin.distribution]
            rivals = [e for e in rivals if _pinned(e.name, _distribution(e))]
            if rivals and plugin.distribution != FIRST_PARTY:
                others = " and ".join(sorted({_distribution(e) for e in rivals}))
                plugin.set_aside(
                    f"the plugin name {entry.name!r} is offered by {plugin.distribution} and by {others}; "
                    f"uninstall one, or set BIASFW_PLUGINS={entry.name}@{plugin.distribution}"
                )
                continue
            with redirect_stdout(sys.stderr):  # what a plugin prints at import is no part of a result
                plugin.guarded(lambda plugin=plugin, entry=entry: _load(plugin, entry.load()))  # type: ignore[misc]
        return plugins

    def add(self, module: ModuleType | object, name: str, distribution: str = "test", version: str = "0") -> Plugin:
        """Take a module or object as a plugin (what tests and notebooks use)."""
        plugin = Plugin(name, distribution, version, getattr(module, "__name__", name))
        self.all.append(plugin)
        plugin.guarded(lambda: _load(plugin, module))
        return plugin

    @property
    def failed(self) -> list[Plugin]:
        """The plugins that were set aside."""
        return [plugin for plugin in self.all if plugin.error is not None]

    def no_such_pins(self) -> str:
        """The words for what BIASFW_PLUGINS names and nobody has installed."""
        missing = ", ".join(map(repr, self.not_installed))
        others = sorted({e.name for e in entry_points(group=hookspecs.PROJECT) if _distribution(e) != FIRST_PARTY})
        return (
            f"BIASFW_PLUGINS names {missing}, which is not installed; besides biasfw's own there are: "
            f"{', '.join(others) or 'none'}"
        )

    def components(self, kind: str) -> list[Component]:
        """Everything offered of a kind, by name."""
        found = [Component(spec, plugin) for plugin in self.all for spec in plugin.offers.get(kind, ())]
        return sorted(found, key=lambda c: (c.spec.name, c.plugin.distribution))

    def folders(self, kind: str) -> list[tuple[Path, Plugin]]:
        """Every folder offered for benchmarks or languages."""
        return [(path, plugin) for plugin in self.all for path in plugin.folders.get(kind, ())]

    def find(self, kind: str, name: str) -> Component:
        """The component ``NAME`` or ``NAME@DISTRIBUTION``.

        Raises:
            UsageError: there is none (near matches and plugins that failed to load are named), or several.
        """
        wanted, _, distribution = name.partition("@")
        offered = self.components(kind)
        matches = [c for c in offered if c.spec.name == wanted and distribution in ("", c.plugin.distribution)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise UsageError(_clash(kind, wanted, matches))
        homes = sorted({c.plugin.distribution for c in offered if c.spec.name == wanted})
        if homes:
            raise UsageError(
                f"{kind} {wanted!r} is not offered by {distribution!r}; it is offered by {', '.join(homes)}"
            )
        raise UsageError(self.unknown(kind, name, [c.spec.name for c in offered]))

    def rivals(self, kind: str, component: Component) -> list[Plugin]:
        """Who else offers a component of this kind under this name."""
        same = [c.plugin for c in self.components(kind) if c.spec.name == component.spec.name]
        return [plugin for plugin in same if plugin is not component.plugin]

    def unknown(self, kind: str, name: str, names: Sequence[str]) -> str:
        """The words for a name that nobody offers."""
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(sorted(set(names))) or 'none'}"
        text = f"unknown {kind} {name!r}; {hint}"
        if self.not_installed:
            text += f" ({self.no_such_pins()})"
        if self.failed:
            broken = ", ".join(f"{p.name} ({p.origin})" for p in self.failed)
            text += f" (not loaded: {broken}; see: biasfw plugins)"
        return text

    def notify(self, hook: str, report: Callable[[str], None], **arguments: Any) -> None:
        """Call a notification hook in every plugin; one that raises is reported once and switched off."""
        for plugin in self.all:
            before = plugin.error
            plugin.notify(hook, **arguments)
            if plugin.error is not None and before is None:
                report(f"plugin {plugin.name} ({plugin.origin}) failed in {hook} and is switched off: {plugin.error}")


def _clash(kind: str, name: str, matches: Sequence[Component]) -> str:
    """The words for a name that several packages offer: there is no precedence, and only what uses it stops."""
    origins = " and by ".join(dict.fromkeys(c.plugin.origin for c in matches))
    homes = list(dict.fromkeys(c.plugin.distribution for c in matches))
    if len(homes) == 1:
        return f"{kind} {name!r} is offered more than once by {origins}; uninstall it, and tell its authors"
    choices = " or ".join(f"{name}@{home}" for home in homes)
    option = f" (--{kind})" if kind in _OPTIONS else ""
    others = " or ".join(home for home in homes if home != FIRST_PARTY)
    return (
        f"{kind} {name!r} is offered more than once, by {origins}: write {choices}{option}, uninstall {others}, "
        "or leave plugins out with BIASFW_PLUGINS"
    )


def load_class(component: Component) -> Any:
    """Import what a spec points to.

    Raises:
        ComponentError: it cannot be imported; names the one pip command that mends a missing library.
    """
    spec, plugin = component.spec, component.plugin
    module_name, _, attribute = spec.load.partition(":")
    try:
        with redirect_stdout(sys.stderr):
            return getattr(import_module(module_name), attribute)
    except ModuleNotFoundError as failure:
        if spec.extra is None:
            raise ComponentError(f"{spec.name} ({plugin.origin}) cannot be imported: {failure}") from failure
        requirement = f"{FIRST_PARTY}[{spec.extra}]" if plugin.distribution == FIRST_PARTY else spec.extra
        checkout = f' (in a checkout: pip install -e ".[{spec.extra}]")' if plugin.distribution == FIRST_PARTY else ""
        raise ComponentError(
            f"{spec.name} needs a library that is not installed ({failure.name}): pip install '{requirement}'{checkout}"
        ) from failure
    except KeyboardInterrupt:
        raise
    except BaseException as failure:
        what = f"{spec.name} ({plugin.origin}) cannot be loaded from {spec.load}: {_said(failure)}"
        raise ComponentError(" ".join(what.split())) from failure


def _said(failure: BaseException) -> str:
    """What went wrong in a plugin; an error that cannot even be worded is no reason to end."""
    try:
        return f"{type(failure).__name__}: {failure}"
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the plugin boundary
        return f"{type(failure).__name__}, whose message cannot be shown"


def _unfit(message: str) -> str:
    """What pluggy says of a plugin whose hooks do not fit, in one line: the hook, and what this version has instead."""
    if (hook := re.search(r"for hook '(\w+)'", message)) and (named := re.search(r"Argument\(s\) \{(.+)\}", message)):
        arguments = ", ".join(sorted(name.strip(" '") for name in named[1].split(",")))
        known = ", ".join(inspect.signature(getattr(hookspecs, hook[1])).parameters) or "none"
        return f"its hook {hook[1]} takes {arguments}; in this version of biasfw the hook has the arguments: {known}"
    known = f"hooks of this version: {', '.join(_hook_names())}"
    return f"{message.splitlines()[-1].strip() or message} ({known})"


def _load(plugin: Plugin, module: Any) -> None:
    api = getattr(module, "biasfw_api", None)
    if api != hookspecs.API_VERSION:
        said = "declares no biasfw_api" if api is None else f"was written for plugin API {api}"
        raise ComponentError(f"it {said}; this biasfw needs biasfw_api = {hookspecs.API_VERSION}")
    # One manager per plugin: what goes wrong has one culprit, and no order of plugins exists.
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(module, name=plugin.name)
        manager.check_pending()
    except pluggy.PluginValidationError as failure:
        raise ComponentError(_unfit(f"{failure}")) from failure
    plugin.manager = manager
    for kind, (hook, spec_class) in HOOKS.items():
        offered = _collect(getattr(manager.hook, hook)(), spec_class, hook)
        if offered:
            plugin.offers[kind] = offered
    for kind, hook in FOLDERS.items():
        folders = _collect(getattr(manager.hook, hook)(), Path, hook)
        if folders:
            plugin.folders[kind] = folders


T = TypeVar("T")


def _collect(results: Iterable[Iterable[T]], expected: type[T], hook: str) -> list[Any]:
    offered = [value for result in results for value in result]
    for value in offered:
        if not isinstance(value, expected):
            raise ComponentError(f"{hook} yielded a {type(value).__name__}, not a {expected.__name__}")
    return offered


def _hook_names() -> list[str]:
    return sorted(name for name in vars(hookspecs) if name.startswith("biasfw_"))


def _unique(entries: Iterable[EntryPoint]) -> list[EntryPoint]:
    """One distribution can be found twice on the path (a checkout beside an installed copy)."""
    return list({(e.name, _distribution(e)): e for e in reversed(list(entries))}.values())[::-1]


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "unknown"


def _pins() -> frozenset[str] | None:
    value = os.environ.get("BIASFW_PLUGINS")
    return None if value is None else frozenset(part.strip() for part in value.split(",") if part.strip())


def _pinned(name: str, distribution: str) -> bool:
    pins = _pins()
    return pins is None or name in pins or f"{name}@{distribution}" in pins


def _wanted(plugin: Plugin) -> bool:
    return plugin.distribution == FIRST_PARTY or _pinned(plugin.name, plugin.distribution)
