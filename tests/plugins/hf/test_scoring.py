from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biasfw import Request

pytest.importorskip("biasfw_plugins.hf.runtime", reason="needs the extra hf")

from biasfw_plugins.hf.network import Network
from biasfw_plugins.hf.prompts import Prompter
from biasfw_plugins.hf.runtime import torch, transformers
from biasfw_plugins.hf.scoring import Plan, Scorer, plan, score_of
from biasfw_plugins.hf.tokens import Tokeniser

pytestmark = pytest.mark.model

Ask = Callable[..., Request]
Tiny = Callable[..., Path]
# Plain, a sliding window of 16, learned positions, positions by place alone, recurrent.
ARCHITECTURES = ["llama", "mistral", "gpt2", "mpt", "mamba"]
NAMES = ["ab", "cd", "ef", "gh", "ij"]
PAIRS = [f"MODERN: {x}\nOTHER: {y}\n" for x in NAMES for y in NAMES if x != y]


class Loaded:
    """A tiny model, with a plain way to score beside ours."""

    def __init__(self, folder: Path) -> None:
        self.model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
        self.network = Network(self.model)
        self.tokeniser = Tokeniser(transformers.AutoTokenizer.from_pretrained(folder))

    def plan(self, request: Request) -> Plan:
        prompter = Prompter(self.tokeniser, None)
        return plan(prompter, prompter.parts(request), request.choices)

    def one_by_one(self, work: Plan) -> list[list[float]]:
        """Every sequence alone, whole, without cache or padding."""
        results = []
        for sequence in work.sequences:
            with torch.no_grad():
                rows = self.model(input_ids=torch.tensor([sequence]), use_cache=False).logits[0].log_softmax(-1)
            results.append([float(rows[at - 1, sequence[at]]) for at in range(work.start, len(sequence))])
        return results


def assert_close(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]], atol: float = 1e-4) -> None:
    assert [len(values) for values in ours] == [len(values) for values in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=0, atol=atol)


class TestPlan:
    def test_choices_are_tokenised_in_context(self, tiny: Tiny, ask: Ask) -> None:
        """After "Answer:" the choice " A" is the token for " A", not that for "A"."""
        loaded = Loaded(tiny(pieces=(" A", " B")))
        with_space = loaded.plan(ask(raw="Answer:", choices=[" A", " B"]))
        without = loaded.plan(ask(raw="Answer: ", choices=["A", "B"]))
        letters = loaded.plan(ask(raw="Answer:", choices=["A", "B"]))
        scored = [work.sequences[0][work.start :] for work in (with_space, without, letters)]
        assert [len(tokens) for tokens in scored] == [1, 1, 1]
        assert scored[0] == scored[1] != scored[2]
        assert [work.flags for work in (with_space, without, letters)] == [(), ("token_spans_border",), ()]

    @pytest.mark.parametrize(
        ("prompt", "choices", "pieces"),
        [("Answer:", [" A", " B"], (": ", ": A", ": B")), ("回答", ["A", "B"], ("回答", "回", "答", "回答A", "回答B"))],
    )
    def test_a_token_that_spans_the_border_belongs_to_the_choice(
        self, tiny: Tiny, ask: Ask, prompt: str, choices: list[str], pieces: tuple[str, ...]
    ) -> None:
        loaded = Loaded(tiny(pieces=pieces))
        work = loaded.plan(ask(raw=prompt, choices=choices))
        assert work.flags == ("token_spans_border",)
        spanning = [loaded.tokeniser.decode(sequence[work.start :][:1]) for sequence in work.sequences]
        assert spanning == list(pieces[-2:])
        ((first, second),) = Scorer(loaded.network, 100).score([work])
        assert len(first) == len(second) == 1

    def test_a_border_that_merges_away_is_scored_apart(self, tiny: Tiny, ask: Ask) -> None:
        """Without BOS, a first token that spans the border has nothing before it to be scored after."""
        loaded = Loaded(tiny(pieces=("xA", "xB"), add_bos=False))
        work = loaded.plan(ask(raw="x", choices=["A", "B"]))
        assert work.flags == ("choices_tokenised_apart",)
        assert [loaded.tokeniser.decode(sequence[work.start :]) for sequence in work.sequences] == ["A", "B"]
        (values,) = Scorer(loaded.network, 100).score([work])
        assert_close(values, loaded.one_by_one(work))

    def test_shared_first_tokens_count_for_every_choice(self, tiny: Tiny, ask: Ask) -> None:
        work = Loaded(tiny()).plan(ask(raw="Q", choices=["MODERN: a", "MODERN: b"]))
        assert work.start == work.prompt_tokens == 2
        assert work.shared == 2 + len("MODERN: ")

    def test_an_empty_prompt_starts_from_bos(self, tiny: Tiny, ask: Ask) -> None:
        loaded = Loaded(tiny())
        work = loaded.plan(ask(raw="", choices=["She left.", "He left."]))
        assert (work.start, work.flags) == (1, ())
        (values,) = Scorer(loaded.network, 100).score([work])
        assert_close(values, loaded.one_by_one(work))

    @pytest.mark.parametrize("architecture", ["llama", "mamba"])
    def test_an_empty_prompt_without_bos_leaves_the_first_token_out(
        self, tiny: Tiny, ask: Ask, architecture: str
    ) -> None:
        loaded = Loaded(tiny(architecture=architecture, add_bos=False))
        work = loaded.plan(ask(raw="", choices=["She left.", "He left.", "I"]))
        assert (work.start, work.flags) == (1, ("first_token_unscored",))
        (values,) = Scorer(loaded.network, 100).score([work])
        assert [len(each) for each in values] == [len("She left.") - 1, len("He left.") - 1, 0]
        assert_close(values, loaded.one_by_one(work))

    def test_an_empty_choice_has_no_score(self, tiny: Tiny, ask: Ask) -> None:
        loaded = Loaded(tiny())
        work = loaded.plan(ask(raw="Q", choices=["", "x"]))
        ((empty, one),) = Scorer(loaded.network, 100).score([work])
        assert empty == []
        assert len(one) == 1
        assert score_of("0", "", (), empty).sum is None


class TestScore:
    @pytest.mark.parametrize("architecture", ARCHITECTURES)
    @pytest.mark.parametrize("budget", [1, 60, 5000])
    def test_equals_the_plain_way(self, tiny: Tiny, ask: Ask, architecture: str, budget: int) -> None:
        loaded = Loaded(tiny(architecture=architecture, pieces=("ER: ", "ab", "\n")))
        works = [
            loaded.plan(ask(raw="Q" * 40, choices=PAIRS)),
            loaded.plan(ask(raw="A short one.", choices=["A", "B"])),
            loaded.plan(ask(raw="Of several lengths", choices=["a.", "abc.", "abcd.", "b.", "ab" * 9 + "."])),
            loaded.plan(ask(raw="One alone", choices=["only this"])),
        ]
        for work, values in zip(works, Scorer(loaded.network, budget).score(works), strict=True):
            assert_close(values, loaded.one_by_one(work))

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        prompts=st.lists(st.text("ab ", max_size=30), min_size=1, max_size=4),
        choices=st.lists(st.text("abc", max_size=6).map(lambda text: text + "."), min_size=1, max_size=9),
        budget=st.integers(1, 400),
        add_bos=st.booleans(),
    )
    @pytest.mark.parametrize("architecture", ["llama", "mistral"])
    def test_equals_the_plain_way_whatever_is_asked(
        self,
        tmp_path: Path,
        tiny: Tiny,
        ask: Ask,
        architecture: str,
        prompts: list[str],
        choices: list[str],
        budget: int,
        add_bos: bool,
    ) -> None:
        folder = tmp_path / f"{architecture}{add_bos}"
        if not folder.exists():
            tiny(folder.name, architecture=architecture, add_bos=add_bos, pieces=("ab", "bc", " a", "c."))
        loaded = Loaded(folder)
        works = [loaded.plan(ask(raw=prompt, choices=choices)) for prompt in prompts]
        for work, values in zip(works, Scorer(loaded.network, budget).score(works), strict=True):
            assert_close(values, loaded.one_by_one(work), atol=1e-3)

    @pytest.mark.parametrize("architecture", ARCHITECTURES)
    def test_scores_do_not_depend_on_the_batch(self, tiny: Tiny, ask: Ask, architecture: str) -> None:
        """C33: the same items in batches of 1, 4, 7 and 16."""
        loaded = Loaded(tiny(architecture=architecture))
        works = [loaded.plan(ask(raw="word " * (1 + 7 * n % 30), choices=["A.", "BB.", "CA."])) for n in range(20)]
        alone = [Scorer(loaded.network, 10_000).score([work])[0] for work in works]
        winners = [int(np.argmax([sum(values) for values in scored])) for scored in alone]
        for size in (4, 7, 16):
            batches = [works[begin : begin + size] for begin in range(0, len(works), size)]
            together = [scored for batch in batches for scored in Scorer(loaded.network, 10_000).score(batch)]
            for ours, theirs in zip(together, alone, strict=True):
                assert_close(ours, theirs)
            assert [int(np.argmax([sum(values) for values in scored])) for scored in together] == winners

    def test_shared_tokens_are_computed_once(self, tiny: Tiny, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
        loaded = Loaded(tiny())
        work = loaded.plan(ask(raw="Q" * 100, choices=PAIRS))
        computed: list[int] = []
        forward = loaded.model.forward

        def count(**arguments: Any) -> Any:
            computed.append(arguments["input_ids"].numel())
            return forward(**arguments)

        monkeypatch.setattr(loaded.model, "forward", count)
        Scorer(loaded.network, 10_000).score([work])
        distinct = {sequence[:end] for sequence in work.sequences for end in range(1, len(sequence))}
        assert len(distinct) <= sum(computed) <= 1.3 * len(distinct)  # padding
        assert sum(computed) < 0.2 * sum(map(len, work.sequences))

    def test_only_the_logits_that_are_scored_are_computed(
        self, tiny: Tiny, ask: Ask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loaded = Loaded(tiny())
        work = loaded.plan(ask(raw="Q" * 100, choices=["A", "B"]))
        shapes = []
        forward = loaded.model.forward

        def note(**arguments: Any) -> Any:
            output = forward(**arguments)
            shapes.append(tuple(output.logits.shape[:2]))
            return output

        monkeypatch.setattr(loaded.model, "forward", note)
        Scorer(loaded.network, 10_000).score([work])
        assert shapes == [(1, 1)]  # one token a choice: the prompt is computed once, and its last logits say it all

    def test_a_model_with_a_bare_signature(self, tiny: Tiny, ask: Ask) -> None:
        """Code from elsewhere may know neither a cache nor positions nor logits_to_keep."""
        loaded = Loaded(tiny())
        inner = loaded.model

        class Bare(torch.nn.Module):  # type: ignore[misc, unused-ignore]
            config = inner.config

            def get_input_embeddings(self) -> Any:
                return inner.get_input_embeddings()

            def forward(self, input_ids: Any, attention_mask: Any = None, use_cache: bool = False) -> Any:
                assert not use_cache
                return inner(input_ids=input_ids, attention_mask=attention_mask, use_cache=False)

        network = Network(Bare())
        assert not network.caches
        work = loaded.plan(ask(raw="Some prompt", choices=["A.", "BCD.", "B."]))
        (values,) = Scorer(network, 40).score([work])
        assert_close(values, loaded.one_by_one(work))


class TestRecord:
    def test_counts(self) -> None:
        record = score_of("k", "한 x\n", (5, 6), [-1.0, -2.5])
        assert (record.sum, record.tokens, record.bytes, record.token_ids) == (-3.5, 2, 6, (5, 6))

    @pytest.mark.parametrize("values", [[], [-1.0, math.nan], [-math.inf], [-math.inf, math.inf]])
    def test_what_is_not_finite_is_null(self, values: list[float]) -> None:
        assert score_of("k", "x", (1,) * len(values), values).sum is None

    def test_half_a_character_counts_as_its_replacement(self) -> None:
        assert score_of("k", "\ud835", (1,), [-1.0]).bytes == 3
