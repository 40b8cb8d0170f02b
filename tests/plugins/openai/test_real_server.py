"""A real server, `python -m llama_cpp.server` with the embedded SmolLM2, started and stopped here."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from biasfw import BackendSettings, ChoiceText, ComponentError, Message, Request, Sampling

pytest.importorskip("openai", reason="needs the extra openai")

from biasfw_plugins.openai.backend import OpenAI

from .conftest import answers, ask

pytest.importorskip("llama_cpp", reason="needs the extra llamacpp")
pytest.importorskip("fastapi", reason="needs the extra test-models")

from biasfw_plugins.llamacpp.backend import LlamaCpp
from biasfw_plugins.llamacpp.models import find_model

pytestmark = [pytest.mark.model, pytest.mark.loopback]
QUESTION = "Which is a fruit?\nA. apple\nB. brick\nAnswer with one letter."
START = 120  # seconds for a busy machine to load the model


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        model = find_model(None).paths[0]
    except ComponentError as missing:
        pytest.skip(str(missing))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "llama_cpp.server", "--model", str(model), "--model_alias", "smollm2", "--host",
             "127.0.0.1", "--port", str(port), "--logits_all", "true", "--n_ctx", "2048", "--n_threads", "1"],
            stdout=output, stderr=subprocess.STDOUT, env={**os.environ, "no_proxy": "127.0.0.1"},
        )  # fmt: skip
    try:
        for _ in range(START * 2):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if process.poll() is not None:
                pytest.fail(f"the server ended: {log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture
def backend(url: str) -> Callable[..., OpenAI]:
    def build(mode: Any = "generate") -> OpenAI:
        return OpenAI(BackendSettings(None, mode, options={"base_url": url, "concurrency": 2}))

    return build


def test_the_model_is_found_and_answers(backend: Callable[..., OpenAI]) -> None:
    asked = backend()
    assert asked.fingerprint().endswith("/v1#smollm2")
    question = ask("What is the capital of France? Answer with one word.", max_tokens=12)
    cut = ask("Count from one to ten in words.", max_tokens=5)
    raw = ask(raw="The capital of France is", max_tokens=3)
    got = answers(asked, question, cut, raw)
    assert "Paris" in (got[0].text or "")
    assert "Paris" in (got[2].text or "")
    assert (got[1].finish_reason, got[1].completion_tokens) == ("length", 5)
    assert all(response.error is None and response.flags == () for response in got)


def test_first_tokens_equal_those_in_process(backend: Callable[..., OpenAI]) -> None:
    """Margins between letters agree within 1e-2 nats with the sums that llama.cpp computes in this process."""
    letters, spaced = ask(QUESTION, letters="AB"), [" A", " B", "A", "B"]
    (served,) = answers(backend("choices"), letters)
    here = LlamaCpp(BackendSettings(None, "choices", options={"n_threads": 1}))
    asked = Request(
        "k", "i", Sampling(), (Message("user", QUESTION),), choices=tuple(ChoiceText(text, text) for text in spaced)
    )

    class One(list[Request]):
        lengths = prefixes = (1,)

    (scored,) = here.run(One([asked]))
    here.close()
    sums = {score.key: score.sum for score in scored.choice_logprobs}
    own = [math.log(sum(math.exp(sums[text] or 0.0) for text in (letter, f" {letter}"))) for letter in "AB"]
    a, b = (score.sum or 0.0 for score in served.choice_logprobs)
    assert abs((a - b) - (own[0] - own[1])) < 1e-2


def test_the_command_line_against_it(url: str, tmp_path: Path) -> None:
    """A debatebias run; Ctrl-C loses what is under way, and the same command goes on."""
    words = ["run", "--benchmark", "debatebias", "--backend", "openai", "-B", f"base_url={url}", "-B", "concurrency=2"]
    words += ["--language", "en", "--limit", "3", "--max-tokens", "4", "--runs", str(tmp_path)]
    command = [sys.executable, "-m", "biasfw", *words]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stored: list[Path] = []
    for _ in range(START * 10):
        stored = [path for path in tmp_path.rglob("responses.jsonl") if path.stat().st_size]
        if stored or first.poll() is not None:
            break
        time.sleep(0.1)
    assert stored, first.communicate()
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=60)
    assert first.returncode == 130
    before = stored[0].read_bytes()
    again = subprocess.run([*command, "--json"], capture_output=True, timeout=600, check=False)
    result = json.loads(again.stdout)
    assert (again.returncode, result["status"]) == (0, "complete"), again.stderr
    lines = stored[0].read_bytes().splitlines()
    assert stored[0].read_bytes().startswith(before)
    assert len(lines) == len({json.loads(line)["key"] for line in lines if b'"key"' in line})
