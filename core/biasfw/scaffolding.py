"""Files to begin with, rendered from the templates in scaffolds/ and the schemas, whose descriptions they carry."""

from __future__ import annotations

import json
import os
import re
import textwrap
from pathlib import Path
from typing import Any

import jinja2

from biasfw import schemas, tags
from biasfw.errors import BiasfwError, UsageError
from biasfw.opening import unwritable
from biasfw.phrases import shorten

SCAFFOLDS = Path(__file__).parent / "scaffolds"
_WIDTH = 110


def language_pack(
    tag: str, *, name: str | None = None, native_name: str | None = None, script: str | None = None
) -> str:
    """The text of a language pack to fill in: valid, every field explained, with fixtures to replace.

    Raises:
        UsageError: ``tag`` is no language tag, ``script`` no code of ISO 15924, or a name is not one line of text.
    """
    tags.check(tag)
    script = script or tags.script(tag)
    if not re.fullmatch("[A-Z][a-z]{3}", script):
        raise UsageError(f"the script {shorten(script)} is no code of ISO 15924; write for example Latn, Arab or Deva")
    for given in (name, native_name):
        if given is not None and not (given.strip() and given.isprintable()):
            raise UsageError(f"the name {shorten(given)} is not one line of text; write the language's name")
    return render(
        "language.yaml.j2",
        tag=tag,
        name=name or tag,
        native_name=native_name or name or tag,
        script=script,
        rtl=tags.is_right_to_left(script),
        colon_marks=tags.colon_marks(script),
        list_marks=tags.list_marks(script),
    )


def write_new(path: Path, text: str) -> None:
    """Write ``text`` to a file that does not exist yet; folders are made.

    Raises:
        BiasfwError: the file exists, or cannot be written.
    """
    if os.path.lexists(path):
        raise BiasfwError(f"{path} exists already and is left as it is; move it away, or give another folder")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            try:
                file.write(text)
                file.flush()
            except OSError:
                path.unlink(missing_ok=True)  # half a file is in the way of the next try
                raise
    except OSError as error:
        raise BiasfwError(f"{unwritable(path, error)}, or give another folder") from None


def render(template: str, **values: Any) -> str:
    """The text that a template in scaffolds/ makes of ``values``."""
    environment = jinja2.Environment(  # noqa: S701 - no HTML; texts in YAML are quoted by `quoted`
        loader=jinja2.FileSystemLoader(SCAFFOLDS),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["quoted"] = lambda value: json.dumps(value, ensure_ascii=False)
    environment.filters["zero"] = lambda tag: f"{tag}: 0"
    environment.globals["about"] = _about
    return environment.get_template(template).render(values)


def _about(schema: str, field: str) -> str:
    """The schema's description of a field, as comment lines."""
    text = schemas.schema(schema)["properties"][field]["description"]
    return "\n".join(f"# {line}" for line in textwrap.wrap(text, _WIDTH))
