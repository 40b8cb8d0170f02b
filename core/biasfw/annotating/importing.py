"""What annotators send back: checked against the key, then added to answers.jsonl."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from biasfw import schemas
from biasfw.annotating.drawing import ANSWERS, load_key, texts_digest
from biasfw.annotating.pages import COLUMNS
from biasfw.authoring.log import today
from biasfw.codec import dumps
from biasfw.errors import DataError, UsageError
from biasfw.jsonlines import JsonLines, write_atomically
from biasfw.textfile import read_csv, read_text

_WORDS = {"a": "a", "b": "b", "skip": "skip", "ａ": "a", "ｂ": "b", "-": "skip"}
_YES = frozenset({"x", "1", "yes", "true", "はい", "有害"})


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did."""

    annotator: str
    new: int
    same: int
    replaced: int
    empty: int


def import_answers(folder: Path, file: Path, *, replace: bool = False) -> Imported:
    """Check and merge one annotator's file (JSON of the page, or CSV of the sheet); all of it or nothing.

    Raises:
        DataError: a task that was not theirs or stands twice, a text that was edited, an answer that is none.
        UsageError: answers differ from those imported before, without ``replace``.
    """
    key = load_key(folder)
    tasks = {task["task"]: task for task in key["tasks"]}
    rows = list(_csv(file, tasks) if file.suffix.lower() == ".csv" else _json(file))
    empty = sum(not _is_answer(row) for _, row in rows)
    found: dict[str, dict[str, Any]] = {}
    for where, row in rows:
        problem = schemas.problems("human-answer", row, where)
        if problem:
            raise DataError(str(problem[0]))
        if row["task"] not in tasks:
            raise DataError(f"{where}: task {row['task']} is none of {folder}; is this the file of another annotation?")
        if row["task"] in found:
            raise DataError(f"{where}: task {row['task']} stands twice; keep one")
        if _is_answer(row):
            found[row["task"]] = row
    names = {tasks[name]["annotator"] for name in found}
    if len(names) > 1:
        raise DataError(f"{file} holds tasks of several annotators ({', '.join(sorted(names))}); import them apart")
    with FileLock(folder / ".answers.lock", timeout=20):
        before = load_answers(folder)
        known = {name: {k: v for k, v in row.items() if k != "day"} for name, row in before.items()}
        changed = [name for name, row in found.items() if name in known and known[name] != row]
        if changed and not replace:
            raise UsageError(
                f"{len(changed)} answers differ from those imported before; give --replace to take the new"
            )
        fresh = [name for name in found if name not in known]
        with JsonLines(folder / ANSWERS, "human-answer", id_field="task", last_wins=True).open(write=True) as log:
            for name in (*fresh, *changed):
                log.append(name, {**found[name], "day": today()})
    same = len(found) - len(fresh) - len(changed)
    return Imported(next(iter(names), ""), len(fresh), same, len(changed), empty)


def withdraw(folder: Path, annotator: str, *, erase: bool = False) -> int:
    """Take out what an annotator wrote (comments); with ``erase`` all their answers. Return how many were touched.

    Raises:
        UsageError: the annotation has nobody of this pseudonym.
    """
    key = load_key(folder)
    if annotator not in key["annotators"]:
        raise UsageError(f"{folder} has no annotator {annotator}; it has: {', '.join(key['annotators'])}")
    own = {task["task"] for task in key["tasks"] if task["annotator"] == annotator}
    with FileLock(folder / ".answers.lock", timeout=20):
        rows = load_answers(folder)
        touched = [name for name in rows if name in own]
        kept = []
        for name, row in rows.items():
            if name in own and erase:
                continue
            kept.append({part: value for part, value in row.items() if part != "comment" or name not in own})
        write_atomically(folder / ANSWERS, "".join(f"{dumps(row)}\n" for row in kept).encode("utf-8"))
        (folder / f"{ANSWERS}.damaged").unlink(missing_ok=True)
    return len(touched)


def load_answers(folder: Path) -> dict[str, dict[str, Any]]:
    """Task -> the answer that counts."""
    if not (folder / ANSWERS).exists():
        return {}
    file = JsonLines(folder / ANSWERS, "human-answer", id_field="task", last_wins=True).open(write=False)
    return {row["task"]: dict(row) for row in file.rows()}


def _is_answer(row: Mapping[str, Any]) -> bool:
    return any(row.get(name) for name in ("suitable", "unbiased", "harmful", "comment"))


def _json(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        document = json.loads(read_text(file))
        rows = document["answers"]
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise TypeError
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DataError(f"{file} is no file of answers; save it with the button of the page") from None
    for number, row in enumerate(rows):
        yield f"{file}, answer {number + 1}", row


def _csv(file: Path, tasks: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for line, cells in read_csv(file, COLUMNS):
        where = f"{file}:{line}"
        task = tasks.get(cells["task"].strip())
        texts = (cells["context"], cells["reply_a"], cells["reply_b"])
        if task is not None and not _unedited(texts, task["text_sha256"]):
            raise DataError(f"{where}: the texts were edited, so the answer is to another question; put them back")
        row: dict[str, Any] = {"task": cells["task"].strip()}
        for name in ("suitable", "unbiased"):
            said = cells[name].strip().casefold()
            if said and said not in _WORDS:
                raise DataError(f"{where}: {name} is {cells[name]!r}; write a, b or skip")
            if said:
                row[name] = _WORDS[said]
        if cells["harmful"].strip().casefold() in _YES:
            row["harmful"] = True
        if cells["comment"].strip():
            row["comment"] = cells["comment"].strip()
        yield where, row


def _unedited(texts: tuple[str, str, str], digest: str) -> bool:
    """Programs keep or drop the apostrophe that stands before what could be a formula."""
    ways = [(text, text.removeprefix("'")) for text in texts]
    return any(texts_digest(*combined) == digest for combined in itertools.product(*ways))
