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
from typing import Any, Literal

import yaml

import biasfw
from biasfw import bundles
from biasfw.conformance import check
from biasfw.errors import BiasfwError, UsageError
from biasfw.findings import Report
from biasfw.opening import open_file
from biasfw.phrases import listed, shorten
from biasfw.plugins import Plugins
from biasfw.scaffolding import render, write_new
from biasfw.textfile import FILE_LIMIT
from biasfw.yamlfile import load_yaml

CITATION = "CITATION.cff"
CHECKLIST = "CHECKLIST.md"
RESULT = "check.json"
_BESIDE = ("DATASHEET.md", "README.md", "LICENSE", "LICENSE.md", "LICENSE.txt", CITATION, CHECKLIST)
_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_NAMED = re.compile(r"<(?:\w+:)?(?:creator|lastModifiedBy|Company|Manager|author)>([^<]+)<|displayName=\"([^\"]+)\"")
_PROPERTIES = re.compile(r"docProps/.*\.xml|xl/comments[^/]*\.xml|xl/persons/.*\.xml")
_PROPERTY_LIMIT = 2**20  # bytes
_PROGRAMS = frozenset({"biasfw", "openpyxl"})
_STAMP = (1980, 1, 1, 0, 0, 0)  # the same files make the same archive


@dataclass(frozen=True, slots=True)
class Contributor:
    """How whoever contributes wants to be named; ``none`` has no name."""

    kind: Literal["name", "pseudonym", "none"]
    name: str = ""

    def __str__(self) -> str:
        return {"name": self.name, "pseudonym": f"{self.name} (a pseudonym)", "none": "somebody without a name"}[
            self.kind
        ]

    def author(self) -> dict[str, str]:
        """The author in CITATION.cff."""
        if self.kind == "none":
            return {"name": "anonymous"}
        return {"alias" if self.kind == "pseudonym" else "name": self.name}


@dataclass(frozen=True, slots=True)
class Submission:
    """What was packed: the archive, the names in it, files of the folder that are not in it, and how many warnings."""

    archive: Path
    packed: tuple[str, ...]
    left_out: tuple[str, ...]
    warnings: int
    cited_as: str


def submit(folder: Path, contributor: Contributor | None, output: Path | None, plugins: Plugins) -> Submission:
    """Check the bundle in ``folder``, write CITATION.cff if it is missing, and pack it.

    ``contributor`` may be None where CITATION.cff is there already.

    Raises:
        UsageError: nobody said how the contributor is to be named.
        BiasfwError: the check finds errors, the items may not be passed on, a workbook names somebody who wants no
            name, or the archive exists.
    """
    bundle = bundles.load(folder)
    manifest = bundle.written
    cited = (folder / CITATION).is_file()
    if contributor is None and not cited:
        raise UsageError("say how you want to be named: --name NAME, --pseudonym NAME or --anonymous")
    if contributor is not None and contributor.kind != "none" and not contributor.name.strip():
        raise UsageError("the name is empty; write one, or --anonymous")
    if cited and contributor is not None:
        named, wanted = _authors(folder / CITATION), " ".join(contributor.author().values())
        if named != wanted:
            raise BiasfwError(
                f"{folder / CITATION} names {named}, and you asked for {wanted}; change or remove the file, then submit"
            )
    reports = check(str(folder), plugins)
    _refuse(bundle, reports)
    archive = output or Path(f"{manifest['name']}-{manifest['version']}.zip")
    if archive.exists():
        raise BiasfwError(
            f"{archive} exists already and is left as it is; raise the version, or name another file (-o)"
        )
    names = list(_names(bundle))
    if contributor is not None and contributor.kind != "name":
        for name in names:
            _refuse_names(folder / name)
    if not cited and contributor is not None:
        write_new(folder / CITATION, citation(manifest, contributor))
        names.append(CITATION)
    warnings = sum(report.warnings for report in reports)
    made = {RESULT: _as_json(reports, folder)}
    if CHECKLIST not in names:  # one that is there has the author's ticks
        made[CHECKLIST] = _checklist(manifest, contributor, warnings)
    _pack(archive, folder, manifest["name"], sorted(names), made)
    left_out = sorted(f"{each.relative_to(folder)}" for each in folder.rglob("*") if each.is_file())
    return Submission(
        archive,
        tuple(sorted((*names, *made))),
        tuple(name for name in left_out if name.replace("\\", "/") not in (*names, RESULT)),
        warnings,
        _authors(folder / CITATION),
    )


def citation(manifest: Mapping[str, Any], contributor: Contributor) -> str:
    """The text of CITATION.cff (Citation File Format 1.2.0)."""
    fields: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use this benchmark, please cite it as below.",
        "type": "dataset",
        "title": manifest["title"],
        "version": manifest["version"],
        "authors": [contributor.author()],
        "abstract": manifest["summary"],
    }
    if _SPDX.fullmatch(manifest["licence"]):
        fields["license"] = manifest["licence"]
    return str(yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=110))


def _refuse(bundle: bundles.Bundle, reports: Sequence[Report]) -> None:
    errors = [finding for report in reports for finding in report.findings if finding.level == "error"]
    if errors:
        count = f"{len(errors)} error{'' if len(errors) == 1 else 's'}"
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


def _checklist(manifest: Mapping[str, Any], contributor: Contributor | None, warnings: int) -> str:
    said = manifest["authorship"]
    return render(
        "benchmark/CHECKLIST.md.j2",
        **{key: manifest[key] for key in ("name", "version", "languages", "region", "licence", "redistribution")},
        contributor=contributor or "those whom CITATION.cff names",
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


def _authors(path: Path) -> str:
    """Whom CITATION.cff names, in words."""
    try:
        found = load_yaml(path).value["authors"]
        return listed(" ".join(str(value) for value in author.values()) for author in found)
    except (BiasfwError, KeyError, TypeError, AttributeError):
        return "nobody that could be read"
