"""Files that `biasfw fetch` gets: which the manifest pins, where they are kept, whether they are there and right."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from biasfw.errors import DataError
from biasfw.keys import sha256_file, sha256_json

CACHE_VARIABLE = "BIASFW_CACHE"


def cache_folder() -> Path:
    """Where biasfw keeps what can be fetched or made again; the environment variable BIASFW_CACHE moves it."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given).absolute()
    try:
        return Path(platformdirs.user_cache_dir("biasfw"))
    except RuntimeError:  # a user without a home, as in some containers
        return Path(tempfile.gettempdir()) / "biasfw-cache"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as the manifest pins it; ``path`` is relative to the folder of the source, ``size`` in bytes."""

    path: str
    url: str
    sha256: str
    size: int

    def is_there(self, folder: Path) -> bool:
        """Whether a file of the right size lies in its place; its content is not read."""
        try:
            return (folder / self.path).is_file() and (folder / self.path).stat().st_size == self.size
        except OSError:
            return False

    def is_right(self, folder: Path) -> bool:
        """Whether the very file lies in its place."""
        try:
            return self.is_there(folder) and sha256_file(folder / self.path) == self.sha256
        except OSError:
            return False


@dataclass(frozen=True, slots=True)
class Source:
    """What can be fetched for a split. ``folder`` is where it is kept: another pin has another folder."""

    full_name: str  # benchmark:split
    revision: str
    files: tuple[SourceFile, ...]
    folder: Path

    def missing(self) -> list[str]:
        """The paths of the files that are not there, or have another size."""
        return [file.path for file in self.files if not file.is_there(self.folder)]

    def check(self, way: str) -> None:
        """Compare every file with its sha256.

        Raises:
            DataError: one is damaged or cannot be read; ``way`` is the command that mends it.
        """
        for file in self.files:
            if not file.is_right(self.folder):
                what = "cannot be read, or is not what was fetched (its sha256 is another)"
                raise DataError(f"{self.folder / file.path}: {what}; run: {way}")


def source_of(manifest: Mapping[str, Any], split: str) -> Source | None:
    """What can be fetched for a split; None where its manifest says nothing of it."""
    source = manifest["splits"][split].get("source")
    if source is None:
        return None
    name = manifest["name"]
    folder = cache_folder() / "data" / name / sha256_json(source)[:16]
    return Source(f"{name}:{split}", source["revision"], tuple(SourceFile(**file) for file in source["files"]), folder)
