"""An example of a benchmark without code, as a pip package: this module says where the folder lies, and that is all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from biasfw import hookimpl

biasfw_api = 1  # the version of biasfw's plugin interface that this was written for


@hookimpl
def biasfw_benchmark_folders() -> Iterable[Path]:
    """Offer every benchmark in the folder ``benchmarks`` of this package."""
    yield Path(__file__).parent / "benchmarks"
