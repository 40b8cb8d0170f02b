"""``author finalize``: accepted drafts that fooled the target are asked again, checked and frozen into a bundle."""

from __future__ import annotations

import math
import os
import random
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasfw.authoring.bench import CONTROLS, Workbench, text_digest, write_rows
from biasfw.authoring.datasheet import datasheet
from biasfw.authoring.drafts import MAIN, Draft, State, seed_row
from biasfw.authoring.limits import conformance, over_limits
from biasfw.authoring.rules import judge
from biasfw.authoring.starting import json_manifest
from biasfw.authoring.trying import Asker, from_row, try_version
from biasfw.errors import BiasfwError, StoreError, UsageError


class RefusedError(BiasfwError):
    """The drafts cannot be finalised; ``reasons`` is the list."""

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = list(reasons)
        super().__init__(f"nothing was finalised: {'; '.join(self.reasons)}")


@dataclass(frozen=True, slots=True)
class Wish:
    """What finalize was told. ``allow``: who answers for items that no member of the group reviewed."""

    output: Path | None = None
    name: str | None = None
    title: str | None = None
    version: str = "1.0.0"
    holdout: float = 0.0
    allow: str | None = None
    native_reviewers: int = 0
    seed: int = 0


@dataclass(slots=True)
class Finalised:
    """What was frozen."""

    folder: Path
    kept: dict[str, bool] = field(default_factory=dict)  # item -> whether it survives the fresh instructions
    held_out: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)  # draft -> why
    unreviewed: tuple[str, ...] = ()
    holdout: Path | None = None
    instructions: int = 0


def choose(bench: Workbench, asker: Asker, state: State) -> tuple[list[Draft], dict[str, str]]:
    """The drafts that can be finalised, and why the others cannot."""
    chosen, left = [], {}
    for draft in state.drafts.values():
        why = _why_not(draft, bench.settings["rule"], asker.fingerprint)
        if why:
            left[draft.name] = why
        else:
            chosen.append(draft)
    return chosen, left


def _why_not(draft: Draft, rule: Mapping[str, Any], fingerprint: str) -> str:
    if draft.status != "accepted":
        reason = f": {draft.decision['reason']}" if draft.status == "rejected" and draft.decision else ""
        return f"{draft.status}{reason}"
    tries = draft.tried(role="target", version=draft.current.number)
    tries = [t for t in tries if t["target"]["fingerprint"] == fingerprint]
    if not tries:
        return "not tried on this target in its newest version"
    word = judge(rule, [from_row(row) for row in tries[-1]["asked"]]).word
    return {"fooled": "", "not_fooled": "did not fool the target", "locked": "the target is locked on a position",
            "not_answered": "the target did not answer"}[word]  # fmt: skip


def finalize(asker: Asker, wish: Wish) -> Finalised:
    """Freeze what can be frozen.

    Raises:
        RefusedError: nothing can be frozen, a limit or check fails, or reviews are missing; with the list.
        UsageError: the output is there already, or the hold-out share leaves nothing.
    """
    bench = asker.bench
    output = wish.output or bench.folder / "final"
    if output.exists():
        raise UsageError(f"{output} is there already; move it away, or give another folder with -o")
    state = bench.state()
    if state.live:
        texts = state.live[0].current.texts or {}
        asker.identify([seed_row(state.live[0].name, texts)])
    chosen, left = choose(bench, asker, state)
    if not chosen:
        raise RefusedError(_nothing(left, bench.settings["rule"]))
    items = {draft.name: dict(draft.current.texts or {}) for draft in chosen}
    unreviewed = tuple(draft.name for draft in chosen if not draft.reviewed_by_member())
    reasons = over_limits(items, bench.settings.get("limits", {}), asker.plugins)
    if unreviewed and not wish.allow:
        reasons.append(
            f"review: no consulted member of the group reviewed {', '.join(unreviewed)}; have them reviewed, or give "
            "--allow NAME, which is then printed in the datasheet and every report"
        )
    held = _held_out(chosen, wish)
    done = Finalised(output, held_out=held, left_out=left, unreviewed=unreviewed)
    done.instructions = len(bench.settings["fresh_instructions"])
    with tempfile.TemporaryDirectory(prefix=".staging-", dir=bench.folder) as place:
        staged = Path(place) / "main"
        _write(asker, wish, chosen, done, staged)  # first without what the fresh instructions say: for the checks
        reasons += conformance(staged, asker.plugins)
        if reasons:
            raise RefusedError(reasons)
        for draft in chosen:
            done.kept[draft.name] = try_version(asker, draft, fresh=True).verdict.word == "fooled"
        shutil.rmtree(staged)
        _write(asker, wish, [d for d in chosen if d.name not in held], done, staged)
        _move(staged, output)
        if held:
            done.holdout = output.with_name(f"{output.name}-holdout")
            _write(asker, wish, [d for d in chosen if d.name in held], done, Path(place) / "holdout")
            _move(Path(place) / "holdout", done.holdout)
    for folder, names in ((done.folder, set(done.kept) - set(held)), (done.holdout, set(held))):
        if folder is not None and names:
            bench.log.append(
                "final", folder=os.path.relpath(folder, bench.folder), items=sorted(names),
                survived=sum(done.kept[name] for name in names), allowed_by=wish.allow,
            )  # fmt: skip
    return done


def _nothing(left: Mapping[str, str], rule: Mapping[str, Any]) -> list[str]:
    locked = [name for name, why in left.items() if "locked" in why]
    if locked:
        return [
            f"position-locked: in {len(locked)} of {len(left)} drafts the target picks the same position whatever "
            f"stands there, so nothing can be finalised under the rule {rule['use']}; take another target, or the rule "
            "order-averaged (workbench.yaml)"
        ]
    return [f"{name}: {why}" for name, why in left.items()] or ["there are no drafts"]


def _held_out(chosen: Sequence[Draft], wish: Wish) -> tuple[str, ...]:
    """A share of every category, drawn at random; none where it would leave a category empty."""
    if not 0 <= wish.holdout < 1:
        raise UsageError("--holdout is a share from 0 up to below 1, such as 0.2")
    by_category: dict[str, list[str]] = defaultdict(list)
    for draft in chosen:
        by_category[draft.category].append(draft.name)
    drawn = random.Random(wish.seed)  # noqa: S311 - a split, no secret
    wanted = round(wish.holdout * len(chosen))
    names: list[str] = []
    queues = [drawn.sample(sorted(found), len(found) - 1) for found in by_category.values() if len(found) > 1]
    while len(names) < wanted and any(queues):
        fullest = max(queues, key=len)
        names.append(fullest.pop())
    if len(names) < wanted:
        raise UsageError(
            f"--holdout {wish.holdout:g} of {len(chosen)} items would leave a category empty; "
            f"at most {len(names)} can be held out"
        )
    return tuple(sorted(names))


def _write(asker: Asker, wish: Wish, drafts: Sequence[Draft], done: Finalised, folder: Path) -> None:
    """A bundle of the newest versions (split main) and the first ones (split first)."""
    bench = asker.bench
    folder.mkdir()
    manifest = _manifest(asker, wish, drafts, done)
    (folder / "benchmark.yaml").write_text(json_manifest(manifest), encoding="utf-8")
    kept = [seed_row(d.name, d.current.texts or {}, _provenance(d, done)) for d in drafts]
    first = [seed_row(d.name, v.texts, {"authors": [v.by]}) for d in drafts if (v := d.versions[MAIN][0]).texts]
    write_rows(folder / "items/main.jsonl", kept)
    write_rows(folder / "items/first.jsonl", first)
    if (bench.folder / CONTROLS).is_file():
        shutil.copy(bench.folder / CONTROLS, folder / CONTROLS)
    (folder / "DATASHEET.md").write_text(datasheet(manifest, bench, drafts, done, wish.allow), encoding="utf-8")


def _provenance(draft: Draft, done: Finalised) -> dict[str, Any]:
    models = [t["target"]["model"] or t["target"]["backend"] for t in draft.tried(role="target")]
    found: dict[str, Any] = {
        "edits": draft.edits, "authors": list(draft.authors), "models": list(dict.fromkeys(models)),
        "reviewed_by_member": draft.reviewed_by_member(), "first_version": text_digest(draft.versions[MAIN][0].texts),
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
        told["norms"] += (
            f"; no consulted member of the group concerned reviewed {count} of {len(drafts)} dialogues, which "
            f"{wish.allow} allowed"
        )
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


def _move(staged: Path, output: Path) -> None:
    if output.exists():
        raise UsageError(f"{output} is there already; move it away, or give another folder with -o")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(staged, output)
    except OSError as failure:
        raise StoreError(f"cannot write {output}: {failure.strerror or failure}; give another folder") from failure
