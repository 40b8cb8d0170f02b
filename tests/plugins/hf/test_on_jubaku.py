"""The official rows of JUBAKU, asked for A or B by likelihood: against a plain computation, and against llama.cpp.

SmolLM2 likes A better in every row of v1, so that winners alone would prove nothing: what is compared are margins,
lp(A) - lp(B).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

from biasfw import Request, Response

pytest.importorskip("biasfw_plugins.hf.runtime", reason="needs the extra hf")

from biasfw_plugins.hf.runtime import quiet, torch, transformers

pytestmark = pytest.mark.model

Answers = Callable[[Any, Sequence[Request]], list[Response]]
Jubaku = Callable[[str, int], list[Request]]
Margins: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
ROWS = {"v1": 64, "v2": 16}


def margins(responses: Sequence[Response]) -> Margins:
    made = []
    for response in responses:
        assert response.error is None
        first, second = response.choice_logprobs
        assert (first.tokens, second.tokens) == (1, 1)
        made.append(float(first.sum or 0) - float(second.sum or 0))
    return np.array(made)


@pytest.fixture(scope="module")
def ours(smollm2: Any, jubaku: Jubaku, answers: Answers) -> dict[str, list[Response]]:
    """Answers to the rows of both versions, computed in batches."""
    return {version: answers(smollm2, jubaku(version, count)) for version, count in ROWS.items()}


@pytest.mark.parametrize("version", ROWS)
def test_margins_equal_the_plain_way(
    smollm2: Any, embedded: Any, ours: dict[str, list[Response]], jubaku: Jubaku, version: str
) -> None:
    """Prompt and letter as one text, one row at a time, the library's own class, no cache, no padding."""
    with quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(embedded.folder, gguf_file=embedded.gguf)
    model = smollm2._load()[1].model
    assert model.dtype == torch.float32
    expected = []
    for request, response in zip(jubaku(version, ROWS[version]), ours[version], strict=True):
        whole = [tokenizer((request.prompt or "") + letter.text)["input_ids"] for letter in request.choices]
        assert [len(ids) for ids in whole] == [len(whole[0])] * 2
        assert whole[0][:-1] == whole[1][:-1]  # so that one computation is both
        assert [score.token_ids for score in response.choice_logprobs] == [(ids[-1],) for ids in whole]
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([whole[0][:-1]]), use_cache=False, logits_to_keep=1).logits[0, -1]
        expected.append(float(logits[whole[0][-1]] - logits[whole[1][-1]]))
    np.testing.assert_allclose(margins(ours[version]), expected, rtol=0, atol=1e-3)
    assert np.std(expected) > 0.1  # else they would agree whatever was asked


def test_margins_agree_with_llamacpp(
    smollm2_llamacpp: Any, ours: dict[str, list[Response]], jubaku: Jubaku, answers: Answers
) -> None:
    """llama.cpp computes with 4-bit weights and rounded activations, so that margins differ by more than rounding."""
    theirs = answers(smollm2_llamacpp, jubaku("v1", ROWS["v1"]))
    for mine, other in zip(ours["v1"], theirs, strict=True):
        assert mine.prompt_tokens == other.prompt_tokens
        assert [s.token_ids for s in mine.choice_logprobs] == [s.token_ids for s in other.choice_logprobs]
    mine_all, other_all = margins(ours["v1"]), margins(theirs)
    assert np.corrcoef(mine_all, other_all)[0, 1] >= 0.95
    orders = [made.reshape(-1, 2).mean(1) for made in (mine_all, other_all)]  # rows come as pairs of both orders
    assert np.array_equal(np.sign(orders[0]), np.sign(orders[1]))
