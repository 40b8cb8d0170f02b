"""The official files beside the checkout."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def official() -> Path:
    """The folder with the official files."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "shared" / "data" / "jubaku").is_dir():
            return folder / "shared" / "data" / "jubaku"
    pytest.skip("the official files (a folder shared/data/jubaku beside the checkout) are not here")
