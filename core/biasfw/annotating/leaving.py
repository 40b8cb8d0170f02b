"""What leaves an annotation: the words of an annotator who withdraws, or the texts of an author who does."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from biasfw.annotating.drawing import KEY, load_key
from biasfw.annotating.pages import COLUMNS, page_of, read_page
from biasfw.annotating.stored import (
    CONSENTS,
    add_consent,
    drop_consent,
    load_answers,
    load_consents,
    locked,
    replace_answers,
)
from biasfw.errors import DataError, UsageError
from biasfw.jsonlines import write_atomically

NOBODY = "a-00000000"  # stands where nobody is left


def withdraw(folder: Path, annotator: str, *, erase: bool = False) -> int:
    """Take out what an annotator wrote (comments, also in their sheet) and the files they sent back.

    With ``erase`` nothing of them stays: no answer, consent, task, page or sheet, and no pseudonym in the key. Return
    how many answers were touched.

    Raises:
        UsageError: the annotation has nobody of this pseudonym.
    """
    if annotator not in (key := load_key(folder))["annotators"]:
        raise UsageError(f"{folder} has no annotator {annotator}; it has: {', '.join(key['annotators'])}")
    with locked(folder):
        key = load_key(folder)
        own = {task["task"] for task in key["tasks"] if task["annotator"] == annotator}
        touched = _without(folder, own, erase=erase)
        for path in sorted(folder.glob("*.json")):
            if _sent_by(path) == annotator:
                path.unlink()
        if erase:
            _erase(folder, key, annotator, own)
        else:
            said = load_consents(folder).get(annotator)
            if said is not None:
                add_consent(folder, annotator, yes=False, sha256=said["sha256"])
            for path in sorted(folder.glob("*.csv")):
                _rewrite_sheet(path, lambda row: _uncommented(row, own))
    return touched


def _erase(folder: Path, key: dict[str, Any], annotator: str, own: Collection[str]) -> None:
    """Everything of an annotator but what they answered: files, consent, and last what the key says of them."""
    for path in sorted(folder.glob("*.html")):
        if _page_of(path) == annotator:
            path.unlink()
    for path in sorted(folder.glob("*.csv")):
        if path.stem == annotator or (own and _tasks_in(path) & set(own)):
            path.unlink()
    drop_consent(folder, annotator)
    key["annotators"] = [name for name in key["annotators"] if name != annotator] or [NOBODY]
    key["tasks"] = [task for task in key["tasks"] if task["annotator"] != annotator]
    _write_json(folder / KEY, key)


def leave(folder: Path, person: str, *, erase: bool) -> int:
    """The same for an author who withdraws and may have annotated as well; 0 if they did not."""
    return withdraw(folder, person, erase=erase) if person in load_key(folder)["annotators"] else 0


def leave_out(folder: Path, items: Collection[str], *, erase: bool = False) -> int:
    """Take the texts of items out of every page, sheet and answer; with ``erase`` also what was answered about them.

    Return how many tasks were touched. Answers keep their numbers: what is counted stays what it was.
    """
    key = load_key(folder)
    gone = {task["task"] for task in key["tasks"] if task["source_id"] in items}
    if not gone:
        return 0
    with locked(folder):
        _without(folder, gone, erase=erase)
        if erase:
            key["tasks"] = [task for task in key["tasks"] if task["task"] not in gone]
            _write_json(folder / KEY, key)
        for path in sorted(folder.glob("*.html")):
            _leave_page(path, gone)
        for path in sorted(folder.glob("*.csv")):
            _rewrite_sheet(path, lambda row: None if row[0].strip() in gone else row)
        for path in sorted(folder.glob("*.json")):
            if _sent_by(path):
                _leave_sent(path, gone)
    return len(gone)


def _without(folder: Path, tasks: Collection[str], *, erase: bool) -> int:
    """Answers to ``tasks`` lose their comments, or go; return how many there were."""
    rows = load_answers(folder)
    if not rows:
        return 0
    kept = []
    for name, row in rows.items():
        if name not in tasks:
            kept.append(row)
        elif not erase:
            kept.append({part: value for part, value in row.items() if part != "comment"})
    replace_answers(folder, kept)
    return sum(name in tasks for name in rows)


def _page_of(path: Path) -> str:
    """Whose page a file is; "" if it is none."""
    try:
        return str(read_page(path)["annotator"])
    except DataError:
        return ""


def _leave_page(path: Path, gone: Collection[str]) -> None:
    try:
        data = read_page(path)
    except DataError:
        return  # some other page
    data["tasks"] = [task for task in data["tasks"] if task["task"] not in gone]
    write_atomically(path, page_of(data).encode("utf-8"))


def _sheet(path: Path) -> list[list[str]]:
    """The rows of a sheet with its header; none of another file."""
    text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    return rows if rows and rows[0][0].strip() == COLUMNS[0] else []


def _tasks_in(path: Path) -> set[str]:
    return {row[0].strip() for row in _sheet(path)}


def _rewrite_sheet(path: Path, new: Callable[[list[str]], list[str] | None]) -> None:
    """Put ``new(row)`` in the place of every row under the header; None: the row goes."""
    rows = _sheet(path)
    kept = [made for row in rows[1:] if (made := new(row)) is not None]
    if kept == rows[1:]:
        return
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows([rows[0], *kept])
    write_atomically(path, out.getvalue().encode("utf-8-sig", errors="surrogateescape"))


def _uncommented(row: list[str], own: Collection[str]) -> list[str]:
    """The row of a task of ``own`` without what follows the columns of answers: the comment."""
    return row[: len(COLUMNS) - 1] if row[0].strip() in own else row


def _leave_sent(path: Path, gone: Collection[str]) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    document["answers"] = [row for row in document["answers"] if row.get("task") not in gone]
    _write_json(path, document)


def _sent_by(path: Path) -> str:
    """Whose answers a file holds; "" if it is no such file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ""
    if path.name in (KEY, CONSENTS) or not isinstance(document, dict):
        return ""
    if not isinstance(document.get("answers"), list):
        return ""
    return str(document.get("annotator", ""))


def _write_json(path: Path, document: Mapping[str, Any]) -> None:
    write_atomically(path, (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode("utf-8"))
