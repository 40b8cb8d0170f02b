"""What stands beside the items: datasheet, licence, provenance, canary, who wrote and who reviewed them.

The headings are those of Gebru et al. 2021, Datasheets for Datasets (Communications of the ACM 64(12)), as far as a
benchmark needs them; a heading counts if it holds one of the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from biasfw.document import child
from biasfw.errors import DataError
from biasfw.findings import Finding
from biasfw.phrases import have, many, shorten
from biasfw.schemas import Problem
from biasfw.textfile import read_text

if TYPE_CHECKING:
    from biasfw.validating.inspection import Inspected

DATASHEET = "DATASHEET.md"
HEADINGS = {  # what must be told -> words that a heading about it holds
    "motivation": ("motivation", "purpose", "why "),
    "composition": ("composition", "what is in"),
    "collection and authorship": ("collection", "authorship", "authors", "who wrote", "how it was made"),
    "uses, also those it is not for": ("use",),
    "maintenance": ("maintenance", "maintain"),
    "licence": ("licence", "license", "distribution"),
}
REVIEWERS = 2  # native speakers, below which one person's ear decides
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$", re.MULTILINE)
_UNSAID = re.compile(r"(unknown|none|tbd|n/?a|\?+|-+|private)", re.IGNORECASE)
_SPDX = re.compile(r"(LicenseRef-[\w.-]+|[A-Za-z][A-Za-z0-9.]*(-[A-Za-z0-9.]+)*-v?\d+(\.\d+)*(-[A-Za-z0-9.-]+)?\+?|"
                   r"MIT(-0)?|ISC|Unlicense|WTFPL|Zlib|0BSD|BSL-1\.0|NCSA|PostgreSQL|BSD-[234]-Clause)")  # fmt: skip
_ENGLISH_LIST = re.compile(r"\b(and|or)\b", re.IGNORECASE)
_LIKE_ENGLISH = ("en", "pcm")  # Nigerian Pidgin has these words, too
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


def check(seen: Inspected) -> None:
    """Add what is missing beside the items."""
    _datasheet(seen)
    manifest: Mapping[str, Any] = seen.document.value
    said = (*_licence(manifest), *_canary(manifest), *_reviews(manifest), *_content(seen), *_lists(manifest))
    for pointer, message in said:
        seen.report.add("warning", seen.document, pointer, message)


def _datasheet(seen: Inspected) -> None:
    path = seen.folder / DATASHEET
    if not path.is_file():
        what = f"there is no {DATASHEET} beside it; write one with headings on {', '.join(HEADINGS)}"
        seen.report.add("error", seen.document, "", what)
        return
    try:
        headings = " ".join(f"{heading} " for heading in _HEADING.findall(read_text(path))).casefold()
    except DataError as failure:
        seen.report.take(failure)
        return
    missing = [name for name, words in HEADINGS.items() if not any(word in headings for word in words)]
    for name in missing:
        what = f"no heading is about {name}; add one, and say it"
        seen.report.findings.append(Finding("warning", Problem(str(path), 1, 1, "", what)))
    if not missing:
        seen.report.facts.append(f"the datasheet tells of {', '.join(HEADINGS)}")


def _licence(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if _UNSAID.fullmatch(manifest["licence"].strip()):
        yield "/licence", "this is no licence: nobody may use the items; name one, such as CC-BY-4.0"
    elif not _is_spdx(manifest["licence"].strip()):
        what = f"{shorten(manifest['licence'])} is no SPDX identifier, so that programs cannot tell which licence it is"
        yield "/licence", f"{what}; write for example CC-BY-4.0, CC-BY-SA-4.0, CC0-1.0, MIT or LicenseRef-NAME"
    if len(manifest["citation"]["text"].split()) < 3:
        yield "/citation/text", "nobody could cite this; give authors, title and year"
    for split, entry in manifest["splits"].items():
        said = entry.get("redistribution", manifest["redistribution"])
        if said == "forbidden" and "files" in entry:
            what = f"split {split} ships items that may not be passed on; fetch them from their source, or mend this"
            yield child("/splits", split), what


def _is_spdx(text: str) -> bool:
    """Whether a text has the form of SPDX identifiers: families of licences have a version, a few short names none."""
    parts = re.split(r" (?:AND|OR|WITH) ", text.replace("(", "").replace(")", ""))
    return all(_SPDX.fullmatch(part) for part in parts)


def _content(seen: Inspected) -> Iterator[tuple[str, str]]:
    """Items about stereotypes of people hold something to warn of."""
    manifest = seen.document.value
    people = [split for split in seen.splits if split.bundle.manifest["authorship"]["kind"] != "machine"]
    told = sum(bool(each.seed.target and each.seed.stereotype) for split in people for each in split.told)
    if told and _UNSAID.fullmatch(manifest["content_warning"].strip().rstrip(".")):
        what = f"{many(told, 'item')} {have(told)} a stereotype about somebody, and nothing is warned of"
        yield "/content_warning", f"{what}; say in a line what a reader will meet"


def _lists(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """English words between the names of a list, in another language."""
    for tag, style in manifest.get("list_style", {}).items():
        words = [text for text in style.values() if _ENGLISH_LIST.search(text)]
        if words and tag.partition("-")[0] not in _LIKE_ENGLISH:
            what = f"{shorten(words[0])} is English, and stands in prompts in {tag}"
            yield child("/list_style", tag), f"{what}; write it as it is written in that language"


def _canary(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    found = _UUID.search(manifest["canary"])
    if found is None or found[1] != "4" or len(set(found[0])) < 8:
        what = "the UUID of the canary is not a random one (version 4), so nobody can search a corpus for it"
        yield "/canary", f'{what}; make one: python3 -c "import uuid; print(uuid.uuid4())"'


def _reviews(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    said = [("/authorship", manifest["authorship"], manifest["languages"])]
    for split, entry in manifest["splits"].items():
        if "authorship" in entry:
            said.append((f"{child('/splits', split)}/authorship", entry["authorship"], manifest["languages"]))
    for pointer, authorship, languages in said:
        reviewed = authorship["reviewed_by_natives"]
        few = [f"{tag} {reviewed.get(tag, 0)}" for tag in languages if reviewed.get(tag, 0) < REVIEWERS]
        if few:
            what = f"fewer than {REVIEWERS} native speakers have reviewed the items ({', '.join(few)})"
            yield f"{pointer}/reviewed_by_natives", f"{what}; find reviewers, and count them here"
        if authorship["kind"] == "human" and not authorship["native"]:
            yield f"{pointer}/native", "no native speaker wrote the items; say in the datasheet how that was made good"
