"""A model of llama.cpp: a thin, typed layer over the weights and the vocabulary of a GGUF file."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

from biasfw import ComponentError
from biasfw_plugins.llamacpp.library import C, first_error_of, silence, utf8


class Model:
    """Weights and vocabulary of one GGUF file.

    Raises:
        ComponentError: llama.cpp cannot load the file; the message says why.
    """

    def __init__(self, path: Path, *, n_gpu_layers: int = 0) -> None:
        self._handle: Any = None
        silence()
        C.llama_backend_init()
        parameters = C.llama_model_default_params()
        parameters.n_gpu_layers = n_gpu_layers

        def load() -> Any:
            return C.llama_model_load_from_file(os.fsencode(path), parameters)

        self._handle = load()
        if not self._handle:
            raise ComponentError(
                f"llama.cpp cannot load {path}: {first_error_of(load)}; if the file is damaged or incomplete get it "
                "again, if the model is new update llama-cpp-python"
            )
        self._vocabulary = C.llama_model_get_vocab(self._handle)
        self.metadata = self._read_metadata()
        self.n_vocab = int(C.llama_vocab_n_tokens(self._vocabulary))
        self.n_ctx_train = int(C.llama_model_n_ctx_train(self._handle))
        self.n_params = int(C.llama_model_n_params(self._handle))
        self.bos = int(C.llama_vocab_bos(self._vocabulary))  # -1: none
        self.eos = int(C.llama_vocab_eos(self._vocabulary))
        self.adds_bos = bool(C.llama_vocab_get_add_bos(self._vocabulary)) and self.bos >= 0
        self.can_rewind = not (
            C.llama_model_is_recurrent(self._handle) or C.llama_model_is_hybrid(self._handle)
        )  # a recurrent state holds no earlier one
        self._check(path)

    def _check(self, path: Path) -> None:
        if self.n_vocab == 0 or C.llama_vocab_type(self._vocabulary) == C.LLAMA_VOCAB_TYPE_NONE:
            self.close()
            raise ComponentError(f"{path} has no tokeniser; use a GGUF file of a whole language model")
        if C.llama_model_has_encoder(self._handle) or not C.llama_model_has_decoder(self._handle):
            self.close()
            raise ComponentError(f"{path} is not a decoder-only language model; only these can be asked")

    def _read_metadata(self) -> dict[str, str]:
        def read(getter: Any, index: int) -> str:
            size = max(getter(self._handle, index, None, 0), 0) + 1
            buffer = ctypes.create_string_buffer(size)
            getter(self._handle, index, buffer, size)
            return buffer.value.decode("utf-8", "replace")

        return {
            read(C.llama_model_meta_key_by_index, index): read(C.llama_model_meta_val_str_by_index, index)
            for index in range(C.llama_model_meta_count(self._handle))
        }

    @property
    def handle(self) -> Any:
        """The C pointer; None once closed."""
        return self._handle

    @property
    def quantisation(self) -> str | None:
        """The file type that the GGUF declares, as in ``Q4_1``, ``F16``."""
        number = self.metadata.get("general.file_type")
        constants: dict[str, object] = vars(C)
        for name, value in constants.items():
            if name.startswith("LLAMA_FTYPE_") and str(value) == number:
                return name.removeprefix("LLAMA_FTYPE_").removeprefix("MOSTLY_").removeprefix("ALL_")
        return None

    def tokenise(self, text: str, *, special: bool) -> list[int]:
        """Token ids of ``text``, no BOS added; ``special``: names of control tokens become these tokens."""
        data = utf8(text)
        size = len(data) + 16
        while True:
            buffer = (C.llama_token * size)()
            count = C.llama_tokenize(self._vocabulary, data, len(data), buffer, size, False, special)
            if count >= 0:
                return list(buffer[:count])
            size = -count

    def piece(self, token: int, *, special: bool = False) -> bytes:
        """The bytes that ``token`` stands for; control tokens are empty unless ``special``."""
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            count = C.llama_token_to_piece(self._vocabulary, token, buffer, size, 0, special)
            if count >= 0:
                return buffer.raw[:count]
            size = -count

    def name(self, token: int) -> str:
        """How ``token`` is written in a template; empty for no token (-1)."""
        return self.piece(token, special=True).decode("utf-8", "replace") if token >= 0 else ""

    def ends(self, token: int) -> bool:
        """Whether ``token`` ends a generation (EOS, end of turn)."""
        return bool(C.llama_vocab_is_eog(self._vocabulary, token))

    def close(self) -> None:
        """Free the weights; contexts must be closed before."""
        if self._handle:
            handle, self._handle = self._handle, None
            C.llama_model_free(handle)
