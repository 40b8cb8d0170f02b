"""Loading a model with its tokeniser, always from files on disk, and making sure that all of it was there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from safetensors import SafetensorError

from biasfw import ComponentError
from biasfw_plugins.hf.devices import Placement, is_out_of_memory
from biasfw_plugins.hf.runtime import quiet, torch, transformers
from biasfw_plugins.hf.sources import Files

_FAILURES = (OSError, ValueError, RuntimeError, ImportError, LookupError, TypeError, AttributeError, SafetensorError)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that is ready to compute, and its tokeniser (classes of transformers)."""

    model: Any
    tokenizer: Any


def load(name: str, files: Files, placement: Placement, options: Mapping[str, Any]) -> Loaded:
    """Load what lies in ``files``.

    Raises:
        ComponentError: the files are damaged or incomplete, need what is not installed or not allowed, hold no
            decoder-only language model, or memory is short.
    """
    _check_installed(placement)
    code = bool(options.get("trust_remote_code", False))
    common: dict[str, Any] = {"local_files_only": True, "trust_remote_code": code}
    if files.gguf is not None:
        common["gguf_file"] = files.gguf
    with quiet(), _worded(name, code=code, gguf=files.gguf is not None):
        config = transformers.AutoConfig.from_pretrained(files.folder, **common)
        if config.is_encoder_decoder:
            raise ComponentError(f"{name} is not a decoder-only language model; only these can be asked")
        tokenizer = transformers.AutoTokenizer.from_pretrained(files.folder, **common)
        # Without a device_map the weights go to the CPU first; to a GPU they are read directly.
        device_map = placement.spread or (None if placement.device == "cpu" else {"": placement.device})
        safe = True if options.get("use_safetensors", True) and files.gguf is None else None
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            files.folder,
            config=config,
            dtype=getattr(torch, placement.dtype),
            device_map=device_map,
            use_safetensors=safe,
            output_loading_info=True,
            **common,
        )
        model.eval()
        _check_whole(name, report)
        _check_causal(name, model)
    return Loaded(model, tokenizer)


def _check_installed(placement: Placement) -> None:
    if placement.spread and find_spec("accelerate") is None:
        raise ComponentError('device_map needs accelerate; run: pip install "biasfw[hf]"')


def _check_whole(name: str, report: Mapping[str, Any]) -> None:
    """Weights that are not in the files would be random, and the model would talk nonsense without a word."""
    missing = sorted(report.get("missing_keys") or ())
    if missing:
        raise ComponentError(
            f"{name} lacks {len(missing)} of the weights of its architecture ({', '.join(missing[:3])}), which would "
            "be random; get its files again, or use a version of transformers that fits them"
        )


def _check_causal(name: str, model: Any) -> None:
    """What follows a token must not change what the model predicts at it (as it does in BERT)."""
    ids = torch.tensor([[0, 1], [0, 2]], device=model.get_input_embeddings().weight.device)
    with torch.inference_mode():
        first, second = model(input_ids=ids, use_cache=False).logits[:, 0].float()
    if (first - second).abs().max() > 0.01 * (first.max() - first.min()):
        raise ComponentError(f"{name} does not read from left to right; only decoder-only models can be asked")


@contextmanager
def _worded(name: str, *, code: bool, gguf: bool) -> Iterator[None]:
    try:
        yield
    except _FAILURES as error:
        if is_out_of_memory(error):
            raise ComponentError(
                f"not enough memory to load {name}; use a smaller number type (-B dtype=bfloat16), several GPUs "
                "(-B device_map=auto) or a smaller model"
            ) from error
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        if not code and "trust_remote_code" in str(error):
            raise ComponentError(
                f"{name} needs Python code that it brings along; read that code, and if you trust it: "
                "-B trust_remote_code=true"
            ) from error
        if gguf:
            way = "if it is damaged get it again, if transformers cannot read its kind use --backend llamacpp"
        else:
            way = "if files are damaged or missing get them again, if the model is new update transformers"
        raise ComponentError(f"transformers cannot load {name}: {reason}; {way}") from error
