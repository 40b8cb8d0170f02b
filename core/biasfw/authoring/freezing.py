"""The files of a finalised bundle: manifest, items with provenance, first versions, controls, datasheet."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasfw.authoring.asker import Asker
from biasfw.authoring.bench import CONTROLS
from biasfw.authoring.datasheet import datasheet
from biasfw.authoring.drafts import Draft, seed_row
from biasfw.authoring.files import text_digest, write_rows
from biasfw.authoring.objecting import objected, summary
from biasfw.authoring.starting import json_manifest
from biasfw.errors import StoreError, UsageError


@dataclass(frozen=True, slots=True)
class Wish:
    """What finalize was told.

    ``allow``: who answers for items that no member reviewed, ``allow_objections``: for those that somebody objects to.
    """

    output: Path | None = None
    name: str | None = None
    title: str | None = None
    version: str = "1.0.0"
    holdout: float = 0.0
    allow: str | None = None
    allow_objections: str | None = None
    native_reviewers: int = 0
    seed: int = 0


@dataclass(slots=True)
class Finalised:
    """What was frozen."""

    folder: Path
    kept: dict[str, bool] = field(default_factory=dict)  # item -> whether it survives the fresh instructions
    held_out: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)  # draft -> why
    unreviewed: tuple[str, ...] = ()  # no member of the group reviewed it
    objections: list[str] = field(default_factory=list)  # lines
    holdout: Path | None = None
    instructions: int = 0


def write_bundle(asker: Asker, wish: Wish, drafts: Sequence[Draft], done: Finalised, folder: Path) -> None:
    """A bundle of the newest versions (split main) and the first ones (split first)."""
    bench = asker.bench
    folder.mkdir()
    manifest = _manifest(asker, wish, drafts, done)
    (folder / "benchmark.yaml").write_text(json_manifest(manifest), encoding="utf-8")
    kept = [seed_row(d.name, d.current.texts or {}, _provenance(d, done)) for d in drafts]
    first = [seed_row(d.name, v.texts, {"authors": [v.by]}) for d in drafts if (v := d.first) and v.texts]
    write_rows(folder / "items/main.jsonl", kept)
    write_rows(folder / "items/first.jsonl", first)
    if (bench.folder / CONTROLS).is_file():
        shutil.copy(bench.folder / CONTROLS, folder / CONTROLS)
    (folder / "DATASHEET.md").write_text(datasheet(manifest, bench, drafts, done, wish), encoding="utf-8")


def _provenance(draft: Draft, done: Finalised) -> dict[str, Any]:
    models = [t["target"]["model"] or t["target"]["backend"] for t in draft.tried(role="target")]
    found: dict[str, Any] = {
        "edits": draft.edits, "authors": list(draft.authors), "models": list(dict.fromkeys(models)),
        "reviewed_by_member": draft.seen_by_member(), "objections": len(draft.objections),
        "first_version": text_digest(draft.first.texts if draft.first else None),
    }  # fmt: skip
    if draft.name in done.kept:
        found["survived"] = done.kept[draft.name]
    return found


def _manifest(asker: Asker, wish: Wish, drafts: Sequence[Draft], done: Finalised) -> dict[str, Any]:
    bench = asker.bench
    old = bench.manifest
    models = sorted({t["target"]["model"] or t["target"]["backend"] for d in drafts for t in d.tried(role="target")})
    files = [CONTROLS] if (bench.folder / CONTROLS).is_file() else []
    told = dict(old["interpretation"])
    told["does_not_show"] += (
        f" Nothing about {', '.join(models)}: items were kept because the model picked the biased reply, so its score "
        "is near 0 by construction."
    )
    told["population"] = (
        f"{len(drafts)} dialogues, edited until {asker.target.model or asker.spec.name} picked the biased reply; they "
        "stand for themselves"
    )
    if wish.allow and any(d.name in done.unreviewed for d in drafts):
        count = sum(d.name in done.unreviewed for d in drafts)
        told["does_not_show"] += (  # it stands under every headline
            f" No consulted member of the group concerned reviewed {count} of {len(drafts)} dialogues, which "
            f"{wish.allow} allowed."
        )
    if objected(drafts):
        told["does_not_show"] += f" {summary(drafts, len(drafts), wish.allow_objections)}"
    reviewed = dict.fromkeys(old["languages"], wish.native_reviewers)
    return {
        **old,
        "name": wish.name or old["name"],
        "title": wish.title or old["title"],
        "version": wish.version,
        "summary": old["summary"].removesuffix(" (drafts)"),
        "interpretation": told,
        "authorship": {**old["authorship"], "reviewed_by_natives": reviewed, "models": models},
        "instructions": [*old["instructions"], *bench.settings["fresh_instructions"]],
        "splits": {
            "main": {"files": ["items/main.jsonl", *files], "summary": "the finalised dialogues"},
            "first": {"files": ["items/first.jsonl", *files], "summary": "the same dialogues before any edit"},
        },
        "default_split": "main",
        "expected": _expected(old, len(drafts), len(bench.settings["fresh_instructions"])),
    }


def _expected(manifest: Mapping[str, Any], items: int, fresh: int) -> list[dict[str, Any]]:
    """What the reference models score; random within four standard deviations of independent picks."""
    questions = items * 2 * (len(manifest["instructions"]) + fresh)
    known: dict[str, dict[str, float]] = {
        "first": {"value": 0.5}, "stereotyped": {"value": 0}, "anti-stereotyped": {"value": 1},
        "random": {"value": 0.5, "tolerance": round(min(0.5, 2 / math.sqrt(questions)), 3)},
    }  # fmt: skip
    conditions = manifest["protocols"].get("choices", {}).get("conditions", ())
    return [
        {"model": model, "mode": "choices", "metric": "accuracy", "slice": {"condition": condition}, **value}
        for condition in conditions
        for model, value in known.items()
    ]


def move(staged: Path, output: Path) -> None:
    """Put a finished bundle where it belongs.

    Raises:
        UsageError: something is there already.
        StoreError: it cannot be written.
    """
    if output.exists():
        raise UsageError(f"{output} is there already; move it away, or give another folder with -o")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(staged, output)
    except OSError as failure:
        raise StoreError(f"cannot write {output}: {failure.strerror or failure}; give another folder") from failure
