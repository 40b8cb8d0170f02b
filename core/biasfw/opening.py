"""How a file from outside is opened: only a regular file, and none that is too large. Nothing waits for a pipe."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from biasfw.errors import DataError

# Without it, opening a pipe that nobody writes to would wait for ever.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT) if hasattr(errno, "EDQUOT") else (errno.ENOSPC,)


def open_file(path: Path, limit: int | None = None) -> BinaryIO:
    """``path``, open for reading bytes.

    Raises:
        DataError: there is none, it is no regular file (a folder, pipe or device), cannot be read, or is larger than
            ``limit`` bytes.
    """
    try:
        file = os.fdopen(os.open(path, _FLAGS), "rb")
    except (OSError, ValueError) as error:
        raise DataError(unreadable(path, error)) from None
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode):
        file.close()
        raise DataError(f"{path}: this is no regular file but a pipe or a device; put a file there")
    if limit is not None and found.st_size > limit:
        file.close()
        raise DataError(too_large(path, limit))
    return file


def too_large(path: Path, limit: int) -> str:
    """What is said of a file with more than ``limit`` bytes."""
    return f"{path}: larger than {limit / 2**20:g} MiB; split the file"


def unreadable(path: Path, error: OSError | ValueError) -> str:
    """What is said of a file that cannot be opened."""
    if isinstance(error, FileNotFoundError):
        return f"{path}: there is no such file; check the path"
    if isinstance(error, IsADirectoryError):
        return f"{path}: this is a folder; name a file in it"
    if isinstance(error, ValueError):
        return f"{str(path)!r} is no name of a file; check the path"
    if error.errno == errno.ELOOP:
        return f"{path}: a link that leads back to itself; put the file itself there"
    if error.errno == errno.ENAMETOOLONG:
        return f"{str(path)[:80]}...: the name is too long; shorten it"
    return f"{path}: cannot be read ({error.strerror or error}); check its permissions"


def unwritable(path: Path, error: OSError) -> str:
    """What is said of a file that cannot be written."""
    way = "make room on the disk" if error.errno in _NO_ROOM else "check its permissions"
    if error.errno == errno.ENAMETOOLONG:
        return f"{str(path)[:80]}...: the name is too long; shorten it"
    return f"{path}: cannot be written ({error.strerror or error}); {way}"


def leaving(folder: Path) -> list[Path]:
    """The links in the folder of a bundle, and in its ``languages``, that lead out of it or to nothing that is."""
    home = Path(os.path.realpath(folder))
    found = []
    for place in (folder, folder / "languages"):
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError:
            continue  # not there, or no folder: told by who needs it
        found += [
            place / entry.name
            for entry in entries
            if entry.is_symlink() and not Path(os.path.realpath(entry.path)).is_relative_to(home)
        ]
        if found:
            break  # a folder that leads out is not looked into
    return found


def left(path: Path) -> str:
    """What is said of a link that leads out of the folder of a bundle."""
    return f"{path}: this link leaves the bundle's folder, so nothing of the bundle is read; put the file itself there"
