"""Offers the shipped benchmarks through the public hook."""

from collections.abc import Iterable
from pathlib import Path

from biasfw import hookimpl, shipped

biasfw_api = 1


@hookimpl
def biasfw_benchmark_folders() -> Iterable[Path]:
    """The folder benchmarks/ of the wheel or the checkout."""
    yield shipped("benchmarks")
