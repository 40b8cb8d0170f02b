"""How many threads pay: the physical cores that this process may use."""

from __future__ import annotations

import math
import os
from pathlib import Path

_TOPOLOGY = Path("/sys/devices/system/cpu")
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def usable_cores(most: int = 8, *, topology: Path = _TOPOLOGY, quota: Path = _QUOTA) -> int:
    """Physical cores within the CPU affinity and the container's CPU quota, at least 1 and at most ``most``.

    Hyperthreads of one core count once: matrix products gain nothing from the second. Where the system does not tell
    (no Linux), every logical processor counts.
    """
    cpus = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    cores = {_read(topology / f"cpu{cpu}" / "topology" / "thread_siblings_list") or str(cpu) for cpu in cpus}
    return max(1, min(len(cores), _allowed(quota), most))


def _allowed(quota: Path) -> int:
    """CPUs that the cgroup grants, rounded up; a large number without a limit."""
    allowance, _, period = _read(quota).partition(" ")
    if not (allowance.isdigit() and period.isdigit() and int(period)):
        return 1 << 20
    return math.ceil(int(allowance) / int(period))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
