"""Where the authors' files lie: one folder a language, English generated, the others translated."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from biasfw import DataError

LANGUAGES = ("en", "zh", "ar", "hi", "ko", "sw", "pcm")  # of the published benchmark
ENGLISH = "generated_bias_prompts.csv"
TRANSLATED = "translated_prompts.csv"
_TAG = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True, slots=True)
class Layout:
    """The files by language, English first, then in the order of the paper; ``notes`` say what is not there."""

    files: dict[str, Path]
    notes: tuple[str, ...]


def file_name(language: str) -> str:
    """``LANG/file``: where the prompts of a language lie inside the folder of prompts."""
    return f"{language}/{ENGLISH if language == 'en' else TRANSLATED}"


def find_files(folder: Path) -> Layout:
    """The files in ``folder``, which holds the folder of prompts or is it. Further languages are taken as well.

    Raises:
        DataError: there is none; names what was expected.
    """
    for root in (folder / "prompts", folder):
        names = sorted(path.parent.name for path in root.glob(f"*/{TRANSLATED}") if path.parent.name != "en")
        tags = [name for name in names if _TAG.fullmatch(name)]
        if (root / file_name("en")).is_file():
            tags.insert(0, "en")
        if tags:
            ordered = [*(tag for tag in LANGUAGES if tag in tags), *(tag for tag in tags if tag not in LANGUAGES)]
            return Layout({tag: root / file_name(tag) for tag in ordered}, _notes(tags, names))
    raise DataError(
        f"{folder}: no prompts there; expected prompts/en/{ENGLISH} or prompts/LANG/{TRANSLATED} "
        f"(LANG: {' '.join(LANGUAGES[1:])}) in the folder given with --data"
    )


def _notes(tags: list[str], names: list[str]) -> tuple[str, ...]:
    odd = [name for name in names if name not in tags]
    notes = [f"{name}/{TRANSLATED} is left out: {name!r} is no language tag, such as ko or pcm" for name in odd]
    if "en" not in tags:
        notes.append(f"no prompts in en: there is no {file_name('en')}")
    missing = [tag for tag in LANGUAGES[1:] if tag not in tags]
    if missing:
        notes.append(f"no prompts in {', '.join(missing)}: there is no {file_name('LANG')}")
    return tuple(notes)
