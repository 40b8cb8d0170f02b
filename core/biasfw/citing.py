"""CITATION.cff of a benchmark that is sent in: how to cite it (Citation File Format 1.2.0), as the manifest has it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from biasfw.errors import BiasfwError
from biasfw.jsonlines import write_atomically
from biasfw.phrases import listed, shorten
from biasfw.scaffolding import write_new
from biasfw.todocheck import is_marked
from biasfw.yamlfile import load_yaml

CITATION = "CITATION.cff"
_MESSAGE = "If you use this benchmark, please cite it as below."
_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_OURS = frozenset({"cff-version", "message", "type", "title", "version", "authors", "abstract", "license"})


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


class Citation:
    """The file ``path``, as it is and as the manifest wants it. ``notes``: what to tell, once it is written."""

    def __init__(self, path: Path, manifest: Mapping[str, Any], contributors: Sequence[Contributor]) -> None:
        self._path, self._manifest, self._contributors = path, manifest, contributors
        self._old = _read(path) if path.is_file() else None
        self.notes: list[str] = []

    def check(self) -> None:
        """Refuse a file that was edited and says something else than the manifest, or names somebody else.

        Raises:
            BiasfwError: with what differs.
        """
        if self._old is None:
            return
        wanted = listed(" ".join(each.author().values()) for each in self._contributors)
        if self._contributors and self.authors() != wanted:
            what = f"{self._path} names {self.authors()}, and you asked for {wanted}"
            raise BiasfwError(f"{what}; change or remove the file, then submit")
        differs = [f"{name} {old}, the manifest has {new}" for name, old, new in self._differences()]
        if differs and not self._is_ours():
            hint = f"write {CITATION} as the manifest has it, or remove it to have it written anew"
            raise BiasfwError(f"{self._path} says {'; '.join(differs)}; {hint}")

    def write(self) -> None:
        """Write it, unless somebody has edited it.

        Raises:
            BiasfwError: it cannot be written.
        """
        authors = [each.author() for each in self._contributors]
        if self._old is None:
            write_new(self._path, citation(self._manifest, authors))
        elif self._is_ours() and (told := list(self._differences(whole=True))):
            text = citation(self._manifest, self._old["authors"])
            try:
                write_atomically(self._path, text.encode("utf-8"))
            except OSError as failure:
                raise BiasfwError(f"{self._path}: cannot be written ({failure.strerror or failure})") from None
            changed = "; ".join(f"{name} {old} became {new}" for name, old, new in told)
            self.notes.append(f"{self._path} was written anew, as the manifest has changed: {changed}")
        for name in ("title", "summary"):
            if is_marked(self._manifest[name]):
                what = f"the {name} is still {shorten(self._manifest[name])}, also in {CITATION}"
                self.notes.append(f"{what}; write it in benchmark.yaml, then submit again")

    def authors(self) -> str:
        """Whom the file names, in words."""
        try:
            found = load_yaml(self._path).value["authors"]
            return listed(" ".join(str(value) for value in author.values()) for author in found)
        except (BiasfwError, KeyError, TypeError, AttributeError):
            return "nobody that could be read"

    def _is_ours(self) -> bool:
        """Whether the file is as it was written here, but for what the manifest says."""
        old = self._old or {}
        people = old.get("authors")
        if not isinstance(people, list) or not all(isinstance(each, dict) for each in people):
            return False
        bare = all(len(each) == 1 and set(each) <= {"name", "alias"} for each in people)
        return bare and set(old) <= _OURS and old.get("message") == _MESSAGE

    def _differences(self, *, whole: bool = False) -> Iterator[tuple[str, str, str]]:
        """What is another in the file than in the manifest; ``whole``: also what it leaves out, and the abstract."""
        old, new = self._old or {}, _fields(self._manifest)
        for name in ("title", "version", "license", *(["abstract"] if whole else [])):
            there = old.get(name)
            if name not in new and not (whole and there is not None):
                continue
            if (there is not None or whole) and str(there) != str(new.get(name)):
                yield name, _shown(there), _shown(new.get(name))


def citation(manifest: Mapping[str, Any], authors: Sequence[Mapping[str, str]]) -> str:
    """The text of CITATION.cff."""
    fields = {"cff-version": "1.2.0", "message": _MESSAGE, "type": "dataset"}
    said = _fields(manifest)
    ordered: dict[str, Any] = {**fields, "title": said.pop("title"), "version": said.pop("version")}
    return str(
        yaml.safe_dump(
            {**ordered, "authors": [dict(each) for each in authors], **said},
            allow_unicode=True,
            sort_keys=False,
            width=110,
        )
    )


def _fields(manifest: Mapping[str, Any]) -> dict[str, Any]:
    fields = {"title": manifest["title"], "version": manifest["version"], "abstract": manifest["summary"]}
    return fields | ({"license": manifest["licence"]} if _SPDX.fullmatch(manifest["licence"]) else {})


def _shown(value: Any) -> str:
    return "nothing" if value is None else shorten(str(value))


def _read(path: Path) -> dict[str, Any]:
    """What the file says; nothing where it cannot be read."""
    try:
        value = load_yaml(path).value
    except BiasfwError:
        return {}
    return value if isinstance(value, dict) else {}
