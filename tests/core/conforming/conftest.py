"""The bundle of tests/core/validating, for what is measured of it."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_spec = spec_from_file_location("neighbours", Path(__file__).parents[1] / "validating" / "conftest.py")
assert _spec is not None
assert _spec.loader is not None
_module = module_from_spec(_spec)
_spec.loader.exec_module(_module)
write, _rows = _module.write, _module._rows
