from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from biasfw import Sampling

pytest.importorskip("biasfw_plugins.llamacpp.native", reason="needs the extra llamacpp")

from biasfw_plugins.llamacpp.cache import Cache
from biasfw_plugins.llamacpp.context import Context
from biasfw_plugins.llamacpp.native import Model
from biasfw_plugins.llamacpp.sampling import Continuation, Generated, NotFiniteError, Picker

pytestmark = pytest.mark.model

Tiny = Callable[..., Path]
LOGITS = np.array([1.0, 3.0, 2.0, -np.inf, 0.0], dtype=np.float32)


def generate(model: Model, cache: Cache, prompt: list[int], sampling: Sampling, seed: int) -> Generated:
    """One text, from an empty cache."""
    cache.clear()
    text, tokens = Continuation(model, sampling, seed), [*prompt]
    while text.result is None:
        tokens.append(text.take(cache.logits_after(0, tokens)))
    return text.result


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits.astype(np.float64) - logits.max())
    return np.asarray(weights / weights.sum())


class TestPicker:
    def test_temperature_zero_takes_the_likeliest(self) -> None:
        for temperature in (0.0, 1e-30, 1e-5):
            assert [Picker(Sampling(temperature), seed).pick(LOGITS) for seed in range(5)] == [1] * 5

    @pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
    def test_frequencies_follow_the_softmax(self, temperature: float) -> None:
        picker = Picker(Sampling(temperature=temperature), 11)
        counts = np.bincount([picker.pick(LOGITS) for _ in range(4000)], minlength=5)
        expected = softmax(LOGITS / temperature) * 4000
        assert counts[3] == 0
        possible = expected > 0
        assert stats.chisquare(counts[possible], expected[possible]).pvalue > 0.001

    def test_frequencies_follow_the_softmax_of_a_long_vocabulary(self) -> None:
        """More than one block of weights; groups of tokens, so that each is drawn often."""
        logits = np.linspace(-3, 3, 1000).astype(np.float32)
        picker = Picker(Sampling(temperature=1.0), 5)
        groups = np.bincount([picker.pick(logits) // 100 for _ in range(5000)], minlength=10)
        expected = softmax(logits).reshape(10, 100).sum(axis=1) * 5000
        assert stats.chisquare(groups, expected).pvalue > 0.001

    def test_what_has_no_weight_is_never_drawn(self) -> None:
        logits = np.full(1000, -np.inf, dtype=np.float32)
        logits[[3, 500]] = 1.0
        picker = Picker(Sampling(temperature=1.0), 5)
        assert {picker.pick(logits) for _ in range(200)} == {3, 500}

    def test_equal_seeds_draw_equally(self) -> None:
        draws = [[picker.pick(LOGITS) for _ in range(50)] for picker in (Picker(Sampling(1.0), s) for s in (3, 3, 4))]
        assert draws[0] == draws[1] != draws[2]

    @given(
        logits=st.lists(st.floats(-20, 20, width=32), min_size=1, max_size=60),
        top_p=st.floats(0.0, 0.999),
        seed=st.integers(0, 2**32 - 1),
    )
    def test_draws_stay_in_the_nucleus(self, logits: list[float], top_p: float, seed: int) -> None:
        values = np.array(logits, dtype=np.float32)
        chosen = Picker(Sampling(temperature=1.0, top_p=top_p), seed).pick(values)
        probabilities = softmax(values)
        likelier = probabilities[probabilities > probabilities[chosen] * (1 + 1e-6)].sum()
        assert likelier <= top_p + 1e-6  # else the tokens before it filled the nucleus

    def test_a_nucleus_larger_than_the_first_guess(self) -> None:
        flat = np.zeros(20_000, dtype=np.float32)
        picker = Picker(Sampling(temperature=1.0, top_p=0.5), 1)
        draws = [picker.pick(flat) for _ in range(300)]
        assert max(draws) < 10_001
        assert max(draws) > 9_000

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_logits_that_are_not_finite(self, bad: float) -> None:
        with pytest.raises(NotFiniteError):
            Picker(Sampling(), 0).pick(np.array([0.0, bad], dtype=np.float32))


class TestGenerate:
    @pytest.fixture
    def loaded(self, tiny: Tiny) -> Iterator[tuple[Model, Cache]]:
        model = Model(tiny())
        context = Context(model, cells=512, n_batch=64, n_threads=1)
        yield model, Cache(context, can_rewind=True)
        context.close()
        model.close()

    @pytest.fixture
    def says(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
        """Let every picker pick the bytes given, then the end of the text."""

        def script(data: bytes) -> None:
            tokens = iter([*(3 + byte for byte in data), 2])
            monkeypatch.setattr(Picker, "pick", lambda *_: next(tokens))

        return script

    def test_depends_on_nothing_but_its_arguments(self, loaded: tuple[Model, Cache]) -> None:
        model, cache = loaded
        prompts = [[1, *range(40, 40 + length)] for length in (3, 150, 3)]
        sampling = Sampling(temperature=1.0, max_tokens=30)
        texts = [generate(model, cache, prompt, sampling, 5) for prompt in prompts]
        assert texts[0] == texts[2] != texts[1]
        assert generate(model, cache, prompts[0], sampling, 6) != texts[0]

    def test_ends_with_the_model(self, loaded: tuple[Model, Cache], says: Callable[[bytes], None]) -> None:
        says(b"yes")
        text = generate(*loaded, [1], Sampling(max_tokens=9), 0)
        assert (text.text, text.finish_reason, text.tokens, text.flags) == ("yes", "stop", 3, ())

    def test_ends_at_the_limit(self, loaded: tuple[Model, Cache], says: Callable[[bytes], None]) -> None:
        says(b"yes indeed")
        text = generate(*loaded, [1], Sampling(max_tokens=3), 0)
        assert (text.text, text.finish_reason, text.tokens) == ("yes", "length", 3)

    @pytest.mark.parametrize(
        ("stop", "text"),
        [
            (("\n\n",), "one"),
            (("w",), "one\n\nt"),
            (("zzz", "two", "\n"), "one"),
            (("",), "one\n\ntwo"),
            (("é",), "one\n\ntwo"),
        ],
    )
    def test_stop_strings_cut_and_are_flagged(
        self, loaded: tuple[Model, Cache], says: Callable[[bytes], None], stop: tuple[str, ...], text: str
    ) -> None:
        says(b"one\n\ntwo")
        made = generate(*loaded, [1], Sampling(max_tokens=50, stop=stop), 0)
        assert (made.text, made.finish_reason) == (text, "stop")
        assert made.flags == (() if text == "one\n\ntwo" else ("stop_string",))

    @pytest.mark.parametrize("limit", range(1, 10))
    def test_a_character_cut_by_the_limit_is_dropped(
        self, loaded: tuple[Model, Cache], says: Callable[[bytes], None], limit: int
    ) -> None:
        says("é한👋".encode())
        text = generate(*loaded, [1], Sampling(max_tokens=limit), 0).text
        assert text == ("é한👋".encode()[:limit]).decode("utf-8", "ignore")

    def test_invalid_bytes_inside_are_shown(self, loaded: tuple[Model, Cache], says: Callable[[bytes], None]) -> None:
        says(b"a\xffb")
        assert generate(*loaded, [1], Sampling(), 0).text == "a\ufffdb"
