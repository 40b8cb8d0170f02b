"""What sequences hold, copy and share; and batches that round alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("biasfw_plugins.llamacpp.native", reason="needs the extra llamacpp")

from biasfw_plugins.llamacpp.cache import Cache, common
from biasfw_plugins.llamacpp.context import Context, DecodeError
from biasfw_plugins.llamacpp.native import Model
from biasfw_plugins.llamacpp.rounding import even_batches

pytestmark = pytest.mark.model

Tiny = Callable[..., Path]
PROMPT = [1, *range(40, 140)]


@pytest.fixture
def model(tiny: Tiny) -> Iterator[Model]:
    made = Model(tiny())
    yield made
    made.close()


@pytest.fixture
def cache(model: Model) -> Iterator[Cache]:
    context = Context(model, cells=256, n_batch=64, n_threads=1, sequences=4)
    yield Cache(context, can_rewind=True, even=2)
    context.close()


@given(st.lists(st.integers(0, 2)), st.lists(st.integers(0, 2)), st.integers(0, 9))
def test_common(one: list[int], other: list[int], most: int) -> None:
    length = common(one, other, most)
    assert one[:length] == other[:length]
    assert length == most or length in (len(one), len(other)) or one[length] != other[length]


def test_a_copy_is_used_like_what_was_evaluated(cache: Cache) -> None:
    expected = cache.logits_after(0, [*PROMPT, 50, 51]).copy()
    cache.clear()
    cache.logits_after(2, [*PROMPT, 60, 61, 62])
    place = cache.place([*PROMPT, 50, 51], len(PROMPT) + 1, [1, 3])
    assert place in (1, 3)
    assert cache.held(place) == len(PROMPT)
    assert np.array_equal(cache.logits_after(place, [*PROMPT, 50, 51]), expected)
    assert cache.held(2) == len(PROMPT) + 3


def test_a_small_saving_is_not_copied(cache: Cache) -> None:
    cache.logits_after(2, PROMPT[:20])
    assert cache.held(cache.place(PROMPT[:30], 29, [0, 1])) == 0
    assert cache.held(cache.place(PROMPT[:30], 29, [0, 2])) == 20


def test_logits_are_left_to_evaluate(cache: Cache) -> None:
    cache.logits_after(0, PROMPT)
    assert cache.held(cache.place(PROMPT, len(PROMPT) - 1, [0])) == len(PROMPT) - 1


def test_generated_tokens_are_not_shared(cache: Cache) -> None:
    """They were evaluated one at a time, which rounds otherwise."""
    cache.logits_after(0, PROMPT)
    for token in (50, 51, 52):
        cache.step([token])
    assert cache.held(0) == len(PROMPT) + 3
    assert cache.held(cache.place([*PROMPT, 50, 51, 52, 53], len(PROMPT) + 3, [0])) == len(PROMPT)


def test_a_step_does_not_depend_on_how_many_it_is_of(cache: Cache) -> None:
    seen = []
    for count in (1, 2, 3, 4):
        cache.clear()
        for sequence in range(count):
            cache.logits_after(sequence, PROMPT[: 50 + 9 * sequence])
        seen.append([cache.step([70 + n, *range(80, 79 + count)])[0].copy() for n in range(3)])
        assert [cache.held(sequence) for sequence in range(4)] == [
            53 + 9 * sequence if sequence < count else 0 for sequence in range(4)
        ]
    assert all(np.array_equal(rows, seen[0]) for rows in seen)


def test_the_fillers_of_a_step_leave_what_a_sequence_holds(cache: Cache) -> None:
    cache.logits_after(1, PROMPT)
    expected = cache.logits_after(1, [*PROMPT, 9]).copy()
    cache.rewind(1, len(PROMPT))
    cache.logits_after(0, PROMPT[:5])
    cache.step([7])
    assert cache.held(1) == len(PROMPT)
    assert np.array_equal(cache.logits_after(1, [*PROMPT, 9]), expected)


def test_a_full_sequence_can_fill_up(cache: Cache) -> None:
    cache.logits_after(1, [1] * cache.room)
    cache.logits_after(0, PROMPT)
    cache.step([7])
    assert cache.held(0) == len(PROMPT) + 1


def test_a_refused_batch_empties_its_sequence_only(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.logits_after(0, PROMPT)
    cache.logits_after(1, PROMPT[:30])
    with pytest.raises(DecodeError):
        cache.logits_after(1, [*PROMPT[:30], 1 << 30])  # no such token
    assert (cache.held(0), cache.held(1)) == (len(PROMPT), 0)
    expected = cache.logits_after(0, [*PROMPT, 9]).copy()
    assert np.array_equal(cache.logits_after(1, [*PROMPT, 9]), expected)


@pytest.mark.parametrize("begin", [0, 3, 130, 250, 256, 300, 700])
def test_a_batch_ends_where_a_block_of_cells_ends(model: Model, monkeypatch: pytest.MonkeyPatch, begin: int) -> None:
    """Logits are those of whatever other batches; nothing is left over that would not pay for a batch."""
    tokens = [1, *(40 + place % 90 for place in range(800))]
    context = Context(model, cells=1024, n_batch=512, n_threads=1)
    cache = Cache(context, can_rewind=True, even=2)
    sizes: list[int] = []
    decode = context.decode

    def note(chunk: list[int], position: int, **options: Any) -> None:
        sizes.append(len(chunk))
        decode(chunk, position, **options)

    with monkeypatch.context() as patched:
        patched.setattr("biasfw_plugins.llamacpp.cache._BLOCK", 4096)
        expected = cache.logits_after(0, tokens).copy()
    cache.rewind(0, begin)
    monkeypatch.setattr(context, "decode", note)
    assert np.array_equal(cache.logits_after(0, tokens), expected)
    context.close()
    ends = np.cumsum([begin, *sizes])[1:]
    assert all(end % 256 in (0, 255) for end in ends[:-1])  # an odd one is left over where batches are even
    assert all(32 < size <= 288 for size in sizes[:-1])


class TestRounding:
    def test_finds_what_the_kernels_need(self, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
        """A kernel that rounds the rows left over by four otherwise."""

        def logits(_: Context, index: int) -> np.ndarray:
            return np.array([float(index), float(index >= sizes[-1] - sizes[-1] % 4)])

        sizes: list[int] = []
        decode = Context.decode

        def count(context: Context, tokens: list[int], position: int, **options: Any) -> None:
            sizes.append(len(tokens))
            decode(context, tokens, position, **options)

        monkeypatch.setattr(Context, "decode", count)
        monkeypatch.setattr(Context, "logits", logits)
        assert even_batches(model, 1) == 4

    def test_nothing_helps(self, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
        numbers = iter(range(1000))
        monkeypatch.setattr(Context, "logits", lambda *_: np.array([float(next(numbers))]))
        assert even_batches(model, 1) == 1

    def test_a_recurrent_model_is_not_filled_up(self, tiny: Tiny) -> None:
        made = Model(tiny(architecture="mamba"))
        assert even_batches(made, 1) == 1
        made.close()
