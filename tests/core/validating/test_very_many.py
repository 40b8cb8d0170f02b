"""Of very many mistakes of a kind some are told and the rest is counted, without taking long."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from biasfw.cli import app
from biasfw.conformance import check
from biasfw.findings import OF_A_KIND, Finding, Report
from biasfw.plugins import Plugins
from biasfw.schemas import Problem
from biasfw.validating import validate

COUNT = 20_000


def test_twenty_thousand_broken_items(write: Callable[..., Path], installed: Plugins) -> None:
    folder = write(en=[json.dumps({"a": n}) for n in range(COUNT)])
    before = time.process_time()
    (report, *_) = validate(folder, installed)
    took = time.process_time() - before
    of_items = [each for each in report.findings if each.problem.file.endswith("en.jsonl")]
    assert sum(each.count for each in of_items) == 3 * COUNT
    assert len(of_items) == 3 * (OF_A_KIND + 1)
    last = f"(and {COUNT - OF_A_KIND - 1:,} more like this below, to line {COUNT})"
    assert [last in each.problem.message for each in of_items[-3:]] == [True] * 3
    assert report.errors >= 3 * COUNT
    assert took < 20, f"{took:.1f} s"
    done = CliRunner().invoke(app, ["validate", f"{folder}", "--json"])
    assert json.loads(done.stdout)["errors"] == report.errors
    assert check(f"{folder}", installed)[0].errors == report.errors


def test_what_is_not_alike_is_told_alone() -> None:
    report = Report("data", "x", "x")
    for line in range(2 * OF_A_KIND):
        report.findings.append(Finding("error", Problem("x", line + 1, 1, f"/{line}", f'"v{line}" is odd')))
    report.findings.append(Finding("warning", Problem("x", 1, 1, "", '"v" is odd')))
    report.findings.append(Finding("error", Problem("y", 1, 1, "/1", '"v1" is odd')))
    report.settle()
    assert (report.errors, report.warnings) == (2 * OF_A_KIND + 1, 1)
    assert [each.count for each in report.findings if each.count > 1] == [OF_A_KIND]
    before = list(report.findings)
    report.settle()
    assert report.findings == before
