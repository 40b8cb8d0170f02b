"""What lies in the folder of an annotation beside the key: answers, and who agreed to what."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from biasfw import schemas
from biasfw.annotating.drawing import ANSWERS
from biasfw.authoring.log import today
from biasfw.codec import dumps
from biasfw.errors import DataError, StoreError, UsageError
from biasfw.jsonlines import JsonLines, write_atomically

CONSENTS = "consents.json"
_PATIENCE = 20.0  # seconds


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Nobody else writes here meanwhile.

    Raises:
        StoreError: another process holds the lock, or the folder cannot be written.
    """
    lock = FileLock(folder / ".answers.lock", timeout=_PATIENCE)
    try:
        lock.acquire()
    except Timeout as failure:
        raise StoreError(f"{folder} is being written by somebody else; try again") from failure
    except OSError as failure:
        raise StoreError(f"cannot write in {folder}: {failure.strerror or failure}; make it writable") from failure
    try:
        yield
    finally:
        lock.release()


def load_answers(folder: Path) -> dict[str, dict[str, Any]]:
    """Task -> the answer that counts."""
    if not (folder / ANSWERS).exists():
        return {}
    file = JsonLines(folder / ANSWERS, "human-answer", id_field="task", last_wins=True).open(write=False)
    return {row["task"]: dict(row) for row in file.rows()}


def add_answers(folder: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add answers under today's day, for a caller that holds the lock; a later answer to a task counts.

    Raises:
        UsageError: one does not fit the schema.
    """
    for row in rows:
        wrong = schemas.problems("human-answer", row, ANSWERS)
        if wrong:
            raise UsageError(str(wrong[0]))
    with JsonLines(folder / ANSWERS, "human-answer", id_field="task", last_wins=True).open(write=True) as log:
        for row in rows:
            log.append(row["task"], {**row, "day": today()})


def replace_answers(folder: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the answers anew: only for a withdrawal, and for a caller that holds the lock."""
    write_atomically(folder / ANSWERS, "".join(f"{dumps(row)}\n" for row in rows).encode("utf-8"))
    (folder / f"{ANSWERS}.damaged").unlink(missing_ok=True)  # what could not be read may hold anybody's words


def load_consents(folder: Path) -> dict[str, dict[str, Any]]:
    """Pseudonym -> what they said to which text, and on which day.

    Raises:
        DataError: the file is damaged.
    """
    path = folder / CONSENTS
    try:
        found: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        _ = [(each["yes"], each["sha256"]) for each in found.values()]
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError(f"{path} is damaged; put it back from a copy") from None
    return found


def add_consent(folder: Path, annotator: str, *, yes: bool, sha256: str) -> None:
    """Record what somebody said, for a caller that holds the lock."""
    found = {**load_consents(folder), annotator: {"yes": yes, "sha256": sha256, "day": today()}}
    write_atomically(folder / CONSENTS, (json.dumps(found, indent=1) + "\n").encode("utf-8"))


def drop_consent(folder: Path, annotator: str) -> None:
    """Forget what somebody said, for a caller that holds the lock."""
    found = load_consents(folder)
    if found.pop(annotator, None) is not None:
        write_atomically(folder / CONSENTS, (json.dumps(found, indent=1) + "\n").encode("utf-8"))


def agreed(folder: Path, annotator: str, key: Mapping[str, Any]) -> bool:
    """Whether somebody said yes to a text of this annotation."""
    said = load_consents(folder).get(annotator)
    return said is not None and said["yes"] is True and said["sha256"] in key.get("consent_sha256", ())
