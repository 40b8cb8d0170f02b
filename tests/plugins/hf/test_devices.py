from __future__ import annotations

from typing import Any

import pytest

from biasfw import ComponentError

pytest.importorskip("biasfw_plugins.hf.runtime", reason="needs the extra hf")

from biasfw_plugins.hf.devices import is_out_of_memory, place
from biasfw_plugins.hf.runtime import torch

pytestmark = pytest.mark.model


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pretend to be another machine."""

    def be(*, gpus: int = 0, apple: bool = False, bf16: bool = True, built_for: str | None = "13.0") -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: bf16)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: apple)
        monkeypatch.setattr(torch.version, "cuda", built_for)

    return be


def test_without_a_gpu(machine: Any) -> None:
    machine()
    found = place({})
    assert (found.device, found.dtype) == ("cpu", "float32")
    assert len(found.notes) == 1
    assert place({"device": "cpu"}).notes == ()


@pytest.mark.parametrize(("bf16", "dtype"), [(True, "bfloat16"), (False, "float16")])
def test_with_gpus(machine: Any, bf16: bool, dtype: str) -> None:
    machine(gpus=2, bf16=bf16)
    found = place({"device": "auto", "dtype": "auto"})
    assert (found.device, found.dtype, found.notes) == ("cuda", dtype, ())
    assert place({"device": "cuda:1"}).device == "cuda:1"
    assert place({"device": "cpu"}).dtype == "float32"
    assert place({"dtype": "float32"}).dtype == "float32"
    assert place({"device_map": "auto"}).spread == "auto"
    with pytest.raises(ComponentError, match="no GPU number 2; 2 are here, counted from 0"):
        place({"device": "cuda:2"})


def test_on_an_apple(machine: Any) -> None:
    machine(apple=True)
    assert (place({}).device, place({}).dtype) == ("mps", "float16")
    assert place({"device": "mps"}).device == "mps"


@pytest.mark.parametrize(
    ("device", "built_for", "message"),
    [
        ("cuda", "13.0", "finds no GPU; leave out -B device=cuda"),
        ("cuda:1", None, "was built without CUDA; leave out -B device=cuda:1"),
        ("mps", None, "no Apple GPU"),
    ],
)
def test_a_device_that_is_not_there(machine: Any, device: str, built_for: str | None, message: str) -> None:
    machine(built_for=built_for)
    with pytest.raises(ComponentError, match=message) as caught:
        place({"device": device})
    assert "\n" not in str(caught.value)


def test_a_device_and_a_map_of_devices(machine: Any) -> None:
    machine(gpus=2)
    with pytest.raises(ComponentError, match="leave out -B device or -B device_map"):
        place({"device": "cuda", "device_map": "auto"})


@pytest.mark.parametrize(
    ("error", "is_memory"),
    [
        (torch.OutOfMemoryError("x"), True),
        (torch.cuda.OutOfMemoryError("CUDA out of memory."), True),
        (RuntimeError("MPS backend out of memory (MPS allocated: 1 GB)"), True),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
            True,
        ),
        (MemoryError(), True),
        (RuntimeError("shape mismatch"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_what_says_that_memory_is_short(error: Exception, is_memory: bool) -> None:
    assert is_out_of_memory(error) == is_memory
