"""Language tags (BCP 47) and what follows from them: the usual script, its direction, its marks. A small table."""

from __future__ import annotations

import re

from biasfw import schemas
from biasfw.errors import UsageError
from biasfw.phrases import shorten

# Script (ISO 15924) -> languages that are usually written in it; what stands nowhere is written in Latin letters.
_LANGUAGES = {
    "Arab": "ar fa ps ur sd ug ckb ks arz ary apc acm bal",
    "Armn": "hy",
    "Beng": "bn as",
    "Cyrl": "ru uk be bg mk sr kk ky tg mn tt ba cv ce os sah",
    "Deva": "hi mr ne sa bho mai kok doi awa mag",
    "Ethi": "am ti",
    "Geor": "ka",
    "Grek": "el",
    "Gujr": "gu",
    "Guru": "pa",
    "Hang": "ko",
    "Hans": "zh cmn wuu",
    "Hant": "yue nan hak",
    "Hebr": "he yi",
    "Jpan": "ja",
    "Khmr": "km",
    "Knda": "kn",
    "Laoo": "lo",
    "Mlym": "ml",
    "Mymr": "my",
    "Nkoo": "nqo",
    "Orya": "or",
    "Sinh": "si",
    "Taml": "ta",
    "Telu": "te",
    "Thaa": "dv",
    "Thai": "th",
    "Tibt": "bo dz",
}
_SCRIPT_OF = {language: script for script, languages in _LANGUAGES.items() for language in languages.split()}
_BY_REGION = {"zh-TW": "Hant", "zh-HK": "Hant", "zh-MO": "Hant", "pa-PK": "Arab"}
_RIGHT_TO_LEFT = frozenset({"Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"})
_CHINESE = ("：", ":")
_COLONS = {"Hans": _CHINESE, "Hant": _CHINESE, "Jpan": _CHINESE, "Ethi": ("፦", "፥", ":")}
_LISTS = {
    "Arab": ("،", "؛", ",", "/"),
    "Thaa": ("،", "؛", ",", "/"),
    "Hans": ("、", "，", "；", ",", "/"),
    "Hant": ("、", "，", "；", ",", "/"),
    "Jpan": ("、", "，", "・", "；", ",", "/"),
    "Ethi": ("፣", "፤", ",", "/"),
}


def problem(tag: str) -> str | None:
    """What is wrong with a language tag, and the way out; None if it is one.

    Accepted is what a manifest accepts: tags that are well-formed by BCP 47, in the usual letter case, and begin with
    a code of ISO 639 of two or three letters.
    """
    pattern = schemas.schema("benchmark")["$defs"]["language"]["pattern"]
    if re.fullmatch(pattern, tag):
        return None
    usual = _usual(tag)
    way = f"did you mean {usual}?" if re.fullmatch(pattern, usual) else "write for example eu, pt-BR or sr-Latn"
    return f"{shorten(tag)} is no language tag (BCP 47: a code of ISO 639 of two or three letters first); {way}"


def check(tag: str) -> None:
    """Refuse what is no language tag.

    Raises:
        UsageError: with the way out.
    """
    if found := problem(tag):
        raise UsageError(found)


def script(tag: str) -> str:
    """The script (ISO 15924) that a language is usually written in: as the tag says, else from the table, else Latn."""
    language, *rest = tag.split("-")
    said = next((part for part in rest if re.fullmatch("[A-Z][a-z]{3}", part)), None)
    return said or _BY_REGION.get(tag) or _SCRIPT_OF.get(language, "Latn")


def is_right_to_left(script: str) -> bool:
    """Whether a script is written from right to left."""
    return script in _RIGHT_TO_LEFT


def colon_marks(script: str) -> tuple[str, ...]:
    """The marks that usually stand between a header and its value."""
    return _COLONS.get(script, (":",))


def list_marks(script: str) -> tuple[str, ...]:
    """The marks that usually stand between the items of a list."""
    return _LISTS.get(script, (",", ";", "/"))


def _usual(tag: str) -> str:
    """``tag`` with hyphens and in the usual letter case."""
    language, *rest = tag.strip().replace("_", "-").split("-")
    parts = [language.lower()]
    for part in rest:
        known = part.title() if len(part) == 4 and part.isalpha() else part.lower()
        parts.append(part.upper() if len(part) == 2 and "x" not in parts else known)
    return "-".join(parts)
