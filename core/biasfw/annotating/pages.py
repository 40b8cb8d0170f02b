"""What an annotator gets: one HTML file that works offline and saves a JSON file, or a sheet. Consent comes first."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from biasfw import tags
from biasfw.annotating.drawing import QUESTIONS, Shown
from biasfw.errors import DataError, UsageError
from biasfw.keys import sha256_text
from biasfw.labelling.texts import cell_text, guarded
from biasfw.textfile import read_text
from biasfw.yamlfile import load_yaml

DATA = Path(__file__).parent / "data"
COLUMNS = ("task", "context", "reply_a", "reply_b", "suitable", "unbiased", "harmful", "comment")
CONSENT_ROW = "consent"
_DATA_BLOCK = re.compile('<script id="data" type="application/json">(.*?)</script>', re.DOTALL)


def words_in(language: str) -> tuple[str, Mapping[str, str]]:
    """The strings of the page in a language, or in English; with the tag of what was found."""
    known = load_yaml(DATA / "strings.yaml").value
    tag = next((t for t in (language, language.partition("-")[0]) if t in known), "en")
    return tag, {**known["en"], **known[tag]}


def consent_in(language: str, file: Path | None = None) -> str:
    """What somebody has to agree to before they see a task: the text of ``file``, or a general one.

    Raises:
        UsageError: the file is empty.
    """
    if file is None:
        return words_in(language)[1]["consent_text"].strip()
    text = read_text(file).strip()
    if not text:
        raise UsageError(f"{file} is empty; write what people agree to")
    return text


def page(annotator: str, shown: Sequence[Shown], language: str, consent: str) -> str:
    """The page for one annotator. It loads nothing, and all texts in it are taken for hostile."""
    return page_of(data_of(annotator, shown, language, consent))


def data_of(annotator: str, shown: Sequence[Shown], language: str, consent: str) -> dict[str, Any]:
    """What the page of an annotator is made of, as plain data."""
    tasks = [
        {"task": s.task, "language": s.language, "context": s.context, "a": s.a, "b": s.b, "questions": QUESTIONS}
        for s in shown
    ]
    return {
        "annotator": annotator, "words": dict(words_in(language)[1]), "tasks": tasks, "language": language,
        "consent": {"text": consent, "sha256": sha256_text(consent)},
    }  # fmt: skip


def read_page(path: Path) -> dict[str, Any]:
    """The data of a page that ``page`` made.

    Raises:
        DataError: it is none.
    """
    found = _DATA_BLOCK.search(read_text(path))
    try:
        data: dict[str, Any] = json.loads(found[1] if found else "")
        _ = data["annotator"], data["tasks"], data["consent"], data["words"], data["language"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError(f"{path} is no page of an annotation; make one: biasfw annotate draw") from None
    return data


def page_of(data: Mapping[str, Any]) -> str:
    """The page of such data."""
    tag = words_in(data["language"])[0]
    style, script = ((DATA / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    text = json.dumps(data, ensure_ascii=True)
    for character in "<>&":  # nothing in the data ends the element that holds it
        text = text.replace(character, f"\\u{ord(character):04x}")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string((DATA / "page.html").read_text(encoding="utf-8"))
    return template.render(
        language=tag, direction="rtl" if tags.is_right_to_left(tags.script(tag)) else "ltr", policy=policy,
        title=data["words"]["title"],
        style=Markup(style), script=Markup(script), data=Markup(text),  # noqa: S704 - ours, and JSON without < > &
    )  # fmt: skip


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def sheet(shown: Sequence[Shown], consent: str) -> bytes:
    """The same as a CSV file: yes in the first row, then a, b or skip in two columns."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerow([CONSENT_ROW, guarded(cell_text(consent)), "", "", "", "", "", ""])
    for each in shown:
        texts = (guarded(cell_text(text)) for text in (each.context, each.a, each.b))
        writer.writerow([each.task, *texts, "", "", "", ""])
    return out.getvalue().encode("utf-8-sig")
