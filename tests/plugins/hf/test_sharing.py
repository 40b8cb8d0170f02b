"""Beginnings that prompts share: found, computed once, and nothing changes but the time."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biasfw import BackendSettings, Request, Response

pytest.importorskip("biasfw_plugins.hf.runtime", reason="needs the extra hf")

from biasfw_plugins.hf.backend import HuggingFace
from biasfw_plugins.hf.jobs import Continuing, Job, batches
from biasfw_plugins.hf.network import Network
from biasfw_plugins.hf.runtime import transformers
from biasfw_plugins.hf.sharing import alike, common, start

pytestmark = pytest.mark.model

Ask = Callable[..., Request]
Tiny = Callable[..., Path]


def dialogues(count: int, *, seed: int = 3) -> list[list[int]]:
    """Token ids of ``count`` dialogues, each in two orders that part after about two thirds; shuffled."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        beginning = [0, *draw.choices(range(4, 260), k=90 + 15 * number)]
        first, second = draw.choices(range(4, 260), k=20 + number), draw.choices(range(4, 260), k=25)
        made += [beginning + first + second, beginning + second + first]
    draw.shuffle(made)
    return made


def networks(folder: Path) -> tuple[Network, list[int]]:
    """A model, and a list that notes the token positions of every pass."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    computed: list[int] = []
    forward = model.forward

    def note(**arguments: Any) -> Any:
        computed.append(arguments["input_ids"].numel())
        return forward(**arguments)

    network = Network(model)
    model.forward = note
    return network, computed


class TestAlike:
    def test_the_two_orders_of_each_dialogue(self) -> None:
        made = dialogues(6)
        groups = alike(made)
        assert sorted(place for group in groups for place in group) == list(range(12))
        assert [len(group) for group in groups] == [2] * 6
        assert all(common([made[place] for place in group]) >= 90 for group in groups)

    def test_a_pair_is_not_torn_apart_by_what_all_have_in_common(self) -> None:
        lone, pair = [1] * 10 + [2] * 50, [[1] * 10 + [3] * 50 + [last] for last in (4, 5)]
        assert sorted(map(sorted, alike([pair[0], lone, pair[1]]))) == [[0, 2], [1]]

    def test_a_shared_beginning_of_all(self) -> None:
        assert [len(group) for group in alike([[1] * 40 + [last] * 9 for last in range(2, 9)])] == [7]

    @pytest.mark.parametrize("least", [0.0, 0.5])
    def test_how_much_of_each_must_be_shared(self, least: float) -> None:
        groups = alike([[1] * 40 + [2] * 60, [1] * 40 + [3] * 60], least)
        assert len(groups) == (2 if least else 1)

    def test_nothing_in_common(self) -> None:
        assert len(alike([[1, 2], [3], [], [4, 5, 6]])) == 4
        assert alike([]) == []


class TestStart:
    @pytest.mark.parametrize("architecture", ["llama", "gpt2", "mistral", "mpt"])
    @pytest.mark.parametrize("keep", [1, 5])
    def test_equals_each_alone(self, tiny: Tiny, architecture: str, keep: int) -> None:
        network, computed = networks(tiny(architecture=architecture))
        made = [*dialogues(3), [0], [0, 9, 9], made_alone()]
        rows, logits = start(network, made, [max(0, len(sequence) - keep) for sequence in made], keep=keep)
        passes = len(computed)
        assert passes == (2 if network.gaps else 1)
        after = network.extend(rows, [[7]] * len(made))
        for row, sequence in enumerate(made):
            _, alone = network.start([sequence], keep=keep)
            count = min(keep, len(sequence))
            np.testing.assert_allclose(logits[row, -count:], alone[0, -count:], rtol=0, atol=1e-3)
            _, next_alone = network.start([[*sequence, 7]], keep=1)
            np.testing.assert_allclose(after[row], next_alone[0], rtol=0, atol=1e-3)

    def test_less_is_computed(self, tiny: Tiny) -> None:
        network, computed = networks(tiny())
        made = dialogues(4)
        start(network, made, [len(sequence) - 1 for sequence in made], keep=1)
        assert sum(computed) < 0.75 * len(made) * max(map(len, made))

    @pytest.mark.parametrize(
        "made", [[[0] * 9 + [5], [0] * 9 + [6]], [[3] * 200], [[number] * 200 for number in range(4)]]
    )
    def test_one_pass_where_sharing_saves_nothing(self, tiny: Tiny, made: list[list[int]]) -> None:
        network, computed = networks(tiny())
        start(network, made, [len(sequence) - 1 for sequence in made], keep=1)
        assert computed == [len(made) * len(made[0])]


def made_alone() -> list[int]:
    """A sequence that shares nothing with ``dialogues``."""
    return [3] * 150


def _job(prompt: Sequence[int], ask: Ask) -> Continuing:
    return Continuing(ask(str(prompt[:5]), max_tokens=1), tuple(prompt))


def test_batches_keep_together_what_begins_alike(ask: Ask) -> None:
    """Even where sequences of other dialogues are of a length between theirs."""
    jobs: list[Job] = [_job(prompt, ask) for prompt in dialogues(12)]
    made = batches(jobs, 900)
    assert sorted(job.tokens for batch in made for job in batch) == sorted(job.tokens for job in jobs)
    assert all(len(batch) * max(job.tokens for job in batch) <= 900 for batch in made)
    for batch in made:
        assert all(len(group) == 2 for group in alike([job.beginning for job in batch], least=0.5))


@pytest.mark.parametrize("budget", [1, 1500, 100_000])
def test_answers_are_those_of_each_alone(tiny: Tiny, ask: Ask, requests: type, budget: int) -> None:
    folder = tiny(context=2048)
    draw = random.Random(5)

    def words(count: int) -> str:
        return "".join(draw.choices("abcdefgh ", k=count))

    asked = []
    for number in range(8):
        context, one, two = words(200 + 9 * number), words(30 + number), words(40)
        for first, second in ((one, two), (two, one)):
            prompt = f"{context}\nA: {first}\nB: {second}\nAnswer:"
            asked += [ask(raw=prompt, choices=[*"ABCDEFGH", "or so"]), ask(raw=prompt, max_tokens=6, temperature=1.0)]

    def answers(budget: int, groups: Sequence[Sequence[Request]]) -> dict[str, Response]:
        options = {"device": "cpu", "batch_tokens": budget}
        backend = HuggingFace(BackendSettings(str(folder), "choices", options=options))
        made = {answer.key: answer for group in groups for answer in backend.run(requests(group))}
        backend.close()
        return made

    alone, together = answers(100_000, [[request] for request in asked]), answers(budget, [asked])
    for key, answer in alone.items():
        assert together[key].text == answer.text
        ours, theirs = ([score.sum for score in each.choice_logprobs] for each in (together[key], answer))
        np.testing.assert_allclose(np.array(ours, float), np.array(theirs, float), rtol=0, atol=1e-3)
    chosen = [answer.choice_logprobs for answer in alone.values() if answer.choice_logprobs]
    winners = {max(scores, key=lambda score: score.sum or 0).key for scores in chosen}
    assert len(winners) > 1


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("architecture", ["llama", "gpt2"])
def test_random_trees_of_prompts(
    tmp_path: Path, tiny: Tiny, ask: Ask, requests: type, architecture: str, data: st.DataObject
) -> None:
    """Long and short beginnings, shared by some; scores and texts are those of each request alone."""
    piece = st.sampled_from(["a", "bb ", "said " * 16, "other " * 12, "and so on " * 20])
    prompts = data.draw(st.lists(st.lists(piece, max_size=4).map("".join), min_size=2, max_size=7, unique=True))
    choices = data.draw(st.lists(st.text("ab", min_size=1, max_size=4), min_size=2, max_size=4, unique=True))
    asked = [ask(raw=f"{prompt}?", choices=choices) for prompt in prompts]
    asked += [ask(raw=f"{prompt}?", max_tokens=3) for prompt in prompts]
    folder = tmp_path / architecture
    if not folder.exists():
        tiny(architecture, architecture=architecture, context=2048)
    options = {"device": "cpu", "batch_tokens": data.draw(st.sampled_from([1, 700, 4096]))}
    backend = HuggingFace(BackendSettings(str(folder), "choices", options=options))
    together = {answer.key: answer for answer in backend.run(requests(asked))}
    for request in asked:
        (alone,) = backend.run(requests([request]))
        assert together[request.key].text == alone.text
        sums = [[score.sum for score in each.choice_logprobs] for each in (together[request.key], alone)]
        np.testing.assert_allclose(np.array(sums[0], float), np.array(sums[1], float), rtol=0, atol=1e-3)
    backend.close()
