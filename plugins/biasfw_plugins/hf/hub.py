"""Models on the Hugging Face hub: what is in the local cache is used without asking the network anything."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from huggingface_hub import errors, get_hf_file_metadata, hf_hub_download, hf_hub_url, snapshot_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from biasfw import ComponentError
from biasfw_plugins.hf.files import CODE, PICKLED, SAFE, SETTINGS, Trust, is_whole

_COMMIT = re.compile(r"[0-9a-f]{40}")
_PATIENCE = 10.0  # seconds that the hub may take for a first answer
_HTTP_ERROR: Any = getattr(errors, "HTTPError", OSError)  # of whichever HTTP library the hub's client takes


@dataclass(frozen=True, slots=True)
class HubModel:
    """A repository with a model in the Hugging Face format, at ``revision`` (default: its main branch)."""

    name: str
    revision: str | None
    trust: Trust

    def commit(self) -> str:
        """The commit that the revision stands for: of the copy in the cache, else what the hub says.

        Raises:
            ComponentError: there is no such model or revision, or no network and no copy.
        """
        if self.revision and _COMMIT.fullmatch(self.revision):
            return self.revision
        return _get(self.name, self.revision, "config.json").parent.name

    def folder(self) -> Path:
        """The local copy, downloaded if it is not there or not whole.

        Raises:
            ComponentError: it cannot be had; the message says what to do.
        """
        commit = self.commit()
        folder = _get(self.name, commit, "config.json").parent
        if is_whole(folder, self.trust):
            return folder
        wanted = [*SAFE, *SETTINGS, *([CODE] if self.trust.code else []), *(PICKLED if self.trust.pickles else [])]
        with _worded(self.name, self.revision):
            return Path(snapshot_download(self.name, revision=commit, allow_patterns=wanted, ignore_patterns=["*/*"]))


@dataclass(frozen=True, slots=True)
class HubGguf:
    """One GGUF file in a repository."""

    repository: str
    revision: str | None
    file: str

    @property
    def name(self) -> str:
        return f"{self.repository}/{self.file}"

    def path(self) -> Path:
        """The local copy, downloaded if it is not there.

        Raises:
            ComponentError: it cannot be had; the message says what to do.
        """
        return _get(self.repository, self.revision, self.file)


def _get(name: str, revision: str | None, file: str) -> Path:
    """One file: the local copy, or else a download."""
    try:
        return Path(hf_hub_download(name, file, revision=revision, local_files_only=True))
    except (LocalEntryNotFoundError, ValueError):
        pass
    with _worded(name, revision):
        _check_reachable(name, revision, file)
        return Path(hf_hub_download(name, file, revision=revision))


def _check_reachable(name: str, revision: str | None, file: str) -> None:
    """Ask once for ``file``: without a network a download is tried for 20 s and more before it fails."""
    try:
        get_hf_file_metadata(hf_hub_url(name, file, revision=revision), timeout=_PATIENCE)
    except HfHubHTTPError:  # the hub has answered
        raise
    except (_HTTP_ERROR, ConnectionError) as error:
        raise LocalEntryNotFoundError(str(error)) from error


@contextmanager
def _worded(name: str, revision: str | None) -> Iterator[None]:
    """Word what can go wrong with a download."""
    at = f" at revision {revision}" if revision else ""
    fetch = f"hf download {name}" + (f" --revision {revision}" if revision else "")
    try:
        with _muted():
            yield
    except LocalEntryNotFoundError as error:
        raise ComponentError(
            f"{name}{at} is neither a folder here nor in the local cache, and the hub cannot be reached; connect once "
            f"and run the same command again, or fetch it elsewhere with: {fetch}"
        ) from error
    except GatedRepoError as error:
        raise ComponentError(f"{name} is gated; accept its terms on its page and log in with: hf auth login") from error
    except RepositoryNotFoundError as error:
        raise ComponentError(
            f"the hub has no model {name!r}, and there is no such folder here; check the spelling (a private one "
            "needs: hf auth login)"
        ) from error
    except RevisionNotFoundError as error:
        raise ComponentError(
            f"{name} has no revision {revision!r}; leave out -B revision for its main branch"
        ) from error
    except (HfHubHTTPError, EntryNotFoundError, OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ComponentError(
            f"{name}{at} cannot be downloaded: {reason}; check its name and files (a GGUF file in it: -B gguf_file)"
        ) from error


@contextmanager
def _muted() -> Iterator[None]:
    """Let the hub's client not tell of every try; its progress bars stay, since a download takes long."""
    log = logging.getLogger("huggingface_hub")
    level = log.level
    if not os.environ.get("BIASFW_DEBUG"):
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(level)
