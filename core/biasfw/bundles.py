"""Benchmark bundles: a folder with a manifest and data; a bundle never runs code and never names a backend."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from biasfw import crosscheck, schemas, seedcheck, sheets, splits
from biasfw.errors import DataError, UsageError
from biasfw.form import Form, Label, Merge, Names, Slot
from biasfw.keys import sha256_json
from biasfw.plugins import Plugins
from biasfw.records import Choice, Item, Seed
from biasfw.rows import Row
from biasfw.textfile import read_jsonl
from biasfw.yamlfile import load_yaml

MANIFEST = "benchmark.yaml"
_SPLIT = re.compile("[a-z][a-z0-9_-]*")
_FIXED = frozenset(f.name for f in fields(Seed)) - {"fields"}


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

    def files(self) -> list[Path]:
        """The data files of the split.

        Raises:
            DataError: a file is missing, or leaves the bundle's folder.
        """
        return [self._file(name) for name in self.entry.get("files", ())]

    def _file(self, name: str) -> Path:
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder.resolve()):
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
        found = list(self._read(path, {}))
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
                data.update(path.read_bytes())
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
        seen: dict[tuple[str, str, str], str] = {}
        found = [seed for path in self.files() for seed in self._read(path, seen)]
        if not found:
            raise DataError(f"{self.folder}: split {self.split!r} holds no items")
        return found, ()

    def mistakes(self) -> Iterator[DataError]:
        """What is wrong with the shipped items, with file and line: the first mistake of every line."""
        seen: dict[tuple[str, str, str], str] = {}
        for path in self.files():
            try:
                for row in _rows(path):
                    try:
                        self._checked(path, row, seen)
                    except DataError as failure:
                        yield failure
            except DataError as failure:  # not to be read: what stands behind it cannot be told
                yield failure

    def _read(self, path: Path, seen: dict[tuple[str, str, str], str]) -> Iterator[Seed]:
        return (self._checked(path, row, seen) for row in _rows(path))

    def _checked(self, path: Path, row: Row, seen: dict[tuple[str, str, str], str]) -> Seed:
        if row.flaw:
            raise DataError(row.flaw)
        if not schemas.valid("item")(row.value):
            raise DataError(_unlike_the_schema(path, row))
        seed = make_seed(row.value)
        if seed.language not in self.manifest["languages"]:
            what = f"language {seed.language!r} is not among the manifest's languages"
            raise DataError(f"{row.where('/language')}: {what}")
        wrong = seedcheck.flaw(seed, self.manifest, {category["key"] for category in self.manifest["categories"]})
        if wrong is not None:
            raise DataError(f"{row.where(wrong.pointer)}: {wrong.message}")
        # Ids that differ only in their form of Unicode are one id to everybody who reads them.
        identity = (
            unicodedata.normalize("NFC", seed.source_id),
            seed.language,
            "/".join((seed.variant or "", *seed.order)),
        )
        if identity in seen:
            raise DataError(
                f"{row.where('/source_id')}: source_id {seed.source_id!r} ({seed.language}) also stands in "
                f"{seen[identity]}; give every item its own"
            )
        seen[identity] = row.name + (f" of {path.name}" if len(self.entry.get("files", ())) > 1 else "")
        return seed


def _rows(path: Path) -> Iterator[Row]:
    if path.suffix in sheets.SUFFIXES:
        return sheets.read_sheet(path)
    return (Row(str(path), line, value) for line, value in read_jsonl(path))


def _unlike_the_schema(path: Path, row: Row) -> str:
    """What the first problem is; of a line of JSON, at its exact place."""
    if path.suffix not in sheets.SUFFIXES:
        return str(schemas.problems("item", row.value, path, row.line)[0])
    problem = schemas.problems("item", row.value)[0]
    return ": ".join(part for part in (row.where(problem.pointer), problem.pointer, problem.message) if part)


def make_seed(row: Mapping[str, Any]) -> Seed:
    """The seed in a row that fits ``item.schema.json``."""
    known = {name: value for name, value in row.items() if name in _FIXED}
    extra = {name: value for name, value in row.items() if name not in _FIXED}
    known["choices"] = tuple(Choice(**choice) for choice in known.get("choices", ()))
    known["order"] = tuple(known.get("order", ()))
    return Seed(fields=extra, **known)


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
        raise DataError(f"{folder} holds no {MANIFEST}; a bundle is a folder with one")
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
        raise UsageError(plugins.unknown("benchmark", bare, list(offered)) + "; a folder is given as ./FOLDER")
    if len(matches) > 1:
        choices = " or ".join(f"{bare}@{origin.split()[0]}" for _, origin in matches)
        raise UsageError(f"benchmark {bare!r} is offered more than once: write {choices}")
    folder, origin = matches[0]
    return load(folder, split or None, origin=origin, data=data, encoding=encoding)


def _names(mapping: Mapping[str, Sequence[str]]) -> Names:
    return {language: tuple(names) for language, names in mapping.items()}


def make_form(manifest: Mapping[str, Any], conditions: Sequence[str], without: Sequence[str]) -> Form:
    """The answer form of a benchmark under ``conditions``, without the labels in ``without``.

    Raises:
        UsageError: a label to leave out does not exist, or fewer than two would stay.
    """
    if manifest["task"] != "labels":
        if without:
            raise UsageError(f"{manifest['name']} has options, not labels to leave out; give it without --without")
        return _options_form(manifest, conditions)
    keys = [label["key"] for label in manifest["labels"]]
    for name in without:
        if name not in keys:
            raise UsageError(f"{manifest['name']} has no label {name!r} to leave out; it has: {', '.join(keys)}")
    labels = [Label(x["key"], _names(x["names"])) for x in manifest["labels"] if x["key"] not in without]
    if len(labels) < 2:
        raise UsageError("at least two labels must stay; give --without fewer times")
    if "abstention" in manifest:
        labels.append(Label(manifest["abstention"]["key"], _names(manifest["abstention"]["names"]), abstains=True))
    present = {label.key for label in labels}
    merges = tuple(
        Merge(x["key"], tuple(x["labels"]), _names(x["names"]))
        for x in manifest.get("merges", ())
        if present.issuperset(x["labels"])
    )
    slots = tuple(
        Slot(x["key"], {condition: _names(names) for condition, names in x["headers"].items()})
        for x in manifest["slots"]
    )
    calibrate = manifest["protocols"].get("choices", {}).get("calibrate")
    return Form(
        task=manifest["task"],
        slots=slots,
        labels=tuple(labels),
        merges=merges,
        categories={x["key"]: _names(x["names"]) for x in manifest["categories"]},
        languages=tuple(manifest["languages"]),
        conditions=tuple(conditions),
        calibrate=calibrate if calibrate in conditions else None,
    )


def _options_form(manifest: Mapping[str, Any], conditions: Sequence[str]) -> Form:
    """The form of task ``choice``: label n is what stands for the option shown as the n-th, in every language.

    Nothing stands for the sentences of a ``sentence_pair``.
    """
    letters = manifest.get("letters", {})
    most: list[str] = max(letters.values(), key=len, default=[])
    labels = [
        Label(mark, {tag: (marks[place],) for tag, marks in letters.items() if place < len(marks)})
        for place, mark in enumerate(most)
    ]
    return Form(
        task=manifest["task"],
        slots=(Slot("choice"),),
        labels=tuple(labels),
        categories={x["key"]: _names(x["names"]) for x in manifest["categories"]},
        languages=tuple(manifest["languages"]),
        conditions=tuple(conditions),
        controls=tuple(manifest.get("controls", {}).get("categories", ())),
    )
