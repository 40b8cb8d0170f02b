"""The address is checked, and the key appears nowhere."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from biasfw import BackendSettings, BiasfwError, ComponentError, UsageError
from biasfw.cli import main

pytest.importorskip("openai", reason="needs the extra openai")

from biasfw_plugins.openai.backend import OpenAI
from biasfw_plugins.openai.endpoint import find_endpoint

from .conftest import Reply, Server, answers, ask, completion, failure

Backend = Callable[..., OpenAI]
Cli = Callable[..., tuple[int, str]]
KEY = "sk-proj-0123456789abcdefSECRET"


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run the command line; exit code, and everything it wrote, with the traceback that ``--debug`` shows."""

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["biasfw", *words])
        code, trace = 1, ""
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        except BiasfwError as failure:
            trace = "".join(traceback.format_exception(failure))
        return code, "".join(capsys.readouterr()) + trace

    return run


@pytest.mark.parametrize(
    ("url", "place", "local", "encrypted"),
    [
        ("https://api.example.com/v1/", "api.example.com/v1", False, True),
        ("https://API.example.com:443/v1", "api.example.com/v1", False, True),
        ("http://127.0.0.1:8000/v1", "127.0.0.1:8000/v1", True, False),
        ("http://localhost:80", "localhost", True, False),
        ("http://[::1]:8000/v1", "[::1]:8000/v1", True, False),
        ("http://models.example.org/v1", "models.example.org/v1", False, False),
    ],
)
def test_addresses(url: str, place: str, local: bool, encrypted: bool) -> None:
    found = find_endpoint({"base_url": url})
    assert (found.place, found.local, found.encrypted) == (place, local, encrypted)
    assert (found.key_name, found.key) == (None, None)


@pytest.mark.parametrize(
    "url",
    [
        "https://user:hunter22@api.example.com/v1", "https://hunter22@api.example.com/v1", "api.example.com/hunter22",
        "ftp://api.example.com/hunter22", "https:///hunter22", "https://api.example.com/v1?key=hunter22",
        "https://api.example.com/v1#hunter22", "https://api.example.com/\n hunter22", "https://[hunter22/v1",
        "https://api.example.com:hunter22/v1",
    ],
)  # fmt: skip
def test_addresses_that_are_refused_are_not_repeated(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_endpoint({"base_url": url})
    assert "hunter22" not in str(caught.value)
    assert "base_url" in str(caught.value)


def test_an_unencrypted_address_is_said() -> None:
    made = OpenAI(BackendSettings("m", "generate", options={"base_url": "http://models.example.org/v1"}))
    assert "not encrypted" in made.prepare().notes[0]
    assert made.fingerprint() == "openai:models.example.org/v1#m"


def test_the_key_of_openai_goes_to_openai_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert find_endpoint({}).key == KEY
    assert find_endpoint({"base_url": "https://api.example.com/v1"}).key is None
    assert KEY not in repr(find_endpoint({}))


@pytest.mark.parametrize("value", ["", "  ", "two words", "caf\u00e9-key-0123", "line\x7fkey-0123"])
def test_a_key_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MY_KEY", value)
    with pytest.raises(ComponentError, match="MY_KEY") as caught:
        find_endpoint({"api_key_env": "MY_KEY"})
    assert value.strip() == "" or value not in str(caught.value)


def test_a_key_given_as_an_option_is_refused_and_not_repeated(cli: Cli, tmp_path: Path) -> None:
    words = ("run", "--benchmark", "debatebias", "--backend", "openai", "--model", "m", "--runs", str(tmp_path))
    code, output = cli(*words, "-B", f"api_key_env={KEY}")
    assert code == 2
    assert "api_key_env" in output
    assert KEY not in output


@pytest.mark.loopback
def test_the_key_is_sent_and_nothing_else_of_the_environment(
    server: Server, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-1")
    answers(backend(api_key_env="MY_KEY"), ask())
    answers(backend(), ask())
    first, second = (post.headers for post in server.posts)
    assert first["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in second
    assert not any("org-1" in value or "project-1" in value for value in first.values())


def echoes(kind: str) -> Any:
    body = completion(f"My key is {KEY}.", "stop", reasoning_content=f"key {KEY}")
    body |= {"model": f"m {KEY}", "system_fingerprint": KEY}
    body["choices"][0]["finish_reason"] = KEY
    return {
        "answer": Reply(body),
        "html": Reply(f"<html>{'x' * 280}{KEY}".encode(), headers={"Content-Type": f"text/html; {KEY}"}),
        "refusal": failure(401, f"Incorrect API key provided: {KEY}", param=KEY, code=KEY),
        "bad": failure(400, f"bad {KEY}"),
        "error": failure(500, f"boom {KEY}"),
        "inside": Reply({"error": {"message": KEY}}),
    }[kind]


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("kind", "code"), [("answer", 0), ("html", 3), ("refusal", 1), ("bad", 3), ("error", 3), ("inside", 3)]
)
def test_the_key_appears_nowhere(
    server: Server, cli: Cli, kind: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    """The server echoes it; it stands in no file, no output, no log and no traceback."""
    monkeypatch.setenv("MY_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    server.script = lambda seen, number: echoes(kind)
    words = ("run", "--benchmark", "debatebias", "--backend", "openai", "--model", "m", "--limit", "2")
    options = ("-B", f"base_url={server.url}", "-B", "api_key_env=MY_KEY", "-B", "retries=0")
    ended, output = cli("--debug", *words, *options, "--runs", str(tmp_path))
    assert server.posts
    assert ended == code, output
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "run.json" for path in files)
    for part in (KEY, KEY[:18], KEY[-18:]):
        assert all(part.encode() not in path.read_bytes() for path in files)
        assert part not in output
        assert part not in caplog.text


@pytest.mark.loopback
def test_identity_tells_what_the_answers_told(server: Server, backend: Backend) -> None:
    server.script = lambda seen, number: Reply({**completion(), "system_fingerprint": f"fp_{number % 2}"})
    asked = backend(price_in=1000000, price_out=3000000)
    answers(asked, *(ask(str(number)) for number in range(4)))
    found = asdict(asked.learned())
    assert found["details"] == {
        "server": f"127.0.0.1:{server.port}/v1",
        "served_models": ["mock-1"],
        "system_fingerprints": ["fp_0", "fp_1"],
        "prompt_tokens": 36,
        "completion_tokens": 8,
        "cost": 36.0 + 3 * 8,
    }
    assert found["fingerprint"] == f"openai:127.0.0.1:{server.port}/v1#mock-1"
    assert "openai" in found["libraries"]


@pytest.mark.loopback
def test_the_only_model_of_a_server_need_not_be_named(server: Server, backend: Backend) -> None:
    assert backend(model=None).fingerprint().endswith("#mock-1")
    server.models = Reply({"data": [{"id": "one"}, {"id": "two"}, {"name": 3}]})
    with pytest.raises(UsageError, match=r"one, two"):
        backend(model=None).prepare()
    server.models = Reply(b"<html>", headers={"Content-Type": "text/html"})
    with pytest.raises(BiasfwError, match="--model NAME"):
        backend(model=None).prepare()


@pytest.mark.loopback
def test_all_of_it_works_inside_a_running_event_loop(server: Server, backend: Backend) -> None:
    async def notebook() -> str | None:
        (got,) = answers(backend(model=None), ask())
        return got.text

    assert asyncio.run(notebook()) == "B"


def test_openai_itself_needs_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(UsageError, match="--model"):
        OpenAI(BackendSettings(None, "generate")).fingerprint()
