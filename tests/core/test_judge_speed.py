"""What judging costs: memory that allows a whole study, and time in proportion to what is read and written.

A full study of DebateBias has 100,800 responses. Two smaller runs tell what one more response costs; times are
processor seconds, compared with what this machine needs to read and write the same lines as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from biasfw import RunConfig
from biasfw.engine import run
from biasfw.plugins import Plugins

STUDY = 100_800  # responses
MEMORY = 500  # MiB
RATIO = 9  # times the JSON of all lines
RULES = ("one", "two", "three")

PROGRAM = """
import resource, sys, time
from pathlib import Path
from biasfw.plugins import Plugins
from biasfw.rescoring import judge
plugins = Plugins.installed()
begun = time.process_time()
judge(Path(sys.argv[1]), sys.argv[2], plugins)
print(time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has other units elsewhere")
def test_three_rule_judges_and_all_metrics_over_a_study(installed: Plugins, tmp_path: Path) -> None:
    file = tmp_path / "three.yaml"
    members = [{"name": name, "judge": "rules"} for name in RULES]
    file.write_text(json.dumps({"judge": "panel", "members": members}), encoding="utf-8")
    seconds, memory, json_seconds = zip(
        *(measured(installed, tmp_path, file, repeats) for repeats in (9, 36)), strict=True
    )
    responses = 280 * (36 - 9)
    whole = memory[1] + (memory[1] - memory[0]) / responses * (STUDY - 280 * 36)
    assert whole < MEMORY, f"{whole:.0f} MiB for a study"
    ratio = (seconds[1] - seconds[0]) / (json_seconds[1] - json_seconds[0])
    assert ratio < RATIO, f"judging takes {ratio:.1f} times the JSON of its lines"


def measured(installed: Plugins, folder: Path, file: Path, repeats: int) -> tuple[float, float, float]:
    """Processor seconds and MiB of judging in a new process; processor seconds of the JSON of all lines."""
    config = RunConfig(
        "debatebias", "reference", model="random", mode="generate", repeats=repeats, runs=str(folder / str(repeats)),
        metrics=("outcome_rate",),
    )  # fmt: skip
    directory = run(config, installed).directory
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(directory), str(file)], check=True, capture_output=True, text=True
    )
    seconds, memory = map(float, done.stdout.split())
    files = [directory / "requests.jsonl", directory / "responses.jsonl", *(directory / "judgements").iterdir()]
    begun = time.process_time()
    for path in files:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                json.dumps(json.loads(line), ensure_ascii=False)
    return seconds, memory, time.process_time() - begun
