from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biasfw import Request

pytest.importorskip("biasfw_plugins.llamacpp.native", reason="needs the extra llamacpp")

from biasfw_plugins.llamacpp.cache import Cache
from biasfw_plugins.llamacpp.context import Context, DecodeError
from biasfw_plugins.llamacpp.native import Model
from biasfw_plugins.llamacpp.prompts import Prompter
from biasfw_plugins.llamacpp.scoring import Plan, plan, score, score_of

pytestmark = pytest.mark.model

Ask = Callable[..., Request]
Tiny = Callable[..., Path]


@contextmanager
def loaded(path: Path, n_batch: int = 128, sequences: int = 1) -> Iterator[tuple[Model, Cache]]:
    model = Model(path)
    context = Context(model, cells=512, n_batch=n_batch, n_threads=1, sequences=sequences)
    yield model, Cache(context, can_rewind=model.can_rewind, even=2 if model.can_rewind else 1)
    context.close()
    model.close()


def one_by_one(model: Model, work: Plan) -> list[list[float]]:
    """The plain way: a fresh cache and the whole sequence at once for every choice."""
    results = []
    for sequence in work.sequences:
        context = Context(model, cells=512, n_batch=512, n_threads=1)
        context.decode([*sequence, 0], 0, outputs=slice(None))
        rows = np.array([context.logits(index) for index in range(len(sequence))], dtype=np.float64)
        context.close()
        logprobs = rows - np.log(np.exp(rows).sum(axis=1, keepdims=True))
        results.append([float(logprobs[at - 1, sequence[at]]) for at in range(work.start, len(sequence))])
    return results


def score_new(cache: Cache, work: Plan) -> list[list[float]]:
    """Scores from an empty cache."""
    cache.clear()
    return score(cache, 0, work)


def plan_of(model: Model, request: Request) -> Plan:
    prompts = Prompter(model, None)
    return plan(prompts, prompts.parts(request), request.choices)


class TestPlan:
    def test_choices_are_tokenised_in_context(self, tiny: Tiny, ask: Ask) -> None:
        """After "Answer:" the choice " A" is the token for " A", not that for "A"."""
        with loaded(tiny(pieces=("▁A", "▁B", "A", "B"))) as (model, _):
            with_space = plan_of(model, ask(raw="Answer:", choices=[" A", " B"]))
            without = plan_of(model, ask(raw="Answer: ", choices=["A", "B"]))
            letters = plan_of(model, ask(raw="Answer:", choices=["A", "B"]))
        scored = [work.sequences[0][work.start :] for work in (with_space, without, letters)]
        assert [len(tokens) for tokens in scored] == [1, 1, 1]
        assert scored[0] == scored[1] != scored[2]
        assert [work.flags for work in (with_space, without, letters)] == [(), ("token_spans_border",), ()]

    @pytest.mark.parametrize(
        ("prompt", "choices", "pieces"),
        [("Answer:", [" A", " B"], (":▁", ":▁A", ":▁B")), ("回答", ["A", "B"], ("回答", "回", "答", "回答A", "回答B"))],
    )
    def test_a_token_that_spans_the_border_belongs_to_the_choice(
        self, tiny: Tiny, ask: Ask, prompt: str, choices: list[str], pieces: tuple[str, ...]
    ) -> None:
        with loaded(tiny(pieces=pieces)) as (model, cache):
            work = plan_of(model, ask(raw=prompt, choices=choices))
            assert work.flags == ("token_spans_border",)
            spanning = [model.piece(sequence[work.start]).decode() for sequence in work.sequences]
            assert spanning == [piece.replace("▁", " ") for piece in pieces[-2:]]
            assert all(len(values) == 1 for values in score_new(cache, work))

    def test_a_border_that_merges_away_is_scored_apart(self, tiny: Tiny, ask: Ask) -> None:
        """Without BOS, a first token that spans the border has nothing before it to be scored after."""
        with loaded(tiny(pieces=("xA", "xB"), add_bos=False)) as (model, cache):
            work = plan_of(model, ask(raw="x", choices=["A", "B"]))
            assert work.flags == ("choices_tokenised_apart",)
            assert [model.piece(sequence[work.start]) for sequence in work.sequences] == [b"A", b"B"]
            assert all(values for values in score_new(cache, work))

    def test_shared_first_tokens_count_for_every_choice(self, tiny: Tiny, ask: Ask) -> None:
        with loaded(tiny()) as (model, _):
            work = plan_of(model, ask(raw="Q", choices=["MODERN: a", "MODERN: b"]))
        assert work.start == work.prompt_tokens == 2

    def test_an_empty_prompt_starts_from_bos(self, tiny: Tiny, ask: Ask) -> None:
        with loaded(tiny()) as (model, _):
            work = plan_of(model, ask(raw="", choices=["She left.", "He left."]))
        assert (work.start, work.flags) == (1, ())

    def test_an_empty_prompt_without_bos_leaves_the_first_token_out(self, tiny: Tiny, ask: Ask) -> None:
        with loaded(tiny(add_bos=False)) as (model, cache):
            work = plan_of(model, ask(raw="", choices=["She left.", "He left.", "I"]))
            assert (work.start, work.flags) == (1, ("first_token_unscored",))
            values = score_new(cache, work)
            np.testing.assert_allclose(values[0], one_by_one(model, work)[0], rtol=0, atol=1e-4)
        assert [len(each) for each in values] == [len("She left.") + 1, len("He left.") + 1, 0]  # "▁" is three bytes
        assert score_of("2", "I", (), values[2]).sum is None

    def test_an_empty_choice_has_no_score(self, tiny: Tiny, ask: Ask) -> None:
        with loaded(tiny()) as (model, cache):
            work = plan_of(model, ask(raw="Q", choices=["", "x"]))
            values = score_new(cache, work)
        assert values[0] == []
        assert score_of("0", "", (), values[0]).sum is None
        assert values[1]


class TestScore:
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        prompt=st.text("ab ", max_size=40),
        choices=st.lists(st.text("abc", max_size=6).map(lambda text: text + "."), min_size=1, max_size=12),
        n_batch=st.sampled_from([32, 128]),
    )
    @pytest.mark.parametrize("architecture", ["llama", "mamba"])
    def test_equals_the_plain_way(
        self, tiny: Tiny, ask: Ask, architecture: str, prompt: str, choices: list[str], n_batch: int
    ) -> None:
        with loaded(tiny(architecture=architecture, pieces=("ab", "bc", "▁a", "c.")), n_batch) as (model, cache):
            assert model.can_rewind == (architecture == "llama")
            work = plan_of(model, ask(raw=prompt, choices=choices))
            fast = score_new(cache, work)
            again = score_new(cache, work)
            plain = one_by_one(model, work)
        assert fast == again
        assert [len(values) for values in fast] == [len(values) for values in plain]
        for ours, theirs in zip(fast, plain, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-3)

    def test_shared_tokens_are_evaluated_once(self, tiny: Tiny, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
        names = ["ab", "cd", "ef", "gh", "ij"]
        pairs = [f"MODERN: {x}\nOTHER: {y}\n" for x in names for y in names if x != y]
        evaluated: list[int] = []
        decode = Context.decode

        def count(self: Context, tokens: Sequence[int], position: int, **options: Any) -> None:
            evaluated.append(len(tokens))
            decode(self, tokens, position, **options)

        monkeypatch.setattr(Context, "decode", count)
        with loaded(tiny(), 512) as (model, cache):
            work = plan_of(model, ask(raw="Q" * 100, choices=pairs))
            score_new(cache, work)
        distinct = {sequence[:end] for sequence in work.sequences for end in range(1, len(sequence))}
        assert len(distinct) <= sum(evaluated) <= len(distinct) + len(evaluated)  # at most one filler a batch
        assert sum(evaluated) < 0.15 * sum(map(len, work.sequences))

    def test_a_score_does_not_depend_on_the_other_choices(self, tiny: Tiny, ask: Ask) -> None:
        choices = ["one.", "two.", "three.", "ones.", "twenty."]
        with loaded(tiny()) as (model, cache):
            together, *alone = (
                score_new(cache, plan_of(model, ask(raw="Q:", choices=some)))
                for some in (choices, *([choice] for choice in choices))
            )
        for ours, (theirs,) in zip(together, alone, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4)

    def test_a_recurrent_state_cannot_go_back(self, tiny: Tiny) -> None:
        with loaded(tiny(architecture="mamba")) as (_, cache):
            list(cache.extend(0, [1, 40, 41, 42], 0))
            with pytest.raises(DecodeError, match="cannot rewind"):
                cache.rewind(0, 2)


class TestRecord:
    def test_counts(self) -> None:
        record = score_of("k", "한 x\n", (5, 6), [-1.0, -2.5])
        assert (record.sum, record.tokens, record.bytes, record.token_ids) == (-3.5, 2, 6, (5, 6))

    @pytest.mark.parametrize("values", [[], [-1.0, math.nan], [-math.inf], [-math.inf, math.inf]])
    def test_what_is_not_finite_is_null(self, values: list[float]) -> None:
        assert score_of("k", "x", (1,) * len(values), values).sum is None
