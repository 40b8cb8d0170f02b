"""The judge ``llm``: a model says which of a closed list of labels a response gives."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from biasfw import (
    Case,
    ChoiceText,
    ComponentContext,
    Judgement,
    Message,
    Outcome,
    Parser,
    Reading,
    Request,
    Response,
    Sampling,
    sha256_text,
)
from biasfw_plugins.judges._form import REFUSED, UNCLEAR, JudgeForm, forms
from biasfw_plugins.judges._prompts import Part, Render, prompts
from biasfw_plugins.judges._views import body

DISAGREES = "judge_disagrees"  # with what the parser read; an obedient judge shows here


@dataclass(frozen=True, slots=True)
class _Kit:
    """What is needed to judge responses in one language under one condition."""

    form: JudgeForm
    parser: Parser
    prompts: Mapping[Part, Render]


class Llm:
    """Asks for one line per slot, or (mode ``choices``) for one label per slot, and reads the last verdict.

    The judged text stands between marker lines that it cannot contain. What is not on the list is ``judge_unparsed``;
    ``unclear`` abstains. A response that failed or has no text is not shown to the model.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._context = context
        self._kit = cache(self._make_kit)

    def _make_kit(self, language: str, condition: str) -> _Kit:
        form = forms(self._context, language, condition)
        if self._context.parsers is None:
            raise ValueError("the judge llm needs a context with parsers")
        parser = self._context.parsers("labelled_lines", form.form, {"take": "last"})
        return _Kit(form, parser, prompts(self._context, language))

    def requests(self, case: Case) -> Sequence[Request]:
        if case.response.error is not None or not self._seen(case).strip():
            return ()
        kit = self._kit(case.item.language, case.item.condition)
        if self._context.mode == "generate":
            return (self._request(case, kit, kit.form.slots),)
        return tuple(self._request(case, kit, (slot,)) for slot in kit.form.slots)

    def _seen(self, case: Case) -> str:
        """What the model sees of the response."""
        text = case.response.text or ""
        return text if self._context.options["view"] == "full" else body(text, self._context, case.item)

    def _request(self, case: Case, kit: _Kit, slots: Sequence[str]) -> Request:
        form = kit.form
        variables = self._variables(case, form, slots)
        messages = [Message(part, render(variables)) for part, render in kit.prompts.items()]
        choices: tuple[ChoiceText, ...] = ()
        if self._context.mode == "choices":
            choices = tuple(ChoiceText(key, name + "\n") for key, name in form.displayed(case.item).items())
        sampling = Sampling(max_tokens=int(self._context.options["max_tokens"])) if not choices else Sampling()
        return Request(
            key="",
            item_id=case.item.id,
            sampling=sampling,
            messages=tuple(messages),
            choices=choices,
            repeat=case.request.repeat,
            references=self._references(case, form, slots),
        )

    def _variables(self, case: Case, form: JudgeForm, slots: Sequence[str]) -> dict[str, object]:
        text = self._seen(case)
        mark = sha256_text(text)[:12]
        pack = self._context.pack(case.item.language)
        return {
            "language": pack.name if pack is not None else case.item.language,
            "slots": [{"header": form.headers[slot]} for slot in slots],
            "labels": form.labels(case.item),
            "options": form.options(case.item),
            "form": "\n".join(f"{form.headers[slot]}: [name]" for slot in slots),
            "single": self._context.mode == "choices",
            "begin": f"<<<TEXT {mark}>>>",
            "end": f"<<<END {mark}>>>",
            "text": text.replace(mark, ""),
        }

    def _references(self, case: Case, form: JudgeForm, slots: Sequence[str]) -> dict[str, str]:
        """What reference models say as judges: the first labels of the list, random ones, or a refusal."""
        names = {key: name for key, name in form.displayed(case.item).items() if key not in (UNCLEAR, REFUSED)}
        keys = list(names)
        drawn = random.Random(sha256_text(case.response.key))  # noqa: S311 - not for secrets
        if self._context.mode == "choices":
            return {"first": keys[0], "random": drawn.choice(keys), "refuses": ""}
        picked = drawn.sample(keys, min(len(slots), len(keys)))
        first = [f"{form.headers[slot]}: {names[key]}" for slot, key in zip(slots, keys, strict=False)]
        random_ = [f"{form.headers[slot]}: {names[key]}" for slot, key in zip(slots, picked, strict=False)]
        pack = self._context.pack(case.item.language)
        refusal = pack.refusal_text if pack is not None else ""
        return {"first": "\n".join(first), "random": "\n".join(random_), **({"refuses": refusal} if refusal else {})}

    def judge(self, case: Case, responses: Sequence[Response]) -> Judgement:
        read = case.answer.slots
        if case.response.error is not None:
            slots: Mapping[str, Reading] = dict.fromkeys(read, Reading(Outcome.ERROR))
        elif not (case.response.text or "").strip():
            slots = dict(read)  # nothing was written: what the parser says of that holds
        elif not responses:
            slots = dict.fromkeys(read, Reading(Outcome.ABSTAINED, UNCLEAR))  # nothing but header lines
        else:
            slots = self._verdicts(case, responses)
        differs = any(
            reading.outcome is Outcome.ANSWERED and slots[slot] not in (reading, Reading(Outcome.JUDGE_ERROR))
            for slot, reading in read.items()
        )
        return Judgement(
            key="",
            response_key=case.response.key,
            slots=slots,
            response_outcomes={slot: reading.outcome for slot, reading in read.items()},
            flags=(DISAGREES,) if differs else (),
        )

    def _verdicts(self, case: Case, responses: Sequence[Response]) -> dict[str, Reading]:
        kit = self._kit(case.item.language, case.item.condition)
        if self._context.mode == "generate":
            return self._written(case, kit, responses[0])
        return {
            slot: self._scored(case, kit, response) for slot, response in zip(kit.form.slots, responses, strict=True)
        }

    def _written(self, case: Case, kit: _Kit, response: Response) -> dict[str, Reading]:
        if response.error is not None:
            return dict.fromkeys(kit.form.slots, Reading(Outcome.JUDGE_ERROR))
        answer = kit.parser.parse(
            response.text or "", language="en", condition="", finish_reason=response.finish_reason
        )
        return {slot: kit.form.reading(answer.slots[slot].value, case.item) for slot in kit.form.slots}

    def _scored(self, case: Case, kit: _Kit, response: Response) -> Reading:
        if response.error is not None:
            return Reading(Outcome.JUDGE_ERROR)
        scores = {score.key: score.sum for score in response.choice_logprobs if score.sum is not None}
        best = [key for key, value in scores.items() if value == max(scores.values())]
        return kit.form.reading(best[0] if len(best) == 1 else None, case.item)
