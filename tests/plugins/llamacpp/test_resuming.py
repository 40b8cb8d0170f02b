"""A run that is killed in the middle of a batch goes on without loss."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from biasfw import RunConfig, run

pytest.importorskip("biasfw_plugins.llamacpp.native", reason="needs the extra llamacpp")

pytestmark = pytest.mark.model

_SCRIPT = """
import os, signal, sys
from biasfw import RunConfig, run
from biasfw_plugins.llamacpp.context import Context

model, runs = sys.argv[1:]
step, calls = Context.step, iter(range(10_000))

def dying(context, tokens, positions):
    step(context, tokens, positions)
    if next(calls) == 27:
        os.kill(os.getpid(), signal.SIGKILL)

Context.step = dying
run(RunConfig("debatebias", "llamacpp", model=model, runs=runs, languages=("en",), limit=6, max_tokens=20,
              backend_options={"parallel": 3, "n_threads": 1}))
"""


def responses(runs: Path) -> dict[str, str]:
    (path,) = runs.glob("*/responses.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == len({line["key"] for line in lines})
    return {line["key"]: line.get("text", "") for line in lines}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_run_goes_on(tiny: Callable[..., Path], tmp_path: Path) -> None:
    model = tiny(context=8192)

    def whole(runs: str, parallel: int) -> dict[str, str]:
        config = RunConfig(
            "debatebias",
            "llamacpp",
            model=str(model),
            runs=str(tmp_path / runs),
            languages=("en",),
            limit=6,
            max_tokens=20,
            backend_options={"parallel": parallel, "n_threads": 1},
        )
        assert not run(config).failed
        return responses(tmp_path / runs)

    arguments = [sys.executable, "-c", _SCRIPT, str(model), str(tmp_path / "killed")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    died = subprocess.run(arguments, env=environment, capture_output=True, timeout=300, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()[-500:]
    before = responses(tmp_path / "killed")
    uninterrupted = whole("whole", 3)
    assert 0 < len(before) < len(uninterrupted)
    assert whole("killed", 2) == uninterrupted  # another number side by side is the same run
    assert before.items() <= uninterrupted.items()
