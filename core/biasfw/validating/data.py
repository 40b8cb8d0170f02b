"""The data of a bundle: the items of every split, read from its own files or from official ones, and the examples."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasfw import splits
from biasfw.bundles import Bundle
from biasfw.document import child
from biasfw.errors import BiasfwError
from biasfw.findings import Finding, Report
from biasfw.plugins import load_class
from biasfw.records import Seed
from biasfw.schemas import Problem
from biasfw.sources import source_of
from biasfw.validating.fields import offered
from biasfw.validating.items import Items, Told
from biasfw.validating.pruning import Pruned, as_errors

if TYPE_CHECKING:
    from biasfw.validating.inspection import Inspected

Manifest = Mapping[str, Any]


def read_split(seen: Inspected, pruned: Pruned, name: str) -> tuple[Bundle, Items | None]:
    """The split, and its items; None where they cannot be read."""
    manifest: Manifest = pruned.document.value
    bundle = Bundle(seen.folder, splits.of_split(manifest, name), name, "folder", manifest)
    if "reader" in bundle.entry:
        return bundle, _official(seen, bundle)
    paths = list(_files(seen, bundle))
    items = Items(None, files=len(paths))
    if pruned.has("task", "languages", "categories"):
        said = {category["key"] for category in manifest["categories"]} | pruned.gone
        items = Items(bundle.manifest, manifest["languages"], said, len(paths))
    whole = True
    for path in paths:
        try:
            items.read(path)
        except BiasfwError as failure:
            seen.report.take(failure)
            whole = False
    if paths and whole and not items.rows and not items.errors:
        pointer = f"{child('/splits', name)}/files"
        seen.report.add("error", seen.document, pointer, f"split {name!r} holds no items; write one row an item")
    return bundle, items


def read_shots(seen: Inspected, pruned: Pruned, there: Mapping[str, Collection[str]]) -> None:
    """The solved examples: rows like items, each with a right option. ``there``: the fields of the items."""
    manifest: Manifest = pruned.document.value
    name = manifest["shots"]["file"]
    path = _file(seen, "/shots/file", name, "of solved examples")
    if path is None:
        return
    items = Items(manifest, manifest["languages"], {each["key"] for each in manifest["categories"]} | pruned.gone)
    try:
        items.read(path)
    except BiasfwError as failure:
        seen.report.take(failure)
    for told in (*items.good, *items.flawed):
        if told.seed.gold is None:
            items.errors.append(told.place("/gold", "a solved example has no right option (gold); name it"))
    items.compare(manifest, {tag: {*there.get(tag, ()), *fields} for tag, fields in offered(items.good).items()})
    tell(seen.report, items)


def _files(seen: Inspected, bundle: Bundle) -> Iterator[Path]:
    """The data files of a split that are there."""
    for index, name in enumerate(bundle.entry["files"]):
        pointer = f"{child('/splits', bundle.split)}/files/{index}"
        if path := _file(seen, pointer, name, f"of split {bundle.split!r}"):
            yield path


def _file(seen: Inspected, pointer: str, name: str, whose: str) -> Path | None:
    """A data file, if it is there. A symbolic link may not lead out of the folder either."""
    path = seen.folder / name
    try:
        inside = path.resolve().is_relative_to(seen.folder.resolve())
        there = path.is_file()
    except (OSError, RuntimeError, ValueError):  # too long, a loop of links
        inside, there = True, False
    if inside and there:
        return path
    what = f"data file {name!r} leaves the bundle's folder; keep it inside"
    if inside:
        what = f"data file {name!r} {whose} does not exist; write it, or mend the path"
    seen.report.add("error", seen.document, pointer, what)
    return None


def tell(report: Report, items: Items) -> None:
    """Add what was found in items."""
    report.findings += as_errors(items.errors)
    report.findings += [Finding("warning", problem) for problem in items.warnings]


def _official(seen: Inspected, bundle: Bundle) -> Items | None:
    """The items of files that were fetched, where they are the ones that the manifest pins."""
    pointer = child("/splits", bundle.split)
    source = source_of(bundle.written, bundle.split) if "name" in bundle.written else None
    wrong = 0
    for index, file in enumerate(source.files if source else ()):
        if source and (source.folder / file.path).is_file() and not file.is_right(source.folder):
            what = f"the sha256 of {source.folder / file.path} is another than this"
            what += f"; fetch it again ({splits.fetch_command(bundle)}), or mend the pin"
            seen.report.add("error", seen.document, f"{pointer}/source/files/{index}/sha256", what)
            wrong += 1
    if wrong:
        return None
    if source is None or source.missing() or not {"task", "languages", "categories"} <= bundle.manifest.keys():
        seen.report.facts.append(f"split {bundle.split} is not here: its items are not checked")
        return Items(bundle.manifest, there=False)
    try:
        component = splits.reader_of(bundle, seen.kit.plugins)
        if component is None:
            return None
        load_class(component)
        seeds, _ = splits.read(bundle, component)
    except BiasfwError as failure:
        if not seen.report.errors or "unknown reader" not in str(failure):
            seen.report.take(failure)
        return None
    return Items(bundle.manifest, good=[Told(seed, _nowhere(bundle, seed)) for seed in seeds])


def _nowhere(bundle: Bundle, seed: Seed) -> Any:
    """Of official files it is known which item is meant, not where it stands."""

    def place(pointer: str, message: str) -> Problem:
        file = f"{bundle.full_name} item {seed.source_id} ({seed.language})"
        return Problem(file, 0, 0, pointer, message)

    return place
