"""The backend ``hf``: finds a model, loads it, and has it answer requests."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata

from biasfw import BackendSettings, Identity, RequestSequence, Response, sha256_text
from biasfw_plugins.hf import facts
from biasfw_plugins.hf.devices import Placement, free_memory, place
from biasfw_plugins.hf.ggufinfo import read_gguf
from biasfw_plugins.hf.hub import HubModel
from biasfw_plugins.hf.loading import Loaded, load
from biasfw_plugins.hf.network import Network
from biasfw_plugins.hf.prompts import make_prompter
from biasfw_plugins.hf.session import Session, Subject
from biasfw_plugins.hf.sources import Hub, Source, find_source
from biasfw_plugins.hf.tokens import Tokeniser

_LIBRARIES = ("torch", "transformers", "tokenizers")
_BUDGET_ON_CPU, _BUDGET_ON_GPU = 4096, 16384
_SCORING_ON_CPU = 2048  # computes whole prompts, so that more at once is no faster; a text gains by others beside it


class HuggingFace:
    """A model of transformers, run by PyTorch in this process.

    An answer depends on its request alone, up to rounding: in float32 log-probabilities differ by less than 1e-3
    whichever requests are computed beside it.
    """

    def __init__(self, settings: BackendSettings) -> None:
        self._settings = settings
        self._source: Source | None = None
        self._placement: Placement | None = None
        self._loaded: Loaded | None = None
        self._session: Session | None = None
        self._notes: tuple[str, ...] = ()

    def fingerprint(self) -> str:
        """``commit:`` and the commit of a model on the hub, or ``sha256:`` and the digest of the files on disk.

        Nothing is loaded. Of a model on the hub that is not in the cache, only the configuration is downloaded.

        Raises:
            ComponentError: the model or the device is not there, or an option does not fit.
        """
        self._place()
        return self._find().fingerprint()

    def prepare(self) -> Identity:
        """Load the model (downloads it if it is not there).

        Raises:
            ComponentError: the model is damaged, or what ``fingerprint`` raises.
        """
        fingerprint, source = self.fingerprint(), self._find()
        session, loaded = self._load()
        model, template = loaded.model, Tokeniser(loaded.tokenizer).template
        quantisation, dtype, notes = facts.quantisation(model), facts.dtype(model), self._notes
        files = source.fetch()
        if files.gguf:
            info = read_gguf(files.folder / files.gguf)
            quantisation, notes = info.quantisation, (*notes, *info.notes(dtype, loaded.tokenizer))
        details = {
            "class": type(model).__name__,
            "n_params": int(model.num_parameters()),
            "n_ctx_train": facts.limit(model),
            "n_vocab": int(model.get_input_embeddings().weight.shape[0]),
            "batch_tokens": session.budget,
        }
        if isinstance(source, Hub) and isinstance(source.model, HubModel):
            details["commit"] = fingerprint.removeprefix("commit:")
        return Identity(
            model=source.name,
            fingerprint=fingerprint,
            architecture=str(model.config.model_type),
            quantisation=quantisation,
            dtype=dtype,
            template_sha256=sha256_text(template) if template else None,
            device=facts.devices(model),
            libraries={name: metadata.version(name) for name in _LIBRARIES},
            details=details,
            notes=notes,
        )

    def run(self, requests: RequestSequence) -> Iterator[Response]:
        """Answer every request, in an order of its own; one that cannot be answered gives a response with ``error``.

        Raises:
            ComponentError: messages are given but the model has no usable chat template.
        """
        session, _ = self._load()
        yield from session.answer(requests)

    def close(self) -> None:
        """Free the model's memory."""
        if self._loaded is not None:
            self._loaded = self._session = None
            free_memory()

    def _find(self) -> Source:
        if self._source is None:
            self._source = find_source(self._settings.model, self._settings.options)
        return self._source

    def _place(self) -> Placement:
        if self._placement is None:
            self._placement = place(self._settings.options)
        return self._placement

    def _load(self) -> tuple[Session, Loaded]:
        if self._loaded is None or self._session is None:
            placement, source = self._place(), self._find()
            options = self._settings.options
            self._loaded = load(source.name, source.fetch(), placement, options)
            subject, notes = _subject(self._loaded, options.get("enable_thinking"))
            on_cpu = subject.network.device.type == "cpu"
            budget = options.get("batch_tokens") or (_BUDGET_ON_CPU if on_cpu else _BUDGET_ON_GPU)
            scoring = _SCORING_ON_CPU if on_cpu and not options.get("batch_tokens") else budget
            self._session = Session(subject, budget, scoring)
            self._notes = (*placement.notes, *notes)
        return self._session, self._loaded


def _subject(loaded: Loaded, thinking: bool | None) -> tuple[Subject, tuple[str, ...]]:
    """What to ask, and what the user should know about its chat template."""
    model, tokeniser = loaded.model, Tokeniser(loaded.tokenizer)
    prompter, template, notes = make_prompter(tokeniser, thinking)
    # Not every file names the token that ends a turn; what the template writes after an answer is one in any case.
    known = (tokeniser.eos, template.turn_end() if template else None)
    ends = facts.ends(model) | {token for token in known if token is not None}
    return Subject(Network(model), tokeniser, prompter, facts.limit(model), frozenset(ends)), notes
