"""A process that serves an annotation (its argument), for tests that kill it."""

from __future__ import annotations

import sys
from pathlib import Path

from biasfw.annotating.answering import serve

if __name__ == "__main__":
    serve(Path(sys.argv[1]), None, lambda address: print(address.url, flush=True))  # noqa: T201
