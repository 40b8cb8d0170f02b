"""What a loaded model says about itself."""

from __future__ import annotations

from typing import Any

# The names by which configurations say how many tokens a model can hold.
_LIMITS = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "max_sequence_length", "n_ctx")


def limit(model: Any) -> int | None:
    """How many tokens it was trained for; None where it does not say."""
    config = model.config.get_text_config()
    found = (getattr(config, name, None) for name in _LIMITS)
    return next((number for number in found if isinstance(number, int) and number > 0), None)


def ends(model: Any) -> set[int]:
    """The tokens that its settings say end a text."""
    settings = (getattr(model, "generation_config", None), model.config, model.config.get_text_config())
    said = [getattr(each, "eos_token_id", None) for each in settings]
    return {int(number) for each in said for number in _several(each)}


def _several(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]


def quantisation(model: Any) -> str | None:
    """The method by which its weights are stored, with their bits where it tells."""
    settings = getattr(model.config, "quantization_config", None)
    if settings is None:
        return None
    told = settings if isinstance(settings, dict) else settings.to_dict()
    bits = told.get("bits") or (4 if told.get("load_in_4bit") else 8 if told.get("load_in_8bit") else None)
    method = getattr(told.get("quant_method"), "value", told.get("quant_method")) or "quantised"
    return f"{method}, {bits} bits" if bits else str(method)


def dtype(model: Any) -> str:
    """The number type of its weights, as in ``float32``."""
    return str(model.dtype).removeprefix("torch.")


def devices(model: Any) -> str:
    """Where it lies: one device, or all over which it was spread."""
    spread = getattr(model, "hf_device_map", None)
    return ", ".join(sorted({_device(each) for each in spread.values()})) if spread else str(model.device)


def _device(named: object) -> str:
    return f"cuda:{named}" if isinstance(named, int) else str(named)
