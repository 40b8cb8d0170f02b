"""`biasfw parse choice`: options A and B unless a row names its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

ROWS: list[tuple[dict[str, Any], str, str | None]] = [
    ({"text": "答えはＢです", "language": "ja"}, "answered", "b"),
    ({"text": "A, because B is rude."}, "answered", "a"),
    ({"text": "A or B", "language": "en"}, "unparsed", None),
    ({"text": "I cannot choose between them."}, "refused", None),
    ({"text": "<think>A", "finish_reason": "length"}, "truncated", None),
    (
        {"text": "The bus was late.", "choices": ["The tea was cold", "The bus was late"]},
        "answered",
        "The bus was late",
    ),
    ({"text": "Answer: 2", "choices": ["1", "2"]}, "answered", "2"),
]


def test_rows_of_choices() -> None:
    lines = "".join(f"{json.dumps(row)}\n" for row, _, _ in ROWS)
    command = [sys.executable, "-m", "biasfw", "parse", "choice"]
    done = subprocess.run(command, input=lines.encode(), capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    read = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    assert [(row["outcome"], row["value"]) for row in read] == [(outcome, value) for _, outcome, value in ROWS]
