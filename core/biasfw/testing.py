"""What authors of plugins and benchmarks test with. Public, like ``biasfw`` itself.

In the ``conftest.py`` of your tests::

    pytest_plugins = ["biasfw.testing"]

and in a test file, for a plugin module or the folder (or name) of a benchmark::

    import my_plugin
    import pytest

    @pytest.mark.biasfw(my_plugin)
    def test_conformance(biasfw_conformance):
        biasfw_conformance()

The test runs once for every check of every component that the module offers, or for every part of ``biasfw check``. A
backend that needs a model and a reader that needs files are given theirs with the mark; without, they are skipped
(a backend is tried in every mode that it declares, whichever the settings name)::

    @pytest.mark.biasfw(my_plugin, backends={"echo": BackendSettings("tiny", "generate")}, readers={"my_csv": FOLDER})

``without=["references"]`` leaves parts of the check of a benchmark out. The same without pytest: ``conformance(...)``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biasfw.contracts import BackendSettings
    from biasfw.findings import Report
    from biasfw.plugins import Component, Plugins

__all__ = ["Case", "conformance"]

MARK = "biasfw"
FIXTURE = "biasfw_conformance"


@dataclass(frozen=True)
class Case:
    """One check. Calling it raises ``AssertionError`` with what is wrong; ``skip`` says why it cannot be made."""

    name: str
    run: Callable[[], None]
    skip: str = ""

    def __call__(self) -> None:
        self.run()


def conformance(
    target: ModuleType | Path | str,
    *,
    backends: Mapping[str, BackendSettings] | None = None,
    readers: Mapping[str, Path] | None = None,
    without: Collection[str] = (),
) -> list[Case]:
    """The checks of a plugin module, or of a benchmark (its folder, or its name if it is installed)."""
    if isinstance(target, ModuleType):
        return list(_plugin(target, backends or {}, readers or {}))
    return list(_benchmark(str(target), without))


def pytest_configure(config: Any) -> None:
    """Declare the mark."""
    config.addinivalue_line("markers", f"{MARK}(target, ...): what the fixture {FIXTURE} checks; see biasfw.testing")


def pytest_generate_tests(metafunc: Any) -> None:
    """One test for every check of what the marks name."""
    if FIXTURE not in metafunc.fixturenames:
        return
    import pytest  # noqa: PLC0415 - whoever runs this has it; biasfw itself does not need it

    marks = list(metafunc.definition.iter_markers(MARK))
    if not marks:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid} says nothing to check; write @pytest.mark.{MARK}(target)"
        )
    found = []
    for mark in marks:
        for target in mark.args:
            for case in conformance(target, **mark.kwargs):
                skip = [pytest.mark.skip(reason=case.skip)] if case.skip else []
                found.append(pytest.param(case, id=case.name, marks=skip))
    metafunc.parametrize(FIXTURE, found)


def _plugin(module: ModuleType, backends: Mapping[str, BackendSettings], readers: Mapping[str, Path]) -> Iterator[Case]:
    from biasfw.plugins import Plugins  # noqa: PLC0415 - collecting tests should be fast

    plugins = Plugins.installed()
    plugins.all = [plugin for plugin in plugins.all if plugin.module != module.__name__]
    plugin = plugins.add(module, module.__name__)
    yield Case("loads", lambda: _loads(plugin.error))
    for kind, specs in plugin.offers.items():
        for spec in specs:
            component = next(c for c in plugins.components(kind) if c.spec is spec)
            yield from _component(kind, component, plugins, backends.get(spec.name), readers.get(spec.name))
    for folder in plugin.folders.get("benchmark", ()):
        for path in sorted(folder.glob("*/benchmark.yaml")):
            yield from _benchmark(str(path.parent), ())
    for folder in plugin.folders.get("language", ()):
        for path in sorted(folder.glob("*.yaml")):
            yield Case(f"language {path.stem}", lambda path=path: _sound(_checked(str(path))))  # type: ignore[misc]


def _loads(error: str | None) -> None:
    assert error is None, f"the plugin is set aside: {error}"


def _component(
    kind: str, component: Component, plugins: Plugins, settings: BackendSettings | None, folder: Path | None
) -> Iterator[Case]:
    """The checks of one component; each imports what it needs when it is made."""
    name = f"{kind} {component.spec.name}"
    if kind == "command":
        return
    yield Case(f"{name}: spec", lambda: _call("specs", "check_spec", kind, component))
    if kind == "backend":
        yield _backend(name, component, settings)
    elif kind == "reader":
        skip = "" if folder else "no folder is given for it; readers={name: folder}"
        yield Case(f"{name}: reads", lambda: _call("readers", "check_reader", component, folder), skip)
    elif kind in ("parser", "metric", "judge"):
        from biasfw.trying.samples import FORMS  # noqa: PLC0415 - loads numpy

        tasks = getattr(component.spec, "tasks", ()) or ("labels", "choice")
        for task in (each for each in FORMS if each in tasks):  # what is no task is told of the spec
            yield from _of_task(kind, f"{name}: {task}", component, task, plugins)


def _backend(name: str, component: Component, settings: BackendSettings | None) -> Case:
    from biasfw.trying.backends import settings_of  # noqa: PLC0415

    found = settings_of(component, settings)
    how = f'backends={{"{component.spec.name}": BackendSettings("MODEL", "generate")}}'
    skip = "" if found else f"it needs a model: give one in a test of the package, {how} (CONTRIBUTING.md shows it)"
    return Case(f"{name}: answers", lambda: _call("backends", "check_backend", component, found), skip)


def _of_task(kind: str, name: str, component: Component, task: str, plugins: Plugins) -> Iterator[Case]:
    from biasfw.packcheck import Kit  # noqa: PLC0415
    from biasfw.trying.samples import FORMS  # noqa: PLC0415

    form, packs = FORMS[task], Kit(plugins).english
    if kind == "parser":
        yield Case(f"{name}: pure", lambda: _call("parsers", "check_reading", component, form, packs))
        yield Case(f"{name}: hostile text", lambda: _call("parsers", "check_hostile", component, form, packs))
    elif kind == "metric":
        yield Case(f"{name}: tables", lambda: _call("metrics", "check_tables", component, form, packs))
        yield Case(f"{name}: rows", lambda: _call("metrics", "check_rows", component, form, packs))
    elif getattr(component.spec, "combines", False):
        yield Case(f"{name}: panel", lambda: _call("judges", "check_panel", component, form, packs, plugins))
    else:
        yield Case(f"{name}: verdicts", lambda: _call("judges", "check_judge", component, form, packs, plugins))


def _call(module: str, function: str, *arguments: Any) -> None:
    from importlib import import_module  # noqa: PLC0415

    getattr(import_module(f"biasfw.trying.{module}"), function)(*arguments)


def _benchmark(target: str, without: Collection[str]) -> Iterator[Case]:
    """The parts of ``biasfw check``; what one finds is told by it alone."""
    name = Path(target).name or target

    def checked() -> None:
        _sound(_checked(target, without))

    yield Case(f"benchmark {name}", checked)


def _checked(target: str, without: Collection[str] = ()) -> list[Report]:
    from biasfw.conformance import check  # noqa: PLC0415
    from biasfw.plugins import Plugins  # noqa: PLC0415

    return check(target, Plugins.installed(), without=without)


def _sound(reports: list[Report]) -> None:
    wrong = [str(finding) for report in reports for finding in report.findings if finding.level == "error"]
    assert not wrong, "\n".join(wrong)
