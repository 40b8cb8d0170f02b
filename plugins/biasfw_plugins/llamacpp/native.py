"""A thin, typed layer over llama.cpp's C interface: a model, a context, batches of tokens."""

from __future__ import annotations

import ctypes
import importlib
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasfw import ComponentError


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


_C = _load_library()
_ERROR_LEVEL = 4  # GGML_LOG_LEVEL_ERROR
_FUNCTION = re.compile(r"^\w+: ")  # the C function that a log line begins with
_LAST = slice(-1, None)


def llama_cpp_version() -> str | None:
    """The version of the llama.cpp library inside the binding, where it tells."""
    version = getattr(_C, "llama_version", None)
    return str(version().decode()) if version else None


def can_use_gpu() -> bool:
    """Whether this build of llama.cpp can put layers on a GPU."""
    return bool(_C.llama_supports_gpu_offload())


def _log_to(callback: Any) -> None:
    _C.llama_log_set(callback, ctypes.c_void_p(0))


def _silence() -> None:
    """Let llama.cpp log nothing, or with BIASFW_DEBUG everything to stderr.

    The silent callback is a C function that takes no arguments and does nothing. A Python function in its place would
    run signal handlers: Ctrl-C while a model loads would be raised inside the callback, printed there and lost.
    """
    if os.environ.get("BIASFW_DEBUG"):
        _log_to(_C.llama_log_callback(0))
    else:
        _log_to(ctypes.cast(_C.llama_max_devices, _C.llama_log_callback))


def _first_error_of(action: Callable[[], object]) -> str:
    """Repeat a failed ``action`` and return the first error that llama.cpp logs."""
    errors: list[str] = []

    @_C.llama_log_callback  # type: ignore[untyped-decorator, unused-ignore]
    def collect(level: int, text: bytes, _: object) -> None:
        if level == _ERROR_LEVEL:
            errors.append(text.decode("utf-8", "replace").strip())

    _log_to(collect)
    try:
        action()
    finally:
        _silence()
    reason = errors[0].partition("\n")[0].rpartition("error loading model: ")[2] if errors else "no reason given"
    return _FUNCTION.sub("", reason)


def utf8(text: str) -> bytes:
    """``text`` in UTF-8; lone surrogates, which UTF-8 cannot hold, become U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


class Model:
    """Weights and vocabulary of one GGUF file.

    Raises:
        ComponentError: llama.cpp cannot load the file; the message says why.
    """

    def __init__(self, path: Path, *, n_gpu_layers: int = 0) -> None:
        self._handle: Any = None
        _silence()
        _C.llama_backend_init()
        parameters = _C.llama_model_default_params()
        parameters.n_gpu_layers = n_gpu_layers

        def load() -> Any:
            return _C.llama_model_load_from_file(os.fsencode(path), parameters)

        self._handle = load()
        if not self._handle:
            raise ComponentError(
                f"llama.cpp cannot load {path}: {_first_error_of(load)}; if the file is damaged or incomplete get it "
                "again, if the model is new update llama-cpp-python"
            )
        self._vocabulary = _C.llama_model_get_vocab(self._handle)
        self.metadata = self._read_metadata()
        self.n_vocab = int(_C.llama_vocab_n_tokens(self._vocabulary))
        self.n_ctx_train = int(_C.llama_model_n_ctx_train(self._handle))
        self.n_params = int(_C.llama_model_n_params(self._handle))
        self.bos = int(_C.llama_vocab_bos(self._vocabulary))  # -1: none
        self.eos = int(_C.llama_vocab_eos(self._vocabulary))
        self.adds_bos = bool(_C.llama_vocab_get_add_bos(self._vocabulary)) and self.bos >= 0
        self.can_rewind = not (
            _C.llama_model_is_recurrent(self._handle) or _C.llama_model_is_hybrid(self._handle)
        )  # a recurrent state holds no earlier one
        self._check(path)

    def _check(self, path: Path) -> None:
        if self.n_vocab == 0 or _C.llama_vocab_type(self._vocabulary) == _C.LLAMA_VOCAB_TYPE_NONE:
            self.close()
            raise ComponentError(f"{path} has no tokeniser; use a GGUF file of a whole language model")
        if _C.llama_model_has_encoder(self._handle) or not _C.llama_model_has_decoder(self._handle):
            self.close()
            raise ComponentError(f"{path} is not a decoder-only language model; only these can be asked")

    def _read_metadata(self) -> dict[str, str]:
        def read(getter: Any, index: int) -> str:
            size = max(getter(self._handle, index, None, 0), 0) + 1
            buffer = ctypes.create_string_buffer(size)
            getter(self._handle, index, buffer, size)
            return buffer.value.decode("utf-8", "replace")

        return {
            read(_C.llama_model_meta_key_by_index, index): read(_C.llama_model_meta_val_str_by_index, index)
            for index in range(_C.llama_model_meta_count(self._handle))
        }

    @property
    def handle(self) -> Any:
        """The C pointer; None once closed."""
        return self._handle

    @property
    def quantisation(self) -> str | None:
        """The file type that the GGUF declares, as in ``Q4_1``, ``F16``."""
        number = self.metadata.get("general.file_type")
        constants: dict[str, object] = vars(_C)
        for name, value in constants.items():
            if name.startswith("LLAMA_FTYPE_") and str(value) == number:
                return name.removeprefix("LLAMA_FTYPE_").removeprefix("MOSTLY_").removeprefix("ALL_")
        return None

    def tokenise(self, text: str, *, special: bool) -> list[int]:
        """Token ids of ``text``, no BOS added; ``special``: names of control tokens become these tokens."""
        data = utf8(text)
        size = len(data) + 16
        while True:
            buffer = (_C.llama_token * size)()
            count = _C.llama_tokenize(self._vocabulary, data, len(data), buffer, size, False, special)
            if count >= 0:
                return list(buffer[:count])
            size = -count

    def piece(self, token: int, *, special: bool = False) -> bytes:
        """The bytes that ``token`` stands for; control tokens are empty unless ``special``."""
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            count = _C.llama_token_to_piece(self._vocabulary, token, buffer, size, 0, special)
            if count >= 0:
                return buffer.raw[:count]
            size = -count

    def name(self, token: int) -> str:
        """How ``token`` is written in a template; empty for no token (-1)."""
        return self.piece(token, special=True).decode("utf-8", "replace") if token >= 0 else ""

    def ends(self, token: int) -> bool:
        """Whether ``token`` ends a generation (EOS, end of turn)."""
        return bool(_C.llama_vocab_is_eog(self._vocabulary, token))

    def close(self) -> None:
        """Free the weights; contexts must be closed before."""
        if self._handle:
            handle, self._handle = self._handle, None
            _C.llama_model_free(handle)


class DecodeError(Exception):
    """llama.cpp could not evaluate a batch."""


class Context:
    """The cache of ``sequences`` token sequences, of at most ``cells`` tokens each, and what computes into it.

    Each sequence has a buffer of its own (llama.cpp's split cache): attention then reads its own tokens only.

    Flash attention is off: on the CPU its rounding depends on the number of threads and on the batch size, which
    moved log-probabilities of SmolLM2 (Q4_1) by up to 0.5. Without it they are bit for bit the same for 1 to 4 threads,
    any context size and any batch of 2 tokens or more, at 12 % more time for the prompt.

    Raises:
        ComponentError: there is not enough memory.
    """

    def __init__(self, model: Model, *, cells: int, n_batch: int, n_threads: int, sequences: int = 1) -> None:
        self.cells = cells
        self.n_batch = n_batch
        self.sequences = sequences
        self._n_vocab = model.n_vocab
        self._handle: Any = None
        parameters = _C.llama_context_default_params()
        parameters.n_ctx = cells * sequences
        parameters.n_batch = parameters.n_ubatch = n_batch
        parameters.n_seq_max = sequences
        parameters.kv_unified = False
        parameters.n_threads = parameters.n_threads_batch = n_threads
        parameters.flash_attn_type = _C.LLAMA_FLASH_ATTN_TYPE_DISABLED
        if hasattr(parameters, "n_outputs_max_per_seq"):
            parameters.n_outputs_max_per_seq = 0  # no limit
        self._handle = _C.llama_init_from_model(model.handle, parameters)
        if not self._handle:
            many = f"{sequences} times {cells}" if sequences > 1 else str(cells)
            fewer = "set -B parallel=NUMBER to fewer, " if sequences > 1 else ""
            raise ComponentError(
                f"not enough memory for a context of {many} tokens; {fewer}lower max_tokens or set -B n_ctx=NUMBER"
            )
        self._memory = _C.llama_get_memory(self._handle)
        self._batch = _C.llama_batch_init(n_batch, 0, 1)
        self._token, self._position, self._output = (
            np.ctypeslib.as_array(column, shape=(n_batch,))
            for column in (self._batch.token, self._batch.pos, self._batch.logits)
        )
        self._sequence = [self._batch.seq_id[index] for index in range(n_batch)]
        for index in range(n_batch):
            self._batch.n_seq_id[index] = 1

    def clear(self) -> None:
        """Forget everything and zero the cache, so that nothing of an earlier request can be read."""
        _C.llama_memory_clear(self._memory, True)

    def rewind(self, position: int, sequence: int = 0) -> None:
        """Forget the tokens of ``sequence`` from ``position`` on.

        Raises:
            DecodeError: the model keeps a state that cannot go back.
        """
        if not _C.llama_memory_seq_rm(self._memory, sequence, position, -1):
            raise DecodeError(f"llama.cpp cannot rewind to token {position}")

    def copy(self, source: int, target: int) -> None:
        """Let sequence ``target`` be a copy of ``source``: its whole buffer, copied when the next batch is evaluated.

        llama.cpp aborts the process when asked for a part of a sequence of a split cache; rewind the copy instead.
        """
        _C.llama_memory_seq_cp(self._memory, source, target, -1, -1)

    def decode(self, tokens: Sequence[int], position: int, *, sequence: int = 0, outputs: slice = _LAST) -> None:
        """Evaluate 1 to ``n_batch`` tokens of one sequence, the first at ``position``; logits are kept for ``outputs``.

        Raises:
            DecodeError: llama.cpp refused.
        """
        count = len(tokens)
        self._position[:count] = range(position, position + count)
        self._output[:count] = 0
        self._output[:count][outputs] = 1
        for place in self._sequence[:count]:
            place[0] = sequence
        self._evaluate(tokens)

    def step(self, tokens: Sequence[int], positions: Sequence[int]) -> None:
        """Evaluate one token for each of the sequences 0, 1, 2, ...; logits are kept for all.

        The sequences stand side by side because llama.cpp evaluates a split cache's batch in one piece only then.

        Raises:
            DecodeError: llama.cpp refused.
        """
        count = len(tokens)
        self._position[:count] = positions
        self._output[:count] = 1
        for number, place in enumerate(self._sequence[:count]):
            place[0] = number
        self._evaluate(tokens)

    def _evaluate(self, tokens: Sequence[int]) -> None:
        self._batch.n_tokens = len(tokens)
        self._token[: len(tokens)] = tokens
        code = _C.llama_decode(self._handle, self._batch)
        if code != 0:
            raise DecodeError(f"llama_decode failed with code {code}")

    def logits(self, index: int) -> NDArray[np.float32]:
        """Logits (n_vocab,) after token ``index`` of the last batch; valid until the next ``decode``."""
        return np.ctypeslib.as_array(_C.llama_get_logits_ith(self._handle, index), shape=(self._n_vocab,))

    def close(self) -> None:
        """Free the cache."""
        if self._handle:
            handle, self._handle = self._handle, None
            _C.llama_batch_free(self._batch)
            _C.llama_free(handle)
