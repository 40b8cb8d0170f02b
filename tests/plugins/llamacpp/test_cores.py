from __future__ import annotations

import os
from pathlib import Path

import pytest

from biasfw_plugins.llamacpp.cores import usable_cores


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eight logical processors: cores 0-3 with two threads each, n and n + 4."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for cpu in range(8):
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{cpu % 4},{cpu % 4 + 4}\n")
    return tmp_path


def test_threads_of_one_core_count_once(machine: Path) -> None:
    assert usable_cores(topology=machine, quota=machine / "none") == 4


def test_affinity_limits(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 4, 1}, raising=False)
    assert usable_cores(topology=machine, quota=machine / "none") == 2


@pytest.mark.parametrize(("quota", "cores"), [("150000 100000", 2), ("max 100000", 4), ("50000 100000", 1), ("", 4)])
def test_quota_of_a_container_limits(machine: Path, quota: str, cores: int) -> None:
    (machine / "cpu.max").write_text(quota)
    assert usable_cores(topology=machine, quota=machine / "cpu.max") == cores


def test_a_cap(machine: Path) -> None:
    assert usable_cores(3, topology=machine, quota=machine / "none") == 3


def test_without_a_topology_every_processor_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(20)), raising=False)
    assert usable_cores(topology=tmp_path, quota=tmp_path) == 8


def test_this_machine() -> None:
    assert 1 <= usable_cores() <= min(8, os.cpu_count() or 1)
