"""The judging stage: stored responses become judgements; what is judged already is not judged again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from sys import intern

from biasfw.asking import Handle, Progress
from biasfw.choices import read_choices
from biasfw.codec import decode, encode
from biasfw.contracts import Case, Parser
from biasfw.form import Form
from biasfw.keys import sha256_json
from biasfw.plan import Plan
from biasfw.records import Answer, Item, Judgement, Outcome, Reading, Request, Response
from biasfw.scripts import FLAG, AnswerLanguages
from biasfw.store import RunDirectory


def judge_name(plan: Plan) -> str:
    """``<judge>-<hash8>``: the hash covers judge, parser, their versions, the answer form and the language packs."""
    covered = [
        plan.judge.spec.name,
        plan.judge.plugin.origin,
        plan.parser.spec.name,
        plan.parser.plugin.origin,
        plan.protocol.mode,
        encode(plan.form),
        {tag: encode(replace(pack, fixtures=())) for tag, pack in plan.packs.items()},
    ]
    return f"{plan.judge.spec.name}-{sha256_json(covered)[:8]}"


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


def judge_responses(plan: Plan, directory: RunDirectory, handles: Sequence[Handle], progress: Progress) -> Judged:
    """Judge the stored response of every given request; requests without a response are left out."""
    name = judge_name(plan)
    judge, parser = plan.make_judge(), plan.make_parser()
    languages = AnswerLanguages(plan.form, plan.packs)
    judged = Judged(tuple(slot.key for slot in plan.form.slots))
    with directory.judgements(name) as store:
        directory.warnings += store.repairs
        progress.start("judging", len(handles), 0)
        for handle in handles:
            response = directory.answered(handle.key)
            if response is None:
                continue
            key = judgement_key(name, response)
            if key in store.index:
                judgement = decode(Judgement, store.read(key))
            else:
                item, request = plan.items[handle.item_id], decode(Request, directory.requests.read(handle.key))
                written = languages.flags(response.text or "", item.language, item.condition)
                answer = read(response, item, plan.form, parser)
                answer = replace(answer, flags=(*answer.flags, *written))
                verdict = judge.judge(Case(item, request, response, answer), ())
                flags = tuple(dict.fromkeys((*verdict.flags, *written)))  # a judge may not hand on the answer's
                judgement = replace(verdict, key=key, response_key=response.key, flags=flags)
                store.append(key, encode(judgement))
            judged.take(handle.key, judgement)
            progress.step("judged")
        progress.finish()
    return judged
