"""From a model's name to its files: a folder, a GGUF file, a name on the hub, or the embedded default."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from biasfw import ComponentError, file_digest
from biasfw_plugins.hf.files import Trust, folder_digest
from biasfw_plugins.hf.hub import HubGguf, HubModel
from biasfw_plugins.hf.packages import embedded, in_package

_KINDS = "OWNER/NAME on the hub, a folder, a path to a GGUF file, package:FILE.gguf, or no --model for the embedded one"
_HUB_NAME = re.compile(r"(?:[A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*")
_PART = re.compile(r".*-\d{5}-of-\d{5}\.gguf")


@dataclass(frozen=True, slots=True)
class Files:
    """Where a model lies. ``gguf`` is the name of the GGUF file in ``folder`` that holds it, if one does."""

    folder: Path
    gguf: str | None = None


class Source(Protocol):
    """A model that was found by its name, which holds no machine paths."""

    @property
    def name(self) -> str: ...
    def fingerprint(self) -> str:
        """What identifies the model: ``sha256:...`` or ``commit:...``."""
        ...

    def fetch(self) -> Files:
        """Where it lies; downloads what is not there."""
        ...


@dataclass(frozen=True, slots=True)
class Folder:
    """A model in the Hugging Face format on disk."""

    path: Path
    trust: Trust

    @property
    def name(self) -> str:
        return self.path.resolve().name

    def fingerprint(self) -> str:
        return f"sha256:{folder_digest(self.path, self.trust)}"

    def fetch(self) -> Files:
        return Files(self.path)


@dataclass(frozen=True, slots=True)
class Gguf:
    """A GGUF file on disk."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    def fingerprint(self) -> str:
        return f"sha256:{file_digest(self.path)}"

    def fetch(self) -> Files:
        return Files(self.path.parent, self.path.name)


@dataclass(frozen=True, slots=True)
class Hub:
    """A model on the hub, or one GGUF file there."""

    model: HubModel | HubGguf

    @property
    def name(self) -> str:
        return self.model.name

    def fingerprint(self) -> str:
        if isinstance(self.model, HubGguf):
            return Gguf(self.model.path()).fingerprint()
        return f"commit:{self.model.commit()}"

    def fetch(self) -> Files:
        if isinstance(self.model, HubGguf):
            return Gguf(_checked(self.model.path())).fetch()
        return Files(self.model.folder())


def find_source(model: str | None, options: Mapping[str, Any]) -> Source:
    """What ``model`` names. Nothing is hashed, loaded or downloaded.

    Raises:
        ComponentError: there is no such model, or an option does not fit it.
    """
    revision, inside = options.get("revision"), options.get("gguf_file")
    trust = Trust(options.get("trust_remote_code", False), not options.get("use_safetensors", True))
    found = _local(model, inside, trust)
    if found is None and model is not None and _HUB_NAME.fullmatch(model):
        return Hub(HubGguf(model, revision, inside) if inside else HubModel(model, revision, trust))
    if found is None:
        raise ComponentError(f"no model {model!r}; --model takes {_KINDS}")
    if revision is not None:
        raise ComponentError("only a model on the hub has revisions; leave out -B revision")
    return found


def _local(model: str | None, inside: str | None, trust: Trust) -> Source | None:
    if model is None:
        return _gguf(embedded(), inside)
    if model.startswith("package:"):
        return _gguf(in_package(model.removeprefix("package:")), inside)
    try:
        path = Path(model).expanduser()
        if path.is_file():
            return _gguf(path, inside)
        if path.is_dir():
            return _gguf(path / inside, None) if inside else Folder(path, trust)
    except (OSError, ValueError, RuntimeError):  # too long a name, a null byte, ~ of nobody
        return None
    if path.suffix == ".gguf":
        raise ComponentError(f"no model file {model!r}; --model takes {_KINDS}")
    return None


def _gguf(path: Path, inside: str | None) -> Gguf:
    if inside is not None:
        raise ComponentError(f"{path.name} is a GGUF file already; leave out -B gguf_file")
    return Gguf(_checked(path))


def _checked(path: Path) -> Path:
    """``path`` if it is one whole GGUF file."""
    if _PART.fullmatch(path.name):
        raise ComponentError(
            f"{path.name} is one part of several, which transformers cannot read; merge them with llama-gguf-split "
            "--merge, or use --backend llamacpp"
        )
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except FileNotFoundError as error:
        inside = ", ".join(sorted(file.name for file in path.parent.glob("*.gguf"))) or "none"
        raise ComponentError(f"no file {path.name!r} in {path.parent}; GGUF files there: {inside}") from error
    except OSError as error:
        raise ComponentError(f"{path} cannot be read: {error.strerror}; check its permissions") from error
    if magic != b"GGUF":
        raise ComponentError(f"{path} is not a GGUF file; name one, or a folder in the Hugging Face format")
    return path
