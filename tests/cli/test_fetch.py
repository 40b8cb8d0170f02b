"""``biasfw fetch`` as a user meets it, and what list, show, doctor and run say of a split that was not fetched."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import json
import os
import signal
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from biasfw import UsageError, download
from biasfw.cli import app
from biasfw.errors import FetchError

MANIFEST = Path(__file__).parents[1] / "examples" / "benchmark" / "valid" / "full.yaml"
HOST = "https://files.example"
PATH = "en/generated_bias_prompts.csv"
BODY = b"category,title,prompt\r\n" + b"".join(
    f"religion,Bells {n},Two experts. Choose from {{Demographic List}}.\r\n".encode() for n in range(8)
)
SHA256 = hashlib.sha256(BODY).hexdigest()


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Gives BODY for /v1/prompts.csv, half of it and then nothing for /slow.csv, and 404 for anything else."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.half_sent, self.go_on = threading.Event(), threading.Event()
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *arguments: object) -> None:
        pass  # clients go away in these tests


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        there = self.path in ("/v1/prompts.csv", "/slow.csv")
        self.send_response(200 if there else 404)
        self.send_header("Content-Length", str(len(BODY) if there else 0))
        self.end_headers()
        if self.path == "/slow.csv":
            self.wfile.write(BODY[: len(BODY) // 2])
            self.wfile.flush()
            self.server.half_sent.set()
            self.server.go_on.wait(60)
        elif there:
            self.wfile.write(BODY)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The server that stands in for https://files.example."""
    made = Server()
    threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    monkeypatch.setitem(download.TEST_ORIGINS, HOST, made.origin)
    yield made
    made.go_on.set()
    made.shutdown()
    made.server_close()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BIASFW_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def bundle(folder: Path, name: str = "prompts.csv", version: str = "v1/") -> Path:
    """A benchmark in ``folder`` whose default split is one file of https://files.example."""
    text = MANIFEST.read_text(encoding="utf-8")
    start, end = text.index("    reader: drinks_csv"), text.index("    demo: false\n")
    source = (
        "    reader: debatebias_csv\n    source:\n      revision: version 1\n      files:\n"
        f'        - {{path: {PATH}, url: "{HOST}/{version}{name}", sha256: {SHA256}, size: {len(BODY)}}}\n'
    )
    text = (text[:start] + source + text[end:]).replace("default_split: own", "default_split: official")
    text = text.replace("morning", "religion").replace("{{ text }}{{ label_list }}", "{{ before }}{{ label_list }}")
    (folder / "drinks").mkdir()
    (folder / "drinks" / "benchmark.yaml").write_text(text, encoding="utf-8")
    return folder


def inside(folder: Path, *arguments: str) -> Result:
    with contextlib.chdir(folder):
        return CliRunner().invoke(app, list(arguments), standalone_mode=False)


def kept(cache: Path) -> list[Path]:
    return [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"]


@pytest.mark.loopback
def test_the_addresses_come_first_and_then_the_place(server: Server, tmp_path: Path, cache: Path) -> None:
    bundle(tmp_path)
    before = inside(tmp_path, "show", "./drinks").stdout
    assert "splits: own, official (not fetched: biasfw fetch drinks)" in before
    done = inside(tmp_path, "fetch", "./drinks")
    [path] = kept(cache)
    assert done.exception is None
    assert done.stdout.splitlines() == [
        "drinks-2:official (version 1)",
        f"  {PATH} from {HOST}/v1/prompts.csv ({len(BODY)} bytes)",
        f"fetched: {path}",
    ]
    assert path.read_bytes() == BODY
    assert inside(tmp_path, "fetch", "./drinks").stdout.splitlines()[-1] == f"already there: {path}"
    assert inside(tmp_path, "fetch", "./drinks", "--force").stdout.splitlines()[-1] == f"fetched: {path}"
    assert "splits: own, official (fetched)" in inside(tmp_path, "show", "./drinks").stdout
    run = inside(tmp_path, "run", "--benchmark", "./drinks", "--backend", "reference", "--model", "first", "--json")
    assert run.exception is None
    assert json.loads(run.stdout)["responses"] == 8


@pytest.mark.loopback
def test_one_object_on_standard_output(server: Server, tmp_path: Path, cache: Path) -> None:
    done = inside(bundle(tmp_path), "fetch", "drinks", "--json")
    [row] = json.loads(done.stdout)["splits"]
    [path] = kept(cache)
    assert row["split"] == "drinks-2:official"
    assert row["files"] == [
        {
            "path": PATH, "file": str(path), "result": "fetched", "from": f"{HOST}/v1/prompts.csv", "sha256": SHA256,
            "size": len(BODY),
        }
    ]  # fmt: skip
    assert f"{HOST}/v1/prompts.csv" in done.stderr


@pytest.mark.loopback
def test_what_is_not_there_any_more(server: Server, tmp_path: Path, cache: Path) -> None:
    failure = inside(bundle(tmp_path, "gone.csv"), "fetch", "./drinks").exception
    assert isinstance(failure, FetchError)
    assert str(failure) == (
        f"{HOST}/v1/gone.csv: there is no such file any more (HTTP 404 Not Found); try again later, or get the file "
        "yourself and give its folder with --from DIR"
    )
    assert kept(cache) == []


def test_from_disk(tmp_path: Path, cache: Path) -> None:
    """No socket is opened: the network is closed in this test."""
    bundle(tmp_path)
    (tmp_path / "have" / "data").mkdir(parents=True)
    missing = inside(tmp_path, "fetch", "./drinks", "--from", "have").exception
    assert isinstance(missing, UsageError)
    assert "have: a file of drinks-2:official is missing; expected generated_bias_prompts.csv" in str(missing)
    (tmp_path / "have" / "data" / "generated_bias_prompts.csv").write_bytes(BODY)
    done = inside(tmp_path, "fetch", "./drinks", "--from", "have")
    assert done.exception is None
    assert f"{PATH} from have ({len(BODY)} bytes)" in done.stdout
    [path] = kept(cache)
    assert done.stdout.splitlines()[-1] == f"copied: {path}"


def test_a_cache_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    bundle(tmp_path)
    (tmp_path / "generated_bias_prompts.csv").write_bytes(BODY)
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "biasfw", "fetch", "./drinks", "--from", "."],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "BIASFW_CACHE": str(tmp_path / "taken")},
    )  # fmt: skip
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith(f"error: cannot write in {tmp_path / 'taken'}")
    assert "BIASFW_CACHE" in line


PROGRAM = """
import sys
from biasfw import download
download.TEST_ORIGINS["https://files.example"] = sys.argv.pop(1)
from biasfw.cli import main
main()
"""


@pytest.mark.loopback
def test_ctrl_c_leaves_nothing_half(server: Server, tmp_path: Path, cache: Path) -> None:
    bundle(tmp_path, "slow.csv", "")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, server.origin, "fetch", "./drinks"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.half_sent.wait(120)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert errors.splitlines()[-1] == "stopped; nothing half is kept; the same command gets what is missing"
    assert kept(cache) == []
    server.go_on.set()
    again = subprocess.run(
        [sys.executable, "-c", PROGRAM, server.origin, "fetch", "./drinks"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert "cut off after" in again.stderr, "the server sends half of it"
    assert kept(cache) == []


def test_only_fetch_loads_what_speaks_to_the_network(tmp_path: Path, cache: Path) -> None:
    bundle(tmp_path)
    code = (
        "import sys\nfrom biasfw.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    print('code', end.code)\nprint('httpx' in sys.modules)"
    )
    command = [sys.executable, "-c", code, "run", "--benchmark", "./drinks", "--backend", "reference"]
    done = subprocess.run(
        [*command, "--model", "first"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )  # fmt: skip
    assert "was not fetched; run: biasfw fetch drinks (or give its folder with --data DIR)" in done.stderr
    assert done.stdout.split() == ["code", "2", "False"]


def doctor(folder: Path) -> str:
    """What doctor says, in a process of its own: it imports every backend, whatever their libraries warn of."""
    return subprocess.run(
        [sys.executable, "-m", "biasfw", "doctor"], capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
    ).stdout  # fmt: skip


def test_list_and_doctor_know_what_is_there(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a benchmark that a plugin offers, the command names it and not its folder."""
    bundle(tmp_path)
    (tmp_path / "drinks").rename(tmp_path / "drinks-2")
    (tmp_path / "offers_drinks.py").write_text(
        "from pathlib import Path\nfrom biasfw import hookimpl\nbiasfw_api = 1\n\n\n"
        "@hookimpl\ndef biasfw_benchmark_folders():\n    yield Path(__file__).parent\n",
        encoding="utf-8",
    )
    info = tmp_path / "offers_drinks-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: offers-drinks\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[biasfw]\noffers_drinks = offers_drinks\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    rows = {row["name"]: row["summary"] for row in json.loads(inside(tmp_path, "list", "benchmarks", "--json").stdout)}
    assert rows["drinks-2:official"].endswith("[not fetched: biasfw fetch drinks-2] (default)")
    assert "missing  benchmark drinks-2:official: not fetched: biasfw fetch drinks-2" in doctor(tmp_path)
    (tmp_path / "generated_bias_prompts.csv").write_bytes(BODY)
    done = inside(tmp_path, "fetch", "drinks-2:official", "--from", ".")
    assert done.exception is None
    shipped = inside(tmp_path, "fetch", "drinks-2:own").exception
    assert "drinks-2:own comes with the benchmark" in str(shipped)
    assert "what can be fetched: drinks-2:official" in str(shipped)
    rows = {row["name"]: row["summary"] for row in json.loads(inside(tmp_path, "list", "benchmarks", "--json").stdout)}
    assert rows["drinks-2:official"].endswith("[fetched] (default)")
    assert "ok       benchmark drinks-2:official: 8 items" in doctor(tmp_path)
