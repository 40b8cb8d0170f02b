"""Many requests at once give what each gives alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biasfw import BackendSettings, ComponentError, Request, Response

pytest.importorskip("biasfw_plugins.llamacpp.native", reason="needs the extra llamacpp")

from biasfw_plugins.llamacpp import schedule as schedule_module
from biasfw_plugins.llamacpp.backend import LlamaCpp
from biasfw_plugins.llamacpp.context import Context, DecodeError
from biasfw_plugins.llamacpp.sampling import Picker

pytestmark = pytest.mark.model

Ask = Callable[..., Request]
Tiny = Callable[..., Path]
Run = Callable[..., dict[str, Response]]
_FIXTURES = [HealthCheck.function_scoped_fixture]


@pytest.fixture
def run(requests: type) -> Run:
    """Answer requests with a new backend: ``run(path, asked, parallel=4)``; responses by key."""

    def answers(path: Path, asked: Sequence[Request], **options: Any) -> dict[str, Response]:
        with closing(LlamaCpp(BackendSettings(str(path), "generate", options={"n_threads": 1, **options}))) as backend:
            made = list(backend.run(requests(asked)))
        assert len(made) == len({each.key for each in made}) == len(asked)
        return {each.key: each for each in made}

    return answers


def texts(answers: dict[str, Response]) -> dict[str, tuple[Any, ...]]:
    return {key: (each.text, each.finish_reason, each.completion_tokens, each.error) for key, each in answers.items()}


class Evaluated:
    """Counts what llama.cpp is given: tokens of prompts, and of how many sequences each step is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.prompts: list[int] = []
        self.steps: list[int] = []
        decode, step = Context.decode, Context.step

        def count_prompt(context: Context, tokens: Sequence[int], position: int, **options: Any) -> None:
            self.prompts.append(len(tokens))
            decode(context, tokens, position, **options)

        def count_step(context: Context, tokens: Sequence[int], positions: Sequence[int]) -> None:
            self.steps.append(len(tokens))
            step(context, tokens, positions)

        monkeypatch.setattr(Context, "decode", count_prompt)
        monkeypatch.setattr(Context, "step", count_step)


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> Evaluated:
    return Evaluated(monkeypatch)


class TestSideBySide:
    @settings(max_examples=12, deadline=None, suppress_health_check=_FIXTURES)
    @given(data=st.data())
    @pytest.mark.parametrize("temperature", [0.0, 1.0])
    def test_answers_are_those_of_one_at_a_time(
        self, tiny: Tiny, ask: Ask, run: Run, temperature: float, data: st.DataObject
    ) -> None:
        """Unequal lengths, shared beginnings, more requests than sequences."""
        heads = st.sampled_from(["", "a", "shared " * 12, "shared " * 30])
        asked = {
            each.key: each
            for head, tail, most in data.draw(
                st.lists(st.tuples(heads, st.text("ab ", max_size=9), st.integers(1, 12)), min_size=1, max_size=9)
            )
            for each in [ask(head + tail, temperature=temperature, max_tokens=most)]
        }
        parallel = data.draw(st.integers(2, 5))
        path = tiny()
        alone = run(path, [*asked.values()], parallel=1)
        assert all(each.error is None for each in alone.values())
        assert texts(run(path, [*asked.values()], parallel=parallel, n_batch=32)) == texts(alone)

    def test_a_recurrent_model(self, tiny: Tiny, ask: Ask, run: Run) -> None:
        path = tiny(architecture="mamba")
        asked = [ask("word " * length, max_tokens=3 * length) for length in (1, 4, 2, 5, 3)]
        alone = texts(run(path, asked, parallel=1))
        assert texts(run(path, asked, parallel=3)) == alone

    def test_each_request_draws_with_its_own_seed(self, tiny: Tiny, ask: Ask, run: Run) -> None:
        path = tiny()
        asked = [ask("same", temperature=1.0, max_tokens=12, seed=seed) for seed in (1, 2, 3)]
        answers = run(path, asked, parallel=3)
        assert len({each.text for each in answers.values()}) == 3
        assert texts(run(path, asked[::-1], parallel=2)) == texts(answers)

    def test_a_finished_answer_makes_room_at_once(
        self, tiny: Tiny, ask: Ask, run: Run, evaluated: Evaluated, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Picker, "pick", lambda *_: 60)  # never the end of a text
        lengths = [40, 2, 2, 2, 2, 2, 2, 2, 2, 2]
        answers = run(tiny(), [ask(f"{n} {n}", max_tokens=most) for n, most in enumerate(lengths)], parallel=2)
        assert [each.completion_tokens for each in answers.values() if each.completion_tokens != 2] == [40]
        # The first token comes from the prompt. One by one it would be 39 + 9 steps, in pairs 39 + 4 or more.
        assert len(evaluated.steps) == 39

    def test_answers_come_when_they_are_done(self, tiny: Tiny, ask: Ask, requests: type) -> None:
        asked = requests([ask("long", max_tokens=60), ask("short", max_tokens=1)])
        with closing(LlamaCpp(BackendSettings(str(tiny()), "generate", options={"parallel": 2}))) as backend:
            first = next(iter(backend.run(asked)))
        assert first.key == asked[1].key

    def test_answers_that_were_given_need_no_second_run(
        self, tiny: Tiny, ask: Ask, run: Run, requests: type, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Stopped in the middle of a batch: what was yielded, and the rest asked again, is what one run gives."""
        path = tiny()
        asked = [ask(f"{n}" * n, temperature=1.0, max_tokens=3 + 4 * n) for n in range(1, 8)]
        whole = texts(run(path, asked, parallel=3))
        got: dict[str, Response] = {}
        step, calls = Context.step, iter(range(1000))

        def interrupted(context: Context, tokens: Sequence[int], positions: Sequence[int]) -> None:
            step(context, tokens, positions)
            if next(calls) == 18:
                raise KeyboardInterrupt

        options = {"n_threads": 1, "parallel": 3}
        with closing(LlamaCpp(BackendSettings(str(path), "generate", options=options))) as backend:

            def collect() -> None:
                for response in backend.run(requests(asked)):
                    got[response.key] = response

            with monkeypatch.context() as patch:
                patch.setattr(Context, "step", interrupted)
                with pytest.raises(KeyboardInterrupt):
                    collect()
            assert 0 < len(got) < len(asked)
            rest = [request for request in asked if request.key not in got]
            got |= {response.key: response for response in backend.run(requests(rest))}  # the same cache goes on
        assert texts(got) == whole


class TestSharing:
    @pytest.fixture
    def one_batch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever of a prompt is left is one batch, whose size tells how much that was."""
        monkeypatch.setattr("biasfw_plugins.llamacpp.cache._BLOCK", 512)

    @pytest.mark.usefixtures("one_batch")
    def test_a_shared_beginning_is_evaluated_once(self, tiny: Tiny, ask: Ask, run: Run, evaluated: Evaluated) -> None:
        head = "the same beginning of all prompts " * 8
        run(tiny(), [ask(f"{head}{n}", max_tokens=2) for n in range(8)], parallel=4)
        prompts = evaluated.prompts[-8:]
        assert prompts[0] > len(head)
        assert all(size < 20 for size in prompts[1:])

    @settings(max_examples=15, deadline=None, suppress_health_check=_FIXTURES)
    @given(data=st.data())
    def test_scores_on_random_trees_of_prompts(self, tiny: Tiny, ask: Ask, run: Run, data: st.DataObject) -> None:
        """Bit for bit what each request gives with a backend of its own."""
        piece = st.sampled_from(["a", "bb", "ab " * 3, "long " * 15])
        prompts = data.draw(st.lists(st.lists(piece, max_size=4).map("".join), min_size=1, max_size=6, unique=True))
        choices = data.draw(st.lists(st.text("ab", min_size=1, max_size=3), min_size=2, max_size=4, unique=True))
        asked = [ask(prompt, choices=choices) for prompt in prompts]
        path = tiny(pieces=("ab", "bb", "▁a"))
        together = run(path, asked)
        for request in asked:
            (alone,) = run(path, [request]).values()
            ours = together[request.key]
            assert ours.choice_logprobs == alone.choice_logprobs
            assert ours.prompt_tokens == alone.prompt_tokens

    @pytest.mark.usefixtures("one_batch")
    def test_two_orders_of_one_question_share_their_beginning(
        self, tiny: Tiny, ask: Ask, run: Run, evaluated: Evaluated
    ) -> None:
        """Far apart in the run, neighbours in the cache; letters take one batch for each prompt."""
        head, contexts = "instructions " * 10, [f"{n} what was said " * 8 for n in range(3)]
        asked = [
            ask(f"{head}{context}{order}", choices=["A", "B"])
            for order in ("A: one B: two", "A: two B: one")
            for context in contexts
        ]
        run(tiny(), asked, n_batch=512)
        batches = evaluated.prompts[-len(asked) :]
        first, *others = sorted(batches, reverse=True)
        assert first > len(head) + len(contexts[0])
        assert all(len(contexts[0]) < size < len(head) + len(contexts[0]) for size in others[:2])
        assert all(size < 80 for size in others[2:])


class TestFailures:
    @pytest.fixture
    def asked(self, ask: Ask) -> list[Request]:
        return [ask(f"{n}" * (n + 1), max_tokens=6 + n) for n in range(5)]

    def _fails(self, answers: dict[str, Response]) -> Iterator[Response]:
        return (each for each in answers.values() if each.error is not None)

    def test_a_step_that_is_refused_is_repeated_one_by_one(
        self, tiny: Tiny, run: Run, asked: list[Request], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tiny()
        alone = texts(run(path, asked, parallel=1))
        step, calls = Context.step, iter(range(1000))

        def refuse(context: Context, tokens: Sequence[int], positions: Sequence[int]) -> None:
            if next(calls) in (1, 4):
                raise DecodeError("llama_decode failed with code 1")
            step(context, tokens, positions)

        monkeypatch.setattr(Context, "step", refuse)
        answers = run(path, asked, parallel=4)
        assert not [*self._fails(answers)]
        assert texts(answers) == alone

    def test_a_failure_is_that_of_one_request(
        self, tiny: Tiny, run: Run, asked: list[Request], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tiny()
        alone = texts(run(path, asked, parallel=1))
        decode = Context.decode

        def refuse(context: Context, tokens: Sequence[int], position: int, **options: Any) -> None:
            if len(tokens) in (60, 61):
                raise DecodeError("llama_decode failed with code -3")
            decode(context, tokens, position, **options)

        lengths = {key: each.prompt_tokens for key, each in run(path, asked, parallel=1).items()}
        victim = max(lengths, key=lambda key: lengths[key] or 0)
        long = Request(victim, "item", asked[0].sampling, prompt="b" * 59)
        monkeypatch.setattr(Context, "decode", refuse)
        answers = run(path, [*(each for each in asked if each.key != victim), long], parallel=4)
        (failed,) = self._fails(answers)
        assert failed.key == victim
        assert failed.error is not None
        assert (failed.error.kind, failed.error.permanent) == ("decode_failed", False)
        assert {key: value for key, value in texts(answers).items() if key != victim} == {
            key: value for key, value in alone.items() if key != victim
        }

    def test_what_is_not_a_number_harms_nobody_else(self, tiny: Tiny, ask: Ask, run: Run, asked: list[Request]) -> None:
        """One token's embedding is not a number: it spoils the answers of those that contain it, before and after."""
        path = tiny(spoiled="#")  # which sorts before the digits of the others
        bad = [ask(f"#{n}" + "x" * 100, max_tokens=5) for n in range(3)]
        healthy = texts(run(path, asked, parallel=1))
        assert all(error is None for *_, error in healthy.values())
        for parallel in (1, 2, 4):
            answers = run(
                path, [each for pair in zip(bad, asked, strict=False) for each in pair] + asked[3:], parallel=parallel
            )
            assert {each.key for each in self._fails(answers)} == {each.key for each in bad}
            for each in bad:
                error = answers[each.key].error
                assert error is not None
                assert (error.kind, error.permanent) == ("not_finite", True)
            assert {key: value for key, value in texts(answers).items() if key in healthy} == healthy

    def test_a_request_without_room_stops_nobody(self, tiny: Tiny, ask: Ask, run: Run, asked: list[Request]) -> None:
        path = tiny()
        alone = texts(run(path, asked, parallel=1))
        long = ask("x" * 600, max_tokens=5)
        answers = run(path, [*asked[:2], long, *asked[2:]], parallel=3)
        (failed,) = self._fails(answers)
        assert failed.error is not None
        assert (failed.key, failed.error.kind, failed.error.permanent) == (long.key, "context_too_small", True)
        assert {key: value for key, value in texts(answers).items() if key != long.key} == alone


class TestMemory:
    def test_a_window_of_token_ids_is_kept(
        self, tiny: Tiny, ask: Ask, requests: type, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(schedule_module, "_WINDOW", 300)
        asked = requests(ask(f"{n:3}", choices=["A", "B"]) for n in range(200))
        with closing(LlamaCpp(BackendSettings(str(tiny()), "choices", options={"n_threads": 1}))) as backend:
            for done, _ in enumerate(backend.run(asked), start=1):
                assert asked.reads < done + 40

    @pytest.mark.parametrize(("parallel", "works"), [(None, True), (8, False)])
    def test_fewer_side_by_side_where_memory_is_short(
        self,
        tiny: Tiny,
        ask: Ask,
        run: Run,
        monkeypatch: pytest.MonkeyPatch,
        parallel: int | None,
        works: bool,
    ) -> None:
        """By itself the backend makes do with fewer; what the user asked for is an error that says what to change."""
        sizes: list[int] = []
        make = Context.__init__

        def short(context: Context, model: Any, *, sequences: int = 1, **options: Any) -> None:
            sizes.append(sequences)
            if sequences > 2:
                raise ComponentError("not enough memory")
            make(context, model, sequences=sequences, **options)

        monkeypatch.setattr(Context, "__init__", short)
        asked = [ask(f"{n}", max_tokens=3) for n in range(8)]
        if works:
            assert all(each.error is None for each in run(tiny(), asked).values())
            assert sizes[1:] == [8, 4, 2]
        else:
            with pytest.raises(ComponentError, match="not enough memory"):
                run(tiny(), asked, parallel=parallel)
