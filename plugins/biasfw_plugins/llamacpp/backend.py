"""The backend ``llamacpp``: finds a model, loads it, and has it answer requests."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from importlib import metadata

from biasfw import (
    BackendSettings,
    ComponentError,
    Identity,
    RequestSequence,
    Response,
    sha256_text,
)
from biasfw_plugins.llamacpp.cores import usable_cores
from biasfw_plugins.llamacpp.library import can_use_gpu, llama_cpp_version
from biasfw_plugins.llamacpp.models import ModelFiles, find_model
from biasfw_plugins.llamacpp.native import Model
from biasfw_plugins.llamacpp.schedule import Schedule
from biasfw_plugins.llamacpp.session import Session, Speed

_LONGEST = 8  # requests that are tokenised to size the context at once; it grows if another one needs more


class LlamaCpp:
    """A GGUF model, run by llama.cpp in this process.

    A run that was interrupted goes on exactly as it would have gone: an answer depends on nothing but its request, as
    far as the kernels of the model's quantisation round alike in every batch (``rounding.even_batches``).
    llama.cpp's own log is silent unless BIASFW_DEBUG is set.
    """

    def __init__(self, settings: BackendSettings) -> None:
        self._settings = settings
        self._found: ModelFiles | None = None
        self._model: Model | None = None
        self._session: Session | None = None

    def fingerprint(self) -> str:
        """``sha256:`` and the digest of the GGUF file, without loading it (downloads a model named ``hf:``).

        Raises:
            ComponentError: the model is not there or is no GGUF file, or a GPU is asked of a build that has none.
        """
        self._check_device()
        return self._files().fingerprint()

    def prepare(self) -> Identity:
        """Load the model.

        Raises:
            ComponentError: the model is damaged, or what ``fingerprint`` raises.
        """
        files, fingerprint = self._files(), self.fingerprint()
        session, model = self._load()
        template = model.metadata.get("tokenizer.chat_template")
        libraries = {"llama-cpp-python": metadata.version("llama-cpp-python")}
        if version := llama_cpp_version():
            libraries["llama.cpp"] = version
        return Identity(
            model=files.name,
            fingerprint=fingerprint,
            architecture=model.metadata.get("general.architecture"),
            quantisation=model.quantisation,
            template_sha256=sha256_text(template) if template else None,
            device="gpu" if self._gpu_layers else "cpu",
            libraries=libraries,
            details={
                "file": files.paths[0].name,
                "n_params": model.n_params,
                "n_ctx_train": model.n_ctx_train,
                "n_vocab": model.n_vocab,
            },
            notes=session.notes,
        )

    def run(self, requests: RequestSequence) -> Iterator[Response]:
        """Answer every request, in the order in which they are done; one that cannot be answered gives an ``error``.

        Raises:
            ComponentError: messages are given but the model has no usable chat template, memory is short, or the model
                gives no log-probabilities; found out before the first response.
        """
        session, model = self._load()
        self._reserve(session, requests)
        for index, response in enumerate(Schedule(session, model).answer(requests)):
            if index == 0:
                _check_logprobs(response)
            yield response

    def close(self) -> None:
        """Free cache and weights."""
        if self._session is not None:
            self._session.close()
            self._session = None
        if self._model is not None:
            self._model.close()
            self._model = None

    @property
    def _gpu_layers(self) -> int:
        return int(self._settings.options.get("n_gpu_layers", 0))

    def _files(self) -> ModelFiles:
        if self._found is None:
            self._found = find_model(self._settings.model)
        return self._found

    def _check_device(self) -> None:
        if self._gpu_layers and not can_use_gpu():
            raise ComponentError(
                "this llama-cpp-python was built without GPU support; leave out -B n_gpu_layers, or install a GPU build"
            )

    def _load(self) -> tuple[Session, Model]:
        self._check_device()
        if self._model is None:
            self._model = Model(self._files().paths[0], n_gpu_layers=self._gpu_layers)
        if self._session is None:
            options = self._settings.options
            speed = Speed(
                options.get("n_batch", 512),
                options.get("n_threads") or usable_cores(),
                options.get("parallel"),
                gpu=bool(self._gpu_layers),
            )
            self._session = Session(self._model, speed, options.get("n_ctx"))
        return self._session, self._model

    @staticmethod
    def _reserve(session: Session, requests: RequestSequence) -> None:
        """Make room for the longest requests before the first is asked."""
        lengths = requests.lengths
        longest = heapq.nlargest(_LONGEST, range(len(requests)), key=lambda index: lengths[index])
        sample = [requests[index] for index in longest]
        need = max(map(session.need, sample), default=0)
        if need:
            texts = any(not request.choices for request in sample)
            session.reserve(need, len(requests) if texts else 0)


def _check_logprobs(response: Response) -> None:
    """Some libraries return 0.0 for what they did not compute; every model would then look as if it had no bias."""
    sums = [score.sum for score in response.choice_logprobs]
    if sums and all(value == 0 for value in sums):
        raise ComponentError(
            "the backend returns no log-probabilities (every choice scored exactly 0); use another version of "
            "llama-cpp-python"
        )
