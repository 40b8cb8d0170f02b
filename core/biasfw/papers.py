"""One response on the desk of the judges: read once, judged by each of them, and their verdicts stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from biasfw.asking import Handle
from biasfw.codec import decode, encode
from biasfw.contracts import Case, Parser
from biasfw.errors import BiasfwError
from biasfw.keys import canonical, sha256_json, sha256_text
from biasfw.plan import Plan
from biasfw.reading import read
from biasfw.records import Answer, Item, Judgement, Outcome, Request, Response, ResponseError
from biasfw.scripts import FLAG, AnswerLanguages
from biasfw.sitting import Bench, Leaf, ModelLeaf, Sitting, questions
from biasfw.store import RunDirectory

MEMBER_FAILED = "member_failed"  # a panel decided without the vote of a member whose model failed


@dataclass(slots=True)
class Desk:
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

    def papers(self, handles: Iterable[Handle]) -> Iterator[Paper]:
        """The stored responses, one by one."""
        for handle in handles:
            response = self.directory.answered(handle.key)
            if response is not None:
                yield Paper(self, handle, self.plan.items[handle.item_id], response)


@dataclass(slots=True)
class Paper:
    """One response to be judged. What several judges need of it is made once, and only if it is needed."""

    desk: Desk
    handle: Handle
    item: Item
    response: Response
    answers: dict[str, Answer] = field(default_factory=dict)
    _request: Request | None = None
    _written: tuple[str, ...] | None = None  # flags of the language it is written in
    _content: str = ""

    def key(self, judge: str) -> str:
        """Hash of judge, response key and what the response says."""
        if not self._content:
            response = self.response
            scores = [[score.key, score.sum] for score in response.choice_logprobs]
            self._content = canonical([response.key, response.text, scores, response.error is not None])
        return sha256_text(f"[{canonical(judge)},{self._content[1:]}")  # as sha256_json([judge, response.key, ...])

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
        verdict = bench.panel.combine(votes)
        if any(reading.outcome is Outcome.JUDGE_ERROR for vote in votes.values() for reading in vote.slots.values()):
            verdict = replace(verdict, flags=(*verdict.flags, MEMBER_FAILED))
        return self._kept(bench, key, verdict, [f for vote in votes.values() for f in vote.flags])

    def _kept(self, sitting: Sitting, key: str, verdict: Judgement, flags: Iterable[str]) -> Judgement:
        if lacking := [slot.key for slot in self.desk.plan.form.slots if slot.key not in verdict.slots]:
            name = sitting.seat.component.spec.name
            raise BiasfwError(f"judge {name} said nothing of {', '.join(lacking)}; report this bug to its author")
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
