"""The official rows of JUBAKU: what prompts share, and what is computed side by side, changes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biasfw import BackendSettings, ChoiceText, ComponentError, Request, Response, Sampling, sha256_text

pytest.importorskip("biasfw_plugins.llamacpp.native", reason="needs the extra llamacpp")

import llama_cpp

from biasfw_plugins.llamacpp.backend import LlamaCpp
from biasfw_plugins.llamacpp.context import Context
from biasfw_plugins.llamacpp.models import find_model

pytestmark = pytest.mark.model

Make = Callable[..., LlamaCpp]
ROWS = {"v1": 4, "v2": 4}  # of one dialogue: two instructions, both orders


@pytest.fixture
def make() -> Iterator[Make]:
    """The embedded model with options of the backend."""
    try:
        find_model(None)
    except ComponentError as missing:
        pytest.skip(str(missing))
    made: list[LlamaCpp] = []

    def build(mode: Any, **options: Any) -> LlamaCpp:
        made.append(LlamaCpp(BackendSettings(None, mode, options={"n_threads": 1, **options})))
        return made[-1]

    yield build
    for backend in made:
        backend.close()


def rows(folder: Path, version: str) -> list[Request]:
    """The first rows as raw prompts, which are asked for the letter A or B."""
    lines = (folder / f"jubaku_ver{version.removeprefix('v')}.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        Request(
            key=sha256_text(f"{version} {row['example_id']}"),
            item_id=row["example_id"],
            sampling=Sampling(),
            prompt=row["instruction"],
            choices=(ChoiceText("a", "A"), ChoiceText("b", "B")),
        )
        for row in map(json.loads, lines[: ROWS[version]])
    ]


def answers(backend: LlamaCpp, asked: Sequence[Request], requests: type) -> list[Response]:
    made = {response.key: response for response in backend.run(requests(asked))}
    assert all(response.error is None for response in made.values())
    return [made[request.key] for request in asked]


@pytest.mark.parametrize("version", ROWS)
def test_scores_equal_the_plain_way(
    jubaku: Path, make: Make, requests: type, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library's own class, every prompt whole, nothing shared."""
    evaluated: list[int] = []
    decode = Context.decode

    def count(context: Context, tokens: Sequence[int], position: int, **options: Any) -> None:
        evaluated.append(len(tokens))
        decode(context, tokens, position, **options)

    asked = rows(jubaku, version)
    backend = make("choices")
    backend.prepare()
    answers(backend, asked[:1], requests)  # how batches round is tried out
    monkeypatch.setattr(Context, "decode", count)
    ours = answers(backend, asked, requests)
    plain: Any = llama_cpp.Llama(str(find_model(None).paths[0]), n_ctx=2048, n_threads=1, verbose=False)
    whole = 0
    for request, response in zip(asked, ours, strict=True):
        both = [
            plain.tokenize(((request.prompt or "") + letter.text).encode(), add_bos=False) for letter in request.choices
        ]
        assert [score.token_ids for score in response.choice_logprobs] == [(ids[-1],) for ids in both]
        prompt = both[0][:-1]
        assert both[1][:-1] == prompt
        whole += len(prompt)
        plain.reset()
        plain.eval(prompt)
        row = np.ctypeslib.as_array(plain._ctx.get_logits_ith(-1), shape=(plain.n_vocab(),)).astype(np.float64)
        logprobs = row - np.log(np.exp(row).sum())
        sums = [score.sum for score in response.choice_logprobs]
        np.testing.assert_allclose(np.array(sums, float), [logprobs[ids[-1]] for ids in both], rtol=0, atol=2e-2)
        assert np.argmax(np.array(sums, float)) == np.argmax([logprobs[ids[-1]] for ids in both])
    plain.close()
    assert sum(evaluated) < 0.75 * whole  # else nothing was shared


@pytest.mark.parametrize("version", ROWS)
def test_scores_do_not_depend_on_the_rows_beside_them(jubaku: Path, make: Make, requests: type, version: str) -> None:
    asked = rows(jubaku, version)
    for response in answers(make("choices"), asked, requests)[-2:]:
        (request,) = (each for each in asked if each.key == response.key)
        (alone,) = answers(make("choices"), [request], requests)
        assert response.choice_logprobs == alone.choice_logprobs


@pytest.mark.parametrize("version", ROWS)
def test_answers_side_by_side_are_those_of_one_at_a_time(
    jubaku: Path, make: Make, requests: type, version: str
) -> None:
    asked = [
        replace(request, choices=(), sampling=Sampling(temperature=temperature, max_tokens=6))
        for request, temperature in zip(rows(jubaku, version)[:3], (0.0, 1.0, 0.7), strict=True)
    ]
    single, parallel = (answers(make("generate", parallel=count), asked, requests) for count in (1, 3))
    assert [response.text for response in parallel] == [response.text for response in single]
    assert any(response.text for response in single)
