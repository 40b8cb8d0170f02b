"""A benchmark packed to be sent in: its files, what the check says, a checklist, and how to cite it, in one archive.

Only files that belong to a bundle are packed, so that nothing goes along unseen; nobody is named against their will.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import biasfw
from biasfw import bundles
from biasfw.citing import CITATION, Citation, Contributor
from biasfw.conformance import check
from biasfw.errors import BiasfwError, UsageError
from biasfw.findings import Report
from biasfw.opening import open_file
from biasfw.phrases import listed, many, shorten
from biasfw.plugins import Plugins
from biasfw.scaffolding import render
from biasfw.textfile import FILE_LIMIT

CHECKLIST = "CHECKLIST.md"
RESULT = "check.json"
_BESIDE = ("DATASHEET.md", "README.md", "LICENSE", "LICENSE.md", "LICENSE.txt", CITATION, CHECKLIST)
_NAMED = re.compile(r"<(?:\w+:)?(?:creator|lastModifiedBy|Company|Manager|author)>([^<]+)<|displayName=\"([^\"]+)\"")
_PROPERTIES = re.compile(r"docProps/.*\.xml|xl/comments[^/]*\.xml|xl/persons/.*\.xml")
_PROPERTY_LIMIT = 2**20  # bytes
_PROGRAMS = frozenset({"biasfw", "openpyxl"})
_STAMP = (1980, 1, 1, 0, 0, 0)  # the same files make the same archive


@dataclass(frozen=True, slots=True)
class Submission:
    """What was packed: the archive, the names in it, files of the folder that are not in it, and how many warnings."""

    archive: Path
    packed: tuple[str, ...]
    left_out: tuple[str, ...]
    warnings: int
    cited_as: str
    notes: tuple[str, ...] = ()  # what was changed, or is left to do, in CITATION.cff


def submit(folder: Path, contributors: Sequence[Contributor], output: Path | None, plugins: Plugins) -> Submission:
    """Check the bundle in ``folder``, write CITATION.cff anew from the manifest, and pack it.

    ``contributors``: in the order in which they are to be cited; may be empty where CITATION.cff is there already. A
    CITATION.cff that somebody has edited stays as it is, and must agree with the manifest.

    Raises:
        UsageError: nobody said how the contributors are to be named.
        BiasfwError: the check finds errors, the items may not be passed on, CITATION.cff says something else than the
            manifest, a workbook names somebody who wants no name, or the archive exists.
    """
    bundle = bundles.load(folder)
    manifest = bundle.written
    cited = (folder / CITATION).is_file()
    if not contributors and not cited:
        raise UsageError("say how you want to be named: --name NAME, --pseudonym NAME or --anonymous")
    if any(each.kind != "none" and not each.name.strip() for each in contributors):
        raise UsageError("the name is empty; write one, or --anonymous")
    if len(set(contributors)) < len(contributors):
        raise UsageError("somebody is named twice; name everybody once, in the order of the authors")
    cff = Citation(folder / CITATION, manifest, contributors)
    cff.check()
    reports = check(str(folder), plugins)
    _refuse(bundle, reports)
    archive = output or Path(f"{manifest['name']}-{manifest['version']}.zip")
    if archive.exists():
        raise BiasfwError(
            f"{archive} exists already and is left as it is; raise the version, or name another file (-o)"
        )
    names = list(_names(bundle))
    if any(each.kind != "name" for each in contributors):
        for name in names:
            _refuse_names(folder / name)
    cff.write()
    names += [] if cited else [CITATION]
    warnings = sum(report.warnings for report in reports)
    made = {RESULT: _as_json(reports, folder)}
    if CHECKLIST not in names:  # one that is there has the author's ticks
        made[CHECKLIST] = _checklist(manifest, contributors, warnings)
    _pack(archive, folder, manifest["name"], sorted(names), made)
    left_out = sorted(f"{each.relative_to(folder)}" for each in folder.rglob("*") if each.is_file())
    return Submission(
        archive,
        tuple(sorted((*names, *made))),
        tuple(name for name in left_out if name.replace("\\", "/") not in (*names, RESULT)),
        warnings,
        cff.authors(),
        tuple(cff.notes),
    )


def _refuse(bundle: bundles.Bundle, reports: Sequence[Report]) -> None:
    errors = [finding for report in reports for finding in report.findings if finding.level == "error"]
    if errors:
        count = many(sum(finding.count for finding in errors), "error")
        raise BiasfwError(f"{count} to mend first: {errors[0].problem}; see all: biasfw check {bundle.folder}")
    shipped = [entry for entry in bundle.written["splits"].values() if "files" in entry]
    if "forbidden" in [entry.get("redistribution", bundle.written["redistribution"]) for entry in shipped]:
        raise BiasfwError("the items may not be passed on (redistribution: forbidden); if you may, write allowed")


def _names(bundle: bundles.Bundle) -> Iterator[str]:
    """The files that belong to the bundle, by their paths inside it."""
    manifest, folder = bundle.written, bundle.folder
    data = [name for entry in manifest["splits"].values() for name in entry.get("files", ())]
    if "shots" in manifest:
        data.append(manifest["shots"]["file"])
    packs = [f"languages/{path.name}" for path in sorted((folder / "languages").glob("*.yaml"))]
    for name in dict.fromkeys((bundles.MANIFEST, *_BESIDE, *data, *packs)):
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise BiasfwError(f"{path} leads out of the folder; put the file itself there")
        if path.is_file():
            yield name


def _refuse_names(path: Path) -> None:
    """Workbooks remember who wrote them."""
    if path.suffix != ".xlsx":
        return
    with zipfile.ZipFile(path) as archive:
        parts = [part for part in archive.infolist() if _PROPERTIES.fullmatch(part.filename)]
        texts = [archive.read(part).decode("utf-8", "replace") for part in parts if part.file_size <= _PROPERTY_LIMIT]
    found = {(one or other).strip() for text in texts for one, other in _NAMED.findall(text)} - _PROGRAMS - {""}
    if found:
        hint = "remove that (Excel: File, Info, Inspect Document), or save the items as .csv"
        raise BiasfwError(f"{path} says who worked on it ({listed(map(shorten, sorted(found)))}); {hint}")


def _as_json(reports: Sequence[Report], folder: Path) -> str:
    """What the check says, without the places of this computer."""

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: bare(each) for key, each in value.items()}
        if isinstance(value, list):
            return [bare(each) for each in value]
        if not isinstance(value, str):
            return value
        for place in (folder.resolve(), folder, Path.home()):
            value = value.replace(f"{place}/", "" if place != Path.home() else "~/").replace(f"{place}\\", "")
        return value

    checked = []
    for report in reports:
        told = bare(report.as_json())
        if not (folder / told["file"]).is_file():
            told["file"] = Path(told["file"]).name  # an installed language pack
        for problem in told["problems"]:
            if not (folder / problem["file"]).is_file():
                problem["file"] = Path(problem["file"]).name
        checked.append(told)
    return json.dumps({"biasfw": biasfw.__version__, "checked": checked}, ensure_ascii=False, indent=1) + "\n"


def _checklist(manifest: Mapping[str, Any], contributors: Sequence[Contributor], warnings: int) -> str:
    said = manifest["authorship"]
    return render(
        "benchmark/CHECKLIST.md.j2",
        **{key: manifest[key] for key in ("name", "version", "languages", "region", "licence", "redistribution")},
        contributor=listed(map(str, contributors)) or "those whom CITATION.cff names",
        kind=said["kind"],
        native="yes" if said["native"] else "no",
        reviewed=", ".join(f"{tag} {count}" for tag, count in said["reviewed_by_natives"].items()) or "none",
        biasfw=biasfw.__version__,
        warnings=f"{warnings} warning{'' if warnings == 1 else 's'}",
    )


def _pack(archive: Path, folder: Path, name: str, names: Sequence[str], made: Mapping[str, str]) -> None:
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(archive, "x", zipfile.ZIP_DEFLATED) as packed:
            for inside in names:
                packed.writestr(_entry(f"{name}/{inside}"), _bytes(folder / inside))
            for inside, text in made.items():
                packed.writestr(_entry(f"{name}/{inside}"), text)
    except OSError as error:
        raise BiasfwError(f"{archive}: cannot be written ({error.strerror or error}); name another file (-o)") from None


def _bytes(path: Path) -> bytes:
    with open_file(path, FILE_LIMIT) as file:
        return file.read()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _STAMP)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry
