"""Which annotations were drawn from a workbench: a withdrawal has to reach their pages and sheets as well."""

from __future__ import annotations

import os
from pathlib import Path

from biasfw.authoring.bench import Workbench, open_bench
from biasfw.authoring.log import SETTINGS


def bench_around(folder: Path) -> Workbench | None:
    """The workbench that a folder is, or lies in."""
    place = folder.resolve()
    found = next((each for each in (place, *place.parents) if (each / SETTINGS).is_file()), None)
    return open_bench(found) if found is not None else None


def note_annotation(bundle: Path, output: Path) -> None:
    """Write into the log of the workbench that ``bundle`` lies in, if in any, where its annotation is."""
    bench = bench_around(bundle)
    if bench is not None:
        folder = os.path.relpath(output.resolve(), bench.folder.resolve())
        bench.log.append("annotation", folder=folder)
