"""What the backend says of itself; needs none of its libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import jsonschema

from biasfw_plugins import hf


def test_options() -> None:
    schema = dict(next(iter(hf.biasfw_backends())).options)
    validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    validator.check_schema(schema)
    check = validator(schema)
    good: list[dict[str, Any]] = [
        {"device": device, "dtype": dtype}
        for device in ("auto", "cpu", "cuda", "cuda:1", "mps")
        for dtype in ("auto", "float32", "bfloat16", "float16")
    ]
    good += [{"device_map": "auto"}, {"revision": "refs/pr/1"}, {"gguf_file": "m.gguf"}, {"batch_tokens": 1}]
    good += [{"trust_remote_code": True}, {"use_safetensors": False}, {"enable_thinking": False}]
    assert all(check.is_valid(options) for options in good)
    bad: list[dict[str, Any]] = [{"device": "gpu"}, {"device": "cuda:"}, {"dtype": "int8"}, {"device_map": "cpu"}]
    bad += [
        {"revision": ""},
        {"revision": "a b"},
        {"batch_tokens": 0},
        {"trust_remote_code": "yes"},
        {"dvice": "cpu"},
    ]
    assert not any(check.is_valid(options) for options in bad)
    properties = schema["properties"]
    assert all(option["description"].endswith(".") for option in properties.values())
    assert [name for name in properties if not properties[name].get("affects_answers", True)] == ["batch_tokens"]
    assert properties["trust_remote_code"]["default"] is False
    assert properties["use_safetensors"]["default"] is True


def test_offering_it_loads_no_library() -> None:
    code = "import sys, biasfw_plugins.hf as p; list(p.biasfw_backends()); print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert not {"torch", "transformers", "huggingface_hub", "gguf"} & set(done.stdout.split())
