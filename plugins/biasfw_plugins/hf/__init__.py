"""Backend ``hf``: models in the Hugging Face format, run in process by transformers and PyTorch."""

from __future__ import annotations

from collections.abc import Iterable

from biasfw import BackendSpec, hookimpl

biasfw_api = 1

OPTIONS = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "device": {
            "type": "string",
            "pattern": "^(auto|cpu|mps|cuda(:[0-9]{1,3})?)$",
            "default": "auto",
            "description": "Where to compute: auto takes cuda (NVIDIA, AMD), else mps (Apple), else the CPU. Devices "
            "round differently, so answers may differ slightly.",
            "examples": ["cuda", "cpu"],
        },
        "dtype": {
            "type": "string",
            "enum": ["auto", "float32", "bfloat16", "float16"],
            "default": "auto",
            "description": "Number type of the weights: auto takes float32 on the CPU, on a GPU bfloat16 if it can, "
            "else float16.",
            "examples": ["bfloat16"],
        },
        "device_map": {
            "type": "string",
            "enum": ["auto", "balanced", "balanced_low_0", "sequential"],
            "description": "Spread a large model over several GPUs, and over memory where they do not hold it. Leave "
            "out device then.",
            "examples": ["auto"],
        },
        "revision": {
            "type": "string",
            "minLength": 1,
            "pattern": "^[^\\s/]+(/[^\\s/]+)*$",
            "description": "Branch, tag or commit of a model on the hub. Default: main. The run is pinned to the "
            "commit that it stands for.",
            "examples": ["main"],
        },
        "gguf_file": {
            "type": "string",
            "minLength": 1,
            "description": "Name of a GGUF file in the folder, or in the repository on the hub, that --model names. "
            "Its weights are dequantised to dtype.",
            "examples": ["model-Q8_0.gguf"],
        },
        "trust_remote_code": {
            "type": "boolean",
            "default": False,
            "description": "Run the Python code that the model brings along. Read it first: it may do anything that "
            "you may do.",
        },
        "use_safetensors": {
            "type": "boolean",
            "default": True,
            "description": "Load weights from safetensors files only. With false, pickled weights (.bin) are loaded "
            "where there are no others.",
        },
        "batch_tokens": {
            "type": "integer",
            "minimum": 1,
            "maximum": 100_000_000,
            "description": "How many tokens, with room for the answers, are computed at once. Default: 4096 on the "
            "CPU (2048 to score choices), 16384 on a GPU; halved where memory does not suffice. More is faster and "
            "needs more memory; log-probabilities change by rounding only.",
            "examples": [32768],
            "affects_answers": False,
        },
        "enable_thinking": {
            "type": "boolean",
            "description": "What a chat template with such a switch (Qwen3 and others) is told: whether the model may "
            "think before it answers. Default: the template's own.",
            "examples": [False],
        },
    },
}


@hookimpl
def biasfw_backends() -> Iterable[BackendSpec]:
    """Offer the backend."""
    yield BackendSpec(
        "hf",
        load="biasfw_plugins.hf.backend:HuggingFace",
        summary="transformers models in process, on GPUs or the CPU: OWNER/NAME on the hub, a folder, a GGUF file "
        "(a path or package:FILE), or none for the embedded SmolLM2-135M-Instruct",
        extra="hf",
        capabilities=frozenset({"generate", "choices"}),
        options=OPTIONS,
    )
