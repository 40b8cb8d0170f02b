"""Checks of a plugin package: what `validate` reads in it, and, where it is installed, what its components do."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from pathlib import Path

from biasfw.bundlecheck import check_bundle
from biasfw.findings import Finding, Report
from biasfw.packcheck import Kit, check_pack
from biasfw.plugins import Plugin
from biasfw.schemas import Problem
from biasfw.testing import conformance
from biasfw.validating.packages import entry_points, read_package

PROJECT = "pyproject.toml"


def check_package(folder: Path, kit: Kit, *, without: Collection[str] = ()) -> list[Report]:
    """Check the package in ``folder`` and the bundles and packs in it.

    Only a plugin that is installed is run: nothing is imported from a mere path.
    """
    report, manifests, packs = read_package(folder, kit.plugins)
    for name, module in entry_points(folder):
        plugin = next((each for each in kit.plugins.all if (each.name, each.module) == (name, module)), None)
        if plugin is None:
            what = f"the plugin {name} is not installed, so its components were read and not run"
            report.facts.append(f"{what}; pip install -e {folder}")
        elif plugin.error is not None:
            problem = Problem(report.file, 0, 0, "", f"the plugin {name} was set aside: {plugin.error}")
            report.findings.append(Finding("error", problem))
        else:
            _components(report, plugin)
            _rivals(report, plugin, kit)
    of_bundles = [each for manifest in manifests for each in check_bundle(manifest.parent, kit, without=without)]
    done = {each.file for each in of_bundles}
    return [report, *of_bundles, *(check_pack(pack, kit) for pack in packs if str(pack) not in done)]


def _components(report: Report, plugin: Plugin) -> None:
    """Every check of every component that the plugin offers."""
    passed = 0
    for case in conformance(import_module(plugin.module)):
        if case.name.startswith(("benchmark ", "language ")):
            continue  # those in the folder have reports of their own
        if case.skip:
            report.facts.append(f"{case.name}: not checked, {case.skip}")
            continue
        trial = Plugin(plugin.name, plugin.distribution, plugin.version, plugin.module)
        trial.guarded(case.run)
        if trial.error is None:
            passed += 1
            continue
        message = trial.error.removeprefix("AssertionError: ")
        report.findings.append(Finding("error", Problem(report.file, 0, 0, "", f"{case.name}: {message}")))
    report.facts.append(f"plugin {plugin.name}: {passed} checks of its components pass")


def _rivals(report: Report, plugin: Plugin, kit: Kit) -> None:
    """Names that another package offers too, where reading the code has not told it."""
    for kind in plugin.offers:
        for component in kit.plugins.components(kind):
            name = component.spec.name
            what = f"there is a {kind} {name} already, of "
            if component.plugin is not plugin or any(what in each.problem.message for each in report.findings):
                continue
            for rival in kit.plugins.rivals(kind, component):
                told = f"{what}{rival.origin}: who uses it has to write {name}@{rival.distribution}; take another name"
                report.findings.append(Finding("warning", Problem(report.file, 0, 0, "", told)))
