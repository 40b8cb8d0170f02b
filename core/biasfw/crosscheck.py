"""What a schema cannot say about a manifest: names that must exist elsewhere in it, and texts for every language."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from biasfw.crosstexts import check_labels, check_texts
from biasfw.document import Document, child
from biasfw.errors import DataError
from biasfw.hedging import folded
from biasfw.manifestparts import Found, Manifest, all_conditions, unknown
from biasfw.schemas import Problem


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


def _ways(manifest: Manifest) -> Iterator[Found]:
    """What a condition names, the benchmark's own and those that a split words otherwise."""
    for _, pointer, condition in all_conditions(manifest):
        if condition["template"] not in manifest["templates"]:
            yield f"{pointer}/template", unknown("template", condition["template"], manifest["templates"])
        if condition.get("abstention") and "abstention" not in manifest:
            yield pointer, "it offers an abstention, and the manifest defines none; add `abstention`"


def _splits(manifest: Manifest) -> Iterator[Found]:
    for split, entry in manifest["splits"].items():
        if "conditions" not in entry:
            continue
        pointer = child(child("/splits", split), "conditions")
        for name in entry["conditions"]:
            if name not in manifest["conditions"]:
                yield child(pointer, name), unknown("condition", name, manifest["conditions"])
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
        read = [folded(letter) for letter in letters]
        for place, letter in enumerate(read):
            if letter in read[:place]:
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
            yield f"/protocols/{mode}/calibrate", unknown("condition of this protocol", protocol["calibrate"], asked)
    for index, slot in enumerate(manifest.get("slots", ())):
        for name in known:
            if name not in slot["headers"]:
                yield f"/slots/{index}/headers", f"there is no header for condition {name!r}; add it"


def _defaults(manifest: Manifest) -> Iterator[Found]:
    for default, part in (("default_mode", "protocols"), ("default_split", "splits")):
        if default in manifest and part in manifest and manifest[default] not in manifest[part]:
            yield (
                f"/{default}",
                unknown(part.removesuffix("s").replace("protocol", "mode"), manifest[default], manifest[part]),
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
            yield f"{pointer}/mode", unknown("mode", preset["mode"], manifest["protocols"])


def _known(pointer: str, names: Sequence[str], known: Collection[str], kind: str) -> Iterator[Found]:
    for index, name in enumerate(names):
        if name not in known:
            yield f"{pointer}/{index}", unknown(kind, name, known)


def _answers(manifest: Manifest) -> Iterator[Found]:
    categories = [category["key"] for category in manifest["categories"]]
    labels = [label["key"] for label in manifest.get("labels", ())]
    slots = {slot["key"] for slot in manifest.get("slots", ())}
    for category, entry in manifest.get("reference_answers", {}).items():
        pointer = child("/reference_answers", category)
        if category not in categories:
            yield pointer, unknown("category", category, categories)
        if set(entry["answer"]) != slots:
            yield f"{pointer}/answer", f"an answer fills every slot: {', '.join(sorted(slots))}"
        for slot, label in entry["answer"].items():
            if label not in labels:
                yield child(f"{pointer}/answer", slot), unknown("label", label, labels)


def _scores(manifest: Manifest) -> Iterator[Found]:
    used = [metric["use"] for metric in manifest["metrics"]]
    if manifest["primary"]["metric"] not in used:
        yield "/primary/metric", unknown("metric in `metrics`", manifest["primary"]["metric"], used)
    for index, entry in enumerate(manifest.get("expected", ())):
        if entry["metric"] not in used:
            yield f"/expected/{index}/metric", unknown("metric in `metrics`", entry["metric"], used)


_CHECKS: Mapping[Callable[[Manifest], Iterator[Found]], tuple[str, ...]] = {  # with what each cannot do without
    _ways: ("conditions", "templates"),
    check_texts: ("languages",),
    check_labels: (),
    _choices: ("task",),
    _conditions: ("conditions",),
    _defaults: (),
    _presets: (),
    _splits: ("conditions", "protocols", "splits"),
    _sources: ("splits",),
    _answers: ("categories",),
    _scores: ("metrics", "primary"),
}
