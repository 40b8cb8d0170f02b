"""What a schema cannot see in a manifest: names that refer to nothing, missing languages, groups that look alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from biasfw.document import Document, child
from biasfw.errors import DataError
from biasfw.phrases import did_you_mean, shorten
from biasfw.schemas import Problem, check
from biasfw.schemas import problems as schema_problems

Found = tuple[str, str]  # JSON pointer, message


def check_manifest(document: Document) -> None:
    """Check a manifest against its schema and then for names that refer to nothing.

    Raises:
        DataError: it is not right; the message words the first problem and says how many more there are.
    """
    check("benchmark", document)
    found = _references(document)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise DataError(f"{found[0]}{more}")


def problems(document: Document) -> list[Problem]:
    """Everything that is wrong with a manifest; references are looked at only where the schema is content."""
    return schema_problems("benchmark", document.value, document) or _references(document)


def check_templates(document: Document, fields: Iterable[str]) -> None:
    """Compile every template of a manifest and look for names that are neither in ``fields`` nor made by biasfw.

    Raises:
        DataError: a template is not allowed or names an unknown field; with the place in the manifest.
    """
    from biasfw.templates import compile_template  # noqa: PLC0415 - start-up time

    manifest = document.value
    slots = [slot["key"] for slot in manifest["slots"]]
    made = {*fields, "label_list", "labels", "header"}
    texts = [
        (child(child(child("/templates", name), language), part), text, made)
        for name, languages in manifest["templates"].items()
        for language, parts in languages.items()
        for part, text in parts.items()
    ]
    answers = manifest["answer_template"].items()
    texts += [(child("/answer_template", language), text, {*slots, "header"}) for language, text in answers]
    for pointer, text, known in texts:
        where = f"{document.where(pointer)}: {pointer}"
        for name in sorted(compile_template(text, where).variables - known):
            raise DataError(f"{where}: no item has a field {shorten(name)}; {did_you_mean(name, known)}")


def _references(document: Document) -> list[Problem]:
    found = []
    for look in _LOOKS:
        for pointer, message in look(document.value):
            found.append(Problem(document.name, *document.position(pointer), pointer, message))
    return sorted(found, key=lambda problem: (problem.line, problem.column))


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    return f"there is no {kind} {shorten(name)}; {did_you_mean(name, known)}"


def _missing(kind: str, names: Iterable[str], there: Iterable[str], pointer: str) -> Iterator[Found]:
    for name in names:
        if name not in there:
            yield pointer, f"nothing for the {kind} {shorten(name)}; add it"


def _absent(kind: str, names: Iterable[str], known: Iterable[str], pointer: str) -> Iterator[Found]:
    """Every entry of the list at ``pointer`` that is not in ``known``."""
    for index, name in enumerate(names):
        if name not in known:
            yield child(pointer, index), _unknown(kind, name, known)


def _keys(manifest: Mapping[str, Any]) -> Iterator[Found]:
    """No key twice; labels, abstention and merges share one table."""
    groups = [("/labels", manifest["labels"]), ("/merges", manifest.get("merges", ()))]
    seen = {manifest["abstention"]["key"]: "/abstention"} if "abstention" in manifest else {}
    for pointer, entries in groups:
        for index, entry in enumerate(entries):
            if entry["key"] in seen:
                yield f"{pointer}/{index}/key", f"the key {shorten(entry['key'])} also stands at {seen[entry['key']]}"
            seen.setdefault(entry["key"], f"{pointer}/{index}")
    for pointer in ("categories", "slots"):
        keys = [entry["key"] for entry in manifest[pointer]]
        for index, key in enumerate(keys):
            if key in keys[:index]:
                yield f"/{pointer}/{index}/key", f"the key {shorten(key)} stands twice; rename one"


def _languages(manifest: Mapping[str, Any]) -> Iterator[Found]:
    """Whatever a model is shown must be there in every language."""
    languages = manifest["languages"]
    for index, label in enumerate(manifest["labels"]):
        yield from _missing("language", languages, label["names"], f"/labels/{index}/names")
    if "abstention" in manifest:
        yield from _missing("language", languages, manifest["abstention"]["names"], "/abstention/names")
    for name, texts in manifest["templates"].items():
        yield from _missing("language", languages, texts, child("/templates", name))
    for name in ("answer_template", "list_style"):
        if name in manifest:
            yield from _missing("language", languages, manifest[name], f"/{name}")
    for index, slot in enumerate(manifest["slots"]):
        pointer = f"/slots/{index}/headers"
        yield from _missing("condition", manifest["conditions"], slot["headers"], pointer)
        for condition, headers in slot["headers"].items():
            if condition not in manifest["conditions"]:
                yield child(pointer, condition), _unknown("condition", condition, manifest["conditions"])
            yield from _missing("language", languages, headers, child(pointer, condition))
    reviewed = manifest["authorship"]["reviewed_by_natives"]
    yield from _missing("language", languages, reviewed, "/authorship/reviewed_by_natives")


def _conditions(manifest: Mapping[str, Any]) -> Iterator[Found]:
    for name, condition in manifest["conditions"].items():
        pointer = child("/conditions", name)
        if condition["template"] not in manifest["templates"]:
            yield f"{pointer}/template", _unknown("template", condition["template"], manifest["templates"])
        if condition.get("abstention") and "abstention" not in manifest:
            yield f"{pointer}/abstention", "the manifest has no abstention; add one at the top level, or write false"
    for mode, protocol in manifest["protocols"].items():
        pointer = f"/protocols/{mode}"
        yield from _absent("condition", protocol["conditions"], manifest["conditions"], f"{pointer}/conditions")
        calibrate = protocol.get("calibrate")
        if calibrate is not None and calibrate not in protocol["conditions"]:
            hint = "calibration needs its answers; add it to the conditions"
            yield f"{pointer}/calibrate", f"the condition {shorten(calibrate)} is not asked in this mode; {hint}"


def _choices(manifest: Mapping[str, Any]) -> Iterator[Found]:
    """Defaults and presets choose among what there is."""
    protocols, categories = manifest["protocols"], [each["key"] for each in manifest["categories"]]
    if manifest["default_split"] not in manifest["splits"]:
        yield "/default_split", _unknown("split", manifest["default_split"], manifest["splits"])
    if manifest["default_mode"] not in protocols:
        yield "/default_mode", _unknown("protocol", manifest["default_mode"], protocols)
    for name, preset in manifest.get("presets", {}).items():
        pointer = child("/presets", name)
        if preset.get("mode", manifest["default_mode"]) not in protocols:
            yield f"{pointer}/mode", _unknown("protocol", preset["mode"], protocols)
        yield from _absent("condition", preset.get("conditions", ()), manifest["conditions"], f"{pointer}/conditions")
        yield from _absent("language", preset.get("language", ()), manifest["languages"], f"{pointer}/language")
        yield from _absent("category", preset.get("category", ()), categories, f"{pointer}/category")


def _labels(manifest: Mapping[str, Any]) -> Iterator[Found]:
    labels = [label["key"] for label in manifest["labels"]]
    for index, merge in enumerate(manifest.get("merges", ())):
        yield from _absent("label", merge["labels"], labels, f"/merges/{index}/labels")
    categories, slots = [each["key"] for each in manifest["categories"]], [slot["key"] for slot in manifest["slots"]]
    for category, reference in manifest.get("reference_answers", {}).items():
        pointer = child("/reference_answers", category)
        if category not in categories:
            yield pointer, _unknown("category", category, categories)
        yield from _missing("slot", slots, reference["answer"], f"{pointer}/answer")
        for slot, label in reference["answer"].items():
            if slot not in slots:
                yield child(f"{pointer}/answer", slot), _unknown("slot", slot, slots)
            elif label not in labels:
                yield child(f"{pointer}/answer", slot), _unknown("label", label, labels)


def _metrics(manifest: Mapping[str, Any]) -> Iterator[Found]:
    used = [metric["use"] for metric in manifest["metrics"]]
    named = [("/primary", manifest["primary"])]
    named += [(f"/expected/{index}", each) for index, each in enumerate(manifest.get("expected", ()))]
    for pointer, each in named:
        if each["metric"] not in used:
            yield f"{pointer}/metric", _unknown("metric in metrics", each["metric"], used)
        if each.get("mode", manifest["default_mode"]) not in manifest["protocols"]:
            yield f"{pointer}/mode", _unknown("protocol", each["mode"], manifest["protocols"])


def _alike(manifest: Mapping[str, Any]) -> Iterator[Found]:
    """No name of one group may also be read as another group, in whichever language an answer comes."""
    seen: dict[str, str] = {}
    groups = [(f"/labels/{index}", label) for index, label in enumerate(manifest["labels"])]
    if "abstention" in manifest:
        groups.append(("/abstention", manifest["abstention"]))
    for pointer, label in groups:
        for language, names in label["names"].items():
            for index, name in enumerate(names):
                folded = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
                owner = seen.setdefault(folded, label["key"])
                if owner != label["key"]:
                    place = child(f"{child(f'{pointer}/names', language)}", index)
                    yield (
                        place,
                        f"{shorten(name)} is also a name of {shorten(owner)}; an answer could mean either: drop one",
                    )


_LOOKS: tuple[Callable[[Mapping[str, Any]], Iterator[Found]], ...] = (
    _keys,
    _languages,
    _conditions,
    _choices,
    _labels,
    _metrics,
    _alike,
)
