"""What leaves an annotation: the words of an annotator who withdraws, or the texts of an author who does."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from biasfw.annotating.drawing import KEY, load_key
from biasfw.annotating.pages import COLUMNS, CONSENT_ROW, page_of, read_page
from biasfw.annotating.stored import CONSENTS, add_consent, load_answers, load_consents, locked, replace_answers
from biasfw.errors import DataError, UsageError
from biasfw.jsonlines import write_atomically


def withdraw(folder: Path, annotator: str, *, erase: bool = False) -> int:
    """Take out what an annotator wrote (comments) and the files they sent back; with ``erase`` all their answers.

    Return how many answers were touched.

    Raises:
        UsageError: the annotation has nobody of this pseudonym.
    """
    key = load_key(folder)
    if annotator not in key["annotators"]:
        raise UsageError(f"{folder} has no annotator {annotator}; it has: {', '.join(key['annotators'])}")
    own = {task["task"] for task in key["tasks"] if task["annotator"] == annotator}
    with locked(folder):
        touched = _without(folder, own, erase=erase)
        said = load_consents(folder).pop(annotator, None)
        if said is not None:
            add_consent(folder, annotator, yes=False, sha256=said["sha256"])
        for path in folder.glob("*.json"):
            if _sent_by(path) == annotator:
                path.unlink()
    return touched


def leave(folder: Path, person: str, *, erase: bool) -> int:
    """An author withdraws who may have annotated as well; with ``erase`` nothing here names them any more.

    Return how many of their answers were touched; 0 if they did not annotate.
    """
    if person not in load_key(folder)["annotators"]:
        return 0
    touched = withdraw(folder, person, erase=erase)
    if erase:
        with locked(folder):
            key = load_key(folder)
            key["annotators"] = [name for name in key["annotators"] if name != person]
            key["tasks"] = [task for task in key["tasks"] if task["annotator"] != person]
            _write_json(folder / KEY, key)
            consents = {name: said for name, said in load_consents(folder).items() if name != person}
            _write_json(folder / CONSENTS, consents)
            for path in [*folder.glob(f"*{person}*.html"), *folder.glob(f"*{person}*.csv")]:
                path.unlink()
    return touched


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
            _leave_sheet(path, gone)
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


def _leave_page(path: Path, gone: Collection[str]) -> None:
    try:
        data = read_page(path)
    except DataError:
        return  # some other page
    data["tasks"] = [task for task in data["tasks"] if task["task"] not in gone]
    write_atomically(path, page_of(data).encode("utf-8"))


def _leave_sheet(path: Path, gone: Collection[str]) -> None:
    text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    if not rows or rows[0][:1] != list(COLUMNS[:1]):
        return
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerows(row for row in rows if not row or row[0].strip() == CONSENT_ROW or row[0].strip() not in gone)
    write_atomically(path, out.getvalue().encode("utf-8-sig", errors="surrogateescape"))


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
