from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from biasfw import Sampling

pytest.importorskip("biasfw_plugins.hf.runtime", reason="needs the extra hf")

from biasfw_plugins.hf.runtime import torch
from biasfw_plugins.hf.sampling import NO_TOKEN, Picker

pytestmark = pytest.mark.model

LOGITS = [1.0, 3.0, 2.0, -np.inf, 0.0]


def pick(picker: Picker, logits: list[float]) -> int:
    return int(picker.pick(torch.tensor(logits, dtype=torch.float32)))


def softmax(logits: list[float], temperature: float = 1.0) -> Any:
    weights = np.exp((np.array(logits) - max(logits)) / temperature)
    return weights / weights.sum()


def test_temperature_zero_takes_the_likeliest() -> None:
    for temperature in (0.0, 1e-30, 1e-6):
        assert [pick(Picker(Sampling(temperature), seed), LOGITS) for seed in range(5)] == [1] * 5


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("top_p", [1.0, 0.9999999])
def test_frequencies_follow_the_softmax(temperature: float, top_p: float) -> None:
    picker = Picker(Sampling(temperature, top_p), 11)
    counts = np.bincount([pick(picker, LOGITS) for _ in range(3000)], minlength=5)
    expected = softmax(LOGITS, temperature) * 3000
    assert counts[3] == 0
    possible = expected > 0
    assert stats.chisquare(counts[possible], expected[possible]).pvalue > 0.001


def test_the_nucleus_keeps_its_proportions() -> None:
    picker = Picker(Sampling(1.0, 0.8), 5)  # softmax: 0.09, 0.64, 0.24, 0, 0.03
    counts = np.bincount([pick(picker, LOGITS) for _ in range(3000)], minlength=5)
    assert set(np.flatnonzero(counts)) == {1, 2}
    assert abs(counts[1] / 3000 - 1 / (1 + np.exp(-1))) < 0.03


def test_equal_seeds_draw_equally() -> None:
    pickers = [Picker(Sampling(1.0), seed) for seed in (3, 3, 4, 2**32 - 1)]
    draws = [[pick(picker, LOGITS) for _ in range(50)] for picker in pickers]
    assert draws[0] == draws[1] != draws[2]


@given(
    logits=st.lists(st.floats(-20, 20, width=32), min_size=1, max_size=60),
    top_p=st.floats(0.001, 0.999),
    seed=st.integers(0, 2**32 - 1),
)
def test_draws_stay_in_the_nucleus(logits: list[float], top_p: float, seed: int) -> None:
    chosen = pick(Picker(Sampling(1.0, top_p), seed), logits)
    probabilities = softmax(logits)
    likelier = probabilities[probabilities > probabilities[chosen] * (1 + 1e-6)].sum()
    assert likelier <= top_p + 1e-5  # else the tokens before it filled the nucleus


def test_a_nucleus_larger_than_the_first_guess() -> None:
    picker = Picker(Sampling(1.0, 0.5), 1)
    draws = [pick(picker, [0.0] * 20_000) for _ in range(200)]
    assert max(draws) < 10_010
    assert max(draws) > 9_000


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("sampling", [Sampling(), Sampling(1.0), Sampling(1.0, 0.5)])
def test_logits_that_are_not_finite_give_no_token(bad: float, sampling: Sampling) -> None:
    assert pick(Picker(sampling, 0), [0.0, bad]) == NO_TOKEN
