"""Files that are fetched, from a loopback server that does everything wrong and from disk: nothing half is kept."""

from __future__ import annotations

import hashlib
import http.server
import itertools
import shutil
import socket
import socketserver
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from biasfw import BiasfwError, DataError, RunConfig, UsageError, bundles, download, splits
from biasfw.crosscheck import problems
from biasfw.engine import run
from biasfw.errors import FetchError
from biasfw.fetching import Fetched, fetch, wanted
from biasfw.plugins import Plugins
from biasfw.sources import Source, cache_folder, source_of
from biasfw.yamlfile import parse_yaml

MANIFEST = Path(__file__).parents[1] / "examples" / "benchmark" / "valid" / "full.yaml"
HOST = "https://files.example"
# What the reader debatebias_csv reads, and what the example in full.yaml asks for.
BODY = b"category,title,prompt\r\n" + b"".join(
    f"religion,Bells {n},Two experts. Choose from {{Demographic List}}.\r\n".encode() for n in range(8)
)
PATH = "en/generated_bias_prompts.csv"
Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


class Server:
    """A loopback server: path -> what answers it. ``asked`` are the paths that were asked for, with their host."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                outer.answers[self.path](self)

            def log_message(self, *arguments: object) -> None:
                pass

        class Threads(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True

            def handle_error(self, *arguments: object) -> None:
                pass  # clients go away in these tests

        self._server = Threads(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.origin = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def wrap(self, context: ssl.SSLContext) -> None:
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def body(data: bytes = BODY, *, length: int | None = -1, **headers: str) -> Answer:
    """An answer with a body; ``length`` is what it declares, None for nothing."""

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        if length is not None:
            handler.send_header("Content-Length", str(len(data) if length < 0 else length))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def status(code: int, location: str | None = None) -> Answer:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        if location is not None:
            handler.send_header("Location", location)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


class Seen:
    """A watch that remembers."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.steps: list[int] = []
        self.bars = 0

    def start(self, name: str, size: int) -> None:
        self.bars += 1

    def step(self, count: int) -> None:
        self.steps.append(count)

    def finish(self) -> None:
        self.bars -= 1

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The server that stands in for https://files.example and https://other.example."""
    made = Server()
    monkeypatch.setitem(download.TEST_ORIGINS, HOST, made.origin)
    monkeypatch.setitem(download.TEST_ORIGINS, "https://other.example", made.origin)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BIASFW_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write_bundle(folder: Path, *, path: str = PATH, data: bytes = BODY, url: str = f"{HOST}/v1/prompts.csv") -> Path:
    """full.yaml with the reader debatebias_csv and one file to fetch."""
    folder.mkdir(exist_ok=True)
    text = MANIFEST.read_text(encoding="utf-8")
    start, end = text.index("    reader: drinks_csv"), text.index("    demo: false\n")
    sha256 = hashlib.sha256(data).hexdigest()
    source = (
        "    reader: debatebias_csv\n    source:\n      revision: v1\n      files:\n"
        f'        - {{path: {path}, url: "{url}", sha256: {sha256}, size: {len(data)}}}\n'
    )
    text = (text[:start] + source + text[end:]).replace("default_split: own", "default_split: official")
    text = text.replace("morning", "religion").replace("{{ text }}{{ label_list }}", "{{ before }}{{ label_list }}")
    (folder / "benchmark.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_bundle(tmp_path / "drinks")


@pytest.fixture
def source(folder: Path) -> Source:
    made = source_of(bundles.load(folder).written, "official")
    assert made is not None
    return made


def refused(source: Source, words: str, **options: Any) -> FetchError:
    """Fetching fails with these words in one line, says what to do, and leaves nothing behind."""
    seen = Seen()
    with pytest.raises(FetchError, match=words) as caught:
        fetch(source, seen, **options)
    assert len(str(caught.value).splitlines()) == 1
    assert seen.bars == 0, "the bar is closed"
    nothing_kept(source)
    return caught.value


def nothing_kept(source: Source) -> None:
    kept = [path for path in source.folder.parent.rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert kept == []


@pytest.mark.loopback
def test_a_file_is_fetched_checked_and_not_fetched_again(server: Server, source: Source, cache: Path) -> None:
    server.answers["/v1/prompts.csv"] = body()
    seen = Seen()
    [got] = fetch(source, seen)
    assert (got.how, got.origin) == ("fetched", f"{HOST}/v1/prompts.csv")
    assert got.path.read_bytes() == BODY
    assert got.path == source.folder / PATH
    assert got.path.is_relative_to(cache / "data" / "drinks-2")
    assert sum(seen.steps) == len(BODY)
    assert [path for path in source.folder.rglob("*") if path.is_file()] == [got.path], "nothing else in the folder"
    assert fetch(source, Seen()) == [Fetched(got.file, got.path, "already there", got.origin)]
    assert len(server.asked) == 1
    [again] = fetch(source, Seen(), force=True)
    assert (again.how, len(server.asked)) == ("fetched", 2)


@pytest.mark.loopback
def test_what_was_right_stays_when_fetching_again_fails(server: Server, source: Source) -> None:
    server.answers["/v1/prompts.csv"] = body()
    fetch(source, Seen())
    server.answers["/v1/prompts.csv"] = body(BODY[:-1] + b"!")
    with pytest.raises(FetchError, match="expected sha256"):
        fetch(source, Seen(), force=True)
    assert (source.folder / PATH).read_bytes() == BODY


@pytest.mark.loopback
def test_a_damaged_file_is_fetched_again(server: Server, source: Source) -> None:
    server.answers["/v1/prompts.csv"] = body()
    fetch(source, Seen())
    (source.folder / PATH).write_bytes(BODY[:-1] + b"!")
    [got] = fetch(source, Seen())
    assert got.how == "fetched"
    assert got.path.read_bytes() == BODY


@pytest.mark.loopback
def test_a_body_without_a_declared_length_will_do(server: Server, source: Source) -> None:
    server.answers["/v1/prompts.csv"] = body(length=None)
    assert fetch(source, Seen())[0].how == "fetched"


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (body(BODY[:100], length=len(BODY)), rf"cut off after 100 of {len(BODY)} bytes; try again, .*--from DIR"),
        (body(BODY[:100], length=None), rf"cut off after 100 of {len(BODY)} bytes; try again, .*--from DIR"),
        (body(BODY[:100]), rf"the file there has 100 bytes, expected {len(BODY)}; .*--from DIR"),
        (body(BODY + b"x"), rf"has {len(BODY) + 1} bytes, expected {len(BODY)}; .*--from DIR"),
        (body(BODY * 400, length=None), rf"longer than {len(BODY)} bytes: refused; .*--from DIR"),
        (body(Content_Encoding="gzip"), r"sends it packed.*--from DIR"),
        (status(404), r"no such file any more \(HTTP 404 Not Found\).*--from DIR"),
        (status(410), r"no such file any more \(HTTP 410 Gone\).*--from DIR"),
        (status(403), r"refuses or fails \(HTTP 403 Forbidden\).*--from DIR"),
        (status(500), r"refuses or fails \(HTTP 500 .*--from DIR"),
        (status(503), r"refuses or fails \(HTTP 503 .*--from DIR"),
        (status(206), r"refuses or fails \(HTTP 206 .*--from DIR"),
        (status(304), r"refuses or fails \(HTTP 304 .*--from DIR"),
        (status(302), r"more than 5 redirects"),
        (status(302, "http://files.example/v1/prompts.csv"), r"redirect that: leads to http://, and only https"),
        (status(302, "ftp://files.example/x"), r"redirect that: leads to ftp://, and only https"),
        (status(302, "file:///etc/passwd"), r"redirect that: leads to file://, and only https"),
        (status(302, "https://me:secret@other.example/x"), r"leads to an address with a user name"),
        (status(302, "https://10.0.0.1/x"), r"10\.0\.0\.1, no public address: refused"),
        (status(302, "https://192.168.1.1:8443/x"), r"192\.168\.1\.1, no public address: refused"),
        (status(302, "https://127.0.0.1/x"), r"127\.0\.0\.1, no public address: refused"),
        (status(302, "https://127.1/x"), r"127\.0\.0\.1, no public address: refused"),
        (status(302, "https://2130706433/x"), r"127\.0\.0\.1, no public address: refused"),
        (status(302, "https://0.0.0.0/x"), r"0\.0\.0\.0, no public address: refused"),
        (status(302, "https://localhost/x"), r"localhost is (127\.0\.0\.1|::1), no public address: refused"),
        (status(302, "https://169.254.169.254/latest"), r"169\.254\.169\.254, no public address: refused"),
        (status(302, "https://[::1]/x"), r"::1, no public address: refused"),
        (status(302, "https://[::ffff:10.0.0.1]/x"), r"no public address: refused"),
        (status(302, "https://"), r"redirect"),
        (status(302, "https://[bad/x"), r"redirect that: leads to no host"),
        (status(307, "https://files.example:99999/x"), r"redirect that: leads to no host, or no port"),
        (status(307, "https://files.example:0/x"), r"redirect that: leads to no host, or no port"),
    ],
)
def test_what_is_not_the_file_is_never_taken(server: Server, source: Source, answer: Answer, words: str) -> None:
    server.answers["/v1/prompts.csv"] = answer
    refused(source, words)
    assert "secret" not in words


@pytest.mark.loopback
def test_a_wrong_checksum_shows_both(server: Server, source: Source) -> None:
    wrong = BODY[:-1] + b"!"
    server.answers["/v1/prompts.csv"] = body(wrong)
    message = str(refused(source, "nothing was stored"))
    assert hashlib.sha256(wrong).hexdigest() in message
    assert source.files[0].sha256 in message


@pytest.mark.loopback
def test_a_redirect_to_another_public_host_is_followed_and_said(server: Server, source: Source) -> None:
    server.answers["/v1/prompts.csv"] = status(302, "https://other.example/store/a.csv?key=secret")
    server.answers["/store/a.csv?key=secret"] = status(301, "/store/b%20c.csv")
    server.answers["/store/b%20c.csv"] = body()
    seen = Seen()
    assert fetch(source, seen)[0].path.read_bytes() == BODY
    assert seen.notes == ["redirected to another host: https://other.example/store/a.csv"]


@pytest.mark.loopback
@pytest.mark.parametrize(("hops", "ends"), [(5, True), (6, False)])
def test_at_most_five_redirects_are_followed(server: Server, source: Source, hops: int, ends: bool) -> None:
    server.answers["/v1/prompts.csv"] = status(302, "/1")
    for hop in range(1, hops):
        server.answers[f"/{hop}"] = status(302, f"/{hop + 1}")
    server.answers[f"/{hops}"] = body()
    if ends:
        assert fetch(source, Seen())[0].how == "fetched"
    else:
        refused(source, "more than 5 redirects")
        assert f"/{hops}" not in server.asked


@pytest.mark.loopback
def test_a_server_that_says_nothing(server: Server, source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "TIMEOUT", 0.3)
    ended = threading.Event()

    def silent(handler: http.server.BaseHTTPRequestHandler) -> None:
        ended.wait(60)

    server.answers["/v1/prompts.csv"] = silent
    refused(source, r"no answer within 0\.3 s; try again later, .*--from DIR")
    ended.set()


@pytest.mark.loopback
def test_nobody_listens(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setitem(download.TEST_ORIGINS, HOST, f"http://127.0.0.1:{port}")
    refused(source, r"no connection \(.*\); check the network and try again, .*--from DIR")


def test_a_host_that_is_not_found(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*arguments: object, **options: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", lost)
    refused(source, r"the host files\.example is not found \(Name or service not known\); .*--from DIR")


@pytest.mark.parametrize("addresses", [["10.1.2.3"], ["93.184.215.14", "127.0.0.1"], ["fe80::1"], ["fd00::1"]])
def test_a_name_with_any_private_address_is_refused(
    source: Source, monkeypatch: pytest.MonkeyPatch, addresses: list[str]
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: [(2, 1, 6, "", (address, 443)) for address in addresses])
    refused(source, r"files\.example is \S+, no public address: refused")


def test_what_was_checked_is_what_is_asked(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is resolved once: an answer that changes in between (DNS rebinding) changes nothing."""
    answers = itertools.chain([["93.184.215.14", "2606:2800:21f:cb07::1"]], itertools.repeat(["127.0.0.1"]))
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *a, **k: [(2, 1, 6, "", (address, 443)) for address in next(answers)]
    )
    sent: list[httpx.Request] = []

    def send(client: httpx.Client, request: httpx.Request, **options: object) -> httpx.Response:
        sent.append(request)
        raise httpx.ConnectError("nobody there")

    monkeypatch.setattr(httpx.Client, "send", send)
    refused(source, "nobody there")
    assert [str(request.url) for request in sent] == [
        "https://93.184.215.14/v1/prompts.csv", "https://[2606:2800:21f:cb07::1]/v1/prompts.csv",
    ]  # fmt: skip
    assert {request.headers["host"] for request in sent} == {"files.example"}
    assert {request.extensions["sni_hostname"] for request in sent} == {"files.example"}, "the certificate must fit"


@pytest.mark.loopback
@pytest.mark.parametrize("name", ["files.example", "elsewhere.example"])
def test_the_certificate_must_be_for_the_name(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Real TLS, to an address: the certificate is held against the name in the manifest."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("making a certificate needs openssl")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [
            openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate,
            "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
        ],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    server = Server()
    server.answers["/v1/prompts.csv"] = body()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.wrap(context)
    find = socket.getaddrinfo

    def here(host: str, port: int, *arguments: Any, **options: Any) -> Any:
        return find("127.0.0.1" if host == "files.example" else host, server.port, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", here)
    monkeypatch.setattr(download, "is_public", lambda address: address == "127.0.0.1")
    if name == "files.example":
        refused(source, r"no connection \(.*self.signed certificate")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert fetch(source, Seen())[0].how == "fetched"
    else:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        refused(source, r"no connection \(.*certificate is not valid for 'files\.example'")
        assert server.asked == []
    server.close()


def test_behind_a_proxy_the_proxy_finds_the_name(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret@proxy.example:3128")
    known: dict[str, list[str]] = {"files.example": []}

    def find(host: str, *arguments: object, **options: object) -> list[Any]:
        if not known[host]:
            raise socket.gaierror(-2, "Name or service not known")
        return [(2, 1, 6, "", (address, 443)) for address in known[host]]

    monkeypatch.setattr(socket, "getaddrinfo", find)
    sent: list[str] = []

    def send(client: httpx.Client, request: httpx.Request, **options: object) -> httpx.Response:
        sent.append(str(request.url))
        raise httpx.ProxyError("407 wanted")

    monkeypatch.setattr(httpx.Client, "send", send)
    assert "secret" not in str(refused(source, "407 wanted"))
    assert sent == [f"{HOST}/v1/prompts.csv"]
    known["files.example"] = ["10.0.0.7"]
    refused(source, "10.0.0.7, no public address")
    monkeypatch.setenv("HTTPS_PROXY", "gopher://me:secret@proxy.example")
    assert "secret" not in str(refused(source, "the proxy that the environment names .* cannot be used"))


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True), ("2606:2800:21f:cb07::1", True), ("64:ff9b::5db8:d70e", True),
        ("10.0.0.1", False), ("172.16.0.1", False), ("192.168.0.1", False), ("127.0.0.1", False), ("0.0.0.0", False),
        ("169.254.1.1", False), ("100.64.0.1", False), ("224.0.0.1", False), ("255.255.255.255", False),
        ("::", False), ("::1", False), ("fe80::1", False), ("fe80::1%lo", False), ("fc00::1", False),
        ("::ffff:127.0.0.1", False), ("64:ff9b::7f00:1", False), ("2002:7f00:1::", False), ("2002:a00:1::", False),
        ("ff02::1", False),
    ],
)  # fmt: skip
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert download.is_public(address) is public


def test_nothing_but_a_test_can_name_a_stand_in() -> None:
    assert download.TEST_ORIGINS == {}


def interrupted(*arguments: object, **options: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.loopback
def test_stopped_in_the_middle_nothing_half_is_kept(
    server: Server, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers["/v1/prompts.csv"] = body()
    monkeypatch.setattr(Seen, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch(source, Seen())
    nothing_kept(source)
    monkeypatch.undo()


@pytest.mark.loopback
def test_what_a_killed_process_left_is_not_taken(server: Server, source: Source) -> None:
    source.folder.parent.mkdir(parents=True)
    left = source.folder.with_name(f"{source.folder.name}.part")
    left.write_bytes(b"half" * 10_000)
    server.answers["/v1/prompts.csv"] = body()
    assert fetch(source, Seen())[0].path.read_bytes() == BODY
    assert not left.exists()


@pytest.mark.loopback
def test_two_at_once_fetch_once(server: Server, source: Source) -> None:
    arrived, go_on = threading.Event(), threading.Event()

    def slow(handler: http.server.BaseHTTPRequestHandler) -> None:
        arrived.set()
        assert go_on.wait(60)
        body()(handler)

    server.answers["/v1/prompts.csv"] = slow
    results: dict[str, list[Fetched]] = {}
    watches = {"first": Seen(), "second": Seen()}

    class Waits(Seen):
        def note(self, text: str) -> None:
            super().note(text)
            go_on.set()

    watches["second"] = Waits()

    def one(name: str) -> None:
        results[name] = fetch(source, watches[name])

    threads = [threading.Thread(target=one, args=(name,)) for name in watches]
    threads[0].start()
    assert arrived.wait(60)
    threads[1].start()
    for thread in threads:
        thread.join(60)
    assert [results[name][0].how for name in ("first", "second")] == ["fetched", "already there"]
    assert watches["second"].notes == ["another process fetches drinks-2:official; waiting for it"]
    assert len(server.asked) == 1


def test_a_cache_that_cannot_be_written(source: Source, cache: Path) -> None:
    cache.write_text("a file in the folder's place", encoding="utf-8")
    with pytest.raises(FetchError, match=r"cannot write in .*cache.*: .*; .* environment variable BIASFW_CACHE"):
        fetch(source, Seen())


@pytest.mark.loopback
def test_a_disk_that_is_full(server: Server, source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answers["/v1/prompts.csv"] = body()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    refused(source, "cannot write in .*: No space left on device; make room")


def test_files_are_copied_from_disk(source: Source, tmp_path: Path) -> None:
    for number, place in enumerate((PATH, Path(PATH).name, f"data/{PATH}", f"data/{Path(PATH).name}")):
        path = tmp_path / f"have{number}" / place
        path.parent.mkdir(parents=True)
        path.write_bytes(BODY)
        [got] = fetch(source, Seen(), folder=tmp_path / f"have{number}", force=True)
        assert (got.how, got.origin) == ("copied", str(path))
        assert got.path.read_bytes() == BODY
    assert fetch(source, Seen(), folder=tmp_path / "have0")[0].how == "already there"


def test_the_file_of_the_right_size_is_copied(source: Source, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / Path(PATH).name).write_bytes(b"another file of this name")
    (tmp_path / "data" / Path(PATH).name).write_bytes(BODY)
    assert fetch(source, Seen(), folder=tmp_path)[0].how == "copied"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (BODY[:-1], rf"the file has {len(BODY) - 1} bytes, expected {len(BODY)}"),
        (BODY + b"x", rf"the file has {len(BODY) + 1} bytes, expected {len(BODY)}"),
        (BODY[:-1] + b"!", "expected sha256 [0-9a-f]{64}, found [0-9a-f]{64}"),
    ],
)
def test_another_file_on_disk_is_not_taken(source: Source, tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / Path(PATH).name).write_bytes(data)
    refused(source, words, folder=tmp_path)


def test_what_is_missing_on_disk_is_named(source: Source, tmp_path: Path) -> None:
    words = rf"is missing; expected {Path(PATH).name} \({len(BODY)} bytes, sha256 {source.files[0].sha256}\)"
    with pytest.raises(UsageError, match=words):
        fetch(source, Seen(), folder=tmp_path)
    with pytest.raises(UsageError, match="given with --from does not exist"):
        fetch(source, Seen(), folder=tmp_path / "nowhere")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match="given with --from is a file"):
        fetch(source, Seen(), folder=tmp_path / "file")


def test_another_pin_has_another_folder(folder: Path, source: Source) -> None:
    write_bundle(folder, url=f"{HOST}/v2/prompts.csv")
    other = source_of(bundles.load(folder).written, "official")
    assert other is not None
    assert other.folder != source.folder
    assert other.folder.parent == source.folder.parent


def test_where_the_cache_is(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == cache
    monkeypatch.setenv("BIASFW_CACHE", "relative")
    assert cache_folder() == Path.cwd() / "relative"
    monkeypatch.setenv("BIASFW_CACHE", "")
    assert cache_folder().name == "biasfw"


def test_what_can_be_fetched(installed: Plugins, folder: Path) -> None:
    assert [source.full_name for source in wanted(str(folder), installed)] == ["drinks-2:official"]
    with pytest.raises(UsageError, match="debatebias:demo comes with the benchmark: there is nothing to fetch"):
        wanted("debatebias:demo", installed)
    for name in ("debatebias", "debatebias:official"):
        with pytest.raises(UsageError, match=r"names no address.*debatebias:official gives their folder.* --data DIR"):
            wanted(name, installed)
    with pytest.raises(BiasfwError, match="debatebias has no split 'x'"):
        wanted("debatebias:x", installed)


def config(folder: Path) -> RunConfig:
    return RunConfig(benchmark=str(folder), backend="reference", model="first", runs=str(folder.parent / "runs"))


@pytest.mark.loopback
def test_a_run_never_fetches_and_says_what_to_do(server: Server, folder: Path, installed: Plugins) -> None:
    server.answers["/v1/prompts.csv"] = body()
    with pytest.raises(UsageError) as caught:
        run(config(folder), installed)
    assert str(caught.value) == (
        f"drinks-2:official is not shipped with biasfw and was not fetched; run: biasfw fetch {folder} (or give its "
        "folder with --data DIR); drinks-2:own runs without it"
    )
    assert server.asked == []
    fetch(wanted(str(folder), installed)[0], Seen())
    server.asked.clear()
    result = run(config(folder), installed)
    assert result.total == 8
    assert server.asked == []


def test_fetched_files_are_read_as_given_ones_are(folder: Path, source: Source, installed: Plugins) -> None:
    given = folder.parent / "given"
    (given / "en").mkdir(parents=True)
    (given / PATH).write_bytes(BODY)
    bundle = bundles.load(folder)
    assert splits.standing(bundle, "official") == f"not fetched: biasfw fetch {folder}"
    assert "data_sha256" not in bundle.digests(installed)
    fetch(source, Seen(), folder=given)
    assert splits.standing(bundle, "official") == "fetched"
    assert bundle.digests(installed) == bundles.load(folder, data=given).digests(installed)
    assert bundle.read(installed) == bundles.load(folder, data=given).read(installed)
    assert splits.standing(bundle, "own") == ""


def test_a_file_that_was_changed_in_the_cache_is_not_read(
    folder: Path, source: Source, installed: Plugins, tmp_path: Path
) -> None:
    (tmp_path / Path(PATH).name).write_bytes(BODY)
    [got] = fetch(source, Seen(), folder=tmp_path)
    got.path.write_bytes(BODY[:-1] + b"!")
    with pytest.raises(DataError, match=rf"{Path(PATH).name}: .*sha256 is another.*; run: biasfw fetch {folder}"):
        run(config(folder), installed)
    got.path.write_bytes(BODY[:-1])
    with pytest.raises(UsageError, match="was not fetched; run: biasfw fetch"):
        run(config(folder), installed)


def test_some_files_are_there(folder: Path, installed: Plugins) -> None:
    path = folder / "benchmark.yaml"
    text = path.read_text(encoding="utf-8")
    line = next(each for each in text.splitlines(keepends=True) if "- {path: " in each)
    second = line.replace("en/generated_bias", "ko/translated").replace("prompts.csv", "korean.csv", 1)
    path.write_text(text.replace(line, line + second), encoding="utf-8")
    [source] = wanted(str(folder), installed)
    place = source.folder / source.files[0].path
    place.parent.mkdir(parents=True)
    place.write_bytes(BODY)
    with pytest.raises(UsageError, match=rf"was not fetched whole \({source.files[1].path} is missing\)"):
        run(config(folder), installed)


@pytest.mark.parametrize(
    ("path", "clash"), [("a/b.csv", False), ("A.CSV", True), ("a.csv/b", True), ("a.csv2", False), ("b/a.csv", False)]
)
def test_no_two_files_lie_in_one_place(path: str, clash: bool) -> None:
    text = MANIFEST.read_text(encoding="utf-8").replace("path: drinks.csv,", "path: a.csv,")
    text = text.replace("path: more/teas 2.csv,", f"path: {path},")
    found = [problem.pointer for problem in problems(parse_yaml(text, "b.yaml"))]
    assert found == (["/splits/official/source/files/1/path"] if clash else [])
