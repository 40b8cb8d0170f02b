"""The judges that a manifest brings: what they name is there, and they have no options that nobody takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from biasfw.document import Document, child
from biasfw.errors import BiasfwError, UsageError
from biasfw.packcheck import Kit
from biasfw.schemas import check_options
from biasfw.specs import JudgeSpec

Manifest = Mapping[str, Any]


def check_named(document: Document, kit: Kit) -> Iterator[tuple[str, str]]:
    """What is wrong with the manifest's ``judges``: pointer and message. The manifest has a task."""
    manifest: Manifest = document.value
    offered = {component.spec.name for component in kit.plugins.components("judge")}
    for name, judge in manifest.get("judges", {}).items():
        pointer = child("/judges", name)
        if name in offered:
            yield pointer, f"a plugin offers a judge {name!r}, too; give yours another name"
        yield from _problems(pointer, judge, manifest, kit)


def _problems(pointer: str, judge: Mapping[str, Any], manifest: Manifest, kit: Kit) -> Iterator[tuple[str, str]]:
    """What is wrong with a judge, and with its members: pointer and message."""
    roles: list[str] = []
    names: list[str] = []
    for place, each in _everybody(pointer, judge):
        yield from _problems_of_one(place, each, manifest, kit)
        for key, known in (("role", roles), ("name", names)):
            if key in each:
                if each[key] in known:
                    yield f"{place}/{key}", f"the {key} {each[key]!r} stands twice in this judge; give each its own"
                known.append(each[key])


def _everybody(pointer: str, judge: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield pointer, judge
    for index, member in enumerate(judge.get("members", ())):
        yield f"{pointer}/members/{index}", member


def _problems_of_one(place: str, judge: Mapping[str, Any], manifest: Manifest, kit: Kit) -> Iterator[tuple[str, str]]:
    try:
        spec = cast("JudgeSpec", kit.plugins.find("judge", judge["judge"]).spec)
    except BiasfwError as failure:
        yield f"{place}/judge", str(failure)
        return
    if spec.tasks and manifest["task"] not in spec.tasks:
        yield f"{place}/judge", f"judge {spec.name} cannot judge task {manifest['task']!r}; choose another"
    if spec.roles and "role" not in judge:
        yield place, f"judge {spec.name} asks a model, and nobody could say which; give it a `role`"
    for key in ("role", "mode"):
        if key in judge and not spec.roles:
            yield f"{place}/{key}", f"judge {spec.name} asks no model; leave it out"
    if spec.combines != ("members" in judge):
        yield place, f"judge {spec.name} {'needs' if spec.combines else 'has no'} members"
    try:
        check_options(f"judge {spec.name}", spec.options, judge.get("options", {}))
    except UsageError as failure:
        yield f"{place}/options" if "options" in judge else place, str(failure)
    if "parser" in judge:
        try:
            kit.plugins.find("parser", judge["parser"])
        except BiasfwError as failure:
            yield f"{place}/parser", str(failure)
