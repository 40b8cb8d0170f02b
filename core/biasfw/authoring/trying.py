"""A version of a draft is put to a model, and the log gets what it picked and what that means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasfw.authoring.asker import Asker
from biasfw.authoring.controls import control_warnings
from biasfw.authoring.drafts import MAIN, Draft, Version, seed_row
from biasfw.authoring.rules import AVERAGED, BIASED, Asked, Verdict, as_row, judge, over_tries, random_chance
from biasfw.errors import UsageError

NO_LOGPROBS = "no verdict: the rule order-averaged needs log-probabilities, and there were none (--mode choices)"


@dataclass(frozen=True, slots=True)
class Tried:
    """One try: what the log got, and what it means."""

    draft: str
    version: int
    model: str
    verdict: Verdict
    asked: tuple[Asked, ...]
    chance: float  # that a random picker is fooled in one try
    chance_over_tries: float
    tries: int  # versions tried on this target, this one included
    warnings: tuple[str, ...]


def try_version(
    asker: Asker, draft: Draft, version: Version | None = None, *, arm: str = MAIN, fresh: bool = False
) -> Tried:
    """Put one version of a draft (default: the newest) to the model, and write the try down.

    Raises:
        UsageError: the version was withdrawn, or a placebo edit would be shown to a target.
    """
    bench, version = asker.bench, version or draft.current
    if version.texts is None:
        raise UsageError(f"{draft.name} was withdrawn; there is nothing to ask")
    if arm != MAIN and asker.target.role == "target":
        raise UsageError("placebo edits are made without a model's answer; only held-out models are asked about them")
    instructions = bench.settings["fresh_instructions"] if fresh else bench.manifest["instructions"]
    warnings = control_warnings(asker)
    asked = asker.ask([seed_row(draft.name, version.texts)], instructions)
    rule = bench.settings["rule"]
    verdict = judge(rule, asked)
    if rule["use"] == AVERAGED and verdict.margin is None and verdict.answered:
        warnings.append(NO_LOGPROBS)
    warnings += [f"{n} of {len(asked)} questions got no answer" for n in [len(asked) - verdict.answered] if n]
    bench.log.append(
        "try", item=draft.name, version=version.number, arm=arm, target=asker.record(), rule=dict(rule),
        instructions="fresh" if fresh else "editing", verdict=verdict.word, margin=verdict.margin,
        asked=[as_row(each) for each in asked], warnings=warnings or None,
    )  # fmt: skip
    before = {
        t["version"] for t in draft.tried(role=asker.target.role, arm=arm)
        if t["target"]["fingerprint"] == asker.fingerprint
    }  # fmt: skip
    tries = len(before | {version.number})
    chance = random_chance(rule, len(instructions))
    model = asker.target.model or asker.spec.name
    return Tried(
        draft.name, version.number, model, verdict, tuple(asked), chance, over_tries(chance, tries), tries,
        tuple(warnings),
    )  # fmt: skip


def accuracy(asked: Sequence[Mapping[str, Any]]) -> float:
    """The share of all questions in which the unbiased reply was picked; not answered is not right."""
    return sum(row.get("pick") not in (None, BIASED) for row in asked) / len(asked)
