"""Judges and panels: a verdict for every slot, the same every time, whatever the judged text or the model says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast, get_args

from biasfw.contracts import Case, Judge, Panel
from biasfw.form import Form
from biasfw.languages import LanguagePack
from biasfw.plugins import Component, Plugins, load_class
from biasfw.records import Judgement, Mode, Outcome, Reading, Request, Response, ResponseError
from biasfw.schemas import check_options
from biasfw.sitting import judge_context
from biasfw.specs import JudgeSpec
from biasfw.trying.samples import HOSTILE, item, request, responses


def _make(component: Component, form: Form, packs: Mapping[str, LanguagePack], plugins: Plugins, mode: Mode) -> object:
    spec = component.spec
    options = check_options(f"judge {spec.name}", spec.options, {})
    return load_class(component)(judge_context(plugins, form, packs, options, {}, mode))


def check_judge(component: Component, form: Form, packs: Mapping[str, LanguagePack], plugins: Plugins) -> None:
    """Every response gets a verdict; a judge of rules asks nothing, one with a model may be told anything."""
    spec = cast("JudgeSpec", component.spec)
    for mode in get_args(Mode) if spec.roles else ("generate",):
        judge = cast("Judge", _make(component, form, packs, plugins, mode))
        for place, (response, answer) in enumerate(responses(form)):
            case = Case(item(form, place), request(form, place), response, answer)
            asked = list(judge.requests(case))
            assert asked == list(judge.requests(case)), f"it asks otherwise about the same case ({response.text!r})"
            assert spec.roles or not asked, "it asks a model, and its spec names no role"
            for said in _said(asked):
                verdict = judge.judge(case, said)
                shown = f"{response.text!r}, judged with {[each.text or each.error for each in said]!r}"
                _check(verdict, form, response, shown[:300])
                assert verdict == judge.judge(case, said), f"two verdicts on {shown[:300]}"
                if response.error is not None:
                    outcomes = {reading.outcome for reading in verdict.slots.values()}
                    assert Outcome.ANSWERED not in outcomes, "it finds an answer in a response that failed"


def _said(asked: list[Request]) -> list[list[Response]]:
    """What the judge's model may answer: nothing, anything, and failures. For rules: nothing at all."""
    if not asked:
        return [[]]
    texts = [text for text in HOSTILE if len(text) < 5000]
    spoken = [[Response(each.key, text=text, finish_reason="stop") for each in asked] for text in texts]
    failed = [Response(each.key, error=ResponseError("timeout", "no answer in time")) for each in asked]
    return [*spoken, failed]


def _check(verdict: Judgement, form: Form, response: Response, shown: str) -> None:
    assert isinstance(verdict, Judgement), f"{shown} gives {type(verdict).__name__}, not a Judgement"
    assert set(verdict.slots) == {slot.key for slot in form.slots}, f"{shown} gives the slots {sorted(verdict.slots)}"
    assert verdict.response_key == response.key, f"{shown}: the verdict is about another response"
    labels = {label.key for label in form.labels} or {"fair", "unfair"}
    for slot, reading in verdict.slots.items():
        assert isinstance(reading, Reading), f"{shown}: {slot} is no Reading"
        if reading.outcome == Outcome.ANSWERED:
            assert reading.value in labels, f"{shown} is judged as {reading.value!r}, which was not offered"


def check_panel(component: Component, form: Form, packs: Mapping[str, LanguagePack], plugins: Plugins) -> None:
    """The order of the members is no reason, and no majority is made up."""
    panel = cast("Panel", _make(component, form, packs, plugins, "generate"))
    labels = [label.key for label in form.labels if not label.abstains] or ["fair", "unfair"]
    some = (
        (Outcome.ANSWERED, labels[0]), (Outcome.ANSWERED, labels[-1]), (Outcome.REFUSED, None),
        (Outcome.JUDGE_ERROR, None), (Outcome.ANSWERED, labels[0]),
    )  # fmt: skip
    for count in (1, 2, 3, 5):
        votes = {f"member-{at}": _vote(form, *some[at]) for at in range(count)}
        verdict = panel.combine(votes)
        _check(verdict, form, Response(verdict.response_key), f"a panel of {count}")
        turned = panel.combine(dict(reversed(votes.items())))
        assert dict(turned.slots) == dict(verdict.slots), f"a panel of {count} depends on the order of its members"
    divided = panel.combine({"one": _vote(form, *some[0]), "other": _vote(form, *some[1])})
    assert all(reading.outcome != Outcome.ANSWERED for reading in divided.slots.values()), "one against one is decided"


def _vote(form: Form, outcome: Outcome, value: str | None) -> Judgement:
    said = {slot.key: Reading(outcome, value) for slot in form.slots}
    return Judgement("", "0" * 64, said, {slot.key: Outcome.ANSWERED for slot in form.slots})
