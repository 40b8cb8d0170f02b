from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasfw_plugins.llamacpp.memory import cell_bytes, free_memory, side_by_side

SMOLLM2 = {
    "general.architecture": "llama",
    "llama.block_count": "30",
    "llama.embedding_length": "576",
    "llama.attention.head_count": "9",
    "llama.attention.head_count_kv": "3",
}


@given(cores=st.integers(1, 512), size=st.integers(1, 1 << 40), free=st.none() | st.integers(0, 1 << 50))
def test_side_by_side_is_bounded(cores: int, size: int, free: int | None) -> None:
    count = side_by_side(cores, size, free)
    assert 1 <= count <= min(32, 8 * cores)
    assert free is None or count == 1 or count * size <= free // 4


def test_two_cores_and_plenty_of_memory() -> None:
    assert side_by_side(2, 1000 * cell_bytes(SMOLLM2), 8 << 30) == 16


def test_the_cache_of_smollm2() -> None:
    """30 layers, 3 heads of 64 numbers, keys and values, 2 bytes each."""
    assert cell_bytes(SMOLLM2) == 30 * 3 * 64 * 2 * 2


@pytest.mark.parametrize("metadata", [{}, {**SMOLLM2, "llama.attention.head_count_kv": "[3, 3]"}])
def test_metadata_that_does_not_tell(metadata: dict[str, str]) -> None:
    assert cell_bytes(metadata) > 0


@pytest.mark.parametrize(
    ("limit", "used", "expected"),
    [("max", "5", 2048 * 1024), ("1000000", "400000", 600_000), ("10", "20", 0), (None, None, 2048 * 1024)],
)
def test_free_memory(tmp_path: Path, limit: str | None, used: str | None, expected: int) -> None:
    system = tmp_path / "meminfo"
    system.write_text("MemTotal:  9999 kB\nMemAvailable:  2048 kB\n")
    for name, value in (("memory.max", limit), ("memory.current", used)):
        if value is not None:
            (tmp_path / name).write_text(value + "\n")
    assert free_memory(system=system, group=tmp_path) == expected


def test_a_system_that_does_not_tell(tmp_path: Path) -> None:
    free = free_memory(system=tmp_path / "none", group=tmp_path)
    assert free is None or free > 0
