"""What the tests of judges share: the judge ``llm`` over a real benchmark, and cases for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from biasfw import Answer, Case, ComponentContext, Form, Outcome, Parser, Reading, Request, Response, RunConfig
from biasfw.juries import seat
from biasfw.plan import Plan, make_plan
from biasfw.plugins import Plugins, load_class
from biasfw_plugins.judges.llm import Llm


@dataclass
class Sample:
    """The judge ``llm`` for the items of one benchmark."""

    plan: Plan
    judge: Llm

    def case(self, text: str | None = "x", language: str = "en", **read: str | None) -> Case:
        """A response to the first item in ``language``; ``read``: what the parser read (nothing: unparsed)."""
        trial = next(trial for trial in self.plan.selected.trials if trial.item.language == language)
        request = self.plan.renderer.request(trial)
        slots = {
            slot.key: Reading(Outcome.ANSWERED, value) if (value := read.get(slot.key)) else Reading(Outcome.UNPARSED)
            for slot in self.plan.form.slots
        }
        return Case(trial.item, request, Response(request.key, text=text, finish_reason="stop"), Answer(slots))

    def asked(self, case: Case) -> list[Request]:
        return list(self.judge.requests(case))

    def said(self, case: Case, *texts: str) -> dict[str, tuple[str, str | None]]:
        """Outcome and value by slot when the judge's model says ``texts``."""
        judgement = self.judge.judge(case, [Response("j", text=text, finish_reason="stop") for text in texts])
        return {slot: (reading.outcome.value, reading.value) for slot, reading in judgement.slots.items()}


MakeSample = Callable[..., Sample]


@pytest.fixture(scope="session")
def sample(installed: Plugins) -> MakeSample:
    """Makes a ``Sample``: ``benchmark``, ``mode`` of the judge's model, ``templates`` of the bundle, and options."""

    def make(
        benchmark: str = "debatebias",
        *,
        mode: str = "generate",
        templates: Mapping[str, Mapping[str, str]] | None = None,
        **options: Any,
    ) -> Sample:
        plan = make_plan(RunConfig(benchmark, "reference", model="first", mode="generate"), installed)
        definition = {"name": "llm", "judge": "llm", "backend": "reference", "model": "first", "mode": mode}
        found = seat({**definition, "options": options}, plan.bundle.manifest, installed)

        def parser(name: str, form: Form, given: Mapping[str, Any]) -> Parser:
            built: Parser = load_class(installed.find("parser", name))(ComponentContext(form, plan.packs, given))
            return built

        context = ComponentContext(plan.form, plan.packs, found.options, parser, templates or {}, mode)  # type: ignore[arg-type]
        return Sample(plan, Llm(context))

    return make
