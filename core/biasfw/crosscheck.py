"""What a schema cannot say about a manifest: names that must exist elsewhere in it, and texts for every language."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from biasfw.document import Document, child
from biasfw.errors import DataError
from biasfw.schemas import Problem

Manifest = Mapping[str, Any]
Found = tuple[str, str]  # JSON pointer, message


def problems(document: Document) -> list[Problem]:
    """Everything that does not fit together in a manifest that fits the schema, in the order of the file.

    Of a manifest from which parts were left out, what can be told without them.
    """
    found = []
    for check, needs in _CHECKS.items():
        if not all(name in document.value for name in needs):
            continue
        for pointer, message in check(document.value):
            line, column = document.position(pointer)
            found.append(Problem(document.name, line, column, document.original(pointer), message))
    return sorted(found, key=lambda problem: (problem.line, problem.column))


def check(document: Document) -> None:
    """Check a manifest.

    Raises:
        DataError: the first problem, and how many more there are.
    """
    found = problems(document)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise DataError(f"{found[0]}{more}")


def _unknown(kind: str, name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(sorted(known)) or 'none'}"
    return f"no {kind} is named {name!r}; {hint}"


def _ways(manifest: Manifest) -> Iterator[Found]:
    """What a condition names, the benchmark's own and those that a split words otherwise."""
    for _, pointer, condition in all_conditions(manifest):
        if condition["template"] not in manifest["templates"]:
            yield f"{pointer}/template", _unknown("template", condition["template"], manifest["templates"])
        if condition.get("abstention") and "abstention" not in manifest:
            yield pointer, "it offers an abstention, and the manifest defines none; add `abstention`"


def all_conditions(manifest: Manifest) -> Iterator[tuple[str | None, str, Mapping[str, Any]]]:
    """Split (None: all), pointer and text of every condition."""
    places: list[tuple[str | None, str, Mapping[str, Any]]] = [(None, "/conditions", manifest.get("conditions", {}))]
    for split, entry in manifest.get("splits", {}).items():
        places.append((split, child(child("/splits", split), "conditions"), entry.get("conditions", {})))
    for of_split, place, conditions in places:
        for name, condition in conditions.items():
            yield of_split, child(place, name), condition


def _splits(manifest: Manifest) -> Iterator[Found]:
    for split, entry in manifest["splits"].items():
        if "conditions" not in entry:
            continue
        pointer = child(child("/splits", split), "conditions")
        for name in entry["conditions"]:
            if name not in manifest["conditions"]:
                yield child(pointer, name), _unknown("condition", name, manifest["conditions"])
        for mode, protocol in manifest["protocols"].items():
            if not set(protocol["conditions"]) & set(entry["conditions"]):
                asked = ", ".join(protocol["conditions"])
                yield pointer, f"mode {mode} asks under {asked}, and the split offers none of them; offer one"


def _sources(manifest: Manifest) -> Iterator[Found]:
    """No two files to fetch lie in each other's place; some file systems do not tell capitals from small letters."""
    for split, entry in manifest["splits"].items():
        seen: list[str] = []
        for index, file in enumerate(entry.get("source", {}).get("files", ())):
            path = file["path"].casefold()
            if any(path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/") for other in seen):
                pointer = f"{child(child('/splits', split), 'source')}/files/{index}/path"
                yield pointer, f"{file['path']!r} would lie where another file of the split lies; give it its own path"
            seen.append(path)


def _texts(manifest: Manifest) -> Iterator[Found]:
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


def _labels(manifest: Manifest) -> Iterator[Found]:
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
                yield f"/merges/{index}/labels/{place}", _unknown("label", key, keys)
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


_FITTING = {  # task -> what is ordered, how, and what can be scored
    "labels": ("labels", ("williams",), ("ordered_pairs",)),
    "choice": ("choices", ("rotations", "as_given"), ("letters", "texts")),
    "sentence_pair": ("choices", ("as_given",), ("texts",)),
}
_ONLY = {  # what belongs to one task and means nothing under the other
    "labels": ("letters", "shots"),
    "choice": ("labels", "slots", "abstention", "merges", "list_style", "reference_answers"),
    "sentence_pair": (
        "labels",
        "slots",
        "abstention",
        "merges",
        "list_style",
        "reference_answers",
        "letters",
        "instructions",
        "shots",
        "answer_template",
        "raw_separator",
        "judge_templates",
    ),
}


def _choices(manifest: Manifest) -> Iterator[Found]:
    """What must fit the task."""
    task = manifest["task"]
    over, designs, scored = _FITTING[task]
    for name in _ONLY[task]:
        if name in manifest:
            yield child("", name), f"`{name}` means nothing with task {task!r}; remove it"
    for tag, letters in manifest.get("letters", {}).items():
        folded = [unicodedata.normalize("NFKC", letter).casefold() for letter in letters]
        for place, letter in enumerate(folded):
            if letter in folded[:place]:
                pointer = f"{child('/letters', tag)}/{place}"
                yield pointer, f"{letters[place]!r} cannot be told from a letter before it in an answer; choose another"
    orders = manifest.get("orders", {"over": over, "design": designs[0]})
    if orders["over"] != over:
        yield "/orders/over", f"with task {task!r} the orders are over {over}; write {over}"
    if orders["design"] not in designs:
        yield "/orders/design", f"with task {task!r} the design is {' or '.join(designs)}; write one of them"
    protocols = manifest.get("protocols", {})
    protocol = protocols.get("choices")
    if protocol is not None and protocol["choices"] not in scored:
        yield "/protocols/choices/choices", f"with task {task!r} what is scored is {' or '.join(scored)}"
    if task == "sentence_pair" and "generate" in protocols:
        yield "/protocols/generate", "sentences are scored, nothing is written; remove it"
    if task != "labels" and protocol is not None and "calibrate" in protocol:
        yield "/protocols/choices/calibrate", "choices of an item are not calibrated; remove it"
    if "categories" in manifest:
        categories = [category["key"] for category in manifest["categories"]]
        controls = manifest.get("controls", {}).get("categories", ())
        yield from _known("/controls/categories", controls, categories, "category")


def _conditions(manifest: Manifest) -> Iterator[Found]:
    known = manifest["conditions"]
    for mode, protocol in manifest.get("protocols", {}).items():
        yield from _known(f"/protocols/{mode}/conditions", protocol["conditions"], known, "condition")
        if "calibrate" in protocol and protocol["calibrate"] not in protocol["conditions"]:
            asked = protocol["conditions"]
            yield f"/protocols/{mode}/calibrate", _unknown("condition of this protocol", protocol["calibrate"], asked)
    for index, slot in enumerate(manifest.get("slots", ())):
        for name in known:
            if name not in slot["headers"]:
                yield f"/slots/{index}/headers", f"there is no header for condition {name!r}; add it"


def _defaults(manifest: Manifest) -> Iterator[Found]:
    for default, part in (("default_mode", "protocols"), ("default_split", "splits")):
        if default in manifest and part in manifest and manifest[default] not in manifest[part]:
            yield (
                f"/{default}",
                _unknown(part.removesuffix("s").replace("protocol", "mode"), manifest[default], manifest[part]),
            )


def _presets(manifest: Manifest) -> Iterator[Found]:
    known = {
        "conditions": ("conditions", "condition", manifest.get("conditions")),
        "language": ("languages", "language", manifest.get("languages")),
        "category": ("categories", "category", [each["key"] for each in manifest.get("categories", ())]),
    }
    for name, preset in manifest.get("presets", {}).items():
        pointer = child("/presets", name)
        for field, (part, kind, names) in known.items():
            if part in manifest:
                yield from _known(f"{pointer}/{field}", preset.get(field, ()), names or (), kind)
        if "mode" in preset and "protocols" in manifest and preset["mode"] not in manifest["protocols"]:
            yield f"{pointer}/mode", _unknown("mode", preset["mode"], manifest["protocols"])


def _known(pointer: str, names: Sequence[str], known: Collection[str], kind: str) -> Iterator[Found]:
    for index, name in enumerate(names):
        if name not in known:
            yield f"{pointer}/{index}", _unknown(kind, name, known)


def _answers(manifest: Manifest) -> Iterator[Found]:
    categories = [category["key"] for category in manifest["categories"]]
    labels = [label["key"] for label in manifest.get("labels", ())]
    slots = {slot["key"] for slot in manifest.get("slots", ())}
    for category, entry in manifest.get("reference_answers", {}).items():
        pointer = child("/reference_answers", category)
        if category not in categories:
            yield pointer, _unknown("category", category, categories)
        if set(entry["answer"]) != slots:
            yield f"{pointer}/answer", f"an answer fills every slot: {', '.join(sorted(slots))}"
        for slot, label in entry["answer"].items():
            if label not in labels:
                yield child(f"{pointer}/answer", slot), _unknown("label", label, labels)


def _scores(manifest: Manifest) -> Iterator[Found]:
    used = [metric["use"] for metric in manifest["metrics"]]
    if manifest["primary"]["metric"] not in used:
        yield "/primary/metric", _unknown("metric in `metrics`", manifest["primary"]["metric"], used)
    for index, entry in enumerate(manifest.get("expected", ())):
        if entry["metric"] not in used:
            yield f"/expected/{index}/metric", _unknown("metric in `metrics`", entry["metric"], used)


_CHECKS: Mapping[Callable[[Manifest], Iterator[Found]], tuple[str, ...]] = {  # with what each cannot do without
    _ways: ("conditions", "templates"),
    _texts: ("languages",),
    _labels: (),
    _choices: ("task",),
    _conditions: ("conditions",),
    _defaults: (),
    _presets: (),
    _splits: ("conditions", "protocols", "splits"),
    _sources: ("splits",),
    _answers: ("categories",),
    _scores: ("metrics", "primary"),
}
