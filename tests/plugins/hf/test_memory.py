"""What happens where memory does not suffice: smaller batches, then an error of the one request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from biasfw import BackendSettings, Request, Response

pytest.importorskip("biasfw_plugins.hf.runtime", reason="needs the extra hf")

from biasfw_plugins.hf.backend import HuggingFace
from biasfw_plugins.hf.network import Network
from biasfw_plugins.hf.runtime import torch

pytestmark = pytest.mark.model

Ask = Callable[..., Request]
Tiny = Callable[..., Path]
PAIRS = [f"A: {x}\nB: {y}\n" for x in "pqrs" for y in "pqrs" if x != y]
ERRORS = [torch.OutOfMemoryError("CUDA out of memory. Tried"), RuntimeError("MPS backend out of memory\nTried")]


class Machine:
    """A backend on a machine that can hold so many tokens: rows times everything in them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.backend = HuggingFace(BackendSettings(str(folder), "generate", options={"device": "cpu"}))
        self.holds = 1 << 30
        self.error: Exception = ERRORS[0]
        self.refusals = 0
        self.rows: list[int] = []
        advance = Network._advance

        def limited(network: Network, rows: Any, padded: list[list[int]], *arguments: Any) -> Any:
            if len(padded) * (rows.mask.shape[1] + len(padded[0])) > self.holds:
                self.refusals += 1
                raise self.error
            self.rows.append(len(padded))
            return advance(network, rows, padded, *arguments)

        monkeypatch.setattr(Network, "_advance", limited)

    def answers(self, asked: list[Request], requests: type) -> dict[str, Response]:
        made = list(self.backend.run(requests(asked)))
        assert len({answer.key for answer in made}) == len(made) == len(asked)
        return {answer.key: answer for answer in made}


def texts_of(answers: dict[str, Response]) -> dict[str, str | None]:
    return {key: answer.text for key, answer in answers.items()}


@pytest.fixture
def machine(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tiny(), monkeypatch)


@pytest.mark.parametrize("error", ERRORS)
def test_batches_are_halved_until_they_fit(machine: Machine, ask: Ask, requests: type, error: Exception) -> None:
    machine.error = error
    asked = [ask(f"{number} " * 5, temperature=1.0, max_tokens=10) for number in range(24)]
    expected = machine.answers(asked, requests)
    assert max(machine.rows) == 24
    machine.holds, machine.rows = 150, []
    halved = machine.answers(asked, requests)
    assert {key: answer.text for key, answer in halved.items()} == {
        key: answer.text for key, answer in expected.items()
    }
    assert 0 < machine.refusals < 12  # it is learnt once, not at every batch
    assert 1 < max(machine.rows) <= 6


def test_a_batch_that_runs_out_on_the_way_goes_on_with_what_is_left(machine: Machine, ask: Ask, requests: type) -> None:
    """The first prompt fits; the texts grow until they do not."""
    asked = [ask(f"{number}", max_tokens=4 + 3 * number) for number in range(8)]
    expected = machine.answers(asked, requests)
    machine.holds, machine.rows = 8 * 23, []
    halved = machine.answers(asked, requests)
    assert machine.refusals > 0
    assert machine.rows[0] == 8
    assert {key: answer.text for key, answer in halved.items()} == {
        key: answer.text for key, answer in expected.items()
    }


@pytest.mark.parametrize("error", ERRORS)
def test_choices_are_computed_in_smaller_portions(machine: Machine, ask: Ask, requests: type, error: Exception) -> None:
    machine.error = error
    asked = [ask("word " * 8, choices=PAIRS), ask("other words " * 4, choices=PAIRS)]
    expected = machine.answers(asked, requests)
    machine.holds = 100
    halved = machine.answers(asked, requests)
    assert machine.refusals > 0
    for key, answer in halved.items():
        assert answer.error is None
        sums = [[score.sum or 0 for score in each.choice_logprobs] for each in (answer, expected[key])]
        assert sums[0] == pytest.approx(sums[1], abs=1e-3)


@pytest.mark.parametrize("error", ERRORS)
def test_one_request_that_does_not_fit_alone_is_an_error_of_its_own(
    machine: Machine, ask: Ask, requests: type, error: Exception
) -> None:
    machine.error, machine.holds = error, 60
    long, short = ask("x" * 90, max_tokens=4), ask("x", max_tokens=4)
    chosen, fits = ask("x" * 90, choices=PAIRS), ask("x", choices=["y", "z"])
    answers = machine.answers([long, short, chosen, fits], requests)
    for request in (long, chosen):
        failure = answers[request.key].error
        assert failure is not None
        assert (failure.kind, failure.permanent) == ("out_of_memory", False)
        assert "not enough memory for this request alone" in failure.message
        assert "\n" not in failure.message
    assert answers[short.key].error is None
    assert answers[fits.key].error is None


def test_the_budget_is_halved_once_and_not_by_every_batch_that_was_planned_before(
    machine: Machine, ask: Ask, requests: type
) -> None:
    asked = [ask(raw=f"{number:02d}" + "x" * 150, choices=["A", "B"]) for number in range(60)]
    expected = machine.answers(asked, requests)
    machine.holds, machine.rows = 1200, []
    again = machine.answers(asked, requests)
    assert machine.refusals == 1
    assert max(machine.rows) == 1024 // 153
    for key, answer in again.items():
        sums = [[score.sum for score in each.choice_logprobs] for each in (answer, expected[key])]
        assert sums[0] == pytest.approx(sums[1], abs=1e-3)


def test_a_request_that_fits_only_without_what_is_kept_for_others_is_answered(
    machine: Machine, ask: Ask, requests: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prompts that share most of their tokens, where nothing can be computed beside a kept beginning."""
    asked = [ask(raw="x" * 200 + f"{number}" * 60, choices=["A", "B"]) for number in range(5)]
    expected = machine.answers(asked, requests)
    advance = Network._advance

    def alone(network: Network, rows: Any, padded: list[list[int]], *arguments: Any) -> Any:
        if rows.mask.shape[1] or len(padded) > 1:
            raise machine.error
        return advance(network, rows, padded, *arguments)

    monkeypatch.setattr(Network, "_advance", alone)
    for key, answer in machine.answers(asked, requests).items():
        assert answer.error is None
        sums = [[score.sum for score in each.choice_logprobs] for each in (answer, expected[key])]
        assert sums[0] == pytest.approx(sums[1], abs=1e-3)


def test_what_is_kept_is_freed_when_nobody_asks_on(machine: Machine, ask: Ask, requests: type) -> None:
    asked = [ask(raw="x" * 200 + f"{number}" * 60, choices=["A", "B"]) for number in range(5)]
    answers = machine.backend.run(requests(asked))
    first = next(answers)
    session = machine.backend._load()[0]
    assert session._trunk._row is not None
    answers.close()  # type: ignore[attr-defined, unused-ignore]
    assert session._trunk._row is None
    assert machine.answers(asked, requests)[first.key].choice_logprobs


def test_other_failures_are_not_taken_for_it(machine: Machine, ask: Ask, requests: type) -> None:
    machine.error, machine.holds = RuntimeError("shape mismatch"), 0
    with pytest.raises(RuntimeError, match="shape mismatch"):
        machine.answers([ask("x")], requests)


@pytest.mark.parametrize(("options", "scored", "continued"), [({}, 2048, 4096), ({"batch_tokens": 900}, 900, 900)])
def test_choices_are_scored_in_smaller_batches_than_texts_are_continued(
    tiny: Tiny, ask: Ask, requests: type, monkeypatch: pytest.MonkeyPatch, options: dict[str, int], scored: int,
    continued: int,
) -> None:  # fmt: skip
    """On a CPU: whole prompts at once gain nothing by more, and need more memory."""
    sizes: list[int] = []
    advance = Network._advance

    def note(network: Network, rows: Any, padded: list[list[int]], *arguments: Any) -> Any:
        sizes.append(len(padded) * len(padded[0]))
        return advance(network, rows, padded, *arguments)

    backend = HuggingFace(BackendSettings(str(tiny()), "generate", options={"device": "cpu", **options}))
    backend.prepare()
    monkeypatch.setattr(Network, "_advance", note)
    greatest = []
    for kind in ({"choices": ["A", "B"]}, {"max_tokens": 2}):
        sizes.clear()
        asked = [ask(raw=f"{number:02d}" + "x" * 150, **kind) for number in range(40)]
        assert all(answer.error is None for answer in backend.run(requests(asked)))
        greatest.append(max(sizes))
    backend.close()
    assert scored * 0.8 < greatest[0] <= scored
    assert continued * 0.8 < greatest[1] <= continued
