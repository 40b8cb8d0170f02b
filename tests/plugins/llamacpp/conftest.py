"""A tiny GGUF model, written here byte by byte, so that most tests need llama.cpp but no real model."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biasfw import ChoiceText, Message, Request, Sampling, sha256_text

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_NORMAL, _UNKNOWN, _CONTROL, _BYTE = 1, 2, 3, 6
_ALIGNMENT = 32


def _string(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Any) -> bytes:
    """One metadata value with its GGUF type number in front."""
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _string(value)
    kind, form = {str: (8, ""), float: (6, "f"), int: (5, "i")}[type(value[0])]
    body = b"".join(_string(entry) if kind == 8 else struct.pack("<" + form, entry) for entry in value)
    return struct.pack("<IIQ", 9, kind, len(value)) + body


def _write(path: Path, metadata: Mapping[str, Any], tensors: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """GGUF version 3: header, metadata, tensor directory, aligned float32 data."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    head += b"".join(_string(key) + _value(value) for key, value in metadata.items())
    body = b""
    for name, tensor in tensors.items():
        shape = tensor.shape[::-1]
        head += _string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(body))
        body += tensor.astype("<f4").tobytes()
        body += b"\0" * (-len(body) % _ALIGNMENT)
    path.write_bytes(head + b"\0" * (-len(head) % _ALIGNMENT) + body)


def _vocabulary(pieces: Sequence[str], control: Sequence[str]) -> dict[str, Any]:
    """A SentencePiece vocabulary: longer pieces merge first."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *control, *pieces]
    types = [_UNKNOWN, _CONTROL, _CONTROL, *[_BYTE] * 256, *[_CONTROL] * len(control), *[_NORMAL] * len(pieces)]
    scores = [0.0] * (len(tokens) - len(pieces)) + [float(len(piece)) - 100 for piece in pieces]
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": scores,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.add_space_prefix": False,
    }


def _llama(vocabulary: int, context: int) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    settings = {
        "llama.context_length": context,
        "llama.embedding_length": 32,
        "llama.block_count": 2,
        "llama.feed_forward_length": 64,
        "llama.attention.head_count": 2,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": 16,
    }
    shapes: dict[str, tuple[int, ...]] = {"token_embd.weight": (vocabulary, 32), "output_norm.weight": (32,)}
    for block in ("blk.0", "blk.1"):
        shapes |= {f"{block}.{name}.weight": (32,) for name in ("attn_norm", "ffn_norm")}
        shapes |= {f"{block}.{name}.weight": (32, 32) for name in ("attn_q", "attn_k", "attn_v", "attn_output")}
        shapes |= {f"{block}.ffn_gate.weight": (64, 32), f"{block}.ffn_up.weight": (64, 32)}
        shapes |= {f"{block}.ffn_down.weight": (32, 64)}
    return settings, shapes


def _mamba(vocabulary: int, context: int) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    settings = {
        "mamba.context_length": context,
        "mamba.embedding_length": 32,
        "mamba.block_count": 1,
        "mamba.feed_forward_length": 0,
        "mamba.attention.head_count": 0,
        "mamba.attention.layer_norm_rms_epsilon": 1e-5,
        "mamba.ssm.conv_kernel": 4,
        "mamba.ssm.inner_size": 64,
        "mamba.ssm.state_size": 16,
        "mamba.ssm.time_step_rank": 2,
    }
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (vocabulary, 32),
        "output_norm.weight": (32,),
        "blk.0.attn_norm.weight": (32,),
        "blk.0.ssm_in.weight": (128, 32),
        "blk.0.ssm_conv1d.weight": (64, 4),
        "blk.0.ssm_conv1d.bias": (64,),
        "blk.0.ssm_x.weight": (34, 64),
        "blk.0.ssm_dt.weight": (64, 2),
        "blk.0.ssm_dt.bias": (64,),
        "blk.0.ssm_a": (64, 16),
        "blk.0.ssm_d": (64,),
        "blk.0.ssm_out.weight": (32, 64),
    }
    return settings, shapes


@pytest.fixture
def tiny(tmp_path: Path) -> Callable[..., Path]:
    """Write a model with random weights; ``spoiled``: characters whose embedding is not a number."""

    def make(
        name: str = "tiny.gguf",
        *,
        architecture: str = "llama",
        template: str | None = CHATML,
        add_bos: bool = True,
        pieces: Sequence[str] = (),
        context: int = 512,
        spoiled: str = "",
    ) -> Path:
        vocabulary = _vocabulary(pieces, ["<|im_start|>", "<|im_end|>"])
        count = len(vocabulary["tokenizer.ggml.tokens"])
        settings, shapes = {"llama": _llama, "mamba": _mamba}[architecture](count, context)
        random = np.random.default_rng(7)
        weights = {tensor: random.normal(0, 0.3, shape) for tensor, shape in shapes.items()}
        weights |= {tensor: np.ones(shape) for tensor, shape in shapes.items() if "norm" in tensor}
        weights |= {tensor: -np.abs(weights[tensor]) - 0.1 for tensor in shapes if tensor.endswith("ssm_a")}
        weights["token_embd.weight"] = random.normal(0, 1, shapes["token_embd.weight"])
        if spoiled:
            weights["output.weight"] = weights["token_embd.weight"].copy()
        for character in spoiled.encode():
            weights["token_embd.weight"][3 + character] = np.nan
        metadata = {"general.architecture": architecture, "general.file_type": 0, **settings, **vocabulary}
        metadata["tokenizer.ggml.add_bos_token"] = add_bos
        if template is not None:
            metadata["tokenizer.chat_template"] = template
        path = tmp_path / name
        _write(path, metadata, weights)
        return path

    return make


class Requests(list[Request]):
    """A request sequence in memory that counts how often a request is read."""

    reads = 0

    def __getitem__(self, index: Any) -> Any:
        self.reads += 1
        return super().__getitem__(index)

    @property
    def lengths(self) -> Sequence[int]:
        return [sum(len(turn.content) for turn in request.messages) + len(request.prompt or "") for request in [*self]]

    @property
    def prefixes(self) -> Sequence[int]:
        return [0] * len(self)


@pytest.fixture
def ask() -> Callable[..., Request]:
    """Build a request: ``ask("text", choices=["a", "b"], max_tokens=5)``; ``raw=`` or ``system=`` where wanted."""

    def build(
        user: str = "",
        *,
        system: str | None = None,
        raw: str | None = None,
        choices: Sequence[str] = (),
        **sampling: Any,
    ) -> Request:
        messages = [Message("system", system)] if system is not None else []
        messages += [Message("user", user)] if raw is None else []
        return Request(
            key=sha256_text(repr((user, system, raw, choices, sampling))),
            item_id="item",
            sampling=Sampling(**sampling),
            messages=tuple(messages),
            prompt=raw,
            choices=tuple(ChoiceText(str(number), text) for number, text in enumerate(choices)),
        )

    return build


@pytest.fixture
def requests() -> type[Requests]:
    """The request sequence class."""
    return Requests


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Digests are remembered in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"
