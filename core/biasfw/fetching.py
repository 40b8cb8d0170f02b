"""`biasfw fetch`: the official files of a benchmark, from their addresses or from disk, checked and kept in the cache.

A file is in its place only when it is whole and right: it is written beside the folder, compared, and moved.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

from biasfw import bundles
from biasfw.errors import FetchError, UsageError
from biasfw.plugins import Plugins
from biasfw.sources import CACHE_VARIABLE, Source, SourceFile, source_of

_CHUNK = 2**20  # bytes
Write = Callable[[bytes], object]
Fill = Callable[[Write], None]  # gives the bytes of a file to what it is given


class Watch(Protocol):
    """What watches a fetch; the command line draws a bar."""

    def start(self, name: str, size: int) -> None:
        """A file of ``size`` bytes begins."""
        ...

    def step(self, count: int) -> None:
        """``count`` more bytes are there."""
        ...

    def finish(self) -> None:
        """The file has ended, well or not."""
        ...

    def note(self, text: str) -> None:
        """Something the user should know."""
        ...


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that is in its place now, and how it came there."""

    file: SourceFile
    path: Path
    how: str  # "fetched", "copied" or "already there"
    origin: str  # an address or a path


def wanted(name: str, plugins: Plugins) -> list[Source]:
    """What can be fetched for ``NAME[:SPLIT]``: of all splits where none is named.

    Raises:
        UsageError: there is no such benchmark or split, or nothing of it can be fetched; says what to do instead.
    """
    bundle = bundles.find(name, plugins)
    manifest = bundle.written
    named = ":" in name and bundle.origin != "folder"
    chosen = [bundle.split] if named else list(manifest["splits"])
    found = {split: source_of(manifest, split) for split in manifest["splits"]}
    sources = [source for split in chosen if (source := found[split])]
    if sources:
        return sources
    others = [f"{bundle.name}:{split}" for split, source in found.items() if source]
    hint = f"; what can be fetched: {', '.join(others)}" if others else ""
    if named and "files" in bundle.entry:
        raise UsageError(f"{bundle.full_name} comes with the benchmark: there is nothing to fetch{hint}")
    by_hand = [f"{bundle.name}:{split}" for split, entry in manifest["splits"].items() if "reader" in entry]
    if by_hand:
        hint = f"{hint}; whoever has the files of {', '.join(by_hand)} gives their folder: biasfw run --data DIR"
    raise UsageError(f"{bundle.full_name if named else bundle.name} names no address of its files{hint}")


def fetch(source: Source, watch: Watch, *, folder: Path | None = None, force: bool = False) -> list[Fetched]:
    """Get every file of ``source`` that is not in its place yet: from ``folder`` if given, else from its address.

    With ``force`` those that are there are got again; they stay as they are until the new ones are right.

    Raises:
        FetchError: a file cannot be had, is not what the manifest pins, or cannot be written. What was right before
            it is kept; of the file itself nothing is.
        UsageError: ``folder`` is none, or lacks a file.
    """
    on_disk = _on_disk([source], folder) if folder is not None else {}
    if not force and all(file.is_right(source.folder) for file in source.files):
        return [_there(source, file) for file in source.files]  # a cache that cannot be written will do
    with _locked(source, watch):
        return [_get(source, file, on_disk, watch, force=force) for file in source.files]


def check_folder(sources: Sequence[Source], folder: Path) -> None:
    """See that ``folder`` holds a file for each one that is expected.

    Raises:
        UsageError: it does not; names what is missing.
    """
    _on_disk(sources, folder)


def _there(source: Source, file: SourceFile) -> Fetched:
    return Fetched(file, source.folder / file.path, "already there", file.url)


def _get(source: Source, file: SourceFile, on_disk: dict[str, Path], watch: Watch, *, force: bool) -> Fetched:
    if not force and file.is_right(source.folder):
        return _there(source, file)
    if file.path in on_disk:
        at = on_disk[file.path]
        _store(source, file, f"{at}", lambda write: _copy(at, file, write), watch)
        return Fetched(file, source.folder / file.path, "copied", f"{at}")
    from biasfw.download import download  # noqa: PLC0415 - httpx loads late

    _store(source, file, file.url, lambda write: download(file.url, file.size, write, watch.note), watch)
    return Fetched(file, source.folder / file.path, "fetched", file.url)


def _store(source: Source, file: SourceFile, origin: str, fill: Fill, watch: Watch) -> None:
    """Put a file into its place once ``fill`` has given all of it and it is right."""
    part = source.folder.with_name(f"{source.folder.name}.part")  # not inside: a reader may take all that is there
    target = source.folder / file.path
    sha256 = hashlib.sha256()
    watch.start(file.path, file.size)
    try:
        with part.open("wb") as out:

            def write(chunk: bytes) -> None:
                out.write(chunk)
                sha256.update(chunk)
                watch.step(len(chunk))

            fill(write)
            out.flush()
            os.fsync(out.fileno())
        if sha256.hexdigest() != file.sha256:
            what = (
                f"expected sha256 {file.sha256}, found {sha256.hexdigest()}: it is not the file that {source.full_name}"
            )
            raise FetchError(
                f"{origin}: {what} pins ({source.revision}); nothing was stored; ask for the pinned version"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        part.replace(target)
    except OSError as failure:
        raise _unwritable(source, failure) from failure
    finally:
        watch.finish()
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _copy(path: Path, file: SourceFile, write: Write) -> None:
    size = 0
    for chunk in _chunks(path):
        size += len(chunk)
        if size <= file.size:
            write(chunk)
    if size != file.size:
        what = f"the file has {size} bytes, expected {file.size}"
        raise FetchError(
            f"{path}: {what} (sha256 {file.sha256}); nothing was stored; give the folder of the pinned version"
        )


def _chunks(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as data:
            while chunk := data.read(_CHUNK):
                yield chunk
    except OSError as failure:
        raise FetchError(f"{path}: cannot be read ({failure.strerror or failure}); check its permissions") from None


def _on_disk(sources: Sequence[Source], folder: Path) -> dict[str, Path]:
    """Where the files lie in ``folder`` or in its folder ``data``: under their paths, or by their bare names."""
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise UsageError(f"{folder}: the folder given with --from {what}; check the path")
    found: dict[str, Path] = {}
    for source in sources:
        for file in source.files:
            names = dict.fromkeys((file.path, Path(file.path).name))
            places = [root / name for root in (folder, folder / "data") for name in names]
            there = [path for path in places if path.is_file()]
            if not there:
                expected = f"expected {Path(file.path).name} ({file.size} bytes, sha256 {file.sha256})"
                raise UsageError(f"{folder}: a file of {source.full_name} is missing; {expected} in it or in its data/")
            found[file.path] = next((path for path in there if path.stat().st_size == file.size), there[0])
    return found


@contextlib.contextmanager
def _locked(source: Source, watch: Watch) -> Iterator[None]:
    """The folder of ``source``, for this process alone; waits for another that fetches the same."""
    lock = FileLock(source.folder.with_name(f"{source.folder.name}.lock"))
    try:
        source.folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            watch.note(f"another process fetches {source.full_name}; waiting for it")
            lock.acquire()
    except OSError as failure:
        raise _unwritable(source, failure) from failure
    try:
        yield
    finally:
        lock.release()


def _unwritable(source: Source, failure: OSError) -> FetchError:
    why = failure.strerror or failure
    return FetchError(
        f"cannot write in {source.folder}: {why}; make room or make it writable, or name another folder "
        f"with the environment variable {CACHE_VARIABLE}"
    )
