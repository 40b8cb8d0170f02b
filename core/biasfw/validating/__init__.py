"""What `biasfw validate` does: every problem of a file or folder, with its place. Nothing is asked or rendered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from biasfw import bundles
from biasfw.errors import UsageError
from biasfw.phrases import near_path

if TYPE_CHECKING:
    from biasfw.findings import Report
    from biasfw.packcheck import Kit
    from biasfw.plugins import Plugins
    from biasfw.validating.tables import Wishes

TABLES = (".jsonl", ".csv", ".xlsx")
YAML = (".yaml", ".yml")


def validate(path: Path, plugins: Plugins, wishes: Wishes | None = None) -> list[Report]:
    """Look at a bundle, plugin package, run directory, configuration, judge, language pack or file of data.

    ``wishes``: what the columns of a file must be, which nothing else says.

    Raises:
        UsageError: nothing of the kind is there.
    """
    reports = _reports(path, plugins, wishes)
    for report in reports:
        report.settle()
    return reports


def _reports(path: Path, plugins: Plugins, wishes: Wishes | None) -> list[Report]:
    from biasfw.packcheck import Kit, check_pack  # noqa: PLC0415 - each kind loads what it needs
    from biasfw.validating import runs, settings, tables  # noqa: PLC0415
    from biasfw.validating.inspection import inspect  # noqa: PLC0415

    kit = Kit(plugins)
    try:
        folder, file = path.is_dir(), path.is_file()
    except (OSError, ValueError):
        raise UsageError(f"{str(path)[:200]!r} is no name of a file; check the path") from None
    if path.name == bundles.MANIFEST or (folder and (path / bundles.MANIFEST).is_file()):
        if not (folder or file):
            raise UsageError(f"{path}: there is no such file; check the path")
        seen = inspect(path if folder else path.parent, kit)
        return [seen.report, *(check_pack(pack, kit) for pack in seen.files if pack.is_relative_to(seen.folder))]
    if folder:
        return _folder(path, kit)
    if not file:
        near = near_path(path)
        hint = f"did you mean {near}?" if near else "check the path"
        raise UsageError(f"{path}: there is no such file or folder; {hint}")
    if path.suffix in TABLES:
        return [tables.validate_table(path, wishes, kit)]
    if path.suffix in YAML:
        return [settings.validate_yaml(path, kit)]
    if path.suffix == ".json":
        return [runs.validate_json(path)]
    known = ", ".join((*TABLES, *YAML, ".json"))
    raise UsageError(f"{path}: what ends in {path.suffix or 'nothing'} is not known here; known are {known}")


def _folder(path: Path, kit: Kit) -> list[Report]:
    """A run directory, a plugin package, or a folder of language packs."""
    from biasfw.packcheck import check_pack  # noqa: PLC0415
    from biasfw.validating import packages, runs  # noqa: PLC0415

    if (path / "run.json").is_file() or (path / "responses.jsonl").is_file():
        return [runs.validate_run(path)]
    if (path / "pyproject.toml").is_file():
        return packages.validate_package(path, kit)
    packs = sorted(path.glob("*.yaml"))
    if packs and path.name == "languages":
        return [check_pack(pack, kit) for pack in packs]
    what = f"holds no {bundles.MANIFEST}, run.json or pyproject.toml: neither benchmark, run nor plugin package"
    raise UsageError(f"{path} {what}; name the folder of one, or a file")
