"""``author finalize``: accepted drafts that fooled the target are asked again, checked and frozen into a bundle."""

from __future__ import annotations

import os
import random
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from biasfw.authoring.asker import Asker
from biasfw.authoring.bench import Workbench
from biasfw.authoring.drafts import Draft, State, seed_row
from biasfw.authoring.files import workplace
from biasfw.authoring.freezing import Finalised, Wish, move, write_bundle
from biasfw.authoring.limits import conformance, over_limits
from biasfw.authoring.objecting import objection_lines
from biasfw.authoring.rules import from_row, judge
from biasfw.authoring.trying import try_version
from biasfw.errors import BiasfwError, UsageError


class RefusedError(BiasfwError):
    """The drafts cannot be finalised; ``reasons`` is the list."""

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = list(reasons)
        super().__init__(f"nothing was finalised: {'; '.join(self.reasons)}")


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
    unreviewed = tuple(draft.name for draft in chosen if not draft.seen_by_member())
    reasons = over_limits(items, bench.settings.get("limits", {}), asker.plugins)
    if unreviewed and not wish.allow:
        reasons.append(
            f"review: no consulted member of the group reviewed {', '.join(unreviewed)}; have them reviewed, or give "
            "--allow NAME, which is then printed in the datasheet and every report"
        )
    objections = [line for draft in chosen for line in objection_lines(draft)]
    if objections and not wish.allow_objections:
        reasons += [f"objection: {line}" for line in objections]
        reasons.append(
            "objections: reject these drafts, or change them and have the same people agree; or give "
            "--allow-objections NAME, which is then printed with the reasons in the datasheet and every report"
        )
    held = _held_out(chosen, wish)
    done = Finalised(output, held_out=held, left_out=left, unreviewed=unreviewed)
    done.objections = objections
    done.instructions = len(bench.settings["fresh_instructions"])
    with workplace(bench.folder, "staging") as place:
        staged = place / "main"
        write_bundle(asker, wish, chosen, done, staged)  # first without what the fresh instructions say: for the checks
        reasons += conformance(staged, asker.plugins)
        if reasons:
            raise RefusedError(reasons)
        for draft in chosen:
            done.kept[draft.name] = try_version(asker, draft, fresh=True).verdict.word == "fooled"
        shutil.rmtree(staged)
        write_bundle(asker, wish, [d for d in chosen if d.name not in held], done, staged)
        move(staged, output)
        if held:
            done.holdout = output.with_name(f"{output.name}-holdout")
            write_bundle(asker, wish, [d for d in chosen if d.name in held], done, place / "holdout")
            move(place / "holdout", done.holdout)
    for folder, names in ((done.folder, set(done.kept) - set(held)), (done.holdout, set(held))):
        if folder is not None and names:
            bench.log.append(
                "final", folder=os.path.relpath(folder, bench.folder), items=sorted(names),
                survived=sum(done.kept[name] for name in names), allowed_by=wish.allow,
                objections_allowed_by=wish.allow_objections if objections else None,
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
