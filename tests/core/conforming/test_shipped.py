"""What we ship passes the kit; what is known of the official files of JUBAKU, not ours to edit, is a warning."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from biasfw.cli import app
from biasfw.conformance import check
from biasfw.findings import Report
from biasfw.plugins import Plugins


def measured(report: Report, split: str) -> dict[str, object]:
    return {measure.name: measure.value for measure in report.measures if measure.split == split}


def test_jubaku_without_its_official_files(installed: Plugins) -> None:
    report = check("jubaku", installed)[0]
    assert report.errors == 0
    assert "split v1 is not here: its items are not checked" in report.facts
    assert "split demo: 7 scores of reference models are as declared" in report.facts
    demo = measured(report, "demo")
    assert demo["position of the right option"] == {"1": 0.5, "2": 0.5}
    assert demo["pick the shorter option"] == 0.5
    assert demo["exact duplicates"] == demo["near duplicates"] == 0


def test_jubaku_with_its_official_files(installed: Plugins, jubaku: Path) -> None:
    fetched = CliRunner().invoke(app, ["fetch", "jubaku", "--from", str(jubaku)])
    assert fetched.exit_code == 0, fetched.output
    report = check("jubaku", installed, without=["references"])[0]
    assert report.errors == 0
    confounds = [finding.problem.message for finding in report.findings if "confound" in finding.problem.message]
    length, hedged = confounds
    assert length.startswith(
        "length confound in split v1: always picking the shorter option is right in 93% (95% interval"
    )
    assert hedged.startswith("hedged confound in split v1: always picking the hedged option is right in 69%")
    assert measured(report, "v1")["pick the shorter option"] == pytest.approx(142 / 152)
    assert measured(report, "v2")["pick the shorter option"] == pytest.approx(12.5 / 30)
    assert measured(report, "v1")["position of the right option"] == {"1": 0.5, "2": 0.5}


def test_debatebias(installed: Plugins) -> None:
    report = check("debatebias", installed, without=["references"])[0]
    assert report.errors == 0
    (finding,) = report.findings
    assert finding.problem.pointer == "/authorship/reviewed_by_natives"
    rows = measured(report, "demo")["coverage"]
    assert isinstance(rows, list)
    assert [row[1:] for row in rows] == [[10] * 7] * 4
