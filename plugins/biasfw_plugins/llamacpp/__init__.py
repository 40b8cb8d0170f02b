"""Backend ``llamacpp``: GGUF models run in process by llama.cpp."""

from __future__ import annotations

from collections.abc import Iterable

from biasfw import BackendSpec, hookimpl

biasfw_api = 1

OPTIONS = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "n_ctx": {
            "type": "integer",
            "minimum": 1,
            "description": "Size of the context in tokens. Default: what the longest request needs, up to what the "
            "model was trained for. A prompt that does not fit with its max_tokens is an error; nothing is cut.",
            "examples": [4096],
        },
        "n_threads": {
            "type": "integer",
            "minimum": 1,
            "maximum": 512,
            "description": "Number of CPU threads. Default: the physical cores that may be used, at most 8. Scores and "
            "answers are the same for every number.",
            "examples": [4],
            "affects_answers": False,
        },
        "n_batch": {
            "type": "integer",
            "minimum": 32,
            "maximum": 65536,
            "default": 512,
            "description": "How many prompt tokens are evaluated at once. More needs more memory. May slightly change "
            "log-probabilities for some quantisations.",
            "examples": [256],
        },
        "parallel": {
            "type": "integer",
            "minimum": 1,
            "maximum": 256,
            "description": "How many answers are generated side by side. Default: 8 per thread, at most 32, and what a "
            "quarter of the free memory holds. Choices are scored one request after the other. Each request draws with "
            "its own seed, whatever the number; where batches of different size round differently (on a GPU, mixtures "
            "of experts) a near tie between two tokens may fall otherwise.",
            "examples": [16],
            "affects_answers": False,
        },
        "n_gpu_layers": {
            "type": "integer",
            "minimum": -1,
            "default": 0,
            "description": "How many layers to put on the GPU: 0 none, -1 all. Needs a GPU build of llama-cpp-python. "
            "GPU and CPU round differently, so answers may differ.",
            "examples": [-1],
        },
    },
}


@hookimpl
def biasfw_backends() -> Iterable[BackendSpec]:
    """Offer the backend."""
    yield BackendSpec(
        "llamacpp",
        load="biasfw_plugins.llamacpp.backend:LlamaCpp",
        summary="GGUF models in process, on the CPU (or a GPU): a path, package:FILE, hf:OWNER/REPO/FILE, or none for "
        "the embedded SmolLM2-135M-Instruct",
        extra="llamacpp",
        capabilities=frozenset({"generate", "choices"}),
        options=OPTIONS,
    )
