"""100,000 items in under 20 seconds of the processor."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from biasfw.plugins import Plugins
from biasfw.validating import validate

COUNT = 100_000


def test_a_hundred_thousand_items(
    write: Callable[..., Path], rows: Callable[[str], list[dict[str, Any]]], installed: Plugins
) -> None:
    base = rows("en")
    texts = [json.dumps({**base[n % 8], "source_id": f"n-{n}"}, ensure_ascii=False) for n in range(COUNT)]
    texts[90_000] = texts[90_000].replace('"gold": "fair"', '"gold": "unfiar"')
    folder = write(en=texts)
    before = time.process_time()
    (report, *_) = validate(folder, installed)
    took = time.process_time() - before
    (finding,) = report.findings
    assert finding.problem.line == 90_001
    assert took < 20, f"{took:.1f} s"
