"""Where to compute, and with which numbers."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from biasfw import ComponentError
from biasfw_plugins.hf.runtime import torch

_SHORT = ("out of memory", "can't allocate memory", "not enough memory")


@dataclass(frozen=True, slots=True)
class Placement:
    """Device and number type by their names in torch. ``spread`` is the device_map that was asked for, if any."""

    device: str
    dtype: str
    spread: str | None = None
    notes: tuple[str, ...] = ()


def place(options: Mapping[str, Any]) -> Placement:
    """What the options ask for, on this machine. Loads nothing.

    Raises:
        ComponentError: the device is not there, or device_map does not go with it.
    """
    wanted, spread = options.get("device", "auto"), options.get("device_map")
    if spread is not None and wanted != "auto":
        raise ComponentError("device_map places the model itself; leave out -B device or -B device_map")
    device = _best() if wanted == "auto" else _checked(wanted)
    notes: tuple[str, ...] = ()
    if wanted == "auto" and device == "cpu":
        notes = ("no GPU that PyTorch can use: the model runs on the CPU",)
    dtype = options.get("dtype", "auto")
    return Placement(device, _dtype_for(device) if dtype == "auto" else dtype, spread, notes)


def _best() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _checked(wanted: str) -> str:
    kind, _, number = wanted.partition(":")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise ComponentError("this machine has no Apple GPU that PyTorch can use; leave out -B device=mps")
    if kind == "cuda" and not torch.cuda.is_available():
        build = "was built without CUDA" if torch.version.cuda is None and torch.version.hip is None else "finds no GPU"
        raise ComponentError(f"PyTorch {torch.__version__} {build}; leave out -B device={wanted} to use the CPU")
    if number and int(number) >= torch.cuda.device_count():
        raise ComponentError(f"there is no GPU number {number}; {torch.cuda.device_count()} are here, counted from 0")
    return wanted


def _dtype_for(device: str) -> str:
    if device == "cpu":
        return "float32"
    return "bfloat16" if device.startswith("cuda") and torch.cuda.is_bf16_supported() else "float16"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether ``error`` says that memory is short; not every device has a class of its own for that."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error).casefold() for words in _SHORT)


def free_memory() -> None:
    """Give back what nothing refers to any more."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()
