"""Offers the readers of the official JUBAKU files; the benchmark itself is a bundle."""

from __future__ import annotations

from collections.abc import Iterable

from biasfw import ReaderSpec, hookimpl

biasfw_api = 1


@hookimpl
def biasfw_readers() -> Iterable[ReaderSpec]:
    """Offer the readers of jubaku_ver1.jsonl and jubaku_ver2.jsonl."""
    yield ReaderSpec(
        "jubaku_v1",
        load="biasfw_plugins.jubaku.v1:JubakuV1",
        summary="jubaku_ver1.jsonl of JUBAKU (arXiv 2603.20581)",
    )
    yield ReaderSpec(
        "jubaku_v2",
        load="biasfw_plugins.jubaku.v2:JubakuV2",
        summary="jubaku_ver2.jsonl of JUBAKU-v2 (arXiv 2604.00568)",
    )
