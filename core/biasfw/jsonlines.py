"""One append-only file of JSON records, safe against kill -9, a full disk and damage.

A line ends at the newline character and nothing else. Opening for writing repairs: a torn last line is cut off, a
damaged line in the middle is moved to ``FILE.damaged``; what they held is simply not there and will be asked again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from types import TracebackType
from typing import Any, BinaryIO, NoReturn

from biasfw import schemas
from biasfw.codec import dumps
from biasfw.errors import DataError, StoreError
from biasfw.opening import open_file

FSYNC_EVERY = 1.0  # seconds; what a power cut may cost. A killed process loses nothing that was appended.


@dataclass(slots=True)
class JsonLines:
    """A file of records that carry ``id_field``. ``index`` maps the id to (offset, length) of its line."""

    path: Path
    schema: str  # a line that does not fit it is damaged
    id_field: str = "key"
    last_wins: bool = False  # of several lines with one id: the last one, else the first
    keep_torn: bool = False  # a torn last line is kept aside as damaged ones are: somebody's words may be in it
    index: dict[str, tuple[int, int]] = field(default_factory=dict)
    flaws: list[tuple[int, bool]] = field(default_factory=list)  # damaged lines: number, and whether it is a torn last
    repairs: list[str] = field(default_factory=list)  # what was done about them
    _file: int | None = None
    _reader: BinaryIO | None = None
    _end: int = 0
    _synced: float = 0.0

    def open(self, *, write: bool) -> JsonLines:
        """Index the file; with ``write`` also repair it and open it for appending.

        Raises:
            StoreError: it cannot be read or written.
        """
        try:
            good, damaged, end = self._scan(keep=write)
        except OSError as failure:
            raise StoreError(
                f"cannot read {self.path}: {failure.strerror or failure}; put it back or remove it"
            ) from failure
        if write:
            self.repairs += [self._repair(number, torn=torn) for number, torn in self.flaws]
            try:
                if damaged:
                    self._rewrite(good, damaged)
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_BINARY", 0)
                self._file = os.open(self.path, flags, 0o644)
                if not damaged:
                    self._cut(end)
                self._end = os.lseek(self._file, 0, os.SEEK_END)
            except OSError as failure:
                self._fail(failure)
        return self

    def _opened(self) -> BinaryIO:
        try:
            return open_file(self.path)
        except DataError as failure:
            raise StoreError(f"cannot read {failure}") from None

    def _repair(self, number: int, *, torn: bool) -> str:
        if torn and not self.keep_torn:
            return f"{self.path.name}: the torn last line {number} was cut off"
        return f"{self.path.name}: line {number} is damaged; kept aside in {self.path.name}.damaged"

    def _scan(self, *, keep: bool) -> tuple[list[bytes], list[tuple[int, bytes]], int]:
        """Index the good lines; return them (only to ``keep``, if some are damaged), the damaged, and the good end."""
        good: list[bytes] = []
        damaged: list[tuple[int, bytes]] = []
        offset = end = 0
        if not self.path.exists():
            return good, damaged, 0
        with self._opened() as file:
            for number, line in enumerate(file, start=1):
                torn = not line.endswith(b"\n")
                name = self._id(line)
                if name is not None:
                    self._note(name, offset, len(line))
                    end = offset + len(line)
                elif torn:
                    self.flaws.append((number, True))
                    if self.keep_torn:
                        damaged.append((number, line + b"\n"))
                elif line.strip():
                    self.flaws.append((number, False))
                    damaged.append((number, line))
                offset += len(line)
        if damaged and keep:
            with self._opened() as file:
                good = [line for line in file if self._id(line) is not None]
        return good, damaged, end

    def _id(self, line: bytes) -> str | None:
        """The id of a line, None if the line is damaged."""
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return intern(str(row[self.id_field])) if schemas.valid(self.schema)(row) else None

    def _rewrite(self, good: list[bytes], damaged: list[tuple[int, bytes]]) -> None:
        with (self.path.parent / f"{self.path.name}.damaged").open("ab") as aside:
            aside.writelines(line for _, line in damaged)
        content = b"".join(line if line.endswith(b"\n") else line + b"\n" for line in good)
        write_atomically(self.path, content)
        self.index.clear()
        offset = 0
        for line in content.split(b"\n")[:-1]:
            name = self._id(line)
            if name is not None:
                self._note(name, offset, len(line) + 1)
            offset += len(line) + 1

    def _note(self, name: str, offset: int, length: int) -> None:
        if self.last_wins or name not in self.index:
            self.index[name] = (offset, length)

    def _cut(self, end: int) -> None:
        """Cut a torn tail; give a whole last row its newline, so that the next one is not glued to it."""
        assert self._file is not None  # noqa: S101
        size = os.fstat(self._file).st_size
        if size > end:
            os.ftruncate(self._file, end)
        if end:
            os.lseek(self._file, end - 1, os.SEEK_SET)
            if os.read(self._file, 1) != b"\n":
                os.lseek(self._file, end, os.SEEK_SET)
                os.write(self._file, b"\n")

    def append(self, name: str, record: Any) -> None:
        """Append one record. It is out of the process when this returns, and on the disk within a second.

        Raises:
            StoreError: the disk is full or gone; everything appended before stays.
        """
        assert self._file is not None, "not open for writing"  # noqa: S101
        line = (dumps(record) + "\n").encode("utf-8")
        try:
            written = os.write(self._file, line)
            if written < len(line):  # a full disk takes a part first, and says so on the next call
                os.write(self._file, line[written:])
            now = time.monotonic()
            if now - self._synced > FSYNC_EVERY:
                os.fsync(self._file)
                self._synced = now
        except OSError as failure:
            os.ftruncate(self._file, self._end)
            os.lseek(self._file, self._end, os.SEEK_SET)
            self._fail(failure)
        self.index[intern(name)] = (self._end, len(line))
        self._end += len(line)

    def _fail(self, failure: OSError) -> NoReturn:
        raise StoreError(
            f"cannot write {self.path}: {failure.strerror or failure}; what was stored before is kept; "
            "make room or permission, then run the same command"
        ) from failure

    def read(self, name: str) -> dict[str, Any]:
        """The record with this id."""
        offset, length = self.index[name]
        if self._file is None:  # nobody is bound to close a file that is only read
            with self._opened() as file:
                return _read_at(file, offset, length)
        if self._reader is None:
            self._reader = self.path.open("rb", buffering=0)  # a buffer would hold more than a line, and old lines
        return _read_at(self._reader, offset, length)

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Every indexed record, in the order of the file."""
        if self.index:
            with self._opened() as file:
                for offset, length in self.index.values():
                    yield _read_at(file, offset, length)

    def close(self) -> None:
        """Flush to the disk and close."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        if self._file is not None:
            try:
                os.fsync(self._file)
            finally:
                os.close(self._file)
                self._file = None

    def __enter__(self) -> JsonLines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _read_at(file: Any, offset: int, length: int) -> dict[str, Any]:
    file.seek(offset)
    row: dict[str, Any] = json.loads(file.read(length))
    return row


def write_atomically(path: Path, content: bytes) -> None:
    """Write a whole file or nothing: a temporary file beside it, then a rename."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
