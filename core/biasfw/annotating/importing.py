"""What annotators send back: checked against the key, then added to answers.jsonl."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biasfw import schemas
from biasfw.annotating.drawing import QUESTIONS, load_key, texts_digest
from biasfw.annotating.pages import COLUMNS, CONSENT_ROW
from biasfw.annotating.stored import add_answers, add_consent, agreed, load_answers, load_consents, locked
from biasfw.errors import DataError, UsageError
from biasfw.keys import sha256_text
from biasfw.textfile import read_csv, read_text

_WORDS = {"a": "a", "b": "b", "skip": "skip", "ａ": "a", "ｂ": "b", "-": "skip"}
LONGEST = 20_000  # characters of a comment
_WORKBOOKS = frozenset({".xlsx", ".xls", ".ods", ".numbers"})
_YES = frozenset({"x", "1", "yes", "true", "はい", "有害"})


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did."""

    annotator: str
    new: int
    same: int
    replaced: int
    empty: int


@dataclass(frozen=True, slots=True)
class _Sent:
    """What a file holds: answers with their places, and what was said to which consent text."""

    rows: Sequence[tuple[str, dict[str, Any]]]
    yes: bool
    sha256: str
    annotator: str | None = None  # a sheet does not say


def import_answers(folder: Path, file: Path, *, replace: bool = False) -> Imported:
    """Check and merge one annotator's file (JSON of the page, or CSV of the sheet); all of it or nothing.

    Raises:
        DataError: a task that is not that annotator's or stands twice, a text that was edited, an answer that is none,
            a comment that is too long; or nobody said yes to the consent text.
        UsageError: answers differ from those imported before, without ``replace``.
    """
    key = load_key(folder)
    tasks = {task["task"]: task for task in key["tasks"]}
    if file.suffix.lower() in _WORKBOOKS:
        raise DataError(f"{file} is a workbook; save the sheet as CSV (UTF-8), and import that")
    sent = _csv(file, tasks) if file.suffix.lower() == ".csv" else _json(file)
    found, empty = _checked(folder, sent.rows, tasks)
    names = {tasks[name]["annotator"] for name in found}
    if len(names) > 1:
        raise DataError(f"{file} holds tasks of several annotators ({', '.join(sorted(names))}); import them apart")
    who = next(iter(names), "")
    if sent.annotator is not None and sent.annotator != (who or sent.annotator):
        raise DataError(f"{file} says it is by {sent.annotator!r:.40} and has tasks of {who}; ask who answered them")
    with locked(folder):
        if who:
            _consent(folder, who, key, sent, file)
        before = load_answers(folder)
        known = {name: {k: v for k, v in row.items() if k != "day"} for name, row in before.items()}
        changed = [name for name, row in found.items() if name in known and known[name] != row]
        if changed and not replace:
            raise UsageError(
                f"{len(changed)} answers differ from those imported before; give --replace to take the new"
            )
        fresh = [name for name in found if name not in known]
        add_answers(folder, [found[name] for name in (*fresh, *changed)])
    same = len(found) - len(fresh) - len(changed)
    return Imported(who, len(fresh), same, len(changed), empty)


def _checked(
    folder: Path, rows: Iterable[tuple[str, dict[str, Any]]], tasks: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, dict[str, Any]], int]:
    """Task -> answer, and how many rows hold none."""
    found: dict[str, dict[str, Any]] = {}
    empty = 0
    for where, row in rows:
        problem = schemas.problems("human-answer", row, where)
        if problem:
            raise DataError(str(problem[0]))
        if row["task"] not in tasks:
            raise DataError(f"{where}: task {row['task']} is none of {folder}; is this the file of another annotation?")
        if row["task"] in found:
            raise DataError(f"{where}: task {row['task']} stands twice; keep one")
        if len(row.get("comment", "")) > LONGEST:
            raise DataError(f"{where}: a comment of {len(row['comment'])} characters; {LONGEST} at most, shorten it")
        if is_answer(row):
            found[row["task"]] = row
        empty += not is_answer(row)
    return found, empty


def _consent(folder: Path, who: str, key: Mapping[str, Any], sent: _Sent, file: Path) -> None:
    """No answer counts without a yes to the text of this annotation."""
    texts = key.get("consent_sha256", ())
    if not texts or agreed(folder, who, key):
        return
    if load_consents(folder).get(who, {}).get("yes") is False:
        raise DataError(f"{file}: {who} withdrew or said no, so nothing was taken")
    if not sent.yes:
        raise DataError(f"{file}: {who} did not agree to the consent text, so nothing was taken; ask them first")
    if sent.sha256 not in texts:
        raise DataError(f"{file}: what {who} agreed to is not the consent text of {folder}; give them the page again")
    add_consent(folder, who, yes=True, sha256=sent.sha256)


def is_answer(row: Mapping[str, Any]) -> bool:
    """Whether anything was said."""
    return any(row.get(name) for name in ("suitable", "unbiased", "harmful", "comment"))


def _json(file: Path) -> _Sent:
    try:
        document = json.loads(read_text(file))
        rows = document["answers"]
        said, annotator = document.get("consent") or {}, document["annotator"]
        dicts = isinstance(rows, list) and all(isinstance(row, dict) for row in (*rows, said))
        if not dicts or not isinstance(annotator, str):
            raise TypeError
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError(f"{file} is no file of answers; save it with the button of the page") from None
    named = [(f"{file}, answer {number}", row) for number, row in enumerate(rows, start=1)]
    return _Sent(named, said.get("yes") is True, str(said.get("sha256", "")), annotator)


def _csv(file: Path, tasks: Mapping[str, Mapping[str, Any]]) -> _Sent:
    rows, yes, digest = [], False, ""
    for line, cells in read_csv(file, COLUMNS):
        if cells["task"].strip() == CONSENT_ROW:
            yes = cells["suitable"].strip().casefold() in _YES
            digest = sha256_text(cells["context"].replace("\r\n", "\n").strip())
        else:
            rows.append((f"{file}:{line}", _row(f"{file}:{line}", cells, tasks)))
    return _Sent(rows, yes, digest)


def _row(where: str, cells: Mapping[str, str], tasks: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    task = tasks.get(cells["task"].strip())
    texts = (cells["context"], cells["reply_a"], cells["reply_b"])
    if task is not None and not _unedited(texts, task["text_sha256"]):
        raise DataError(f"{where}: the texts were edited, so the answer is to another question; put them back")
    row: dict[str, Any] = {"task": cells["task"].strip()}
    for name in QUESTIONS:
        said = cells[name].strip().casefold()
        if said and said not in _WORDS:
            raise DataError(f"{where}: {name} is {cells[name]!r}; write a, b or skip")
        if said:
            row[name] = _WORDS[said]
    if cells["harmful"].strip().casefold() in _YES:
        row["harmful"] = True
    if cells["comment"].strip():
        row["comment"] = cells["comment"].strip()
    return row


def _unedited(texts: tuple[str, str, str], digest: str) -> bool:
    """Programs keep or drop the apostrophe that stands before what could be a formula."""
    ways = [(text, text.removeprefix("'")) for text in texts]
    return any(texts_digest(*combined) == digest for combined in itertools.product(*ways))
