from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from biasfw import Sampling

pytest.importorskip("biasfw_plugins.hf.runtime", reason="needs the extra hf")

from biasfw_plugins.hf.generation import NOT_FINITE, Generated, Text, generate
from biasfw_plugins.hf.network import Network
from biasfw_plugins.hf.runtime import torch, transformers
from biasfw_plugins.hf.sampling import NO_TOKEN, Picker
from biasfw_plugins.hf.tokens import Tokeniser

pytestmark = pytest.mark.model

Tiny = Callable[..., Path]
ARCHITECTURES = ["llama", "mistral", "gpt2"]
END = 1


class Made:
    """A tiny model, with ours and the library's way to generate."""

    def __init__(self, folder: Path) -> None:
        self.model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
        self.network = Network(self.model)
        self.tokeniser = Tokeniser(transformers.AutoTokenizer.from_pretrained(folder))

    def continue_all(
        self, prompts: Sequence[Sequence[int]], sampling: Sampling, seeds: Sequence[int] | None = None
    ) -> list[tuple[list[int], Generated]]:
        texts = [
            Text(self.tokeniser, frozenset({END}), sampling, Picker(sampling, seed))
            for seed in (seeds or range(len(prompts)))
        ]
        ended = dict(generate(self.network, prompts, texts))
        return [(text.ids, ended[index]) for index, text in enumerate(texts)]

    def continue_plainly(self, prompt: Sequence[int], count: int) -> list[int]:
        """Greedy, one text alone, every step from the beginning, without a cache."""
        ids = list(prompt)
        while len(ids) < len(prompt) + count:
            with torch.no_grad():
                token = int(self.model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1].argmax())
            if token == END:
                break
            ids.append(token)
        return ids[len(prompt) :]


def prompts_of(*lengths: int) -> list[list[int]]:
    return [[0, *(4 + (7 * length + 3 * at) % 250 for at in range(length - 1))] for length in lengths]


class TestBatches:
    @pytest.mark.parametrize("architecture", ARCHITECTURES)
    def test_greedy_texts_are_those_of_each_alone(self, tiny: Tiny, architecture: str) -> None:
        """C32: no pad token, the end token would be taken for one; short beside long prompts."""
        made = Made(tiny(architecture=architecture))
        prompts = prompts_of(3, 30, 11, 1)
        expected = [made.continue_plainly(prompt, 24) for prompt in prompts]
        assert [ids for ids, _ in made.continue_all(prompts, Sampling(max_tokens=24))] == expected
        assert [made.continue_all([prompt], Sampling(max_tokens=24))[0][0] for prompt in prompts] == expected
        assert all(expected)

    def test_a_recurrent_model_continues_from_its_state(self, tiny: Tiny) -> None:
        made = Made(tiny(architecture="mamba"))
        assert made.network.recurrent
        for prompt in prompts_of(3, 30):
            ((ids, _),) = made.continue_all([prompt], Sampling(max_tokens=16))
            assert ids == made.continue_plainly(prompt, 16)

    @pytest.mark.parametrize("architecture", ARCHITECTURES)
    @pytest.mark.parametrize("sampling", [Sampling(1.0, max_tokens=20), Sampling(0.8, 0.9, max_tokens=20)])
    def test_draws_do_not_depend_on_the_batch(self, tiny: Tiny, architecture: str, sampling: Sampling) -> None:
        made = Made(tiny(architecture=architecture))
        prompts, seeds = prompts_of(3, 30, 11, 7, 18), [5, 6, 7, 8, 9]
        together = made.continue_all(prompts, sampling, seeds)
        alone = [made.continue_all([prompt], sampling, [seed])[0] for prompt, seed in zip(prompts, seeds, strict=True)]
        backwards = made.continue_all(prompts[::-1], sampling, seeds[::-1])[::-1]
        assert together == alone == backwards
        assert len({tuple(ids) for ids, _ in together}) == 5

    def test_texts_that_have_ended_leave_the_batch(self, tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
        made = Made(tiny())
        sizes = []
        forward = made.model.forward

        def note(**arguments: Any) -> Any:
            sizes.append(arguments["input_ids"].shape[0])
            return forward(**arguments)

        monkeypatch.setattr(made.model, "forward", note)
        counts = [2, 6, 4]
        texts = [
            Text(made.tokeniser, frozenset(), Sampling(max_tokens=count), Picker(Sampling(), 0)) for count in counts
        ]
        order = [index for index, _ in generate(made.network, prompts_of(5, 9, 2), texts)]
        assert order == [0, 2, 1]
        assert sizes == [3, 3, 2, 2, 1, 1]
        assert [len(text.ids) for text in texts] == counts

    def test_a_model_that_keeps_no_cache(self, tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
        made = Made(tiny())
        expected = [made.continue_plainly(prompt, 9) for prompt in prompts_of(3, 30)]
        monkeypatch.setattr(made.network, "caches", False)
        assert [ids for ids, _ in made.continue_all(prompts_of(3, 30), Sampling(max_tokens=9))] == expected


class TestEnds:
    @pytest.fixture
    def says(self, tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Generated]:
        """What becomes of a text if the model says the bytes given, then ends it."""
        made = Made(tiny())
        words = made.tokeniser._tokenizer.convert_ids_to_tokens(list(range(4, 260)))
        numbers = {made.tokeniser._letters[word]: number for number, word in enumerate(words, start=4)}

        def script(data: bytes, **sampling: Any) -> Generated:
            tokens = iter([*(numbers[byte] for byte in data), END])
            monkeypatch.setattr(Picker, "pick", lambda *_: torch.tensor(next(tokens)))
            ((_, text),) = made.continue_all([[0]], Sampling(**sampling))
            return text

        return script

    def test_ends_with_the_model(self, says: Callable[..., Generated]) -> None:
        text = says(b"yes", max_tokens=9)
        assert (text.text, text.reason, text.tokens, text.flags) == ("yes", "stop", 3, ())

    def test_ends_at_the_limit(self, says: Callable[..., Generated]) -> None:
        text = says(b"yes indeed", max_tokens=3)
        assert (text.text, text.reason, text.tokens) == ("yes", "length", 3)

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
        self, says: Callable[..., Generated], stop: tuple[str, ...], text: str
    ) -> None:
        made = says(b"one\n\ntwo", max_tokens=50, stop=stop)
        assert (made.text, made.reason) == (text, "stop")
        assert made.flags == (() if text == "one\n\ntwo" else ("stop_string",))

    def test_a_stop_string_far_in_is_found_where_it_stands(self, says: Callable[..., Generated]) -> None:
        made = says(b"word " * 40 + "한".encode() + b"END more", max_tokens=500, stop=("한END",))
        assert (made.text, made.tokens) == ("word " * 40, 206)

    @pytest.mark.parametrize("limit", range(1, 10))
    def test_a_character_cut_by_the_limit_is_dropped(self, says: Callable[..., Generated], limit: int) -> None:
        text = says("é한👋".encode(), max_tokens=limit).text
        assert text == ("é한👋".encode()[:limit]).decode("utf-8", "ignore")

    def test_invalid_bytes_inside_are_shown(self, says: Callable[..., Generated]) -> None:
        assert says(b"a\xffb").text == "a\ufffdb"

    def test_logits_that_are_not_finite_end_it(self, tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
        made = Made(tiny())
        monkeypatch.setattr(Picker, "pick", lambda *_: torch.tensor(NO_TOKEN))
        ((_, text),) = made.continue_all([[0]], Sampling())
        assert text.reason == NOT_FINITE
