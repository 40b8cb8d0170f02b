"""Real file systems that are full or read-only, and a process that is killed: nothing stored is ever lost.

The mounts need root and a mount namespace; where those are not given the tests skip with that reason.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

BIASFW = [sys.executable, "-m", "biasfw"]
RUN = [*BIASFW, "run", "--benchmark", "debatebias", "--backend", "reference", "--model", "random", "--language", "en"]
RUN += ["--runs", "runs"]


def in_tmpfs(folder: Path, options: str, script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script with ``folder`` mounted as a tmpfs of its own, unseen by anybody else."""
    unshare = shutil.which("unshare")
    if unshare is None or os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root and unshare")
    mount = f"mount -t tmpfs -o {options} tmpfs {folder} && cd {folder} && {script}"
    done = subprocess.run(
        [unshare, "-m", "bash", "-c", mount], capture_output=True, text=True, check=False, timeout=120
    )  # fmt: skip
    if "permission denied" in done.stderr.lower() and "mount" in done.stderr:
        pytest.skip("this machine allows no mounts")
    return done


def shell(command: list[str]) -> str:
    return " ".join(command)


def test_a_read_only_file_system_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    done = in_tmpfs(tmp_path, "size=8m,ro", shell(RUN))
    assert done.returncode == 1
    errors = done.stderr.strip().splitlines()
    assert "cannot write in runs/debatebias-random-" in errors[-1]
    assert "Read-only file system" in errors[-1]
    assert "--runs" in errors[-1]
    assert "Traceback" not in done.stderr


def test_a_full_disk_keeps_what_was_stored_and_the_run_goes_on_later(tmp_path: Path) -> None:
    roomy = tmp_path / "roomy"
    script = (
        f"{shell(RUN)} --repeats 20; echo code $?; wc -l < runs/*/responses.jsonl; "
        f"tail -c 1 runs/*/responses.jsonl | xxd -p; cp -r runs {tmp_path}/kept 2>&1 || true; ls runs/*"
    )
    small = tmp_path / "small"
    small.mkdir()
    done = in_tmpfs(small, "size=1m", script.replace(f"{tmp_path}/kept", str(roomy)))
    assert "code 1" in done.stdout, done.stderr
    assert "No space left on device" in done.stderr
    assert "same command" in done.stderr
    assert "Traceback" not in done.stderr
    kept = next((roomy).glob("*/requests.jsonl"))
    lines = kept.read_bytes().splitlines()
    assert len(lines) > 10
    assert all(json.loads(line)["key"] for line in lines), "only whole lines are left"
    again = subprocess.run(
        [*RUN[:-1], str(roomy), "--repeats", "20", "--json"], capture_output=True, text=True, check=False, timeout=120
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["responses"] == 800


SLOW = """
import sys, time
from biasfw_plugins.reference import backend
answer = backend.Reference._answer
def slowly(self, request):
    time.sleep(0.01)
    return answer(self, request)
backend.Reference._answer = slowly
from biasfw.cli import main
sys.argv = ["biasfw", *sys.argv[1:]]
main()
"""


def test_kill_9_at_random_moments_loses_and_doubles_nothing(tmp_path: Path) -> None:
    arguments = [*RUN[3:-1], str(tmp_path / "killed"), "--mode", "choices", "--quiet"]
    moments = random.Random(4)
    for _ in range(10):
        process = subprocess.Popen(
            [sys.executable, "-c", SLOW, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )  # fmt: skip
        time.sleep(moments.uniform(0.2, 1.1))
        process.send_signal(signal.SIGKILL)
        process.wait()
    killed = subprocess.run([*BIASFW, *arguments, "--json"], capture_output=True, text=True, check=True, timeout=120)
    arguments[arguments.index(str(tmp_path / "killed"))] = str(tmp_path / "whole")
    whole = subprocess.run([*BIASFW, *arguments, "--json"], capture_output=True, text=True, check=True, timeout=120)
    one, other = json.loads(killed.stdout), json.loads(whole.stdout)
    assert one["status"] == "complete"
    assert one["scores"] == other["scores"]
    lines = (Path(one["run"]) / "responses.jsonl").read_text(encoding="utf-8").splitlines()
    keys = [json.loads(line)["key"] for line in lines]
    assert len(keys) == len(set(keys)) == 80


def test_ctrl_c_is_one_line_and_exit_code_130(tmp_path: Path) -> None:
    arguments = [*RUN[3:-1], str(tmp_path), "--mode", "choices"]
    process = subprocess.Popen([sys.executable, "-c", SLOW, *arguments], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while not list(tmp_path.glob("*/responses.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "the same command goes on from there" in said
    assert "Traceback" not in said
