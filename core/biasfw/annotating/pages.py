"""What an annotator gets: one HTML file that works offline and saves a JSON file, or a sheet."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup

from biasfw import tags
from biasfw.annotating.drawing import Shown
from biasfw.labelling.texts import cell_text, guarded
from biasfw.yamlfile import load_yaml

DATA = Path(__file__).parent / "data"
COLUMNS = ("task", "context", "reply_a", "reply_b", "suitable", "unbiased", "harmful", "comment")


def words_in(language: str) -> tuple[str, Mapping[str, str]]:
    """The strings of the page in a language, or in English; with the tag of what was found."""
    known = load_yaml(DATA / "strings.yaml").value
    tag = next((t for t in (language, language.partition("-")[0]) if t in known), "en")
    return tag, {**known["en"], **known[tag]}


def page(annotator: str, shown: Sequence[Shown], language: str) -> str:
    """The page for one annotator. It loads nothing, and all texts in it are taken for hostile."""
    tag, words = words_in(language)
    style, script = ((DATA / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    tasks = [{"task": s.task, "language": s.language, "context": s.context, "a": s.a, "b": s.b} for s in shown]
    data = json.dumps({"annotator": annotator, "words": words, "tasks": tasks}, ensure_ascii=True)
    for character in "<>&":  # nothing in the data ends the element that holds it
        data = data.replace(character, f"\\u{ord(character):04x}")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string((DATA / "page.html").read_text(encoding="utf-8"))
    return template.render(
        language=tag, direction="rtl" if tags.is_right_to_left(tags.script(tag)) else "ltr", policy=policy, words=words,
        style=Markup(style), script=Markup(script), data=Markup(data),  # noqa: S704 - ours, and JSON without < > &
    )  # fmt: skip


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def sheet(shown: Sequence[Shown]) -> bytes:
    """The same as a CSV file: a, b or skip in two columns."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for each in shown:
        texts = (guarded(cell_text(text)) for text in (each.context, each.a, each.b))
        writer.writerow([each.task, *texts, "", "", "", ""])
    return out.getvalue().encode("utf-8-sig")
