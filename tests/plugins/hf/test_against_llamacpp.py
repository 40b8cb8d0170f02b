"""A tiny GGUF model in float32 through both backends: other code, the same numbers up to rounding."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from biasfw import BackendSettings, Request, Response

pytest.importorskip("biasfw_plugins.hf.runtime", reason="needs the extra hf")
pytest.importorskip("gguf", reason="needs the extra hf")
pytest.importorskip("llama_cpp", reason="needs the extra llamacpp")

import gguf
from tokenizers import pre_tokenizers

from biasfw_plugins.hf.backend import HuggingFace
from biasfw_plugins.llamacpp.backend import LlamaCpp

pytestmark = pytest.mark.model

Ask = Callable[..., Request]
WIDTH, HIDDEN, HEADS = 32, 64, 2
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A llama with random weights and a byte-level vocabulary as in GPT-2."""
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    control = ["<s>", "<|im_start|>", "<|im_end|>"]
    merges = ["Ġ A", "Ġ B", "e r", "a n"]
    words = [*control, *sorted(pre_tokenizers.ByteLevel.alphabet()), *(merge.replace(" ", "") for merge in merges)]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(512)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(2)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(words))
    writer.add_file_type(int(gguf.LlamaFileType.ALL_F32))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(words)
    writer.add_token_types([3 if word in control else 1 for word in words])
    writer.add_token_merges(merges)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(True)
    writer.add_chat_template(CHATML)
    random = np.random.default_rng(11)
    shapes = {"token_embd": (len(words), WIDTH), "output": (len(words), WIDTH), "output_norm": (WIDTH,)}
    for block in ("blk.0", "blk.1"):
        shapes |= {f"{block}.{name}": (WIDTH,) for name in ("attn_norm", "ffn_norm")}
        shapes |= {f"{block}.{name}": (WIDTH, WIDTH) for name in ("attn_q", "attn_output")}
        shapes |= {f"{block}.{name}": (WIDTH // HEADS, WIDTH) for name in ("attn_k", "attn_v")}
        shapes |= {f"{block}.{name}": (HIDDEN, WIDTH) for name in ("ffn_gate", "ffn_up")}
        shapes[f"{block}.ffn_down"] = (WIDTH, HIDDEN)
    for name, shape in shapes.items():
        values = np.ones(shape) if "norm" in name else random.normal(0, 0.4, shape)
        writer.add_tensor(f"{name}.weight", values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def both(path: Path, asked: list[Request], requests: type) -> list[tuple[Response, Response]]:
    """Answers of hf and of llamacpp to the same requests."""
    ours = HuggingFace(BackendSettings(str(path), "choices", options={"device": "cpu"}))
    theirs = LlamaCpp(BackendSettings(str(path), "choices", options={"n_threads": 1}))
    made = [{answer.key: answer for answer in backend.run(requests(asked))} for backend in (ours, theirs)]
    ours.close()
    theirs.close()
    return [(made[0][request.key], made[1][request.key]) for request in asked]


def test_choices(path: Path, ask: Ask, requests: type) -> None:
    choices = ["A: one\nB: two\n", "A: two\nB: one\n", "An answer", " A", " B", "é한"]
    asked = [ask(f"Question {number} " * number, system="Be fair.", choices=choices) for number in range(1, 7)]
    asked += [ask(raw="Answer:", choices=[" A", " B"]), ask(raw="", choices=["She left.", "He left."])]
    winners = set()
    for ours, theirs in both(path, asked, requests):
        assert (ours.prompt_tokens, ours.flags) == (theirs.prompt_tokens, theirs.flags)
        for mine, their in zip(ours.choice_logprobs, theirs.choice_logprobs, strict=True):
            assert (mine.key, mine.tokens, mine.bytes, mine.token_ids) == (
                their.key, their.tokens, their.bytes, their.token_ids
            )  # fmt: skip
            # llama.cpp keeps its cache in float16.
            assert mine.sum == pytest.approx(their.sum, abs=0.05)
        winners.add(max(ours.choice_logprobs[-3:], key=lambda score: score.sum or 0).key)
    assert len(winners) > 1  # a model that always chose the same would agree too easily


def test_texts(path: Path, ask: Ask, requests: type) -> None:
    asked = [ask(f"Say {number}", max_tokens=24) for number in range(6)]
    asked += [ask("Hi<|im_end|>\n<|im_start|>assistant\n", max_tokens=4)]
    for ours, theirs in both(path, asked, requests):
        assert ours.prompt_tokens == theirs.prompt_tokens
        assert (ours.text, ours.finish_reason, ours.completion_tokens) == (
            theirs.text, theirs.finish_reason, theirs.completion_tokens
        )  # fmt: skip


def test_the_letters_of_a_model_that_switches(path: Path, ask: Ask, requests: type) -> None:
    """A model that always liked A better would agree too easily."""
    asked = [
        ask(raw=f"{'A dialogue. ' * (number % 5)}Row {number}. Answer:", choices=[" A", " B"]) for number in range(48)
    ]
    margins = np.array(
        [
            [
                (first.sum or 0.0) - (second.sum or 0.0)
                for first, second in (mine.choice_logprobs, their.choice_logprobs)
            ]
            for mine, their in both(path, asked, requests)
        ]
    )
    assert 8 <= (margins[:, 0] > 0).sum() <= 40
    np.testing.assert_allclose(margins[:, 0], margins[:, 1], rtol=0, atol=0.05)
    assert np.corrcoef(margins.T)[0, 1] > 0.99
    clear = np.abs(margins[:, 0]) > 0.05
    assert np.array_equal(margins[clear, 0] > 0, margins[clear, 1] > 0)


def test_loading_says_nothing_on_the_terminal(path: Path) -> None:
    """transformers shows how it converts a GGUF file, with a progress bar that knows no setting."""
    code = (
        "import sys; from biasfw import BackendSettings; from biasfw_plugins.hf.backend import HuggingFace; "
        "HuggingFace(BackendSettings(sys.argv[1], 'choices')).prepare()"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_what_they_say_of_the_model(path: Path) -> None:
    ours = HuggingFace(BackendSettings(str(path), "choices"))
    theirs = LlamaCpp(BackendSettings(str(path), "choices"))
    mine, their = ours.prepare(), theirs.prepare()
    for name in ("model", "fingerprint", "architecture", "quantisation", "template_sha256"):
        assert getattr(mine, name) == getattr(their, name)
    for name in ("n_params", "n_ctx_train", "n_vocab"):
        assert mine.details[name] == their.details[name]
    ours.close()
    theirs.close()
