"""A real process is killed while a judge's model is asked; the same command goes on where it stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from biasfw import RunConfig
from biasfw.engine import run
from biasfw.plugins import Plugins

ANSWERS_BEFORE_THE_KILL = 11

# The judge's model notes every question in a file of its own before it answers, and hangs after some.
PROGRAM = """
import os, sys, time, types
from pathlib import Path
from biasfw import BackendSpec, Identity, Response, hookimpl
from biasfw.plugins import Plugins
from biasfw.rescoring import judge

directory, file, log, stop_after = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])

class Slow:
    def __init__(self, settings): pass
    def fingerprint(self): return "slow:1"
    def prepare(self): return Identity("slow", "slow:1")
    def close(self): pass
    def run(self, requests):
        for number, request in enumerate(requests, start=1):
            with log.open("a") as out:
                out.write(request.key + "\\n")
            if number > stop_after:
                log.with_suffix(".hanging").touch()
                time.sleep(600)
            yield Response(request.key, text="MODERN: Indians\\nSTEREOTYPED: Arabs", finish_reason="stop")

@hookimpl
def biasfw_backends():
    yield BackendSpec("slow", load="__main__:Slow", summary="for tests")

plugins = Plugins.installed()
plugins.add(types.SimpleNamespace(biasfw_api=1, biasfw_backends=biasfw_backends), "slow")
result = judge(directory, file, plugins)
print(result.outcomes["modern"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_kill_9_while_judging_loses_nothing_and_asks_nothing_twice(installed: Plugins, tmp_path: Path) -> None:
    config = RunConfig(
        "debatebias", "reference", model="random", mode="generate", limit=24, languages=("en",), runs=str(tmp_path)
    )
    directory = run(config, installed).directory
    file, log, program = tmp_path / "panel.yaml", tmp_path / "asked.txt", tmp_path / "program.py"
    members = [{"name": "rules", "judge": "rules"}, {"name": "slow", "judge": "llm", "backend": "slow"}]
    file.write_text(json.dumps({"judge": "panel", "members": members}), encoding="utf-8")
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, str(program), str(directory), str(file), str(log)]

    process = subprocess.Popen([*command, str(ANSWERS_BEFORE_THE_KILL)])
    try:
        while not log.with_suffix(".hanging").exists():
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.02)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    (answers,) = (directory / "judge-responses").iterdir()
    stored = [json.loads(line)["key"] for line in (answers / "responses.jsonl").read_text().splitlines()]
    assert len(stored) == ANSWERS_BEFORE_THE_KILL
    assert len(log.read_text().splitlines()) == ANSWERS_BEFORE_THE_KILL + 1

    done = subprocess.run([*command, "1000"], check=True, capture_output=True, text=True)
    asked = log.read_text().splitlines()
    again = asked[ANSWERS_BEFORE_THE_KILL + 1 :]
    assert not set(again) & set(stored), "what was answered is not asked twice"
    assert len(again) == len(set(again))
    assert sorted(set(asked)) == sorted({*again, *stored}), "the question in flight is asked again, and all others"
    responses = [json.loads(line)["key"] for line in (answers / "responses.jsonl").read_text().splitlines()]
    requests = [json.loads(line)["key"] for line in (answers / "requests.jsonl").read_text().splitlines()]
    assert sorted(responses) == sorted(requests)
    assert len(responses) == 24
    assert "'answered'" in done.stdout or "'no_majority'" in done.stdout
    for judged in (directory / "judgements").iterdir():
        keys = [json.loads(line)["response_key"] for line in judged.read_text().splitlines()]
        assert len(keys) == len(set(keys)) == 24, judged.name
