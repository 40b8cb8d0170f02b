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
from biasfw.keys import canonical, sha256_json, sha256_text
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
    return _judgement_key(judge, _content(response))


def _content(response: Response) -> str:
    """The canonical list of everything but the judge that makes the key of a judgement."""
    scores = [[score.key, score.sum] for score in response.choice_logprobs]
    return canonical([response.key, response.text, scores, response.error is not None])


def _judgement_key(judge: str, content: str) -> str:
    return sha256_text(f"[{canonical(judge)},{content[1:]}")


def read(response: Response, item: Item, form: Form, parser: Parser | None) -> Answer:
    """The answer in a response: from its scores, or from its text by the parser."""
    if response.error is not None:
        return Answer({slot.key: Reading(Outcome.ERROR) for slot in form.slots})
    if response.choice_logprobs:
        return read_choices(response, form)
    if response.finish_reason in ("content_filter", "refusal"):  # said by the server, not in the text
        return Answer({slot.key: Reading(Outcome.REFUSED) for slot in form.slots}, (response.finish_reason,))
    if parser is None:
        raise AssertionError("a text response needs a parser")
    answer = parser.parse(
        response.text or "", language=item.language, condition=item.condition, finish_reason=response.finish_reason
    )
    return _option_of(answer, item, form) if form.task != "labels" and item.order else answer


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
    """What all responses need: the plan, the stored requests, and what was built once."""

    plan: Plan
    directory: RunDirectory
    languages: AnswerLanguages
    parsers: dict[str, Parser] = field(default_factory=dict)

    def parser(self, name: str) -> Parser:
        """The parser ``name``, built once."""
        if name not in self.parsers:
            self.parsers[name] = self.plan.make_parser(name)
        return self.parsers[name]

    def papers(self, handles: Iterable[Handle]) -> Iterator[_Paper]:
        """The stored responses, one by one."""
        for handle in handles:
            response = self.directory.answered(handle.key)
            if response is not None:
                yield _Paper(self, handle, self.plan.items[handle.item_id], response)


@dataclass(slots=True)
class _Paper:
    """One response to be judged. What several judges need of it is made once, and only if it is needed."""

    desk: _Desk
    handle: Handle
    item: Item
    response: Response
    answers: dict[str, Answer] = field(default_factory=dict)
    _request: Request | None = None
    _written: tuple[str, ...] | None = None  # flags of the language it is written in
    _content: str = ""

    def key(self, judge: str) -> str:
        """``judgement_key``."""
        if not self._content:
            self._content = _content(self.response)
        return _judgement_key(judge, self._content)

    def case(self, sitting: Sitting) -> Case:
        """The response with what led to it, as ``sitting`` sees it."""
        name = sitting.seat.parser or self.desk.plan.protocol.parser
        if self._request is None:
            self._request = decode(Request, self.desk.directory.requests.read(self.response.key))
        if name not in self.answers:
            self.answers[name] = self._read(name)
        return Case(self.item, self._request, self.response, self.answers[name])

    def _read(self, parser: str) -> Answer:
        item = self.item
        answer = read(self.response, item, self.desk.plan.form, self.desk.parser(parser))
        if self._written is None:
            self._written = self.desk.languages.flags(self.response.text or "", item.language, item.condition)
        return replace(answer, flags=(*answer.flags, *self._written)) if self._written else answer

    def verdict(self, sitting: Sitting) -> Judgement:
        """The stored verdict, else a new one; it is stored unless a model failed that may answer next time."""
        key = self._stored_key(sitting)
        if key is not None:
            return decode(Judgement, sitting.store.read(key))
        return self._combined(sitting) if isinstance(sitting, Bench) else self._own(sitting)

    def _stored_key(self, sitting: Sitting) -> str | None:
        """The key of the stored verdict; None if there is none, or one that was made before all votes were there."""
        if isinstance(sitting, Bench):
            votes = {member.seat.name: self._stored_key(member) for member in sitting.members}
            if None in votes.values():
                return None
            key = sha256_json([sitting.name, votes])
        else:
            key = self.key(sitting.name)
        return key if key in sitting.store.index else None

    def _own(self, leaf: Leaf) -> Judgement:
        case = self.case(leaf)
        return self._kept(leaf, self.key(leaf.name), _judged(leaf, case), case.answer.flags)

    def _combined(self, bench: Bench) -> Judgement:
        """What the members say together. The key tells which votes were there, so that it is made anew with more."""
        votes = {member.seat.name: self.verdict(member) for member in bench.members}
        there = {
            member.seat.name: key if (key := votes[member.seat.name].key) in member.store.index else None
            for member in bench.members
        }
        key = sha256_json([bench.name, there])
        if key in bench.store.index:
            return decode(Judgement, bench.store.read(key))
        return self._kept(bench, key, bench.panel.combine(votes), [f for vote in votes.values() for f in vote.flags])

    def _kept(self, sitting: Sitting, key: str, verdict: Judgement, flags: Iterable[str]) -> Judgement:
        written = [flag for flag in flags if flag.startswith(FLAG)]  # a judge may not hand on the answer's
        together = tuple(dict.fromkeys((*verdict.flags, *written)))
        judgement = replace(verdict, key=key, response_key=self.response.key, flags=together)
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


def _unjudged(desk: _Desk, sitting: Sitting, handles: Sequence[Handle]) -> Iterator[tuple[ModelLeaf, Case]]:
    """For every judge that asks a model: the responses on which it has no verdict yet."""
    leaves = list(asking(sitting))
    for paper in desk.papers(handles if leaves else ()):
        for leaf in leaves:
            if paper.key(leaf.name) not in leaf.store.index:
                yield leaf, paper.case(leaf)
