"""PyTorch and transformers, imported once and in the right way; every module here takes ``torch`` from this one."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from typing import Any

_OWN_WAITING = bool({"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & set(os.environ))

# libgomp reads the variable once, when it is loaded. With its own 300,000 spins, one other busy process makes two
# threads on two cores 10 to 20 times slower (SmolLM2: 6.3 s for 350 tokens, with 1,000 spins 0.95 s; undisturbed
# 0.5 s in either way).
if not _OWN_WAITING:
    os.environ["GOMP_SPINCOUNT"] = "1000"
try:
    import torch

    transformers: Any = import_module("transformers")  # its types change from one release to the next
finally:
    if not _OWN_WAITING:
        del os.environ["GOMP_SPINCOUNT"]

__all__ = ["muted", "quiet", "torch", "transformers"]


@contextmanager
def muted() -> Iterator[None]:
    """Let transformers log nothing, and restore its setting; with BIASFW_DEBUG it logs what it always logs."""
    if os.environ.get("BIASFW_DEBUG"):
        yield
        return
    log = transformers.utils.logging
    level = log.get_verbosity()
    log.set_verbosity(log.CRITICAL)
    try:
        yield
    finally:
        log.set_verbosity(level)


@contextmanager
def quiet() -> Iterator[None]:
    """As ``muted``, and no warnings, progress bars or other output either: for loading."""
    if os.environ.get("BIASFW_DEBUG"):
        yield
        return
    log = transformers.utils.logging
    bars = log.is_progress_bar_enabled()
    log.disable_progress_bar()
    try:
        # GGUF files are converted under a progress bar that knows no setting.
        with muted(), warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        if bars:
            log.enable_progress_bar()
