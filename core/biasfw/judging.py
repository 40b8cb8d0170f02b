"""The judging stage: stored responses become judgements; what is judged already is not judged again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from sys import intern

from biasfw.asking import Handle, Progress
from biasfw.choices import read_choices
from biasfw.codec import decode, encode
from biasfw.contracts import Case, Parser
from biasfw.form import Form
from biasfw.judgeasking import ask_models
from biasfw.keys import sha256_json
from biasfw.plan import Plan
from biasfw.records import Answer, Item, Judgement, Outcome, Reading, Request, Response, ResponseError
from biasfw.scripts import FLAG, AnswerLanguages
from biasfw.sitting import (
    Bench,
    Leaf,
    ModelLeaf,
    Sitting,
    asking,
    close_stores,
    entries,
    fingerprints,
    open_stores,
    questions,
    sit,
)
from biasfw.store import RunDirectory


def judgement_key(judge: str, response: Response) -> str:
    """Hash of judge, response key and what the response says."""
    scores = [[score.key, score.sum] for score in response.choice_logprobs]
    return sha256_json([judge, response.key, response.text, scores, response.error is not None])


def read(response: Response, item: Item, form: Form, parser: Parser | None) -> Answer:
    """The answer in a response: from its scores, or from its text by the parser."""
    if response.error is not None:
        return Answer({slot.key: Reading(Outcome.ERROR) for slot in form.slots})
    if response.choice_logprobs:
        return read_choices(response, form)
    if response.finish_reason == "content_filter":
        return Answer({slot.key: Reading(Outcome.REFUSED) for slot in form.slots}, ("content_filter",))
    if parser is None:
        raise AssertionError("a text response needs a parser")
    answer = parser.parse(
        response.text or "", language=item.language, condition=item.condition, finish_reason=response.finish_reason
    )
    return _option_of(answer, item, form) if form.task == "choice" and item.order else answer


def _option_of(answer: Answer, item: Item, form: Form) -> Answer:
    """A parser reads letters; what counts is the option that a letter stands for in this item."""
    places = {label.key: place for place, label in enumerate(form.labels)}
    slots, flags = {}, list(answer.flags)
    for slot, reading in answer.slots.items():
        place = places.get(reading.value or "", -1)
        if reading.value is None or reading.outcome is not Outcome.ANSWERED:
            slots[slot] = reading
        elif 0 <= place < len(item.order):
            slots[slot] = Reading(Outcome.ANSWERED, item.order[place])
        else:
            slots[slot] = Reading(Outcome.UNPARSED)
            flags.append("not_an_option")
    return Answer(slots, tuple(flags))


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


@dataclass(slots=True)
class _Desk:
    """Judges one response after another; what several judges need of a response is made once."""

    plan: Plan
    directory: RunDirectory
    languages: AnswerLanguages
    parsers: dict[str, Parser] = field(default_factory=dict)

    def case(self, handle: Handle, response: Response, sitting: Sitting) -> Case:
        """The response with what led to it, as ``sitting`` sees it."""
        item = self.plan.items[handle.item_id]
        request = decode(Request, self.directory.requests.read(handle.key))
        answer = read(response, item, self.plan.form, self._parser(sitting.seat.parser or self.plan.protocol.parser))
        written = self.languages.flags(response.text or "", item.language, item.condition)
        return Case(item, request, response, replace(answer, flags=(*answer.flags, *written)))

    def _parser(self, name: str) -> Parser:
        if name not in self.parsers:
            self.parsers[name] = self.plan.make_parser(name)
        return self.parsers[name]

    def verdict(self, sitting: Sitting, handle: Handle, response: Response) -> Judgement:
        """The stored verdict, else a new one; it is stored unless a model failed that may answer next time."""
        votes: dict[str, Judgement] = {}
        if isinstance(sitting, Bench):
            votes = {member.seat.name: self.verdict(member, handle, response) for member in sitting.members}
            key = sha256_json([sitting.name, {name: vote.key for name, vote in votes.items()}])
        else:
            key = judgement_key(sitting.name, response)
        if key in sitting.store.index:
            return decode(Judgement, sitting.store.read(key))
        if isinstance(sitting, Bench):
            verdict = sitting.panel.combine(votes)
            flags = [flag for vote in votes.values() for flag in vote.flags]
        else:
            case = self.case(handle, response, sitting)
            verdict, flags = _judged(sitting, case), list(case.answer.flags)
        written = [flag for flag in flags if flag.startswith(FLAG)]  # a judge may not hand on the answer's
        judgement = replace(
            verdict, key=key, response_key=response.key, flags=tuple(dict.fromkeys((*verdict.flags, *written)))
        )
        if not any(reading.outcome is Outcome.JUDGE_ERROR for reading in judgement.slots.values()):
            sitting.store.append(key, encode(judgement))
        return judgement


def _judged(sitting: Leaf, case: Case) -> Judgement:
    if not isinstance(sitting, ModelLeaf):
        return sitting.judge.judge(case, ())
    return sitting.judge.judge(case, [_answer(sitting, request) for request in questions(sitting, case)])


def _answer(sitting: ModelLeaf, request: Request) -> Response:
    for file in (sitting.answers.responses, sitting.answers.failures):
        if request.key in file.index:
            return decode(Response, file.read(request.key))
    return Response(request.key, error=ResponseError("not_asked", "the judge's model was not asked"))


def judge_responses(
    plan: Plan, directory: RunDirectory, handles: Sequence[Handle], progress: Progress, *, ask: bool = True
) -> Judged:
    """Judge the stored response of every given request; requests without a response are left out.

    Raises:
        UsageError: verdicts of a model are missing, and nothing may be asked.
    """
    sitting = sit(plan, directory.path, {} if ask else fingerprints(directory.info))
    desk = _Desk(plan, directory, AnswerLanguages(plan.form, plan.packs))
    judged = Judged(tuple(slot.key for slot in plan.form.slots), sitting.name)
    try:
        directory.warnings += open_stores(sitting)
        directory.save(judges={**directory.info.get("judges", {}), **entries(sitting)}, judge=sitting.name)
        cases = _unjudged(desk, sitting, handles, directory)
        ask_models(plan, directory, sitting, cases, progress, may_ask=ask)
        progress.start("judging", len(handles), 0)
        for handle in handles:
            response = directory.answered(handle.key)
            if response is not None:
                judged.take(handle.key, desk.verdict(sitting, handle, response))
                progress.step("judged")
        progress.finish()
    finally:
        close_stores(sitting)
    return judged


def _unjudged(
    desk: _Desk, sitting: Sitting, handles: Sequence[Handle], directory: RunDirectory
) -> Iterator[tuple[ModelLeaf, Case]]:
    """For every judge that asks a model: the responses on which it has no verdict yet."""
    for leaf in asking(sitting):
        for handle in handles:
            response = directory.answered(handle.key)
            if response is not None and judgement_key(leaf.name, response) not in leaf.store.index:
                yield leaf, desk.case(handle, response, leaf)
