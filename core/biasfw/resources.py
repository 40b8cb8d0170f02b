"""Where schemas/ and benchmarks/ are: inside the wheel, or beside core/ in a checkout."""

from __future__ import annotations

from pathlib import Path

from biasfw.errors import ComponentError


def shipped(kind: str) -> Path:
    """Return the folder ``schemas`` or ``benchmarks`` that came with biasfw.

    Raises:
        ComponentError: the installation is damaged.
    """
    here = Path(__file__).parent
    for folder in (here / "_data" / kind, here.parents[1] / kind):
        if folder.is_dir():
            return folder
    raise ComponentError(f"biasfw was installed without its {kind}; install it again")
