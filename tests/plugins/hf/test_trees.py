"""Prompts as a tree: what is computed together, and how little is computed twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasfw import BackendSettings, Request

pytest.importorskip("biasfw_plugins.hf.runtime", reason="needs the extra hf")

from biasfw_plugins.hf.backend import HuggingFace
from biasfw_plugins.hf.network import Network
from biasfw_plugins.hf.runtime import transformers
from biasfw_plugins.hf.sharing import Trunk, common
from biasfw_plugins.hf.trees import Branch, branches, portions

pytestmark = pytest.mark.model

Ask = Callable[..., Request]
Tiny = Callable[..., Path]
TREES = st.lists(
    st.lists(st.sampled_from([[1] * 200, [2] * 70, [3] * 9, [4]]), max_size=5).map(
        lambda parts: [*chain.from_iterable(parts)]
    ),
    max_size=24,
)


def computed(sequences: Sequence[Sequence[int]], made: Sequence[Branch]) -> int:
    """How many tokens one computes who keeps the beginning of the last branch."""
    total, held = 0, list[int]()
    for branch in made:
        beginning = list(sequences[branch.places[0]][: branch.depth])
        if beginning:
            total += len(beginning) - common([held, beginning])
            held = beginning
        total += sum(len(sequences[place]) - branch.depth for place in branch.places)
    return total


class TestBranches:
    @given(TREES)
    def test_every_place_once_and_all_begin_alike(self, sequences: list[list[int]]) -> None:
        made = branches(sequences)
        assert sorted(place for branch in made for place in branch.places) == list(range(len(sequences)))
        for branch in made:
            assert common([sequences[place] for place in branch.places]) >= branch.depth

    @given(TREES)
    def test_never_more_than_all_of_each_and_never_far_from_the_least(self, sequences: list[list[int]]) -> None:
        """A pass costs as much as 48 tokens: each fork may leave about two of them on the table for every prompt."""
        total = computed(sequences, branches(sequences))
        distinct = len({tuple(each[:end]) for each in sequences for end in range(1, len(each) + 1)})
        assert distinct <= total <= sum(map(len, sequences))
        assert total <= distinct + 3 * 48 * len(sequences)

    def test_nested_beginnings(self) -> None:
        """Two dialogues of a scene, each in two orders, beside a prompt that shares nothing."""
        scene, one, two = [1] * 300, [2] * 200, [3] * 200
        sequences = [scene + one + [5], scene + two + [5], [9] * 50, scene + one + [6], scene + two + [6]]
        assert branches(sequences) == [Branch(0, (2,)), Branch(500, (0, 3)), Branch(500, (1, 4))]
        assert computed(sequences, branches(sequences)) == 300 + 2 * 202 + 50

    def test_short_ones_stay_together(self) -> None:
        sequences = [[1] * 20 + [number] * 30 for number in range(2, 9)]
        assert branches(sequences) == [Branch(20, tuple(range(7)))]

    def test_thousands_that_each_go_on_from_another(self) -> None:
        """No recursion, and no time that grows with the square of their number."""
        sequences = [[1] * length for length in range(2000)]
        assert sum(len(branch.places) for branch in branches(sequences)) == 2000

    def test_nothing(self) -> None:
        assert branches([]) == []


class TestPortions:
    @given(st.lists(st.integers(1, 400), min_size=1, max_size=40), st.integers(1, 2000))
    def test_within_the_budget_and_of_like_size(self, sizes: list[int], budget: int) -> None:
        made = portions(Branch(0, tuple(range(len(sizes)))), sizes, budget)
        assert sorted(place for portion in made for place in portion) == list(range(len(sizes)))
        for portion in made:
            widest = max(sizes[place] for place in portion)
            assert len(portion) == 1 or len(portion) * widest <= budget
            assert sum(widest - sizes[place] for place in portion) <= 48


class TestTrunk:
    def test_rows_equal_those_computed_anew(self, tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
        network = Network(transformers.AutoModelForCausalLM.from_pretrained(tiny()).eval())
        trunk = Trunk(network)
        passes: list[int] = []
        advance = network._advance

        def note(rows: Any, padded: Any, *rest: Any) -> Any:
            passes.append(len(padded) * len(padded[0]))
            return advance(rows, padded, *rest)

        monkeypatch.setattr(network, "_advance", note)
        first, second = [0, *range(5, 105)], [0, *range(5, 85), *range(120, 150)]
        other = [0, *range(200, 260)]  # one token in common does not pay
        for tokens, cost in ((first, 101), (second, 30), (second, 0), (second[:40], 0), (first, 61), (other, 61)):
            passes.clear()
            rows = trunk.rows(tokens, 2)
            assert sum(passes) == cost
            after = network.append(rows, [[7, 8], [9]], keep=1)
            for row, rest in enumerate(([7, 8], [9])):
                _, alone = network.start([[*tokens, *rest]], keep=1)
                np.testing.assert_allclose(after[row], alone[0], rtol=0, atol=1e-3)

    def test_a_pass_that_fails_leaves_nothing_half_done(self, tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
        network = Network(transformers.AutoModelForCausalLM.from_pretrained(tiny()).eval())
        trunk = Trunk(network)
        trunk.rows([0, *range(5, 50)], 1)

        def fail(*_: Any) -> Any:
            raise MemoryError

        with monkeypatch.context() as patched:
            patched.setattr(network, "_advance", fail)
            with pytest.raises(MemoryError):
                trunk.rows([0, *range(5, 60)], 1)
        rows = trunk.rows([0, *range(5, 60)], 1)
        after = network.append(rows, [[7]], keep=1)
        _, alone = network.start([[0, *range(5, 60), 7]], keep=1)
        np.testing.assert_allclose(after[0], alone[0], rtol=0, atol=1e-3)


@pytest.mark.parametrize("budget", [300, 2048])
def test_prompts_that_fill_a_batch_alone_share_too(
    tiny: Tiny, ask: Ask, requests: type, monkeypatch: pytest.MonkeyPatch, budget: int
) -> None:
    """Pairs of long prompts that share most of their tokens, of which no two fit into one batch."""
    scenes = [f"{letter} tells a long story. " * 12 for letter in "ABC"]
    asked = [ask(raw=scene + last, choices=["A", "B"]) for scene in scenes for last in ("One. Two.", "Two. One.")]
    computed: list[int] = []
    backend = HuggingFace(
        BackendSettings(str(tiny(context=2048)), "choices", options={"device": "cpu", "batch_tokens": budget})
    )
    backend.prepare()
    network = backend._load()[0]._subject.network
    advance = network._advance

    def note(rows: Any, padded: Any, *rest: Any) -> Any:
        computed.append(len(padded) * len(padded[0]))
        return advance(rows, padded, *rest)

    monkeypatch.setattr(network, "_advance", note)
    assert all(answer.error is None for answer in backend.run(requests(asked)))
    assert sum(computed) < 0.6 * sum(len(request.prompt or "") for request in asked)
    backend.close()
