"""What `biasfw check` checks: a language pack, a folder of them, or a benchmark with the packs it uses."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from biasfw import bundles
from biasfw.bundlecheck import check_bundle
from biasfw.errors import UsageError
from biasfw.findings import Report
from biasfw.languages import pack_files
from biasfw.packcheck import Kit, check_pack
from biasfw.phrases import near_path
from biasfw.plugincheck import PROJECT, check_package
from biasfw.plugins import Plugins


def check(target: str, plugins: Plugins, *, without: Collection[str] = ()) -> list[Report]:
    """Check a path (pack, folder of packs, bundle, plugin package) or a name (language tag, benchmark).

    ``without`` leaves parts of the conformance kit out: ``references`` takes longest.

    Raises:
        UsageError: there is nothing at the path that can be checked, or nobody offers the name.
    """
    reports = _check(target, plugins, Kit(plugins), without)
    for report in reports:
        report.settle()
    return reports


def _check(target: str, plugins: Plugins, kit: Kit, without: Collection[str]) -> list[Report]:
    path = Path(target)
    written_as_path = "/" in target or "\\" in target or path.suffix == ".yaml" or path.name == ""
    if written_as_path or path.is_file() or (path / bundles.MANIFEST).is_file():
        return _path(path, kit, without)
    if packs := _packs_named(target, kit):
        return [check_pack(pack, kit) for pack in packs]
    try:
        return check_bundle(_bundle_named(target, plugins), kit, without=without)
    except UsageError:
        if path.is_dir():
            return _path(path, kit, without)
        raise


def _path(path: Path, kit: Kit, without: Collection[str]) -> list[Report]:
    if path.name == bundles.MANIFEST:
        return check_bundle(path.parent, kit, without=without)
    if path.is_file():
        if path.suffix != ".yaml":
            raise UsageError(f"{path}: this is no language pack, TAG.yaml; give a pack, or the folder of a benchmark")
        return [check_pack(path, kit)]
    if not path.is_dir():
        near = near_path(path)
        hint = f"did you mean {near}?" if near else "check the path"
        raise UsageError(f"{path}: there is no such file or folder; {hint}")
    if (path / bundles.MANIFEST).is_file():
        return check_bundle(path, kit, without=without)
    if (path / PROJECT).is_file():
        return check_package(path, kit, without=without)
    packs = sorted(path.glob("*.yaml"))
    if not packs:
        raise UsageError(f"{path} holds neither {bundles.MANIFEST} nor language packs (TAG.yaml), nor {PROJECT}")
    return [check_pack(pack, kit) for pack in packs]


def _packs_named(tag: str, kit: Kit) -> list[Path]:
    """The packs of a language: the installed one, and those that installed benchmarks bring."""
    found = [pack_files(kit.folders).get(tag)]
    for places in bundles.installed(kit.plugins).values():
        found += [folder / "languages" / f"{tag}.yaml" for folder, _ in places]
    return [path for path in found if path is not None and path.is_file()]


def _bundle_named(name: str, plugins: Plugins) -> Path:
    """The folder of an installed benchmark, whose manifest may be wrong.

    Raises:
        UsageError: nobody offers it, or more than one does.
    """
    bare, _, distribution = name.partition(":")[0].partition("@")
    offered = bundles.installed(plugins)
    matches = [folder for folder, origin in offered.get(bare, ()) if distribution in ("", origin.split()[0])]
    if len(matches) == 1:
        return matches[0]
    if matches:
        choices = " or ".join(f"{bare}@{origin.split()[0]}" for _, origin in offered[bare])
        raise UsageError(f"benchmark {bare!r} is offered more than once: write {choices}")
    tags = [path.stem for folder, _ in plugins.folders("language") for path in folder.glob("*.yaml")]
    if near := near_path(Path(name)):
        raise UsageError(f"unknown benchmark or language {bare!r}, and no such folder; did you mean {near}?")
    unknown = plugins.unknown("benchmark or language", bare, [*offered, *sorted(tags)])
    raise UsageError(f"{unknown}; a file or folder is given as ./NAME")
