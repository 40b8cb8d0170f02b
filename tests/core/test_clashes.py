"""A name that two packages offer: what uses it says who offers it and how to go on; everything else works."""

from __future__ import annotations

import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from biasfw import BiasfwError, ParserSpec, RunConfig, UsageError, hookimpl
from biasfw.cli import app
from biasfw.conformance import check
from biasfw.engine import run
from biasfw.plugins import Plugins


def with_parser(installed: Plugins, *names: str) -> Plugins:
    @hookimpl
    def biasfw_parsers() -> Iterable[ParserSpec]:
        for name in names:
            yield ParserSpec(name, "nowhere:Parser", "for tests", tasks=frozenset({"choice"}))

    plugins = Plugins()
    plugins.all += installed.all
    plugins.add(types.SimpleNamespace(biasfw_api=1, biasfw_parsers=biasfw_parsers), "mine", "my-parser", "0.1.0")
    return plugins


def config(tmp_path: Path, benchmark: str, **given: Any) -> RunConfig:
    return RunConfig(
        benchmark, "reference", model="random", mode="generate", limit=2, languages=None, runs=str(tmp_path), **given
    )


def test_what_uses_the_name_stops_with_both_packages_and_the_way_out(installed: Plugins, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as failure:
        run(config(tmp_path, "jubaku:demo"), with_parser(installed, "choice"))
    text = str(failure.value)
    for words in (
        "parser 'choice' is offered more than once, by biasfw ", " and by my-parser 0.1.0: ",
        "write choice@biasfw or choice@my-parser (--parser)", "uninstall my-parser", "BIASFW_PLUGINS",
    ):  # fmt: skip
        assert words in text


def test_everything_else_works(installed: Plugins, tmp_path: Path) -> None:
    plugins = with_parser(installed, "choice")
    assert run(config(tmp_path, "debatebias"), plugins).status == "complete"
    assert run(config(tmp_path, "jubaku:demo", parser="choice@biasfw"), plugins).status == "complete"
    (report,) = check("ko", with_parser(installed, "labelled_lines"))
    assert not report.errors, report.findings


def test_one_package_that_offers_a_name_twice(installed: Plugins) -> None:
    with pytest.raises(BiasfwError, match=r"more than once by my-parser 0\.1\.0; uninstall it"):
        with_parser(installed, "odd", "odd").find("parser", "odd")


def test_plugins_tells_of_it(installed: Plugins) -> None:
    result = CliRunner().invoke(app, ["plugins"], obj=with_parser(installed, "choice"))
    assert "OFFERED TWICE: parser choice is also of biasfw " in result.output
    assert ": write choice@my-parser\n" in result.output
    assert "OFFERED TWICE" not in CliRunner().invoke(app, ["plugins"], obj=installed).output
