"""Which files of a folder make a model: configuration, tokeniser, weights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from biasfw import ComponentError, file_digest, sha256_text

CODE = "*.py"
TOKENISER = ("tokenizer*", "vocab*", "merges.txt", "*.model", "*.tiktoken", "spiece.*")
SETTINGS = (
    "config.json",
    "generation_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template*",
    "additional_chat_templates/*",
    "adapter_config.json",
    "adapter_model.*",
    *TOKENISER,
)
SAFE = ("model.safetensors", "model-*.safetensors", "model.safetensors.index.json")
PICKLED = ("pytorch_model.bin", "pytorch_model-*.bin", "pytorch_model.bin.index.json")


@dataclass(frozen=True, slots=True)
class Trust:
    """What of a model may be used besides plain data: its Python code, its pickled weights."""

    code: bool = False
    pickles: bool = False


def model_files(folder: Path, trust: Trust) -> list[Path]:
    """The files of ``folder`` that decide what the model says, in a fixed order.

    Raises:
        ComponentError: something is missing; the message says what.
    """
    weights = _weights(folder, trust)
    patterns = (*SETTINGS, CODE) if trust.code else SETTINGS
    found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return sorted({*found, *weights})


def folder_digest(folder: Path, trust: Trust) -> str:
    """One sha256 over the names and contents of ``model_files``.

    Raises:
        ComponentError: a file is missing or cannot be read.
    """
    try:
        rows = [f"{file.relative_to(folder).as_posix()} {file_digest(file)}" for file in model_files(folder, trust)]
    except OSError as error:
        raise ComponentError(f"{error.filename} cannot be read: {error.strerror}; check its permissions") from error
    return sha256_text("\n".join(rows))


def is_whole(folder: Path, trust: Trust) -> bool:
    """Whether ``folder`` holds everything that is needed to load the model."""
    try:
        return bool(_weights(folder, trust)) and any(True for name in TOKENISER for _ in folder.glob(name))
    except ComponentError:
        return False


def _weights(folder: Path, trust: Trust) -> list[Path]:
    if not (folder / "config.json").is_file():
        raise ComponentError(f"{folder} holds no config.json; {_way_out(folder)}")
    names = list(_weight_names(folder, SAFE)) or (list(_weight_names(folder, PICKLED)) if trust.pickles else [])
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise ComponentError(
            f"{folder} lacks {', '.join(missing[:3])} ({len(missing)} of its weight files); get it again"
        )
    if not names and any(_weight_names(folder, PICKLED)):
        raise ComponentError(
            f"{folder} holds its weights as a pickle, which can run code when it is loaded; convert them to "
            "safetensors, or if you trust where they come from: -B use_safetensors=false"
        )
    if not names:
        raise ComponentError(f"{folder} holds no model.safetensors; {_way_out(folder)}")
    return [folder / name for name in names]


def _weight_names(folder: Path, kind: tuple[str, ...]) -> Iterator[str]:
    """The weight files that transformers would load: the one file, or else the index and what it names."""
    single, _, index = kind
    if (folder / single).is_file():
        yield single
    elif (folder / index).is_file():
        try:
            names = sorted(set(json.loads((folder / index).read_text(encoding="utf-8"))["weight_map"].values()))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ComponentError(f"{folder / index} is damaged; get it again") from error
        yield index
        yield from names


def _way_out(folder: Path) -> str:
    ggufs = sorted(file.name for file in folder.glob("*.gguf"))
    if ggufs:
        return f"to load a GGUF file from it: -B gguf_file={ggufs[0]} (there: {', '.join(ggufs)})"
    return "name a folder that save_pretrained wrote, or that was downloaded whole from the hub"
