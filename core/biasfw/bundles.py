"""Benchmark bundles: a folder with a manifest and data; a bundle never runs code and never names a backend."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biasfw import crosscheck, schemas, splits
from biasfw.errors import DataError, UsageError
from biasfw.keys import sha256_json
from biasfw.opening import leaving, left, open_file
from biasfw.phrases import near_path
from biasfw.plugins import Plugins
from biasfw.records import Item, Seed
from biasfw.seedrows import SeedReader
from biasfw.yamlfile import load_yaml

MANIFEST = "benchmark.yaml"
_SPLIT = re.compile("[a-z][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Bundle:
    """A benchmark at one split: its checked manifest, as it holds for the split, and where its data lie."""

    folder: Path
    manifest: Mapping[str, Any]
    split: str
    origin: str  # distribution and version of the plugin that offers it, or "folder"
    written: Mapping[str, Any]  # the manifest as it is written, for all splits
    data: Path | None = None  # a folder given with --data, for splits that are not shipped
    encoding: str | None = None  # of the files in it, where it is not UTF-8

    @property
    def entry(self) -> Mapping[str, Any]:
        """What the manifest says about the split."""
        entry: Mapping[str, Any] = self.written["splits"][self.split]
        return entry

    @property
    def name(self) -> str:
        """The benchmark's name, without the split."""
        return str(self.manifest["name"])

    @property
    def full_name(self) -> str:
        """``name:split``."""
        return f"{self.name}:{self.split}"

    @property
    def demo(self) -> bool:
        """Whether the split is machine-written and must be marked so wherever a number of it is shown."""
        return bool(self.entry.get("demo", False))

    @property
    def demo_words(self) -> str:
        """The mark of a demo; a benchmark of which nothing is published has no paper to be compared with."""
        parts = (self.written, *self.written.get("splits", {}).values())
        published = any("reference_results" in part or "reader" in part for part in parts)
        published = published or "url" in self.written.get("citation", {})
        said = "machine-written, not reviewed by native speakers"
        return f"{said}; not comparable with the paper" if published else said

    def files(self) -> list[Path]:
        """The data files of the split.

        Raises:
            DataError: a file is missing, or leaves the bundle's folder.
        """
        return [self._file(name) for name in self.entry.get("files", ())]

    def _file(self, name: str) -> Path:
        path = Path(os.path.realpath(self.folder / name))  # a loop of links is left as it is, and is no file
        if not path.is_relative_to(os.path.realpath(self.folder)):
            raise DataError(f"{self.folder / MANIFEST}: data file {name!r} leaves the bundle's folder; keep it inside")
        if not path.is_file():
            raise DataError(f"{self.folder / MANIFEST}: data file {name!r} of split {self.split!r} does not exist")
        return path

    def instruction(self, item: Item) -> dict[str, str]:
        """``{"instruction": text}`` of the item's variant in its language; empty if the manifest has none."""
        for each in self.manifest.get("instructions", ()):
            if each["key"] == item.variant and item.language in each["text"]:
                return {"instruction": each["text"][item.language]}
        return {}

    def shots(self) -> list[Seed]:
        """The solved examples, checked; empty if the manifest names none.

        Raises:
            DataError: with file and line of the first thing that is wrong.
        """
        if "shots" not in self.manifest:
            return []
        path = self._file(self.manifest["shots"]["file"])
        found = list(SeedReader(self.manifest).read(path))
        for seed in found:
            if seed.gold is None:
                raise DataError(f"{path}: example {seed.source_id!r} has no right option (gold); add it")
        return found

    def digests(self, plugins: Plugins) -> dict[str, str]:
        """sha256 of the manifest and of the data together; of the manifest alone where official data are not there."""
        digests = {"manifest_sha256": sha256_json(self.written)}
        reader = splits.reader_of(self, plugins)
        if reader is None:
            data = hashlib.sha256()
            for path in self.files():
                with open_file(path) as file:
                    data.update(file.read())
            digests["data_sha256"] = data.hexdigest()
        elif splits.is_there(self):
            digests["data_sha256"] = splits.digest(self, reader)
        return digests

    def read(self, plugins: Plugins) -> tuple[list[Seed], tuple[str, ...]]:
        """Every seed of the split, checked, and what a user should know about them.

        Raises:
            DataError: with file and line of the first thing that is wrong.
            UsageError: the split is not shipped, no folder was given, and its files were not fetched.
        """
        reader = splits.reader_of(self, plugins)
        if reader is not None:
            return splits.read(self, reader)
        files = self.files()
        rows = SeedReader(self.manifest, len(files))
        found = [seed for path in files for seed in rows.read(path)]
        if not found:
            raise DataError(f"{self.folder}: split {self.split!r} holds no items")
        return found, ()


def load(
    folder: Path,
    split: str | None = None,
    *,
    origin: str = "folder",
    data: Path | None = None,
    encoding: str | None = None,
) -> Bundle:
    """Read and check the manifest in ``folder``.

    Raises:
        DataError: the manifest is missing or wrong; the message has file, line and column.
        UsageError: the split does not exist, or brings its own files and was given others.
    """
    path = folder / MANIFEST
    if not path.is_file():
        if not folder.exists() and (near := near_path(folder)):
            raise DataError(f"{folder}: there is no such folder; did you mean {near}?")
        raise DataError(f"{folder} holds no {MANIFEST}; a bundle is a folder with one")
    if gone := leaving(folder):
        raise DataError(left(gone[0]))
    document = load_yaml(path)
    schemas.check("benchmark", document)
    complete(document.value)
    crosscheck.check(document)
    manifest = document.value
    chosen = split or manifest["default_split"]
    if chosen not in manifest["splits"]:
        known = ", ".join(manifest["splits"])
        raise UsageError(f"{manifest['name']} has no split {chosen!r}; it has: {known}")
    bundle = Bundle(folder, splits.of_split(manifest, chosen), chosen, origin, manifest, data, encoding)
    if (data or encoding) and "reader" not in bundle.entry:
        option = "--data" if data else "--encoding"
        others = [f"{bundle.name}:{name}" for name, entry in manifest["splits"].items() if "reader" in entry]
        hint = f", or name what reads files: {', '.join(others)}" if others else ""
        raise UsageError(f"{bundle.full_name} brings its own items and takes no {option}; leave it out{hint}")
    return bundle


def complete(manifest: dict[str, Any]) -> None:
    """Fill in what a valid manifest with task ``sentence_pair`` need not say: nothing is asked, in one way."""
    if manifest["task"] != "sentence_pair":
        return
    manifest.setdefault("conditions", {"plain": {"template": "nothing"}})
    manifest.setdefault("templates", {"nothing": {tag: {"user": ""} for tag in manifest["languages"]}})
    manifest.setdefault("orders", {"over": "choices", "design": "as_given"})
    manifest.setdefault("protocols", {"choices": {"conditions": list(manifest["conditions"]), "choices": "texts"}})
    manifest.setdefault("default_mode", "choices")


def installed(plugins: Plugins) -> dict[str, list[tuple[Path, str]]]:
    """Folders of every benchmark that a plugin offers: name -> (folder, origin). A folder is named as its benchmark."""
    found: dict[str, list[tuple[Path, str]]] = {}
    for root, plugin in plugins.folders("benchmark"):
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            if (folder / MANIFEST).is_file():
                found.setdefault(folder.name, []).append((folder, plugin.origin))
    return found


def find(name: str, plugins: Plugins, data: Path | None = None, encoding: str | None = None) -> Bundle:
    """The bundle ``NAME[:SPLIT]`` (``NAME@DISTRIBUTION`` if offered twice), or the one in a folder (``PATH[:SPLIT]``).

    Raises:
        UsageError: nobody offers it, or more than one does.
    """
    as_path = Path(name)
    if (as_path / MANIFEST).is_file() or "/" in name or "\\" in name or name in (".", ".."):
        place, _, split = name.rpartition(":")
        if place and _SPLIT.fullmatch(split) and not (as_path / MANIFEST).is_file():
            return load(Path(place), split, data=data, encoding=encoding)
        return load(as_path, data=data, encoding=encoding)
    bare, _, split = name.partition(":")
    bare, _, distribution = bare.partition("@")
    offered = installed(plugins)
    matches = [pair for pair in offered.get(bare, ()) if distribution in ("", pair[1].split()[0])]
    if not matches and bare in offered:
        homes = ", ".join(origin.split()[0] for _, origin in offered[bare])
        raise UsageError(f"benchmark {bare!r} is not offered by {distribution!r}; it is offered by {homes}")
    if not matches:
        if (near := near_path(as_path)) and (Path(near) / MANIFEST).is_file():
            raise UsageError(f"unknown benchmark {bare!r}, and no such folder; did you mean {near}?")
        raise UsageError(plugins.unknown("benchmark", bare, list(offered)) + "; a folder is given as ./FOLDER")
    if len(matches) > 1:
        choices = " or ".join(f"{bare}@{origin.split()[0]}" for _, origin in matches)
        raise UsageError(f"benchmark {bare!r} is offered more than once: write {choices}")
    folder, origin = matches[0]
    return load(folder, split or None, origin=origin, data=data, encoding=encoding)
