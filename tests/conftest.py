"""Fixtures for all tests: no network, fresh caches, the handed cases where they are."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_socket import disable_socket, enable_socket

from biasfw.plugins import Plugins

pytest_plugins = ["biasfw.testing", "pytester"]


def pytest_configure() -> None:
    """Ctrl-C means an interrupt here, too, where the tests were started in the background and it would be ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--slow``: also the tests that take minutes (simulations in full, studies at full size)."""
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave slow tests out unless they are asked for."""
    if config.getoption("--slow"):
        return
    slow = [item for item in items if "slow" in item.keywords]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if "slow" not in item.keywords]


@pytest.fixture(autouse=True)
def _no_network(request: pytest.FixtureRequest) -> Iterator[None]:
    """Nothing opens a socket, unless the test says that it needs the loopback interface."""
    if "loopback" in request.keywords:
        yield
        return
    disable_socket(allow_unix_socket=True)
    yield
    enable_socket()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's cache and pinned plugins do not enter a test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.delenv("BIASFW_CACHE", raising=False)
    monkeypatch.delenv("BIASFW_PLUGINS", raising=False)
    monkeypatch.delenv("BIASFW_DEBUG", raising=False)


@pytest.fixture(scope="session")
def installed() -> Plugins:
    """The plugins of this installation."""
    return Plugins.installed()


@pytest.fixture(scope="session")
def cases() -> Path:
    """The handed cases beside the checkout."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "shared" / "cases").is_dir():
            return folder / "shared" / "cases"
    pytest.skip("the handed cases (a folder shared/cases beside the checkout) are not here")


@pytest.fixture(scope="session")
def jubaku() -> Path:
    """The folder with the official files of JUBAKU beside the checkout."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "shared" / "data" / "jubaku").is_dir():
            return folder / "shared" / "data" / "jubaku"
    pytest.skip("the official files (a folder shared/data/jubaku beside the checkout) are not here")
