"""Discovery isolates every plugin: what is broken is named, and everything else goes on working."""

import types
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from textwrap import dedent

import pytest

import biasfw
from biasfw import BackendSpec, hookimpl, hookspecs
from biasfw.errors import ComponentError, UsageError
from biasfw.plugins import Plugins, load_class

COUNTER = count()


def offering(*names: str, load: str = "nowhere:Nothing", extra: str | None = None) -> types.SimpleNamespace:
    @hookimpl
    def biasfw_backends() -> Iterable[BackendSpec]:
        return [BackendSpec(name, load=load, summary="for tests", extra=extra) for name in names]

    return types.SimpleNamespace(biasfw_api=1, biasfw_backends=biasfw_backends)


def install(folder: Path, entry: str, code: str, distribution: str | None = None) -> None:
    """A distribution as pip leaves it: a module and its metadata."""
    module = f"{entry}_{next(COUNTER)}"  # never one that another test has imported
    folder.mkdir(exist_ok=True)
    (folder / f"{module}.py").write_text(dedent(code), encoding="utf-8")
    info = folder / f"{(distribution or entry).replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {distribution or entry}\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(f"[biasfw]\n{entry} = {module}\n", encoding="utf-8")


GOOD = """
    from biasfw import BackendSpec, hookimpl
    biasfw_api = 1
    @hookimpl
    def biasfw_backends():
        yield BackendSpec("good-backend", load="x:y", summary="s")
"""


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("from biasfw import a_name_of_the_future", ["ImportError", "a_name_of_the_future"]),
        ("import sys; sys.exit(3)", ["SystemExit"]),
        ("1 / 0", ["ZeroDivisionError"]),
        (
            "class Odd(Exception):\n    def __str__(self): raise ValueError('x')\nraise Odd",
            ["Odd, whose message cannot be shown"],
        ),
        ("class Base(BaseException): ...\nraise Base('gone')", ["Base: gone"]),
        ("x = 1", ["declares no biasfw_api"]),
        ("biasfw_api = 99", ["plugin API 99"]),
        (
            "from biasfw import hookimpl\nbiasfw_api = 1\n@hookimpl\ndef biasfw_registers(): return []",
            ["biasfw_registers"],
        ),
        (
            "from biasfw import hookimpl\nbiasfw_api = 1\n@hookimpl\ndef biasfw_backends(an_argument): return []",
            ["its hook biasfw_backends takes an_argument; ", "has the arguments: none"],
        ),
        (
            "from biasfw import hookimpl\nbiasfw_api = 1\n@hookimpl\ndef biasfw_backends(): raise RuntimeError('late')",
            ["RuntimeError", "late"],
        ),
        (
            "from biasfw import hookimpl\nbiasfw_api = 1\n@hookimpl\ndef biasfw_backends(): return ['x']",
            ["str", "BackendSpec"],
        ),
    ],
)
def test_a_broken_plugin_is_set_aside_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, words: list[str]
) -> None:
    install(tmp_path, "broken", code)
    install(tmp_path, "good", GOOD)
    monkeypatch.syspath_prepend(tmp_path)
    plugins = Plugins.installed()
    failed = {plugin.name: plugin for plugin in plugins.failed}
    assert set(failed) == {"broken"}
    assert failed["broken"].distribution == "broken"
    assert all(word in (failed["broken"].error or "") for word in words), failed["broken"].error
    assert "Traceback" in (failed["broken"].details or "")
    assert plugins.find("backend", "good-backend").plugin.origin == "good 1.0"
    with pytest.raises(UsageError, match=r"unknown backend 'nix'.*not loaded: broken \(broken 1.0\)"):
        plugins.find("backend", "nix")


def test_an_interrupt_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "stopped", "raise KeyboardInterrupt")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        Plugins.installed()


def test_what_is_printed_at_import_is_no_part_of_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    later = f"later_{next(COUNTER)}"
    install(tmp_path, "loud", GOOD.replace("x:y", f"{later}:Good") + "\n    print('at the door')\n")
    (tmp_path / f"{later}.py").write_text("print('in the room')\nclass Good: ...\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    load_class(Plugins.installed().find("backend", "good-backend"))
    out, err = capsys.readouterr()
    assert (out, err.splitlines()) == ("", ["at the door", "in the room"])


def test_a_component_that_raises_anything_at_import_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = f"later_{next(COUNTER)}"
    install(tmp_path, "late", GOOD.replace("x:y", f"{module}:Good"))
    (tmp_path / f"{module}.py").write_text("raise BaseException('gone')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ComponentError, match=r"cannot be loaded from .*: BaseException: gone"):
        load_class(Plugins.installed().find("backend", "good-backend"))


@pytest.mark.parametrize("swapped", [False, True])
def test_two_distributions_with_one_plugin_name_are_both_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: bool
) -> None:
    for name in ("one", "two"):
        install(tmp_path / name, "twin", GOOD, distribution=f"twin-{name}")
    for name in ("one", "two") if swapped else ("two", "one"):
        monkeypatch.syspath_prepend(tmp_path / name)
    failed = [plugin for plugin in Plugins.installed().failed if plugin.name == "twin"]
    assert len(failed) == 2
    assert all("twin-one" in (p.error or "") and "twin-two" in (p.error or "") for p in failed)
    monkeypatch.setenv("BIASFW_PLUGINS", "twin@twin-one")
    plugins = Plugins.installed()
    assert not plugins.failed
    assert plugins.find("backend", "good-backend").plugin.distribution == "twin-one"


def test_the_environment_variable_pins_or_disables_third_parties(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "good", GOOD)
    monkeypatch.syspath_prepend(tmp_path)
    for value, expected in (("good", True), ("other", False), ("", False)):
        monkeypatch.setenv("BIASFW_PLUGINS", value)
        found = {plugin.name for plugin in Plugins.installed().all}
        assert ("good" in found) is expected
        assert "reference" in found, "first-party plugins stay"


def test_a_component_name_offered_twice_is_unusable_until_its_distribution_is_named() -> None:
    plugins = Plugins()
    plugins.add(offering("mine"), "a", "dist-a")
    plugins.add(offering("mine"), "b", "dist-b")
    with pytest.raises(UsageError, match="mine@dist-a or mine@dist-b"):
        plugins.find("backend", "mine")
    assert plugins.find("backend", "mine@dist-b").plugin.name == "b"
    with pytest.raises(UsageError, match="not offered by 'dist-c'; it is offered by dist-a, dist-b"):
        plugins.find("backend", "mine@dist-c")


def test_an_unknown_name_lists_near_matches() -> None:
    plugins = Plugins()
    plugins.add(offering("llamacpp", "reference"), "a")
    with pytest.raises(UsageError, match="unknown backend 'lamacpp'; did you mean llamacpp"):
        plugins.find("backend", "lamacpp")


def test_a_missing_library_names_the_command_that_mends_it() -> None:
    plugins = Plugins()
    plugins.add(offering("mine", load="a_library_nobody_has:X", extra="llamacpp"), "a", "biasfw")
    plugins.add(offering("theirs", load="a_library_nobody_has:X", extra="their-lib>=2"), "b", "their-dist")
    with pytest.raises(ComponentError, match=r"pip install 'biasfw\[llamacpp\]'"):
        load_class(plugins.find("backend", "mine"))
    with pytest.raises(ComponentError, match="pip install 'their-lib>=2'"):
        load_class(plugins.find("backend", "theirs"))


def test_a_notification_that_raises_is_reported_once_and_switched_off() -> None:
    calls: list[str] = []

    @hookimpl
    def biasfw_response_stored(response: dict[str, str]) -> None:
        calls.append(response["key"])
        raise OSError("the tracker is down")

    plugins = Plugins()
    plugins.add(types.SimpleNamespace(biasfw_api=1, biasfw_response_stored=biasfw_response_stored), "tracker")
    said: list[str] = []
    for key in ("a", "b"):
        plugins.notify("biasfw_response_stored", said.append, directory=Path(), response={"key": key})
    assert calls == ["a"]
    assert len(said) == 1
    assert "the tracker is down" in said[0]


EXAMPLES = {name: getattr(hookspecs, name) for name in dir(hookspecs) if name.startswith("biasfw_")}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_every_hook_works(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        line.strip()[4:] for line in (EXAMPLES[name].__doc__ or "").splitlines() if line.strip()[:3] in (">>>", "...")
    ]
    assert lines, f"{name} has no example"
    scope: dict[str, object] = {"biasfw_api": 1, **vars(biasfw), **vars(hookspecs), "Path": Path}
    scope = {k: v for k, v in scope.items() if not k.startswith("biasfw_")} | {"biasfw_api": 1}
    exec("\n".join(lines), scope)
    plugins = Plugins()
    plugin = plugins.add(types.SimpleNamespace(**{"biasfw_api": 1, name: scope[name]}), "example")
    assert plugin.error is None
    if name.startswith(("biasfw_run", "biasfw_response")):
        arguments = {"directory": Path("run"), "config": {}, "response": {"key": "k"}, "scores": []}
        wanted = hookspecs.__dict__[name].__code__.co_varnames
        plugin.notify(name, **{k: v for k, v in arguments.items() if k in wanted})
        assert plugin.error is None
        assert capsys.readouterr().out
    else:
        assert plugin.offers or plugin.folders
