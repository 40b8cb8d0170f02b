"""The language packs that ship with biasfw, one ``TAG.yaml`` each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from biasfw import hookimpl

biasfw_api = 1


@hookimpl
def biasfw_language_folders() -> Iterable[Path]:
    """Offer this folder."""
    yield Path(__file__).parent
