"""Who answers what: every item by k people, nobody what they wrote or reviewed, orders and places at random."""

from __future__ import annotations

import json
import random
import secrets
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biasfw import bundles, schemas
from biasfw.authoring.log import new_pseudonym
from biasfw.bundles import Bundle
from biasfw.errors import DataError, UsageError
from biasfw.keys import sha256_text
from biasfw.labelling.texts import cell_text
from biasfw.plugins import Plugins
from biasfw.records import Seed
from biasfw.scaffolding import write_new

KEY, ANSWERS = "annotation.json", "answers.jsonl"
QUESTIONS = ("suitable", "unbiased")


@dataclass(frozen=True, slots=True)
class Shown:
    """What one person sees of one item."""

    task: str
    language: str
    context: str
    a: str
    b: str

    @property
    def digest(self) -> str:
        """sha256 of the texts."""
        return texts_digest(*(cell_text(text) for text in (self.context, self.a, self.b)))


def texts_digest(*texts: str) -> str:
    """sha256 of texts, whatever a program did to line ends and outer spaces."""
    return sha256_text("\x1f".join(text.replace("\r\n", "\n").strip() for text in texts))


@dataclass(frozen=True)
class Drawn:
    """An annotation to be: its key, and what each person sees, in their order."""

    key: Mapping[str, Any]
    shown: Mapping[str, Sequence[Shown]]


def draw(
    bundle: Bundle,
    plugins: Plugins,
    per_item: int,
    people: Sequence[str] = (),
    *,
    count: int = 0,
    seed: int | None = None,
) -> Drawn:
    """Blind tasks about all items of a bundle, its controls among them: they show who did not read.

    Controls are asked both questions like any item, so that nobody can tell them by that; the first alone counts.
    ``people`` are pseudonyms that authors and reviewers may be among; new ones are made up to ``count`` (at least
    ``per_item``).

    Raises:
        UsageError: the items are no pairs with a right reply, or too few people do not know one of them.
    """
    controls = bundle.manifest.get("controls", {}).get("categories", ())
    seeds = _pairs(bundle, plugins, controls)
    made = max(count, per_item) - len(people)
    everybody = [*people, *(new_pseudonym() for _ in range(max(made, 0)))]
    number = secrets.randbits(32) if seed is None else seed
    rng = random.Random(number)  # noqa: S311 - orders, no secrets
    tasks, shown = [], {name: list[Shown]() for name in everybody}
    load: Counter[str] = Counter()
    known = _known(bundle)
    for source in rng.sample(seeds, len(seeds)):
        for name in _chosen(source, everybody, per_item, known, load, rng):
            load[name] += 1
            order = rng.sample([choice.key for choice in source.choices], 2)
            texts = {choice.key: choice.text for choice in source.choices}
            control = source.category in controls
            seen = Shown(secrets.token_hex(8), source.language, _context(source), texts[order[0]], texts[order[1]])
            shown[name].append(seen)
            tasks.append(
                {
                    "task": seen.task, "annotator": name, "source_id": source.source_id, "language": source.language,
                    "category": source.category, "order": order, "gold": source.gold, "text_sha256": seen.digest,
                    **({"control": True} if control else {}),
                }
            )  # fmt: skip
    for each in shown.values():
        rng.shuffle(each)
    question = bundle.manifest["question_id"]
    key = {
        "schema_version": 1, "benchmark": bundle.full_name, "data_sha256": bundle.digests(plugins)["data_sha256"],
        "question_ids": {"suitable": question, "unbiased": f"{question}--which-is-unbiased"},
        "per_item": per_item, "seed": number, "annotators": everybody, "tasks": tasks,
    }  # fmt: skip
    return Drawn(key, shown)


def _pairs(bundle: Bundle, plugins: Plugins, controls: Sequence[str]) -> list[Seed]:
    if bundle.manifest["task"] != "choice":
        raise UsageError(
            f"{bundle.full_name} is of task {bundle.manifest['task']}; people are asked about replies (choice)"
        )
    seeds, _ = bundle.read(plugins)
    first: dict[tuple[str, str], Seed] = {}  # rows that are already expanded are one item
    for each in seeds:
        first.setdefault((each.source_id, each.language), each)
    for name, each in list(first.items()):
        if len(each.choices) == 2 and each.gold is not None:
            continue
        if each.category not in controls:
            raise UsageError(
                f"{bundle.full_name}: item {each.source_id!r} is no pair of replies with a right one (gold)"
            )
        del first[name]
    if all(each.category in controls for each in first.values()):
        raise UsageError(f"{bundle.full_name} has no items but controls; there is nothing to ask")
    return list(first.values())


def _context(seed: Seed) -> str:
    """The text before the replies: the field ``context``, or all fields that are text."""
    if isinstance(seed.fields.get("context"), str):
        return str(seed.fields["context"])
    return "\n\n".join(value for value in seed.fields.values() if isinstance(value, str))


def _known(bundle: Bundle) -> dict[str, set[str]]:
    """Item -> who wrote, reviewed, tried or decided about a version of it in the workbench around the bundle, if any.

    They saw which reply is the biased one, also in drafts of the placebo arm and in versions that were not kept.
    """
    from biasfw.authoring.annotations import bench_around  # noqa: PLC0415 - loads late

    bench = bench_around(bundle.folder)
    found: dict[str, set[str]] = {}
    for row in bench.log.rows() if bench is not None else ():
        if row.get("by") and row.get("item"):
            found.setdefault(row["item"], set()).add(row["by"])
    return found


def _chosen(
    source: Seed,
    everybody: Sequence[str],
    per_item: int,
    known: Mapping[str, Collection[str]],
    load: Counter[str],
    rng: random.Random,
) -> list[str]:
    told = (name for part in ("authors", "reviewers") for name in source.metadata.get(part, ()))
    barred = {*told, *known.get(source.source_id, ())}
    able = [name for name in everybody if name not in barred]
    if len(able) < per_item:
        raise UsageError(
            f"{source.source_id} needs {per_item} people who did not write or review it, and there are {len(able)}; "
            "add people with --annotators"
        )
    return sorted(able, key=lambda name: (load[name], rng.random()))[:per_item]


def write(drawn: Drawn, folder: Path, consents: Sequence[str] = ()) -> Path:
    """Write the key of an annotation; ``consents`` are the texts that people have to agree to.

    Raises:
        UsageError: the folder holds one already.
    """
    path = folder / KEY
    if path.exists():
        raise UsageError(f"{path} is there already, and people may be answering it; give another folder with -o")
    digests = sorted({sha256_text(text) for text in consents})
    key = {**drawn.key, **({"consent_sha256": digests} if digests else {})}
    write_new(path, json.dumps(key, ensure_ascii=False, indent=1) + "\n")
    return path


def load_key(folder: Path) -> dict[str, Any]:
    """The checked key of the annotation in ``folder``.

    Raises:
        UsageError: there is none.
        DataError: it is damaged.
    """
    path = folder / KEY
    if not path.is_file():
        raise UsageError(
            f"{folder} holds no annotation ({KEY}); make one: biasfw annotate draw BUNDLE -k 5 -o {folder}"
        )
    try:
        key: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as failure:
        raise DataError(f"{path} is damaged ({failure}); put it back from a copy") from None
    wrong = schemas.problems("annotation", key, path)
    if wrong:
        raise DataError(str(wrong[0]))
    return key


def open_bundle(name: str, plugins: Plugins, data: Path | None = None) -> Bundle:
    """A bundle by name or path."""
    return bundles.find(name, plugins, data, None)
