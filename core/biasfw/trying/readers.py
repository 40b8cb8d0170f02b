"""Readers: seeds that fit, the same every time, and a clear word where a file is missing."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from biasfw.codec import encode
from biasfw.contracts import Reader
from biasfw.errors import DataError
from biasfw.plugins import Component, load_class
from biasfw.records import Seed
from biasfw.schemas import check_options


def check_reader(component: Component, folder: Path) -> None:
    """What is in ``folder`` is read, twice alike; an empty folder is told as what it is."""
    spec = component.spec
    options = check_options(f"reader {spec.name}", spec.options, {})

    def read(place: Path) -> list[Seed]:
        return list(cast("Reader", load_class(component)(options)).read(place))

    seeds = read(folder)
    assert seeds, f"it finds nothing in {folder}"
    assert all(isinstance(seed, Seed) for seed in seeds), "it yields what is no Seed"
    assert seeds == read(folder), "it reads the same files in two ways"
    identities = {(seed.source_id, seed.language, seed.variant, seed.order) for seed in seeds}
    assert len(identities) == len(seeds), "two seeds have the same source_id, language, variant and order"
    encode(seeds[0])  # plain data
    with TemporaryDirectory() as empty:
        try:
            read(Path(empty))
        except DataError as failure:
            assert "\n" not in str(failure), "what is wrong is told in one line"
            return
    raise AssertionError("it reads an empty folder without a word; raise DataError and name the file that is missing")
