"""The texts of a manifest: there is one for every language, and every key and name belongs to one thing."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from biasfw.document import child
from biasfw.manifestparts import Found, Manifest, all_conditions, unknown


def check_texts(manifest: Manifest) -> Iterator[Found]:
    """Every language of the benchmark has its texts. Names may have more languages: aliases that are read as well."""
    for pointer, texts, exact in _by_language(manifest):
        for language in manifest["languages"]:
            if language not in texts:
                yield pointer, f"there is no text for language {language!r}, which the benchmark names; add it"
        for language in texts:
            if exact and language not in manifest["languages"]:
                message = f"language {language!r} is not among the benchmark's languages; add it there"
                yield child(pointer, language), message


def _by_language(manifest: Manifest) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    used = {condition["template"] for *_, condition in all_conditions(manifest)}
    for name in sorted(used & set(manifest.get("templates", {}))):
        yield child("/templates", name), manifest["templates"][name], True
    if "answer_template" in manifest:
        yield "/answer_template", manifest["answer_template"], True
    if "letters" in manifest:
        yield "/letters", manifest["letters"], True
    for index, entry in enumerate(manifest.get("instructions", ())):
        yield f"/instructions/{index}/text", entry["text"], True
    if "authorship" in manifest:
        yield "/authorship/reviewed_by_natives", manifest["authorship"]["reviewed_by_natives"], True
    if "list_style" in manifest:
        yield "/list_style", manifest["list_style"], True
    for part in ("labels", "categories"):
        for index, entry in enumerate(manifest.get(part, ())):
            yield f"/{part}/{index}/names", entry["names"], False
    if "abstention" in manifest:
        yield "/abstention/names", manifest["abstention"]["names"], False
    for index, slot in enumerate(manifest.get("slots", ())):
        for condition, names in slot["headers"].items():
            yield child(f"/slots/{index}/headers", condition), names, False


def check_labels(manifest: Manifest) -> Iterator[Found]:
    """Every key is there once, merges name labels that exist, and no name belongs to two labels."""
    keys = [label["key"] for label in manifest.get("labels", ())]
    taken: dict[str, str] = {}
    for part in ("labels", "merges", "abstention"):
        entries = [manifest[part]] if part == "abstention" and part in manifest else manifest.get(part, ())
        for index, entry in enumerate(entries):
            pointer = f"/{part}/key" if part == "abstention" else f"/{part}/{index}/key"
            if entry["key"] in taken:
                yield pointer, f"the key {entry['key']!r} is also one of {taken[entry['key']]}; give each its own"
            taken[entry["key"]] = part
    for part in ("categories", "slots", "instructions"):
        found = [entry["key"] for entry in manifest.get(part, ())]
        for index, key in enumerate(found):
            if key in found[:index]:
                yield f"/{part}/{index}/key", f"the key {key!r} stands twice in {part}; give each its own"
    for index, merge in enumerate(manifest.get("merges", ())):
        for place, key in enumerate(merge["labels"]):
            if key not in keys:
                yield f"/merges/{index}/labels/{place}", unknown("label", key, keys)
    yield from _ambiguous(manifest)


def _ambiguous(manifest: Manifest) -> Iterator[Found]:
    """A name that belongs to two labels could never be read. English names are read under every language."""
    owners: dict[str, list[tuple[str, str]]] = {}
    entries = [(f"/labels/{index}", label) for index, label in enumerate(manifest.get("labels", ()))]
    if "abstention" in manifest:
        entries.append(("/abstention", manifest["abstention"]))
    for start, label in entries:
        for language, names in label["names"].items():
            for place, name in enumerate(names):
                others = owners.setdefault(unicodedata.normalize("NFKC", name).casefold(), [])
                for other, key in others:
                    if key != label["key"] and (other == language or "en" in (other, language)):
                        pointer = child(f"{start}/names", language)
                        yield f"{pointer}/{place}", f"{name!r} is also a name of {key!r}; a name belongs to one label"
                others.append((language, label["key"]))
