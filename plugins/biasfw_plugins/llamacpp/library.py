"""The library llama.cpp: loaded in the right way, its log silent."""

from __future__ import annotations

import ctypes
import importlib
import os
import re
from collections.abc import Callable
from typing import Any


def _load_library() -> Any:
    """Import llama_cpp so that its threads soon stop spinning when they wait for each other.

    With libgomp's own 300,000 spins, one other busy process makes two threads on two cores 10 to 40 times slower
    (SmolLM2: 0.2 s a token); with 1,000 they take 0.02 s then and, undisturbed, 0.006 s as before. libgomp reads the
    variable once, when it is loaded.
    """
    if {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & set(os.environ):
        return importlib.import_module("llama_cpp")
    os.environ["GOMP_SPINCOUNT"] = "1000"
    try:
        return importlib.import_module("llama_cpp")
    finally:
        del os.environ["GOMP_SPINCOUNT"]


C = _load_library()
_ERROR_LEVEL = 4  # GGML_LOG_LEVEL_ERROR
_FUNCTION = re.compile(r"^\w+: ")  # the C function that a log line begins with


def llama_cpp_version() -> str | None:
    """The version of the llama.cpp library inside the binding, where it tells."""
    version = getattr(C, "llama_version", None)
    return str(version().decode()) if version else None


def can_use_gpu() -> bool:
    """Whether this build of llama.cpp can put layers on a GPU."""
    return bool(C.llama_supports_gpu_offload())


def _log_to(callback: Any) -> None:
    C.llama_log_set(callback, ctypes.c_void_p(0))


def silence() -> None:
    """Let llama.cpp log nothing, or with BIASFW_DEBUG everything to stderr.

    The silent callback is a C function that takes no arguments and does nothing. A Python function in its place would
    run signal handlers: Ctrl-C while a model loads would be raised inside the callback, printed there and lost.
    """
    if os.environ.get("BIASFW_DEBUG"):
        _log_to(C.llama_log_callback(0))
    else:
        _log_to(ctypes.cast(C.llama_max_devices, C.llama_log_callback))


def first_error_of(action: Callable[[], object]) -> str:
    """Repeat a failed ``action`` and return the first error that llama.cpp logs."""
    errors: list[str] = []

    @C.llama_log_callback  # type: ignore[untyped-decorator, unused-ignore]
    def collect(level: int, text: bytes, _: object) -> None:
        if level == _ERROR_LEVEL:
            errors.append(text.decode("utf-8", "replace").strip())

    _log_to(collect)
    try:
        action()
    finally:
        silence()
    reason = errors[0].partition("\n")[0].rpartition("error loading model: ")[2] if errors else "no reason given"
    return _FUNCTION.sub("", reason)


def utf8(text: str) -> bytes:
    """``text`` in UTF-8; lone surrogates, which UTF-8 cannot hold, become U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
