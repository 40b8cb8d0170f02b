"""The judging stage: stored responses become judgements; what is judged already is not judged again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from sys import intern

from biasfw.asking import Handle, Progress
from biasfw.contracts import Case
from biasfw.judgeasking import ask_models
from biasfw.papers import Desk
from biasfw.plan import Plan
from biasfw.records import Judgement, Outcome, Reading
from biasfw.scripts import FLAG, AnswerLanguages
from biasfw.sitting import ModelLeaf, Sitting, asking, close_stores, entries, fingerprints, open_stores, sit
from biasfw.store import RunDirectory


@dataclass(slots=True)
class Judged:
    """The judgements of a run, compact: request key -> readings in slot order; how often each flag was set.

    ``languages``: request key -> whether the answer is in the language asked for, as ``Table.answer_language`` says
    it; only where that was told.
    """

    slots: tuple[str, ...]
    judge: str = ""  # name and hash
    readings: dict[str, tuple[Reading, ...]] = field(default_factory=dict)
    flags: Counter[str] = field(default_factory=Counter)
    languages: dict[str, str] = field(default_factory=dict)

    def take(self, request_key: str, judgement: Judgement) -> None:
        """Add one judgement."""
        self.readings[request_key] = tuple(_shared(*_pair(judgement.slots[slot])) for slot in self.slots)
        self.flags.update(judgement.flags)
        for flag in judgement.flags:
            if flag.startswith(FLAG):
                self.languages[request_key] = intern(flag.removeprefix(FLAG))

    def outcome_counts(self, keys: Iterable[str]) -> dict[str, dict[str, int]]:
        """Slot -> outcome -> count over the requests ``keys``; a response that is not there counts as an error."""
        nothing = (_shared(Outcome.ERROR, None),) * len(self.slots)
        rows = [self.readings.get(key, nothing) for key in keys]
        return {
            slot: dict(sorted(Counter(str(row[index].outcome) for row in rows).items()))
            for index, slot in enumerate(self.slots)
        }


def _pair(reading: Reading) -> tuple[Outcome, str | None]:
    return reading.outcome, reading.value


@cache
def _shared(outcome: Outcome, value: str | None) -> Reading:
    """There are few different readings and many responses: share them."""
    return Reading(outcome, value)


def judge_responses(
    plan: Plan, directory: RunDirectory, handles: Sequence[Handle], progress: Progress, *, ask: bool = True
) -> Judged:
    """Judge the stored response of every given request; requests without a response are left out.

    Raises:
        UsageError: verdicts of a model are missing, and nothing may be asked.
    """
    sitting = sit(plan, directory.path, {} if ask else fingerprints(directory.info))
    desk = Desk(plan, directory, AnswerLanguages(plan.form, plan.packs))
    judged = Judged(tuple(slot.key for slot in plan.form.slots), sitting.name)
    try:
        directory.warnings += open_stores(sitting)
        known = entries(sitting, directory.info.get("judges", {}))
        if ask:
            directory.save(judges=known)
        ask_models(plan, directory, sitting, _unjudged(desk, sitting, handles), progress, may_ask=ask)
        directory.save(judges={**known, **directory.info.get("judges", {})}, judge=sitting.name)
        progress.start("judging", len(handles), 0)
        for paper in desk.papers(handles):
            judged.take(paper.handle.key, paper.verdict(sitting))
            progress.step("judged")
        progress.finish()
    finally:
        close_stores(sitting)
    return judged


def _unjudged(desk: Desk, sitting: Sitting, handles: Sequence[Handle]) -> Iterator[tuple[ModelLeaf, Case]]:
    """For every judge that asks a model: the responses on which it has no verdict yet."""
    leaves = list(asking(sitting))
    for paper in desk.papers(handles if leaves else ()):
        for leaf in leaves:
            if paper.key(leaf.name) not in leaf.store.index:
                yield leaf, paper.case(leaf)
